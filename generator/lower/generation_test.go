package lower

import (
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/spec"
)

// No wire of another version has a field of the draft's, in any encoding: who speaks that version neither reads nor sees one.
func TestOnlyTheDraftHasGenerations(t *testing.T) {
	var docs []*spec.Document
	for _, version := range append(spec.Drafts(), spec.Versions()...) {
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
	AddWires(p, ir.ProtoJSON, ir.Proto)
	for _, v := range p.Versions {
		drafted := v.Name == "1.1-draft"
		for _, w := range v.Wires {
			var found []string
			for _, l := range w.Layouts {
				for _, f := range l.Fields {
					if f.Field != nil && strings.Contains(f.Field.Go, "Generation") {
						found = append(found, l.Name+"."+f.Field.Go)
					}
				}
			}
			if drafted != slices.Contains(found, "Task.Generation") || !drafted && found != nil {
				t.Errorf("%s has the fields %q", w.Name, found)
			}
		}
		if has := slices.ContainsFunc(v.Rules, func(r ir.Rule) bool { return r.Name == "Generations" }); has != drafted {
			t.Errorf("version %s has the rule: %v", v.Name, has)
		}
	}
}
