package lower

import (
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/spec"
)

func TestAlignmentOfProtosIsTotalInBothDirections(t *testing.T) {
	if got := AlignedProtos(); !slices.Equal(got, []string{"0.3-proto"}) {
		t.Errorf("aligned protos: %v", got)
	}
	for _, name := range AlignedProtos() {
		t.Run(name, func(t *testing.T) {
			a, ok, err := tableOf(name)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			old, err := spec.ShippedProto(a.version)
			if err != nil {
				t.Fatal(err)
			}
			for _, gap := range a.gaps(old, shippedDoc(t, "1.0")) {
				t.Error(gap)
			}
		})
	}
}

func TestAlignmentOfAProtoIsReportedAndNoVersion(t *testing.T) {
	r, err := AlignmentOf("0.3-proto")
	if err != nil {
		t.Fatal(err)
	}
	for _, class := range []string{"same", "renamed", "hook", "derived", "absent"} {
		if r.Counts[class] == 0 {
			t.Errorf("nothing is %s", class)
		}
	}
	for _, hook := range []string{"TaskName", "ConfigName", "ConfigParent", "WrappedPart", "Interfaces", "BlockingFlag", "Schemes", "Final"} {
		if !slices.Contains(r.Hooks, hook) {
			t.Errorf("no hook %s", hook)
		}
	}
	if len(r.Losses) == 0 || slices.Contains(AlignedVersions(), "0.3-proto") {
		t.Errorf("losses %v, versions %v", r.Losses, AlignedVersions())
	}
	if _, ok, _ := alignmentOf("0.3-proto"); ok {
		t.Error("a version called 0.3-proto has a table")
	}
	t.Logf("%v, hooks %v", r.Counts, r.Hooks)
}

func TestProtoJSONIsAddedOnlyWhereItIsAskedForAndKnown(t *testing.T) {
	wires := func(docs []*spec.Document, encodings ...ir.Encoding) string {
		p, problems := Protocol(docs)
		if problems.HasErrors() {
			t.Fatal(problems)
		}
		AddWires(p, encodings...)
		var names []string
		for _, v := range p.Versions {
			for _, w := range v.Wires {
				names = append(names, w.Name)
			}
		}
		return strings.Join(names, " ")
	}
	all := []*spec.Document{shippedDoc(t, "1.0"), shippedDoc(t, "0.3"), shippedDoc(t, "0.1")}
	preview := shipped(t)
	preview.Version = "1.1-preview"
	message(preview, "Task").Fields[1].Name, message(preview, "Task").Fields[1].JSON = "conversation_id", "conversationId"
	changed := shipped(t)
	changed.Version = "1.1-preview"
	message(changed, "AgentProvider").Fields[0].Type = spec.Type{Kind: spec.Int32}
	tests := []struct {
		name      string
		docs      []*spec.Document
		encodings []ir.Encoding
		want      string
	}{
		{"not asked for", all, nil, "1.0/json 0.3/json 0.1/json"},
		{"asked for", all, []ir.Encoding{ir.ProtoJSON}, "1.0/json 0.3/json 0.3/protojson 0.1/json"},
		{"with protobuf", all, []ir.Encoding{ir.ProtoJSON, ir.Proto}, "1.0/json 1.0/proto 0.3/json 0.3/protojson 0.3/proto 0.1/json"},
		{"1.0 alone", all[:1], []ir.Encoding{ir.ProtoJSON}, "1.0/json"},
		{"behind a hub with a renamed field", []*spec.Document{preview, shippedDoc(t, "0.3")}, []ir.Encoding{ir.ProtoJSON}, "1.1-preview/json 0.3/json 0.3/protojson"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := wires(tt.docs, tt.encodings...); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
	if _, problems := Protocol([]*spec.Document{changed, shippedDoc(t, "0.3")}); !problems.HasErrors() {
		t.Error("a field of another type is no error")
	}
}

func TestProtoJSONFollowsARenamedFieldOfTheHub(t *testing.T) {
	preview := shipped(t)
	preview.Version = "1.1-preview"
	message(preview, "Task").Fields[1].Name, message(preview, "Task").Fields[1].JSON = "conversation_id", "conversationId"
	p, problems := Protocol([]*spec.Document{preview, shippedDoc(t, "0.3")})
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	AddWires(p, ir.ProtoJSON)
	for _, l := range p.Versions[1].Wires[1].Layouts {
		for _, m := range l.Fields {
			if l.Name == "Task" && m.Name == "contextId" {
				if m.Field.Name != "conversation_id" || m.Number != 2 || !slices.Equal(m.Aliases, []string{"context_id"}) {
					t.Errorf("%+v of field %s", m, m.Field.Go)
				}
				return
			}
		}
	}
	t.Error("no contextId")
}
