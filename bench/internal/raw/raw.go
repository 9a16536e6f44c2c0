// Package raw is a codec of gRPC that leaves messages as they are: what grpc-go itself costs is what is left.
package raw

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
)

// Codec takes and gives *[]byte. What it is given must not change before the call is over.
var Codec encoding.CodecV2 = codec{}

type codec struct{}

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	b, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("a %T is not raw", v)
	}
	return mem.BufferSlice{mem.SliceBuffer(*b)}, nil
}

// Unmarshal copies, since the data is only lent.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("a %T is not raw", v)
	}
	n := data.Len()
	if cap(*b) < n {
		*b = make([]byte, n)
	}
	*b = (*b)[:n]
	data.CopyTo(*b)
	return nil
}

// Name is that of the format that the bytes have.
func (codec) Name() string { return "proto" }
