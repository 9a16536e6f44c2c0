package errorformat

import "github.com/a2agen/a2agen/runtime"

// Code is a google.rpc.Code: how gRPC classes an error.
type Code uint32

// The codes that errors have.
const (
	CodeInvalidArgument    Code = 3
	CodeDeadlineExceeded   Code = 4
	CodeNotFound           Code = 5
	CodePermissionDenied   Code = 7
	CodeResourceExhausted  Code = 8
	CodeFailedPrecondition Code = 9
	CodeAborted            Code = 10
	CodeUnimplemented      Code = 12
	CodeInternal           Code = 13
	CodeUnavailable        Code = 14
	CodeUnauthenticated    Code = 16
)

var codeNames = map[Code]string{
	CodeInvalidArgument: "INVALID_ARGUMENT", CodeDeadlineExceeded: "DEADLINE_EXCEEDED", CodeNotFound: "NOT_FOUND",
	CodePermissionDenied: "PERMISSION_DENIED", CodeResourceExhausted: "RESOURCE_EXHAUSTED",
	CodeFailedPrecondition: "FAILED_PRECONDITION", CodeUnimplemented: "UNIMPLEMENTED", CodeInternal: "INTERNAL",
	CodeAborted: "ABORTED", CodeUnavailable: "UNAVAILABLE", CodeUnauthenticated: "UNAUTHENTICATED",
}

// String returns the code's name: "NOT_FOUND".
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return "UNKNOWN"
}

// Status is how HTTP+JSON and gRPC class an error. The statuses of HTTP are numbers, so that net/http is not linked for
// them.
type Status struct {
	HTTP int
	Code Code
}

// Statuses says by which specification an error is classed: patch levels of 1.0 have different tables (T9).
type Statuses uint8

// The tables.
const (
	Statuses101 Statuses = iota // of A2A 1.0.1 (§5.4)
	Statuses100                 // of A2A 1.0.0 (§5.4)
	Statuses03                  // of 0.3, whose specification has none: over HTTP what its servers answer, over gRPC what its clients know
	statusTables
)

// statuses are the tables, by the errors' reasons: of 1.0.1, 1.0.0 and 0.3. What is not there is internal.
var statuses = map[string][statusTables]Status{
	runtime.ErrParse.Reason:          {{400, CodeInvalidArgument}, {400, CodeInvalidArgument}, {400, CodeInternal}},
	runtime.ErrInvalidRequest.Reason: {{400, CodeInvalidArgument}, {400, CodeInvalidArgument}, {400, CodeInvalidArgument}},
	runtime.ErrMethodNotFound.Reason: {{404, CodeUnimplemented}, {404, CodeUnimplemented}, {404, CodeUnimplemented}},
	runtime.ErrInvalidParams.Reason:  {{400, CodeInvalidArgument}, {400, CodeInvalidArgument}, {422, CodeInvalidArgument}},
	runtime.ErrInternal.Reason:       {{500, CodeInternal}, {500, CodeInternal}, {500, CodeInternal}},

	runtime.ErrTaskNotFound.Reason:                   {{404, CodeNotFound}, {404, CodeNotFound}, {404, CodeNotFound}},
	runtime.ErrTaskNotCancelable.Reason:              {{400, CodeFailedPrecondition}, {409, CodeFailedPrecondition}, {409, CodeFailedPrecondition}},
	runtime.ErrPushNotificationNotSupported.Reason:   {{400, CodeFailedPrecondition}, {400, CodeUnimplemented}, {501, CodeUnimplemented}},
	runtime.ErrUnsupportedOperation.Reason:           {{400, CodeFailedPrecondition}, {400, CodeUnimplemented}, {501, CodeUnimplemented}},
	runtime.ErrContentTypeNotSupported.Reason:        {{400, CodeInvalidArgument}, {415, CodeInvalidArgument}, {415, CodeInvalidArgument}},
	runtime.ErrInvalidAgentResponse.Reason:           {{500, CodeInternal}, {502, CodeInternal}, {502, CodeInternal}},
	runtime.ErrExtendedAgentCardNotConfigured.Reason: {{400, CodeFailedPrecondition}, {400, CodeFailedPrecondition}, {404, CodeFailedPrecondition}},
	runtime.ErrExtensionSupportRequired.Reason:       {{400, CodeFailedPrecondition}, {400, CodeFailedPrecondition}, {400, CodeFailedPrecondition}},
	runtime.ErrVersionNotSupported.Reason:            {{400, CodeFailedPrecondition}, {400, CodeUnimplemented}, {400, CodeUnimplemented}},

	runtime.ErrTaskGenerationMismatch.Reason: {{409, CodeAborted}, {409, CodeAborted}, {409, CodeAborted}}, // the draft of 1.1

	runtime.ErrUnauthenticated.Reason:  {{401, CodeUnauthenticated}, {401, CodeUnauthenticated}, {401, CodeUnauthenticated}},
	runtime.ErrPermissionDenied.Reason: {{403, CodePermissionDenied}, {403, CodePermissionDenied}, {403, CodePermissionDenied}},

	// The agent is busy for now.
	"RESOURCE_EXHAUSTED": {{503, CodeUnavailable}, {503, CodeUnavailable}, {503, CodeUnavailable}},
}

// httpCodes are the codes that statuses of HTTP stand for by themselves.
var httpCodes = map[int]Code{
	401: CodeUnauthenticated, 403: CodePermissionDenied, 404: CodeNotFound, 405: CodeUnimplemented, 408: CodeDeadlineExceeded,
}

// Of is how an error is classed.
func Of(e *runtime.Error, by Statuses) Status {
	row, ok := statuses[e.Reason]
	if !ok {
		row = statuses[runtime.ErrInternal.Reason]
	}
	return row[by]
}

// statusError is the body of an error over HTTP+JSON, a google.rpc.Status in JSON (A2A 1.0 §11.6).
type statusError struct {
	Error struct {
		Code    int              `json:"code"`
		Status  string           `json:"status"`
		Message string           `json:"message"`
		Details []runtime.Detail `json:"details"`
	} `json:"error"`
}

// AppendStatus appends an error as the body of an answer of HTTP+JSON, which has a status: the error's own or, where
// HTTP has a better word, another one.
func AppendStatus(dst []byte, e *runtime.Error, status Status) []byte {
	return appendJSON(dst, inStatus(e, status))
}

func inStatus(e *runtime.Error, status Status) (s statusError) {
	if code, ok := httpCodes[status.HTTP]; ok {
		status.Code = code
	}
	s.Error.Code, s.Error.Status, s.Error.Message = status.HTTP, status.Code.String(), e.Message
	s.Error.Details = e.AllDetails()
	return s
}

// AppendStatus03 is AppendStatus for 0.3, whose specification says nothing of it: the official clients for JavaScript
// know an error by its code, those for Python by its type, and those for Go by the google.rpc.Status of 1.0 (T61).
func AppendStatus03(dst []byte, e *runtime.Error, status Status) []byte {
	return appendJSON(dst, struct {
		rpcError
		Type string `json:"type"`
		statusError
	}{plain(e), e.TypeName(), inStatus(e, status)})
}
