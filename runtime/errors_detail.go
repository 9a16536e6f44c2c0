package runtime

import (
	"bytes"
	"encoding/json"

	"github.com/a2agen/a2agen/runtime/wire"
)

// detailObject is a [Detail] as JSON has it (google.rpc, A2A 1.0 §9.5).
type detailObject struct {
	Type       string                     `json:"@type"`
	Reason     string                     `json:"reason,omitempty"`
	Domain     string                     `json:"domain,omitempty"`
	Metadata   map[string]json.RawMessage `json:"metadata,omitempty"`
	Violations []Violation                `json:"fieldViolations,omitempty"`
}

// MarshalJSON writes the object.
func (d Detail) MarshalJSON() ([]byte, error) {
	if d.Raw != nil {
		return d.Raw, nil
	}
	o := detailObject{Type: d.Type, Reason: d.Reason, Domain: d.Domain, Violations: d.Violations}
	for k, v := range d.Metadata {
		if o.Metadata == nil {
			o.Metadata = map[string]json.RawMessage{}
		}
		o.Metadata[k] = wire.AppendString(nil, v)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(o)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads an object, tolerantly: peers put numbers and objects where texts belong.
func (d *Detail) UnmarshalJSON(src []byte) error {
	var o detailObject
	if err := json.Unmarshal(src, &o); err != nil {
		return err
	}
	*d = Detail{Type: o.Type}
	switch o.Type {
	case TypeErrorInfo:
		d.Reason, d.Domain = o.Reason, o.Domain
		for k, v := range o.Metadata {
			var s string
			if json.Unmarshal(v, &s) != nil {
				s = string(v)
			}
			if d.Metadata == nil {
				d.Metadata = map[string]string{}
			}
			d.Metadata[k] = s
		}
	case TypeBadRequest:
		d.Violations = o.Violations
	default:
		d.Raw = bytes.Clone(src)
	}
	return nil
}

// metadataNote is the key of an ErrorInfo's metadata under which a note travels.
const metadataNote = "detail"

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
