package runtime

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/a2agen/a2agen/runtime/wire"
)

// Errors are read here, where they are marked as received: see origin.go. How bindings write them is for package
// internal/errorformat.

// ReadError reads the error member of a JSON-RPC response, tolerantly: data may be an array, an object, anything or
// absent. A known reason decides the code, because patch levels and bindings disagree on the rest (T9). It fails only
// when src is no error object.
func ReadError(src []byte) (*Error, error) {
	var r struct {
		Code    int             `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(src, &r); err != nil {
		return nil, &wire.Error{Pointer: "/error", Reason: "not a JSON-RPC error object"}
	}
	e := &Error{Code: r.Code, Message: r.Message, received: true}
	e.addDetails(r.Data)
	e.settle()
	return e, nil
}

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
	return e.Recognize(name, status == "INVALID_ARGUMENT")
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

// addDetails keeps the detail objects of a list, or a single one. What has no "@type" is not a detail and is dropped.
func (e *Error) addDetails(src json.RawMessage) {
	var list []json.RawMessage
	if json.Unmarshal(src, &list) != nil && len(src) > 0 {
		list = []json.RawMessage{src}
	}
	for _, raw := range list {
		var d Detail
		if d.UnmarshalJSON(raw) != nil || d.Type == "" {
			continue
		}
		if d.Type == TypeErrorInfo {
			e.Reason = d.Reason
		}
		e.Details = append(e.Details, d)
	}
	e.Note = cmp.Or(e.Note, e.Metadata(metadataNote))
}

// foreignDenied is the reason that agents with a2a-go give for ErrPermissionDenied.
const foreignDenied = "UNAUTHORIZED"

// settle gives an error that was read the code and reason of the table, by its reason or else by its code. It is false
// for one that has neither.
func (e *Error) settle() bool {
	if e.Reason == foreignDenied {
		e.Reason = ErrPermissionDenied.Reason
	}
	for _, known := range append(Errors(), ErrUnauthenticated, ErrPermissionDenied) {
		if e.Reason == known.Reason || (e.Reason == "" && e.Code == known.Code) {
			e.Code, e.Reason = known.Code, known.Reason
			return true
		}
	}
	return e.Reason != "" || e.Code != 0
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

// plainName normalizes a name: peers write it in several ways.
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

// oddNames are the names of errors that are not made of their reasons (0.3 §8).
var oddNames = map[string]string{
	ErrParse.Reason:                          "JSONParseError",
	ErrInternal.Reason:                       "InternalError",
	ErrExtendedAgentCardNotConfigured.Reason: "AuthenticatedExtendedCardNotConfiguredError",
}

// TypeName is what 0.3 calls the error: "TaskNotFoundError". Peers of 0.3 know an error over gRPC by it, in front of
// the status's message.
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
