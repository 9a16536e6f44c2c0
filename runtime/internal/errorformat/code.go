package errorformat

import (
	"cmp"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// RecognizeCode is [runtime.Error.Recognize] for an error over gRPC, in answer to an operation of a role. Agents of 0.3
// that are made with the SDKs for Go and JavaScript tell an error by its code and in words of their own: what those
// leave open the role says.
func RecognizeCode(e *runtime.Error, code Code, role runtime.Role) *runtime.Error {
	if known := e.Recognize("", false); known != nil {
		return known
	}
	known := cmp.Or(endingIn(e.Message), byCode(code, role, e.Message))
	if known == nil {
		return nil
	}
	e.Code, e.Reason, e.Message = known.Code, known.Reason, cmp.Or(e.Message, known.Message)
	return e
}

// byCode finds the error that a code stands for. What only gRPC's own libraries say, of a method that is not there, is
// none.
func byCode(code Code, role runtime.Role, text string) *runtime.Error {
	switch card := role == runtime.RoleExtendedCard; {
	case code == CodeInvalidArgument:
		return runtime.ErrInvalidParams
	case card && (code == CodeNotFound || code == CodeFailedPrecondition):
		return runtime.ErrExtendedAgentCardNotConfigured
	case code == CodeNotFound && role != runtime.RoleOther && role != runtime.RoleList:
		return runtime.ErrTaskNotFound
	case code == CodeFailedPrecondition && role == runtime.RoleCancel:
		return runtime.ErrTaskNotCancelable
	case code != CodeUnimplemented || role == runtime.RoleOther || notThere(text):
		return nil
	case role.OfPush():
		return runtime.ErrPushNotificationNotSupported
	}
	return runtime.ErrUnsupportedOperation
}

// notThere reports whether a text is what servers of gRPC say of a service or method that they do not have.
func notThere(text string) bool {
	for _, words := range []string{"unknown service", "unknown method", "the server does not implement", "method not found"} {
		if len(text) >= len(words) && strings.EqualFold(text[:len(words)], words) {
			return true
		}
	}
	return false
}

// endingIn finds the error whose words in the specification a text ends in, as errors in Go do that wrap one:
// "push config: push notification not supported".
func endingIn(text string) *runtime.Error {
	text = plainWords(text)
	for _, e := range runtime.Errors() {
		before, ends := strings.CutSuffix(text, plainWords(e.Message))
		if ends && (before == "" || strings.HasSuffix(before, ": ")) {
			return e
		}
	}
	return nil
}

// plainWords normalizes a text: some peers leave words out.
func plainWords(text string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text)), " is ", " ")
}
