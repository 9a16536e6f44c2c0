package lower

import (
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/spec"
)

func shippedProtocol(t *testing.T) *ir.Protocol {
	t.Helper()
	doc, err := spec.Shipped("1.0")
	if err != nil {
		t.Fatal(err)
	}
	p, problems := Protocol([]*spec.Document{doc})
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	return p
}

func TestProtobufIsSpokenByWhoAsksForIt(t *testing.T) {
	tests := []struct {
		name      string
		encodings []ir.Encoding
		change    func(l *ir.Layout)
		want      int
	}{
		{"nothing asked for", nil, nil, 1},
		{"only JSON asked for", []ir.Encoding{ir.JSON}, nil, 1},
		{"protobuf asked for", []ir.Encoding{ir.JSON, ir.Proto}, nil, 2},
		{"a member without a number", []ir.Encoding{ir.Proto}, func(l *ir.Layout) { l.Fields[0].Number = 0 }, 1},
		{"a member with a hook", []ir.Encoding{ir.Proto}, func(l *ir.Layout) { l.Fields[0].Hook = "Some" }, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := shippedProtocol(t)
			if tt.change != nil {
				tt.change(p.Versions[0].Wires[0].Layouts[0])
			}
			AddWires(p, tt.encodings...)
			if wires := p.Versions[0].Wires; len(wires) != tt.want || wires[0].Encoding != ir.JSON {
				t.Errorf("%d wires, want %d, JSON first", len(wires), tt.want)
			}
		})
	}
}

func TestTheProtobufWireIsTheTwinOfTheJSONWire(t *testing.T) {
	p := shippedProtocol(t)
	AddWires(p, ir.Proto)
	w := p.Versions[0].Wires[1]
	if w.Name != "1.0/proto" || w.Suffix != "V10Proto" || w.File != "codec_v1_0_proto" || w.Encoding != ir.Proto {
		t.Errorf("wire %q, suffix %q, file %q, encoding %q", w.Name, w.Suffix, w.File, w.Encoding)
	}
	if json := p.Versions[0].Wires[0]; json.Suffix != "V10JSON" {
		t.Errorf("beside it the functions of JSON end in %q", json.Suffix)
	}
	if len(w.Layouts) != len(p.Types) {
		t.Errorf("%d layouts of %d types", len(w.Layouts), len(p.Types))
	}
}

func TestOlderVersionsWithoutATableOfNumbersKeepToJSON(t *testing.T) {
	var docs []*spec.Document
	for _, version := range []string{"1.0", "0.3", "0.2", "0.1"} {
		doc, err := spec.Shipped(version)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	p, problems := Protocol(docs)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	AddWires(p, ir.Proto)
	for i, want := range []int{2, 2, 1, 1} {
		if got := len(p.Versions[i].Wires); got != want {
			t.Errorf("%s has %d wires, want %d", p.Versions[i].Name, got, want)
		}
	}
}
