package runtime

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/a2agen/a2agen/runtime/wire"
)

// rpcError is the error member of a JSON-RPC response (A2A 1.0 §9.5). Data is an array of typed objects in 1.0, but a
// reader must take anything there.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// rpcDetail is the union of the detail objects we read and write.
type rpcDetail struct {
	Type       string                     `json:"@type"`
	Reason     string                     `json:"reason,omitempty"`
	Domain     string                     `json:"domain,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
	Violations []Violation                `json:"fieldViolations,omitempty"`
}

// metadataNote is the key of an ErrorInfo's metadata under which a note travels.
const metadataNote = "detail"

// AppendJSON appends the error as the error member of a JSON-RPC response. The data always holds an ErrorInfo (T11).
func (e *Error) AppendJSON(dst []byte) []byte {
	return append(dst, encode(rpcError{Code: e.Code, Message: e.Message, Data: e.details()})...)
}

// AppendPlain appends the error as versions before 1.0 have it: without details, which SDKs of 0.3 each want in another
// form, and with a code that those versions have (0.3 §8).
func (e *Error) AppendPlain(dst []byte) []byte { return append(dst, encode(e.plain())...) }

func (e *Error) plain() rpcError {
	code := e.Code
	if code == ErrExtensionSupportRequired.Code || code == ErrVersionNotSupported.Code {
		code = ErrInternal.Code
	}
	return rpcError{Code: code, Message: e.PlainText()}
}

// PlainText is the text of an error without details. Its note has no place but the message: it follows the
// specification's words, unless they say it all.
func (e *Error) PlainText() string {
	switch e.Code {
	case ErrTaskNotFound.Code, ErrTaskNotCancelable.Code, ErrPushNotificationNotSupported.Code,
		ErrExtendedAgentCardNotConfigured.Code:
		return e.Message
	}
	return strings.ToValidUTF8(e.Text(), "\uFFFD")
}

// AllDetails returns the details with the ErrorInfo that Reason and Note stand for: what bindings send.
func (e *Error) AllDetails() []Detail {
	if e.Note != "" && e.Metadata(metadataNote) != e.Note {
		e = e.WithMetadata(metadataNote, e.Note)
	}
	for _, d := range e.Details {
		if d.Type == TypeErrorInfo {
			return e.Details
		}
	}
	return append([]Detail{{Type: TypeErrorInfo, Reason: e.Reason, Domain: ErrorDomain}}, e.Details...)
}

// details is the list of detail objects.
func (e *Error) details() json.RawMessage {
	var data []json.RawMessage
	for _, d := range e.AllDetails() {
		if d.Raw != nil {
			data = append(data, json.RawMessage(d.Raw))
			continue
		}
		r := rpcDetail{Type: d.Type, Reason: d.Reason, Domain: d.Domain, Violations: d.Violations}
		for k, v := range d.Metadata {
			if r.Metadata == nil {
				r.Metadata = map[string]json.RawMessage{}
			}
			r.Metadata[k] = encode(v)
		}
		data = append(data, encode(r))
	}
	return encode(data)
}

// ReadError reads the error member of a JSON-RPC response, tolerantly: data may be an array, an object, anything or
// absent. A known reason decides the code, because patch levels and bindings disagree on the rest (T9). It fails only
// when src is no error object.
func ReadError(src []byte) (*Error, error) {
	var r rpcError
	if err := json.Unmarshal(src, &r); err != nil {
		return nil, &wire.Error{Pointer: "/error", Reason: "not a JSON-RPC error object"}
	}
	e := &Error{Code: r.Code, Message: r.Message, received: true}
	e.addDetails(r.Data)
	e.settle()
	return e, nil
}

// addDetails keeps the detail objects of a list, or a single one.
func (e *Error) addDetails(src json.RawMessage) {
	var list []json.RawMessage
	if json.Unmarshal(src, &list) != nil && len(src) > 0 {
		list = []json.RawMessage{src}
	}
	for _, raw := range list {
		e.addDetail(raw)
	}
	e.Note = cmp.Or(e.Note, e.Metadata(metadataNote))
}

// foreignDenied is the reason that agents with a2a-go give for ErrPermissionDenied.
const foreignDenied = "UNAUTHORIZED"

// settle gives an error that was read the code and reason of the table, by its reason or else by its code. It is false for
// one that has neither.
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

// addDetail keeps one detail object. What has no "@type" is not a detail and is dropped.
func (e *Error) addDetail(raw json.RawMessage) {
	var r rpcDetail
	if err := json.Unmarshal(raw, &r); err != nil || r.Type == "" {
		return
	}
	d := Detail{Type: r.Type}
	switch r.Type {
	case TypeErrorInfo:
		d.Reason, d.Domain = r.Reason, r.Domain
		for k, v := range r.Metadata {
			var s string
			if json.Unmarshal(v, &s) != nil {
				s = string(v) // peers put numbers and objects there
			}
			if d.Metadata == nil {
				d.Metadata = map[string]string{}
			}
			d.Metadata[k] = s
		}
		e.Reason = r.Reason
	case TypeBadRequest:
		d.Violations = r.Violations
	default:
		d.Raw = wire.Object(bytes.Clone(raw))
	}
	e.Details = append(e.Details, d)
}

// encode writes v as JSON without HTML escapes. It is only called with values that always encode.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return json.RawMessage("null")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
