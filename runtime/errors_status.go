package runtime

import (
	"encoding/json"
	"strings"
)

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
	CodeUnimplemented      Code = 12
	CodeInternal           Code = 13
	CodeUnavailable        Code = 14
	CodeUnauthenticated    Code = 16
)

var codeNames = map[Code]string{
	CodeInvalidArgument: "INVALID_ARGUMENT", CodeDeadlineExceeded: "DEADLINE_EXCEEDED", CodeNotFound: "NOT_FOUND",
	CodePermissionDenied: "PERMISSION_DENIED", CodeResourceExhausted: "RESOURCE_EXHAUSTED",
	CodeFailedPrecondition: "FAILED_PRECONDITION", CodeUnimplemented: "UNIMPLEMENTED", CodeInternal: "INTERNAL",
	CodeUnavailable: "UNAVAILABLE", CodeUnauthenticated: "UNAUTHENTICATED",
}

// String returns the code's name: "NOT_FOUND".
func (c Code) String() string {
	if name, ok := codeNames[c]; ok {
		return name
	}
	return "UNKNOWN"
}

// Status is how the bindings that are no JSON-RPC class an error. The statuses of HTTP are numbers here, because who
// speaks no HTTP does not link net/http.
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
	ErrParse.Reason:          {{400, CodeInvalidArgument}, {400, CodeInvalidArgument}, {400, CodeInternal}},
	ErrInvalidRequest.Reason: {{400, CodeInvalidArgument}, {400, CodeInvalidArgument}, {400, CodeInvalidArgument}},
	ErrMethodNotFound.Reason: {{404, CodeUnimplemented}, {404, CodeUnimplemented}, {404, CodeUnimplemented}},
	ErrInvalidParams.Reason:  {{400, CodeInvalidArgument}, {400, CodeInvalidArgument}, {422, CodeInvalidArgument}},
	ErrInternal.Reason:       {{500, CodeInternal}, {500, CodeInternal}, {500, CodeInternal}},

	ErrTaskNotFound.Reason:                   {{404, CodeNotFound}, {404, CodeNotFound}, {404, CodeNotFound}},
	ErrTaskNotCancelable.Reason:              {{400, CodeFailedPrecondition}, {409, CodeFailedPrecondition}, {409, CodeFailedPrecondition}},
	ErrPushNotificationNotSupported.Reason:   {{400, CodeFailedPrecondition}, {400, CodeUnimplemented}, {501, CodeUnimplemented}},
	ErrUnsupportedOperation.Reason:           {{400, CodeFailedPrecondition}, {400, CodeUnimplemented}, {501, CodeUnimplemented}},
	ErrContentTypeNotSupported.Reason:        {{400, CodeInvalidArgument}, {415, CodeInvalidArgument}, {415, CodeInvalidArgument}},
	ErrInvalidAgentResponse.Reason:           {{500, CodeInternal}, {502, CodeInternal}, {502, CodeInternal}},
	ErrExtendedAgentCardNotConfigured.Reason: {{400, CodeFailedPrecondition}, {400, CodeFailedPrecondition}, {404, CodeFailedPrecondition}},
	ErrExtensionSupportRequired.Reason:       {{400, CodeFailedPrecondition}, {400, CodeFailedPrecondition}, {400, CodeFailedPrecondition}},
	ErrVersionNotSupported.Reason:            {{400, CodeFailedPrecondition}, {400, CodeUnimplemented}, {400, CodeUnimplemented}},

	ErrUnauthenticated.Reason:  {{401, CodeUnauthenticated}, {401, CodeUnauthenticated}, {401, CodeUnauthenticated}},
	ErrPermissionDenied.Reason: {{403, CodePermissionDenied}, {403, CodePermissionDenied}, {403, CodePermissionDenied}},

	// The agent is busy: it passes.
	"RESOURCE_EXHAUSTED": {{503, CodeUnavailable}, {503, CodeUnavailable}, {503, CodeUnavailable}},
}

// refusals are the codes that statuses of HTTP stand for by themselves.
var refusals = map[int]Code{
	401: CodeUnauthenticated, 403: CodePermissionDenied, 404: CodeNotFound, 405: CodeUnimplemented, 408: CodeDeadlineExceeded,
}

// Status is how the error is classed.
func (e *Error) Status(by Statuses) Status {
	row, ok := statuses[e.Reason]
	if !ok {
		row = statuses[ErrInternal.Reason]
	}
	return row[by]
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

// AppendStatus appends the error as the body of an answer of HTTP+JSON, which has a status: the error's own or, where
// HTTP has a better word, another one.
func (e *Error) AppendStatus(dst []byte, status Status) []byte {
	return append(dst, encode(e.statusError(status))...)
}

func (e *Error) statusError(status Status) (s statusError) {
	if code, ok := refusals[status.HTTP]; ok {
		status.Code = code
	}
	s.Error.Code, s.Error.Status, s.Error.Message = status.HTTP, status.Code.String(), e.Message
	s.Error.Details = e.details()
	return s
}

// AppendStatus03 is AppendStatus for 0.3, whose specification says nothing of it: the official clients for JavaScript know
// an error by its code, those for Python by its type, and those for Go by the google.rpc.Status of 1.0 (T61).
func (e *Error) AppendStatus03(dst []byte, status Status) []byte {
	return append(dst, encode(struct {
		rpcError
		Type string `json:"type"`
		statusError
	}{e.plain(), e.TypeName(), e.statusError(status)})...)
}

// oddNames are the names of errors that are not made of their reasons (0.3 §8).
var oddNames = map[string]string{
	ErrParse.Reason:                          "JSONParseError",
	ErrInternal.Reason:                       "InternalError",
	ErrExtendedAgentCardNotConfigured.Reason: "AuthenticatedExtendedCardNotConfiguredError",
}

// TypeName is what 0.3 calls the error: "TaskNotFoundError". Peers of 0.3 know an error over gRPC by it, in front of the
// status's message.
func (e *Error) TypeName() string {
	if name, ok := oddNames[e.Reason]; ok {
		return name
	}
	var name strings.Builder
	for word := range strings.SplitSeq(e.Reason, "_") {
		if word != "" {
			name.WriteString(word[:1] + strings.ToLower(word[1:]))
		}
	}
	return name.String() + "Error"
}
