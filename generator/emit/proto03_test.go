package emit

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/spec"
)

// TestTheProtobufOf03ThatIsTestedIsFresh keeps the codec that package a2aall has in its tests, and only there.
func TestTheProtobufOf03ThatIsTestedIsFresh(t *testing.T) {
	var docs []*spec.Document
	for _, version := range []string{"1.0", "0.3"} {
		doc, err := spec.Shipped(version)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	p, problems := lower.Protocol(docs)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	lower.AddWires(p, ir.Proto)
	wires := p.Versions[1].Wires
	if len(wires) != 2 || wires[1].Name != "0.3/proto" {
		t.Fatalf("0.3 has %d wires, or others", len(wires))
	}
	f, err := ProtoCodec(p, wires[1], Paths{Protocol: "github.com/a2agen/a2agen/internal/a2aall"})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("..", "..", "internal", "a2aall", wires[1].File+"_test.go")
	if *update {
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, f.Data) {
		t.Errorf("%s is stale: go test ./generator/emit -run Fresh -update", name)
	}
}
