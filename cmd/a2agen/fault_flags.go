package main

import (
	"github.com/a2agen/a2agen/internal/faultproxy"
	"github.com/a2agen/a2agen/testkit/fault"
)

// faultFlag is a flag of a kind of fault: each time that it is given it adds a fault to a list.
type faultFlag struct {
	kind faultproxy.Kind
	list *[]fault.Fault
}

func (f *faultFlag) String() string { return "" }

// Type names the value in the help.
func (f *faultFlag) Type() string { return f.kind.Takes }

// Set reads a fault, so that an error names the flag.
func (f *faultFlag) Set(text string) error {
	made, err := f.kind.Parse(text)
	if err != nil {
		return err
	}
	*f.list = append(*f.list, made)
	return nil
}
