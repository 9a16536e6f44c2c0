package grpcclient

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// codec passes messages as bytes, which the protocol package encodes and decodes.
type codec struct{}

// Name is the codec's name in content types.
func (codec) Name() string { return "proto" }

// Marshal returns the bytes of a *[]byte, which must not be changed.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("grpcclient: a %T is no message", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(*b)}, nil
}

// Unmarshal sets a *[]byte to the bytes.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("grpcclient: a %T is no message", v)
	}
	*b = data.Materialize()
	return nil
}
