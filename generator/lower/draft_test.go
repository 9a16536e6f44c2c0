package lower

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/spec"
)

// schemaOf is the text of a shipped schema after edits, pairs of old and new text. The names of what is new begin in column 5.
func schemaOf(t *testing.T, version string, edits ...string) *spec.Document {
	t.Helper()
	src, err := spec.Source(version)
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(src), "\n}\n") // a proto may follow
	text += "\n}\n"
	for i := 0; i < len(edits); i += 2 {
		if strings.Count(text, edits[i]) != 1 {
			t.Fatalf("%q is there %d times", edits[i], strings.Count(text, edits[i]))
		}
		text = strings.Replace(text, edits[i], edits[i+1], 1)
	}
	doc, problems := spec.Read("mine.json", []byte(text))
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	doc.Version = "0.4-mine"
	return doc
}

// wireText prints a wire without its names.
func wireText(t *testing.T, v *ir.Version) string {
	t.Helper()
	w := *v.Wires[0]
	src, err := json.MarshalIndent(struct {
		Layouts    []*ir.Layout
		Operations []*ir.Operation
		Rules      []ir.Rule
	}{w.Layouts, v.Operations, v.Rules}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(src), `"arg": "0.4-mine"`, `"arg": "`+v.Name+`"`)
}

func TestADraftWithoutNewsIsItsModel(t *testing.T) {
	for _, version := range []string{"0.3", "0.2", "0.1"} {
		t.Run(version, func(t *testing.T) {
			hub, old := shipped(t), shippedDoc(t, version)
			p, problems := Protocol([]*spec.Document{schemaOf(t, version), hub, old})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if len(p.Versions) != 3 || p.Versions[0].Name != "1.0" || p.Versions[1].Name != version || p.Versions[2].Name != "0.4-mine" {
				t.Fatalf("versions %v", p.Versions)
			}
			want := strings.ReplaceAll(wireText(t, p.Versions[1]), `"arg": "`+version+`"`, `"arg": "0.4-mine"`)
			if diff := cmp.Diff(want, strings.ReplaceAll(wireText(t, p.Versions[2]), `"arg": "`+version+`"`, `"arg": "0.4-mine"`)); diff != "" {
				t.Errorf("the wires differ (-model +draft):\n%s", diff)
			}
			plain, _ := Protocol([]*spec.Document{shipped(t), shippedDoc(t, version)})
			for i, v := range plain.Versions {
				if diff := cmp.Diff(wireText(t, v), wireText(t, p.Versions[i])); diff != "" {
					t.Errorf("version %s differs beside the draft:\n%s", v.Name, diff)
				}
			}
		})
	}
}

// The places of edits.
const (
	taskMembers  = "      \"description\": \"Task is a unit of work with a life cycle.\",\n      \"properties\": {\n"
	textMembers  = "      \"description\": \"TextPart is text.\",\n      \"properties\": {\n"
	beforeCancel = "    \"CancelTaskRequest\": {\n"
)

func TestTheOtherVersionsDoNotSeeWhatIsNewInADraft(t *testing.T) {
	news := schemaOf(t, "0.3", taskMembers, taskMembers+"        \"priority\": {\"type\": \"string\"}, \"step\": {\"$ref\": \"#/definitions/Step\"},\n",
		"        \"auth-required\",\n        \"unknown\"\n", "        \"auth-required\", \"paused\", \"unknown\"\n",
		beforeCancel, "    \"Step\": {\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\"}}},\n"+beforeCancel)
	next := shipped(t)
	next.Version = "1.1"
	message(next, "Task").Fields = append(message(next, "Task").Fields, &spec.Field{Name: "priority", JSON: "priority", Number: 40, Type: spec.Type{Kind: spec.String}})
	for name, others := range map[string][]*spec.Document{
		"behind 1.0": {shipped(t), shippedDoc(t, "0.3")}, "behind a newer one": {next, shipped(t), shippedDoc(t, "0.3")},
	} {
		t.Run(name, func(t *testing.T) {
			p, problems := Protocol(append([]*spec.Document{news}, others...))
			plain, _ := Protocol(others)
			if problems.HasErrors() {
				t.Fatal(problems)
			}
			for i, v := range plain.Versions {
				if diff := cmp.Diff(wireText(t, v), wireText(t, p.Versions[i])); diff != "" {
					t.Errorf("version %s differs beside the draft:\n%s", v.Name, diff)
				}
			}
			layouts := p.Versions[len(p.Versions)-1].Wires[0].Layouts
			task := layouts[slices.IndexFunc(layouts, func(l *ir.Layout) bool { return l.Name == "Task" })]
			for _, want := range []string{"priority", "step"} {
				if !slices.ContainsFunc(task.Fields, func(f *ir.FieldLayout) bool { return f.Name == want }) {
					t.Errorf("the draft's Task has no %s", want)
				}
			}
			if typeOf(p, "Step").Fields[0].Presence != ir.Explicit {
				t.Error("the new message tells no empty text from none")
			}
			AddWires(p, ir.ProtoJSON, ir.Proto)
			if n := len(p.Versions[len(p.Versions)-1].Wires); n != 1 {
				t.Errorf("the draft has %d wires", n)
			}
		})
	}
}

