// Package extension is what generated code, servers and clients know of an extension of the protocol: where messages and
// artifacts carry its values, and how these are read, checked and attached (A2A 1.0 §4.6).
package extension

import (
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// Contract is an extension whose values are typed: what the generated package of an extension declares.
type Contract struct {
	URI string
	// Key is the member of metadata that holds a value; "" is the URI.
	Key string
	// Always: agents send the values also to callers who did not ask for the extension.
	Always bool
	// Methods are operations of the extension, by their names in JSON-RPC. An agent serves them to callers who ask for
	// the extension.
	Methods []string
	// Request and Message check what callers send in the metadata of a request and of a message; nil: anything fits. An
	// error is a *check.Error.
	Request, Message func(value []byte) error
	// MediaType marks the data parts that belong to the extension; "": there are none. CallerPart checks those that
	// callers send; nil: anything fits.
	MediaType  string
	CallerPart func(value []byte) error
}

// Name is the member of metadata that holds a value.
func (c *Contract) Name() string {
	if c.Key != "" {
		return c.Key
	}
	return c.URI
}

// Owns reports whether a part is one of the extension: a data part of its media type, which may stand in the metadata, as
// clients of 0.3 have it.
func (c *Contract) Owns(p *runtime.Part) bool {
	if c.MediaType == "" || p.Kind != runtime.PartData {
		return false
	}
	if p.MediaType == c.MediaType {
		return true
	}
	if len(p.Metadata) == 0 {
		return false
	}
	var named string
	v, ok := p.Metadata.Get(mimeType)
	return ok && v.Kind() == wire.KindString && v.Decode(&named) == nil && named == c.MediaType
}

// mimeType is the member of a part's metadata that says the media type of its data.
const mimeType = "mimeType"

// Decoder is a generated type: UnmarshalJSON reads and checks. The error is a *check.Error.
type Decoder[T any] interface {
	*T
	UnmarshalJSON(src []byte) error
}

// Encoder is a generated type: AppendJSON checks and appends. The error is a *check.Error.
type Encoder[T any] interface {
	*T
	AppendJSON(dst []byte) ([]byte, error)
}

// Check returns the check of a generated type, for a [Contract].
func Check[T any, P Decoder[T]](value []byte) error { return P(new(T)).UnmarshalJSON(value) }

// Read reads the value that metadata hold; nil without one. An error names the extension and wraps a *check.Error.
func Read[T any, P Decoder[T]](c *Contract, metadata wire.Object) (P, error) {
	value, ok := metadata.Get(c.Name())
	if !ok {
		return nil, nil
	}
	v := P(new(T))
	if err := v.UnmarshalJSON(value); err != nil {
		return nil, fmt.Errorf("extension %s: %w", c.URI, err)
	}
	return v, nil
}

// ReadPart reads the value of a part; nil for a part that is not the extension's.
func ReadPart[T any, P Decoder[T]](c *Contract, p runtime.Part) (P, error) {
	if !c.Owns(&p) {
		return nil, nil
	}
	v := P(new(T))
	if err := v.UnmarshalJSON(p.Data); err != nil {
		return nil, fmt.Errorf("extension %s: %w", c.URI, err)
	}
	return v, nil
}

// Part makes a part of a value. An error names the extension and wraps a *check.Error.
func Part[T any, P Encoder[T]](c *Contract, v P) (runtime.Part, error) {
	value, err := v.AppendJSON(nil)
	if err != nil {
		return runtime.Part{}, fmt.Errorf("extension %s: %w", c.URI, err)
	}
	return runtime.Part{
		Kind: runtime.PartData, Data: value, MediaType: c.MediaType,
		Metadata: runtime.Metadata(map[string]string{mimeType: c.MediaType}),
	}, nil
}
