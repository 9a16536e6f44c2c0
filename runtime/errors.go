package runtime

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/runtime/wire"
)

// ErrorDomain is the domain of every A2A ErrorInfo (A2A 1.0 §9.5, R160).
const ErrorDomain = "a2a-protocol.org"

// Types of error details, as their "@type" says (google.rpc, R43).
const (
	TypeErrorInfo  = "type.googleapis.com/google.rpc.ErrorInfo"
	TypeBadRequest = "type.googleapis.com/google.rpc.BadRequest"
)

// Error is an A2A error, made by a server or read by a client. Its texts are meant for the peer: those of one that a
// client read are for the client ([Made]).
//
// Two errors match by [errors.Is] when their codes are equal, so a received error matches its sentinel:
// errors.Is(err, runtime.ErrTaskNotFound).
type Error struct {
	Code    int      // JSON-RPC code: -32001
	Reason  string   // of the ErrorInfo: "TASK_NOT_FOUND"
	Message string   // the same for all errors of the code, in the words of the specification, which peers match on: "Task not found"
	Note    string   // what is wrong this time, "" when the message says it; set it with [Error.With]
	Details []Detail // beyond the ErrorInfo that Reason and Note stand for

	received bool // from another agent: see origin.go
}

// Detail is one object of an error's details.
type Detail struct {
	Type string // "@type"
	// Reason, Domain and Metadata belong to an ErrorInfo.
	Reason, Domain string
	Metadata       map[string]string
	// Violations belong to a BadRequest.
	Violations []Violation
	// Raw is the whole object of any other type.
	Raw wire.Object
}

// Violation says what is wrong with one field of a request. Field is a path such as "message.parts[0].raw".
type Violation struct {
	Field       string `json:"field"`
	Description string `json:"description"`
}

// The errors of JSON-RPC and of A2A 1.0 (§5.4): the one place where codes, reasons and the specification's words stand.
// The words are those of the older specifications where 1.0 has none.
var (
	ErrParse          = &Error{Code: -32700, Reason: "PARSE_ERROR", Message: "Invalid JSON payload"}
	ErrInvalidRequest = &Error{Code: -32600, Reason: "INVALID_REQUEST", Message: "Request payload validation error"}
	ErrMethodNotFound = &Error{Code: -32601, Reason: "METHOD_NOT_FOUND", Message: "Method not found"}
	ErrInvalidParams  = &Error{Code: -32602, Reason: "INVALID_PARAMS", Message: "Invalid parameters"}
	ErrInternal       = &Error{Code: -32603, Reason: "INTERNAL_ERROR", Message: "Internal error"}

	ErrTaskNotFound                   = &Error{Code: -32001, Reason: "TASK_NOT_FOUND", Message: "Task not found"}
	ErrTaskNotCancelable              = &Error{Code: -32002, Reason: "TASK_NOT_CANCELABLE", Message: "Task cannot be canceled"}
	ErrPushNotificationNotSupported   = &Error{Code: -32003, Reason: "PUSH_NOTIFICATION_NOT_SUPPORTED", Message: "Push Notification is not supported"}
	ErrUnsupportedOperation           = &Error{Code: -32004, Reason: "UNSUPPORTED_OPERATION", Message: "This operation is not supported"}
	ErrContentTypeNotSupported        = &Error{Code: -32005, Reason: "CONTENT_TYPE_NOT_SUPPORTED", Message: "Incompatible content types"}
	ErrInvalidAgentResponse           = &Error{Code: -32006, Reason: "INVALID_AGENT_RESPONSE", Message: "Invalid agent response"}
	ErrExtendedAgentCardNotConfigured = &Error{Code: -32007, Reason: "EXTENDED_AGENT_CARD_NOT_CONFIGURED", Message: "Authenticated Extended Card is not configured"}
	ErrExtensionSupportRequired       = &Error{Code: -32008, Reason: "EXTENSION_SUPPORT_REQUIRED", Message: "Extension support required"}
	ErrVersionNotSupported            = &Error{Code: -32009, Reason: "VERSION_NOT_SUPPORTED", Message: "Version not supported"}
)