func TestDraftsThatCannotBeGenerated(t *testing.T) {
	tests := []struct {
		name  string
		edits []string
		want  string // a diagnostic: where, what and the remedy
	}{
		{"another way to send", []string{`"const": "message/send"`, `"const": "message/post"`}, `mine.json: the schema is in the shape of no version that is known: it has no operation to send a message \(`},
		{"a member that is gone", []string{"        \"messageId\": {", "        \"uuid\": {", "        \"messageId\",\n", ""}, `mine.json:\d+:5: Message has no messageId, which the runtime needs \(keep it\)`},
		{"a member of another type", []string{taskMembers + "        \"artifacts\": {\n", taskMembers + "        \"artifacts\": {\"type\": \"string\"}, \"works\": {\n"},
			`mine.json:\d+:9: field artifacts of Task is not of the type that it has in version 0\.\d \(give it the type that it has there, or another name\)`},
		{"a new member of a part", []string{textMembers, textMembers + "        \"language\": {\"type\": \"string\"},\n"},
			`mine.json:\d+:9: the runtime reads and writes TextPart as it is in version 0\.\d: the member language would be lost \(put it into the metadata`},
		{"a required message", []string{taskMembers, taskMembers + "        \"step\": {\"$ref\": \"#/definitions/TaskStatus\"},\n", "        \"contextId\",\n        \"id\",\n        \"kind\",\n        \"status\"\n", "        \"contextId\", \"id\", \"kind\", \"status\", \"step\"\n"},
			`mine.json:\d+:9: step cannot be required: the runtime makes Task without it \(leave it out of required\)`},
		{"a member that the hub has with another type", []string{"        \"acceptedOutputModes\": {", "        \"returnImmediately\": {\"type\": \"string\"}, \"acceptedOutputModes\": {"},
			`mine.json:\d+:9: field returnImmediately of MessageSendConfiguration is of another type than field return_immediately of message SendMessageConfiguration in version 1.0, whose types these are \(give it another name\)`},
		{"a kind of part without a kind", []string{"          \"$ref\": \"#/definitions/DataPart\"\n        }\n      ]", "          \"$ref\": \"#/definitions/DataPart\"\n        }, {\"$ref\": \"#/definitions/AgentProvider\"}\n      ]"},
			`mine.json:\d+:5: AgentProvider cannot be told from the other alternatives of Part \(let it be an object in which kind is a constant of its own\)`},
		{"an operation that answers a list", []string{beforeCancel, "    \"CountRequest\": {\"properties\": {\"method\": {\"const\": \"tasks/count\"}}}, \"CountResponse\": {\"properties\": {\"jsonrpc\": {\"const\": \"2.0\"}, \"result\": {\"type\": \"integer\"}}},\n" + beforeCancel},
			`mine.json:\d+:5: what operation tasks/count takes and answers must be an object or nothing; here it is int64 \(let it be an object with members\)`},
		{"an operation that takes something else", []string{"          \"$ref\": \"#/definitions/DeleteTaskPushNotificationConfigParams\"", "          \"$ref\": \"#/definitions/TaskIdParams\""},
			`mine.json:\d+:5: operation tasks/pushNotificationConfig/delete takes or answers something else than in version 0\.\d \(give what is new another method\)`},
		{"a state that is gone", []string{"        \"completed\",\n", ""}, `mine.json:\d+:5: TaskState has no value completed, which the runtime needs \(keep it\)`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, problems := Protocol([]*spec.Document{schemaOf(t, "0.3", tt.edits...), shipped(t)})
			if p != nil || !slices.ContainsFunc(problems, func(d diag.Diagnostic) bool {
				return d.Severity == diag.Error && regexp.MustCompile("^"+tt.want).MatchString(d.String())
			}) {
				t.Errorf("no %q in %v", tt.want, problems)
			}
		})
	}
}
