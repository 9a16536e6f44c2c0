package runtime

import (
	"cmp"
	"encoding/json"
	"strings"
)

// ReadStatus reads the error in the body of an answer of HTTP+JSON: a google.rpc.Status, and what agents answer that
// have another idea of it: the error object of JSON-RPC, the name of a type, problem details, words alone. Nil if it
// tells no error that is known.
func ReadStatus(body []byte) *Error {
	var in struct {
		Error json.RawMessage `json:"error"`
		foreignError
	}
	if json.Unmarshal(body, &in) != nil {
		in.Message = string(body[:min(len(body), 1<<10)])
	}
	found := in.foreignError
	if json.Unmarshal(in.Error, &found) != nil {
		_ = json.Unmarshal(in.Error, &found.Type) // a name, or else the members beside it say what is wrong
	}
	return found.read()
}

// foreignError has the members by which agents tell an error. Any may be missing, and be of another kind.
type foreignError struct {
	Code    any             `json:"code"` // a number: of JSON-RPC, or HTTP's
	Type    any             `json:"type"` // problem details
	Status  any             `json:"status"`
	Message any             `json:"message"`
	Detail  any             `json:"detail"`
	Details json.RawMessage `json:"details"`
	Data    json.RawMessage `json:"data"`
}

func (f *foreignError) read() *Error {
	e := new(Error)
	e.Message, _ = f.Message.(string)
	if detail, ok := f.Detail.(string); ok && e.Message == "" {
		e.Message = detail
	}
	if code, ok := f.Code.(float64); ok && code < 0 {
		e.Code = int(code)
	}
	e.addDetails(f.Details)
	e.addDetails(f.Data)
	name, _ := f.Type.(string)
	status, _ := f.Status.(string)
	return e.Recognize(name, status == CodeInvalidArgument.String())
}

// Recognize completes an error of which a peer told what there is in e, the name or address of a type, and whether an
// argument is invalid. The reason decides, then the code, then the name, then the words of the specification; statuses
// of HTTP say nothing else, because patch levels and agents disagree on them (T9). Nil if it is no error that is known.
func (e *Error) Recognize(name string, invalid bool) *Error {
	e.received = true
	e.Note = cmp.Or(e.Note, e.Metadata(metadataNote))
	if e.settle() {
		e.Code = cmp.Or(e.Code, ErrInternal.Code) // of a reason of the agent's own
		return e
	}
	if before, after, found := strings.Cut(e.Message, ": "); found && name == "" && strings.HasSuffix(before, "Error") {
		if known := named(before); known != nil { // as servers of 0.3 say it over gRPC
			name, e.Message = before, after
		}
	}
	known := cmp.Or(named(name), saidIn(e.Message))
	if known == nil && invalid {
		known = ErrInvalidParams
	}
	if known == nil {
		return nil
	}
	e.Code, e.Reason, e.Message = known.Code, known.Reason, cmp.Or(e.Message, known.Message)
	return e
}

// RecognizeCode is Recognize for an error over gRPC, in answer to an operation of a role. Agents of 0.3 that are made with
// the SDKs for Go and JavaScript tell an error by its code and in words of their own: what those leave open the role
// says.
func (e *Error) RecognizeCode(code Code, role Role) *Error {
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
func byCode(code Code, role Role, text string) *Error {
	switch card := role == RoleExtendedCard; {
	case code == CodeInvalidArgument:
		return ErrInvalidParams
	case card && (code == CodeNotFound || code == CodeFailedPrecondition):
		return ErrExtendedAgentCardNotConfigured
	case code == CodeNotFound && role != RoleOther && role != RoleList:
		return ErrTaskNotFound
	case code == CodeFailedPrecondition && role == RoleCancel:
		return ErrTaskNotCancelable
	case code != CodeUnimplemented || role == RoleOther || notThere(text):
		return nil
	case role.OfPush():
		return ErrPushNotificationNotSupported
	}
	return ErrUnsupportedOperation
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
func endingIn(text string) *Error {
	text = plainWords(text)
	for _, e := range Errors() {
		before, ends := strings.CutSuffix(text, plainWords(e.Message))
		if ends && (before == "" || strings.HasSuffix(before, ": ")) {
			return e
		}
	}
	return nil
}

// plainWords leaves of a text what is said in it by those who leave words out.
func plainWords(text string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(text)), " is ", " ")
}

// named finds the error that a type's name or address stands for: "io.a2a.spec.TaskNotFoundError",
// "https://a2a-protocol.org/errors/task-not-found".
func named(name string) *Error {
	name = plainName(name[strings.LastIndexAny(name, "./:#")+1:])
	for _, e := range Errors() {
		if name != "" && (name == plainName(e.Reason) || name == plainName(e.TypeName())) {
			return e
		}
	}
	return nil
}

// plainName leaves of a name what all ways of writing it have.
func plainName(name string) string {
	return strings.TrimSuffix(strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name)), "error")
}

// saidIn finds the error whose words in the specification a text begins with.
func saidIn(text string) *Error {
	text = strings.TrimSpace(text)
	for _, e := range Errors() {
		if len(text) >= len(e.Message) && strings.EqualFold(text[:len(e.Message)], e.Message) {
			return e
		}
	}
	return nil
}
