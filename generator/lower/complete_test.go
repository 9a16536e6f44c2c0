package lower

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/internal/test/bundletest"
	"github.com/a2agen/a2agen/internal/test/official"
	"github.com/a2agen/a2agen/spec"
)

// bundle reads the schema that is made of 1.0 after a change, and after an edit of the schema's text.
func bundle(t *testing.T, form bundletest.Form, change func(*spec.Document), edits ...string) *spec.Document {
	t.Helper()
	doc := shipped(t)
	change(doc)
	src, err := bundletest.Make(doc, form)
	if err != nil {
		t.Fatal(err)
	}
	return readBundle(t, strings.NewReplacer(edits...).Replace(string(src)))
}

func readBundle(t *testing.T, src string) *spec.Document {
	t.Helper()
	doc, problems := spec.Read("a2a.json", []byte(src))
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	doc.Version = "1.1"
	return doc
}

// whole compares what lowering asks of a definition.
var whole = cmp.Options{
	cmpopts.IgnoreTypes(diag.Pos{}), cmpopts.IgnoreFields(spec.Document{}, "Version", "Path", "Files"),
	cmpopts.IgnoreFields(spec.Enum{}, "Comment"), cmpopts.IgnoreFields(spec.EnumValue{}, "Comment"), cmpopts.IgnoreFields(spec.Message{}, "Comment"), cmpopts.IgnoreFields(spec.Field{}, "Comment"),
	cmpopts.SortSlices(func(a, b *spec.Message) bool { return a.Name < b.Name }), cmpopts.SortSlices(func(a, b *spec.Enum) bool { return a.Name < b.Name }),
	cmpopts.EquateEmpty(),
}

func TestACompletedBundleIsTheProtoThatItWasMadeOf(t *testing.T) {
	sources := map[string]*spec.Document{
		"by name":  bundle(t, bundletest.ByName, func(*spec.Document) {}),
		"by title": bundle(t, bundletest.ByTitle, func(*spec.Document) {}),
		// A maker that tells less: no defaults, no bounds, well-known types as plain JSON.
		"without facts": bundle(t, bundletest.ByName, func(*spec.Document) {},
			`"default": "",`, "", `"default": false,`, "", `"default": 0,`, "", `"pattern": "^[A-Za-z0-9+/]*={0,2}$",`, "", `"maximum": 2147483647,`, "",
			`"minimum": -2147483648,`, "", `"$ref": "#/$defs/Timestamp"`, `"type": "string"`, `"$ref": "#/$defs/Struct"`, `"type": "object"`),
	}
	want := shipped(t)
	for _, name := range append(slices.Sorted(maps.Keys(sources)), "published") {
		t.Run(name, func(t *testing.T) {
			doc := sources[name]
			if name == "published" {
				src, err := os.ReadFile(official.Folder(t, "a2a-v1.0.1.json"))
				if err != nil {
					t.Fatal(err)
				}
				doc = readBundle(t, string(src))
			}
			got, problems := complete(doc, want)
			if len(problems) > 0 {
				t.Error(problems)
			}
			if diff := cmp.Diff(want, got, whole); diff != "" {
				t.Errorf("the bundle is completed to something else (-proto +bundle):\n%s", diff)
			}
		})
	}
}

func TestWhatIsNewInABundle(t *testing.T) {
	field := func(kind spec.Kind, optional bool) *spec.Field {
		return &spec.Field{Name: "new_one", JSON: "newOne", Number: 90, Type: spec.Type{Kind: kind}, Optional: optional}
	}
	message := func(name string) *spec.Field {
		return &spec.Field{Name: "new_one", JSON: "newOne", Number: 90, Type: spec.Type{Kind: spec.MessageOf, Name: name}}
	}
	tests := []struct {
		name, message string
		field         *spec.Field
		union         string
		optional      bool
	}{
		{"a scalar without presence", "Task", field(spec.String, false), "", false},
		{"a scalar with presence", "Task", field(spec.String, true), "", true},
		{"a message", "Task", message("Artifact"), "", false},
		{"a scalar with presence where only members have it", "Part", field(spec.String, true), "content", false},
		{"a scalar without presence where only members have it", "Part", field(spec.String, false), "", false},
		{"a message where members and others are messages", "Part", message("Artifact"), "", false},
		{"a message where all are members", "StreamResponse", message("Artifact"), "payload", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := shipped(t)
			doc, problems := complete(bundle(t, bundletest.ByName, func(d *spec.Document) {
				m := messageOf(d, tt.message)
				m.Fields = append(m.Fields, tt.field)
			}), base)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			got := memberOf(messageOf(doc, tt.message), "new_one")
			if got == nil || got.Union != tt.union || got.Optional != tt.optional || got.Number != 0 || got.Pos.Line == 0 {
				t.Errorf("the field is %+v", got)
			}
		})
	}
}