// Errors for callers without credentials or permission. A2A leaves these to the transport, so that they always have a
// status of HTTP or gRPC; the codes are those of a2a-go.
var (
	ErrUnauthenticated  = &Error{Code: -31401, Reason: "UNAUTHENTICATED", Message: "Valid credentials are needed"}
	ErrPermissionDenied = &Error{Code: -31403, Reason: "PERMISSION_DENIED", Message: "The caller may not do that"}
)

// ErrTaskGenerationMismatch: the task has another generation than the sender of a message says (the draft of 1.1).
var ErrTaskGenerationMismatch = &Error{Code: -32010, Reason: "TASK_GENERATION_MISMATCH", Message: "Task generation mismatch"}

// Errors returns the whole table, in order of the declarations. The caller must not change the errors.
func Errors() []*Error {
	return []*Error{
		ErrParse, ErrInvalidRequest, ErrMethodNotFound, ErrInvalidParams, ErrInternal,
		ErrTaskNotFound, ErrTaskNotCancelable, ErrPushNotificationNotSupported, ErrUnsupportedOperation, ErrContentTypeNotSupported,
		ErrInvalidAgentResponse, ErrExtendedAgentCardNotConfigured, ErrExtensionSupportRequired, ErrVersionNotSupported, ErrTaskGenerationMismatch,
	}
}

// Text returns message and note as one sentence.
func (e *Error) Text() string {
	switch {
	case e.Note == "":
		return e.Message
	case e.Message == "":
		return e.Note
	}
	return e.Message + ": " + e.Note
}

// Error renders message, note, violations, reason and code.
func (e *Error) Error() string {
	s := e.Text()
	if s == "" {
		s = "error"
	}
	text := s
	for _, d := range e.Details {
		for _, v := range d.Violations {
			if !strings.Contains(text, v.Field+" "+v.Description) { // servers made with a2agen say the first one in the note
				s += "; " + v.Field + ": " + v.Description
			}
		}
	}
	if e.Reason != "" {
		s += " (" + e.Reason + ")"
	}
	return s + " [" + strconv.Itoa(e.Code) + "]"
}

// Is reports whether target is an A2A error of the same code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// With returns a copy with a note: what is wrong this time. The message stays what peers know.
func (e *Error) With(format string, args ...any) *Error {
	c := e.clone()
	c.Note = fmt.Sprintf(format, args...)
	return c
}

// WithMetadata returns a copy whose ErrorInfo holds the key and value.
func (e *Error) WithMetadata(key, value string) *Error {
	c := e.clone()
	for i, d := range c.Details {
		if d.Type == TypeErrorInfo {
			d.Metadata = maps.Clone(d.Metadata)
			if d.Metadata == nil {
				d.Metadata = map[string]string{}
			}
			d.Metadata[key] = value
			c.Details[i] = d
			return c
		}
	}
	info := Detail{Type: TypeErrorInfo, Reason: e.Reason, Domain: ErrorDomain, Metadata: map[string]string{key: value}}
	c.Details = slices.Insert(c.Details, 0, info)
	return c
}

// WithViolations returns a copy with a BadRequest of these violations (R36).
func (e *Error) WithViolations(vs ...Violation) *Error {
	c := e.clone()
	c.Details = append(c.Details, Detail{Type: TypeBadRequest, Violations: vs})
	return c
}

// Metadata returns a value of the ErrorInfo's metadata, "" when there is none.
func (e *Error) Metadata(key string) string {
	for _, d := range e.Details {
		if v, ok := d.Metadata[key]; ok {
			return v
		}
	}
	return ""
}

// Violations returns the field violations of all BadRequest details.
func (e *Error) Violations() []Violation {
	var vs []Violation
	for _, d := range e.Details {
		vs = append(vs, d.Violations...)
	}
	return vs
}

func (e *Error) clone() *Error {
	c := *e
	c.Details = slices.Clone(e.Details)
	return &c
}
