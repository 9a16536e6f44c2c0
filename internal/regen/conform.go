package main

import (
	"bytes"
	"fmt"
	"go/format"
	"slices"

	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/spec"
)

// definitionTable is what package conform knows of every shipped definition that is released. It is made from the documents alone and not from
// what codecs are made from, so that a mistake in the codecs is found by it.
func definitionTable() (output.File, error) {
	var b bytes.Buffer
	b.WriteString("// " + output.Header + "\n\npackage conform\n\n")
	b.WriteString("// definitions are the shipped definitions of the protocol, newest first.\nvar definitions = []*definition{\n")
	for _, ref := range spec.References() {
		if slices.Contains(spec.Drafts(), ref) {
			continue
		}
		doc, err := spec.Named(ref)
		if err != nil {
			return output.File{}, err
		}
		t := table{doc: doc, out: &b, seen: map[string]bool{}}
		t.print()
	}
	b.WriteString("}\n")
	text, err := format.Source(b.Bytes())
	return output.File{Path: "testkit/conform/definition.gen.go", Data: text}, err
}

// table prints one document: what its operations and the card consist of, and nothing else.
type table struct {
	doc  *spec.Document
	out  *bytes.Buffer
	seen map[string]bool // what has been printed or is to be
	todo []string
}

func (t *table) print() {
	fmt.Fprintf(t.out, "{version: %q, proto: %v,\noperations: []operation{\n", t.doc.Version, t.doc.Syntax == spec.Proto)
	for _, op := range t.doc.Operations {
		fmt.Fprintf(t.out, "{name: %q, rpc: %q, grpc: %q, request: %q, response: %q, stream: %v",
			op.Name, op.RPC, op.GRPC, t.typeName(op.Request), t.typeName(op.Response), op.Stream)
		if len(op.HTTP) > 0 {
			t.out.WriteString(", routes: []route{")
			for _, r := range op.HTTP {
				fmt.Fprintf(t.out, "{%q, %q, %q},", r.Verb, r.Path, r.Body)
			}
			t.out.WriteString("}")
		}
		t.out.WriteString("},\n")
	}
	t.typeName(spec.Type{Kind: spec.MessageOf, Name: "AgentCard"})
	t.out.WriteString("},\ntypes: []typeOf{\n")
	for len(t.todo) > 0 {
		name := t.todo[0]
		t.todo = t.todo[1:]
		t.printType(name)
	}
	t.out.WriteString("},\n},\n")
}

func (t *table) printType(name string) {
	for _, m := range t.doc.Messages {
		if m.Name == name {
			t.printMessage(m)
		}
	}
	for _, e := range t.doc.Enums {
		if e.Name == name {
			fmt.Fprintf(t.out, "{name: %q, values: []value{", name)
			for _, v := range e.Values {
				fmt.Fprintf(t.out, "{%q, %d},", v.Name, v.Number)
			}
			t.out.WriteString("}},\n")
		}
	}
	for _, c := range t.doc.Choices {
		if c.Name == name {
			fmt.Fprintf(t.out, "{name: %q, tag: %q, anyOf: []string{", name, c.Tag)
			for _, alternative := range c.Types {
				fmt.Fprintf(t.out, "%q,", t.typeName(alternative))
			}
			t.out.WriteString("}},\n")
		}
	}
}

func (t *table) printMessage(m *spec.Message) {
	fmt.Fprintf(t.out, "{name: %q, open: %v, fields: []field{", m.Name, m.Extra != nil) // one line each: it is long enough
	for _, f := range m.Fields {
		fmt.Fprintf(t.out, "{%q, %q, %d, %v, %v, %q, %q},", f.JSON, t.typeName(f.Type), f.Number, f.Required, f.Nullable, f.Const, f.Union)
	}
	t.out.WriteString("}},\n")
}

// typeName writes a type as package conform reads it: "string", "Part", "[]Part", "{}string". What is named is printed later.
func (t *table) typeName(of spec.Type) string {
	switch of.Kind {
	case spec.List:
		return "[]" + t.typeName(*of.Elem)
	case spec.Map:
		return "{}" + t.typeName(*of.Elem)
	case spec.MessageOf, spec.EnumOf, spec.ChoiceOf:
		if !t.seen[of.Name] {
			t.seen[of.Name] = true
			t.todo = append(t.todo, of.Name)
		}
		return of.Name
	}
	return string(of.Kind)
}
