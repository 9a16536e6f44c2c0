package lower

import (
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/spec"
)

func shippedDoc(t *testing.T, version string) *spec.Document {
	t.Helper()
	doc, err := spec.Shipped(version)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestEveryShippedOlderVersionIsAligned(t *testing.T) {
	for _, version := range spec.Versions() {
		if !slices.Contains(spec.Hubs(), version) && !slices.Contains(AlignedVersions(), version) {
			t.Errorf("no alignment of %s", version)
		}
	}
}

func TestAlignmentIsTotalInBothDirections(t *testing.T) {
	for _, version := range AlignedVersions() {
		t.Run(version, func(t *testing.T) {
			a, ok, err := alignmentOf(version)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			for _, gap := range a.gaps(shippedDoc(t, version), shippedDoc(t, "1.0")) {
				t.Error(gap)
			}
		})
	}
}

func TestAlignmentGapsAreFound(t *testing.T) {
	const table = "operation message/send SendMessage\nmessage Task Task\n  kind const task\n  id same\n  nonsense same\n  -status drop\n  -ghost drop\n"
	a := &alignment{version: "0.3"}
	for _, line := range strings.Split(strings.TrimSpace(table), "\n") {
		read := a.entry
		if strings.HasPrefix(line, " ") {
			read = a.member
		}
		if err := read(strings.Fields(line)); err != nil {
			t.Fatal(err)
		}
	}
	found := strings.Join(a.gaps(shippedDoc(t, "0.3"), shippedDoc(t, "1.0")), "\n") + "\n"
	for _, want := range []string{
		"old operation tasks/get\n", "hub operation ListTasks\n", "old message Message\n", "hub message Message\n", "old field Task.history (as Task)\n",
		"hub field Task.metadata\n", "no old field Task.nonsense\n", "no hub field Task.ghost\n", "old enum TaskState\n", "hub value ROLE_USER\n", "old choice Part\n",
	} {
		if !strings.Contains(found, want) {
			t.Errorf("no gap %q in:\n%s", want, found)
		}
	}
}

func TestAlignmentReport(t *testing.T) {
	for _, version := range AlignedVersions() {
		r, err := AlignmentOf(version)
		if err != nil {
			t.Fatal(err)
		}
		for _, class := range []string{"same", "renamed", "constant", "hook", "derived", "absent", "framing"} {
			if r.Counts[class] == 0 {
				t.Errorf("%s: nothing is %s", version, class)
			}
		}
		if len(r.Losses) == 0 || len(r.Hooks) < 5 || len(r.Hooks) > 16 {
			t.Errorf("%s: %d losses, hooks %v", version, len(r.Losses), r.Hooks)
		}
		for class := range r.Counts {
			if !slices.Contains(Classes, class) {
				t.Errorf("%s: class %q", version, class)
			}
		}
	}
	if _, err := AlignmentOf("1.0"); err == nil {
		t.Error("the hub has an alignment with itself")
	}
}

func TestOlderVersionsThatCannotBeGenerated(t *testing.T) {
	preview := func(change func(*spec.Document)) *spec.Document {
		doc := shipped(t)
		doc.Version = "1.1-preview"
		change(doc)
		return doc
	}
	same := func(*spec.Document) {}
	tests := []struct {
		name string
		docs []*spec.Document
		want string // the code of the error; none if it can
	}{
		{"an older version alone", []*spec.Document{shippedDoc(t, "0.3")}, "old-hub"},
		{"1.0 behind an older one", []*spec.Document{shippedDoc(t, "0.3"), shippedDoc(t, "1.0")}, "old-hub"},
		{"a version twice", []*spec.Document{shippedDoc(t, "1.0"), shippedDoc(t, "0.3"), shippedDoc(t, "0.3")}, "repeated-version"},
		{"a schema without a table", []*spec.Document{shippedDoc(t, "1.0"), {Version: "0.0", Syntax: spec.Schema}}, "unknown-shape"},
		{"all", []*spec.Document{preview(same), shippedDoc(t, "1.0"), shippedDoc(t, "0.3"), shippedDoc(t, "0.2"), shippedDoc(t, "0.1")}, ""},
		{"a field of another type", []*spec.Document{preview(func(d *spec.Document) {
			message(d, "AgentCard").Fields[0].Type = spec.Type{Kind: spec.String}
			message(d, "AgentProvider").Fields[0].Type = spec.Type{Kind: spec.Int32}
		}), shippedDoc(t, "1.0")}, "changed-type"},
		{"a field of another type before an older version", []*spec.Document{preview(func(d *spec.Document) { message(d, "AgentProvider").Fields[0].Type = spec.Type{Kind: spec.Int32} }), shippedDoc(t, "0.3")}, "alignment"},
		{"an operation whose request is gone", []*spec.Document{preview(func(d *spec.Document) {
			d.Messages = slices.DeleteFunc(d.Messages, func(m *spec.Message) bool { return m.Name == "DeleteTaskPushNotificationConfigRequest" })
			d.Operations = slices.DeleteFunc(d.Operations, func(o *spec.Operation) bool { return o.Name == "DeleteTaskPushNotificationConfig" })
		}), shippedDoc(t, "1.0")}, "removed-type"},
		{"an operation that is gone before an older version", []*spec.Document{preview(func(d *spec.Document) {
			d.Messages = slices.DeleteFunc(d.Messages, func(m *spec.Message) bool { return m.Name == "DeleteTaskPushNotificationConfigRequest" })
			d.Operations = slices.DeleteFunc(d.Operations, func(o *spec.Operation) bool { return o.Name == "DeleteTaskPushNotificationConfig" })
		}), shippedDoc(t, "0.3")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := Protocol(tt.docs)
			switch {
			case tt.want == "" && (p == nil || len(p.Versions) != len(tt.docs)):
				t.Errorf("%v", problems)
			case tt.want != "" && (p != nil || !hasCode(problems, tt.want)):
				t.Errorf("got %v, want %s", problems, tt.want)
			}
		})
	}
}

func TestRenamedFieldsAreFoundByTheirNumbersAndKeepTheirGoNames(t *testing.T) {
	doc := shipped(t)
	doc.Version = "1.1-preview"
	message(doc, "Task").Fields[1].Name, message(doc, "Task").Fields[1].JSON = "conversation_id", "conversationId"
	p, problems := Protocol([]*spec.Document{doc, shippedDoc(t, "1.0"), shippedDoc(t, "0.1")})
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	if f := p.Bindings.Fields["Task.context_id"]; f == nil || f.Name != "conversation_id" || f.Go != "ContextID" {
		t.Errorf("bound to %+v", f)
	}
	for i, want := range []string{"conversationId", "contextId", "sessionId"} {
		found := false
		for _, l := range p.Versions[i].Wires[0].Layouts {
			for _, m := range l.Fields {
				found = found || l.Name == "Task" && m.Name == want && m.Field.Name == "conversation_id"
			}
		}
		if !found {
			t.Errorf("version %s does not call it %s", p.Versions[i].Name, want)
		}
	}
}

func TestMistakesInATable(t *testing.T) {
	for line, want := range map[string]string{
		"nonsense Task": "unknown word", "alias a b": "no operation b", "  id": "a line of its own",
	} {
		a := &alignment{}
		read := a.entry
		if strings.HasPrefix(line, " ") {
			read = a.member
		}
		if err := read(strings.Fields(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", line, err)
		}
	}
	a := &alignment{types: []*alignedType{{kind: "message"}}}
	if err := a.member([]string{"id", "sideways"}); err == nil || !strings.Contains(err.Error(), "unknown class") {
		t.Error(err)
	}
}

func hasCode(problems diag.List, code string) bool {
	for _, d := range problems {
		if d.Code == code {
			return true
		}
	}
	return false
}
