package runtime

import (
	"bytes"
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
func (e *Error) AppendPlain(dst []byte) []byte {
	code := e.Code
	if code == ErrExtensionSupportRequired.Code || code == ErrVersionNotSupported.Code {
		code = ErrInternal.Code
	}
	return append(dst, encode(rpcError{Code: code, Message: e.PlainText()})...)
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

// details is the list of detail objects.
func (e *Error) details() json.RawMessage {
	if e.Note != "" && e.Metadata(metadataNote) != e.Note {
		e = e.WithMetadata(metadataNote, e.Note)
	}
	var data []json.RawMessage
	info := false
	for _, d := range e.Details {
		info = info || d.Type == TypeErrorInfo
	}
	if !info {
		data = append(data, encode(rpcDetail{Type: TypeErrorInfo, Reason: e.Reason, Domain: ErrorDomain}))
	}
	for _, d := range e.Details {
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
	e := &Error{Code: r.Code, Message: r.Message}
	var list []json.RawMessage
	if json.Unmarshal(r.Data, &list) != nil && len(r.Data) > 0 {
		list = []json.RawMessage{r.Data}
	}
	for _, raw := range list {
		e.addDetail(raw)
	}
	e.Note = e.Metadata(metadataNote)
	for _, known := range Errors() {
		if e.Reason == known.Reason || (e.Reason == "" && e.Code == known.Code) {
			e.Code, e.Reason = known.Code, known.Reason
			break
		}
	}
	return e, nil
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