func TestNumbersOfEnumValuesInABundle(t *testing.T) {
	tests := []struct {
		name   string
		change func(e *spec.Enum)
		want   map[string]int32
	}{
		{"a new one at the end", func(e *spec.Enum) {
			e.Values = append(e.Values, &spec.EnumValue{Name: "TASK_STATE_PAUSED", Number: 9})
		}, map[string]int32{"TASK_STATE_AUTH_REQUIRED": 8, "TASK_STATE_PAUSED": 9}},
		{"one in the place of another is that one", func(e *spec.Enum) { e.Values[3].Name = "TASK_STATE_DONE" }, map[string]int32{"TASK_STATE_DONE": 3, "TASK_STATE_FAILED": 4}},
		{"one that is gone leaves the others alone", func(e *spec.Enum) { e.Values = slices.Delete(e.Values, 3, 4) }, map[string]int32{"TASK_STATE_WORKING": 2, "TASK_STATE_FAILED": 4}},
		{"a new last one is not the one that is gone", func(e *spec.Enum) { e.Values[8] = &spec.EnumValue{Name: "TASK_STATE_PAUSED", Number: 9} }, map[string]int32{"TASK_STATE_PAUSED": 9}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc, _ := complete(bundle(t, bundletest.ByName, func(d *spec.Document) { tt.change(enumOf(d, "TaskState")) }), shipped(t))
			for name, number := range tt.want {
				if v := enumValue(enumOf(doc, "TaskState"), name); v == nil || v.Number != number {
					t.Errorf("%s is %+v, want number %d", name, v, number)
				}
			}
		})
	}
}

func TestBundlesThatCannotBeGenerated(t *testing.T) {
	remove := func(message, json string) func(*spec.Document) {
		return func(d *spec.Document) {
			m := messageOf(d, message)
			m.Fields = slices.DeleteFunc(m.Fields, func(f *spec.Field) bool { return f.JSON == json })
		}
	}
	tests := []struct {
		name   string
		change func(*spec.Document)
		want   string // a diagnostic: where, what and the remedy
	}{
		{"a field that the runtime needs is gone", remove("Task", "history"),
			`a2a.json:\d+:\d+: message Task has no field history, which the runtime needs \(keep it, under the name`},
		{"a field that the runtime needs has another name", func(d *spec.Document) {
			f := memberOf(messageOf(d, "Task"), "id")
			f.Name, f.JSON = "task_id", "taskId"
		}, `a2a.json:\d+:\d+: message Task has no field id, which the runtime needs \(keep it, under the name`},
		{"a part without text", remove("Part", "text"), `a2a.json:\d+:\d+: message Part has no member text of type string in content, which the runtime needs \(keep it`},
		{"a state that the runtime needs is gone", func(d *spec.Document) { e := enumOf(d, "TaskState"); e.Values = slices.Delete(e.Values, 3, 4) },
			`a2a.json:\d+:\d+: enum TaskState has no value TASK_STATE_COMPLETED, which the runtime needs \(keep it`},
		{"a field of another type", func(d *spec.Document) { memberOf(messageOf(d, "AgentProvider"), "url").Type.Kind = spec.Bool },
			`a2a.json:\d+:\d+: field url of message AgentProvider has another type in version 1.0, which stands behind this definition \(`},
		{"no way to send a message", func(d *spec.Document) {
			d.Messages = slices.DeleteFunc(d.Messages, func(m *spec.Message) bool { return m.Name == "SendMessageRequest" })
		}, `a2a.json: the definition has no operation to send a message \(declare it`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := Protocol([]*spec.Document{bundle(t, bundletest.ByName, tt.change), shipped(t)})
			if p != nil || !slices.ContainsFunc(problems, func(d diag.Diagnostic) bool {
				return d.Severity == diag.Error && regexp.MustCompile("^"+tt.want).MatchString(d.String())
			}) {
				t.Errorf("no %q in %v", tt.want, problems)
			}
		})
	}
}

func TestARenamedEnumValueKeepsItsGoName(t *testing.T) {
	doc := shipped(t)
	doc.Version = "1.1"
	enumValue(enumOf(doc, "TaskState"), "TASK_STATE_CANCELED").Name = "TASK_STATE_STOPPED"
	p, problems := Protocol([]*spec.Document{doc, shipped(t)})
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	v := valueOf(typeOf(p, "TaskState"), "TASK_STATE_STOPPED")
	if v == nil || v.Go != "TaskStateCanceled" {
		t.Fatalf("the value is %+v", v)
	}
	for _, version := range p.Versions {
		for _, l := range version.Wires[0].Layouts {
			for _, on := range l.Values {
				if want := map[string]string{"1.1": "TASK_STATE_STOPPED", "1.0": "TASK_STATE_CANCELED"}[version.Name]; on.Value == v && on.Name != want {
					t.Errorf("%s says %s", version.Name, on.Name)
				}
			}
		}
	}
}
