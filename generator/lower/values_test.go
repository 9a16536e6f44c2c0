package lower

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/spec"
)

// valuesOf lists the values of an enum on a version's wire: what is written, what else is read, and the Go constant.
func valuesOf(p *ir.Protocol, version, enum string) string {
	var b strings.Builder
	for _, v := range p.Versions {
		for _, l := range v.Wires[0].Layouts {
			if v.Name != version || l.Name != enum {
				continue
			}
			for _, x := range l.Values {
				fmt.Fprintf(&b, "%s %v %s\n", x.Name, x.Aliases, x.Value.Go)
			}
		}
	}
	return b.String()
}

func lowerTexts(t *testing.T, texts map[string]string, order ...string) *ir.Protocol {
	t.Helper()
	var docs []*spec.Document
	for _, version := range order {
		doc, err := spec.Shipped(version)
		if text, ok := texts[version]; ok {
			name := "mine.proto"
			if strings.HasPrefix(text, "{") {
				name = "mine.json"
			}
			read, list := spec.Read(name, []byte(text))
			if list.HasErrors() {
				t.Fatal(list)
			}
			doc, err = read, nil
			doc.Version = version
		}
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	p, list := Protocol(docs)
	if list.HasErrors() {
		t.Fatal(list)
	}
	return p
}

func source(t *testing.T, version string) string {
	t.Helper()
	src, err := spec.Source(version)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(string(src), "{") {
		text, _, _ := strings.Cut(string(src), "\n}\n")
		return text + "\n}\n"
	}
	return string(src)
}

func TestEnumAliasesAreOneValue(t *testing.T) {
	text := source(t, "1.0") + "enum Mood { option allow_alias = true; MOOD_UNSPECIFIED = 0; MOOD_NONE = 0; MOOD_GOOD = 1; MOOD_FINE = 1; MOOD_BAD = 2; }\n"
	p := lowerTexts(t, map[string]string{"1.1-mine": text}, "1.1-mine", "1.0")
	const want = "MOOD_UNSPECIFIED [MOOD_NONE] MoodUnspecified\nMOOD_GOOD [MOOD_FINE] MoodGood\nMOOD_BAD [] MoodBad\n"
	if diff := cmp.Diff(want, valuesOf(p, "1.1-mine", "Mood")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestStatesThatTheRuntimeTellsApartCannotBeOne(t *testing.T) {
	text := strings.Replace(source(t, "1.0"), "TASK_STATE_REJECTED = 7;", "TASK_STATE_REJECTED = 4;\n  option allow_alias = true;", 1)
	doc, list := spec.Read("mine.proto", []byte(text))
	if list.HasErrors() {
		t.Fatal(list)
	}
	doc.Version = "1.1"
	_, list = Protocol([]*spec.Document{doc})
	if len(list) == 0 || !strings.Contains(list[0].Message, "values TASK_STATE_FAILED and TASK_STATE_REJECTED of enum TaskState are one") || list[0].Pos.Line == 0 {
		t.Errorf("%v", list)
	}
}

func TestNewStatesOfADraftAreValuesOfTheirOwn(t *testing.T) {
	text := strings.Replace(source(t, "0.1"), `"input-required",`, `"input-required", "rejected", "auth-required", "Working",`, 1)
	p := lowerTexts(t, map[string]string{"0.1-mine": text}, "1.0", "0.1-mine")
	got := valuesOf(p, "0.1-mine", "TaskState")
	for _, want := range []string{"rejected [] TaskStateRejected\n", "auth-required [] TaskStateAuthRequired\n", "working [] TaskStateWorking\n", "Working [] TaskStateWorking2\n"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not there:\n%s", want, got)
		}
	}
}

func TestVersionsOfOneGoNameHaveFunctionsOfTheirOwn(t *testing.T) {
	text := source(t, "1.0")
	p := lowerTexts(t, map[string]string{"1.11": text, "11.1": text}, "1.11", "11.1")
	if a, b := p.Versions[0].Wires[0].Suffix, p.Versions[1].Wires[0].Suffix; a == b {
		t.Errorf("both are %s", a)
	}
}

func TestAFieldOfAHookKeepsItsPresence(t *testing.T) {
	text := strings.Replace(source(t, "1.0"), "bool return_immediately", "optional bool return_immediately", 1)
	doc, list := spec.Read("mine.proto", []byte(text))
	if list.HasErrors() {
		t.Fatal(list)
	}
	doc.Version = "1.1"
	older, err := spec.Shipped("0.3")
	if err != nil {
		t.Fatal(err)
	}
	_, list = Protocol([]*spec.Document{doc, older})
	const want = "field return_immediately of message SendMessageConfiguration tells not set from zero, otherwise than in version 1.0"
	if len(list) != 1 || !strings.Contains(list[0].Message, want) || list[0].Pos.Line == 0 || list[0].Hint == "" {
		t.Errorf("%v", list)
	}
}
