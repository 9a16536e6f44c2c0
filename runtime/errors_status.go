package runtime

import "encoding/json"

// status is how the bindings that are no JSON-RPC class an error: HTTP's status and the name of the google.rpc.Code.
// The statuses are numbers here, because who speaks no HTTP does not link net/http.
type status struct {
	http int
	name string
}

var (
	invalidArgument    = status{400, "INVALID_ARGUMENT"}
	failedPrecondition = status{400, "FAILED_PRECONDITION"}
	notFound           = status{404, "NOT_FOUND"}
	internal           = status{500, "INTERNAL"}
	unavailable        = status{503, "UNAVAILABLE"}
)

// statuses is the table of A2A 1.0.1 (§5.4), by the errors' reasons. What is not there is internal.
var statuses = map[string]status{
	ErrParse.Reason:          invalidArgument,
	ErrInvalidRequest.Reason: invalidArgument,
	ErrMethodNotFound.Reason: notFound,
	ErrInvalidParams.Reason:  invalidArgument,

	ErrTaskNotFound.Reason:                   notFound,
	ErrTaskNotCancelable.Reason:              failedPrecondition,
	ErrPushNotificationNotSupported.Reason:   failedPrecondition,
	ErrUnsupportedOperation.Reason:           failedPrecondition,
	ErrContentTypeNotSupported.Reason:        invalidArgument,
	ErrExtendedAgentCardNotConfigured.Reason: failedPrecondition,
	ErrExtensionSupportRequired.Reason:       failedPrecondition,
	ErrVersionNotSupported.Reason:            failedPrecondition,

	"RESOURCE_EXHAUSTED": unavailable, // the agent is busy: it passes
}

// refusals name the statuses of HTTP that no error of A2A has.
var refusals = map[int]string{
	401: "UNAUTHENTICATED",
	403: "PERMISSION_DENIED",
	405: "UNIMPLEMENTED",
	408: "DEADLINE_EXCEEDED",
}

// HTTPStatus is the status that the error has over HTTP+JSON (A2A 1.0.1 §5.4).
func (e *Error) HTTPStatus() int { return e.status().http }

func (e *Error) status() status {
	if s, ok := statuses[e.Reason]; ok {
		return s
	}
	return internal
}

// statusError is the body of an error over HTTP+JSON, a google.rpc.Status in JSON (A2A 1.0 §11.6).
type statusError struct {
	Error struct {
		Code    int             `json:"code"`
		Status  string          `json:"status"`
		Message string          `json:"message"`
		Details json.RawMessage `json:"details"`
	} `json:"error"`
}

// AppendStatus appends the error as the body of an answer of HTTP+JSON, which has the HTTP status code: the error's own
// or, where HTTP has a better word, another one.
func (e *Error) AppendStatus(dst []byte, code int) []byte {
	var s statusError
	s.Error.Code, s.Error.Status, s.Error.Message = code, e.status().name, e.Message
	if name, ok := refusals[code]; ok {
		s.Error.Status = name
	}
	s.Error.Details = e.details()
	return append(dst, encode(s)...)
}
