package grpcclient

import (
	"fmt"

	"google.golang.org/grpc/mem"
)

// codec hands messages on as bytes: who decodes and encodes them is the protocol package.
type codec struct{}

// Name is the codec's name in content types.
func (codec) Name() string { return "proto" }

// Marshal takes the bytes of a *[]byte, which must stay as they are.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("grpcclient: a %T is no message", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(*b)}, nil
}

// Unmarshal gives a *[]byte the bytes.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("grpcclient: a %T is no message", v)
	}
	*b = data.Materialize()
	return nil
}
