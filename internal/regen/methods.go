package main

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/output"
)

// methodAges is the table by which a server tells a caller of which versions a method is that the request's version
// does not have.
func methodAges(p *ir.Protocol) (output.File, error) {
	of := map[string][]string{} // oldest first
	var methods []string
	for _, v := range slices.Backward(p.Versions) {
		for _, op := range v.Operations {
			if of[op.RPC] == nil {
				methods = append(methods, op.RPC)
			}
			of[op.RPC] = append(of[op.RPC], v.Name)
		}
	}
	var b bytes.Buffer
	b.WriteString("// " + output.Header + "\n\npackage binding\n\n")
	b.WriteString("// methodAges says of which versions of A2A a method is, of all that there are.\nvar methodAges = map[string]string{\n")
	for _, m := range methods {
		fmt.Fprintf(&b, "%q: %q,\n", m, span(of[m]))
	}
	b.WriteString("}\n")
	text, err := format.Source(b.Bytes())
	return output.File{Path: "runtime/server/internal/binding/methods.gen.go", Data: text}, err
}

// span names versions that follow one another, oldest first: "0.1 to 0.3".
func span(versions []string) string {
	first, last := versions[0], versions[len(versions)-1]
	switch len(versions) {
	case 1:
		return first
	case 2:
		return first + " and " + last
	}
	return first + " to " + last
}
