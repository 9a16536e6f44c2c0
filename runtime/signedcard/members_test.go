package signedcard

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/spec"
)

// TestMembersAreThoseOfTheDefinition holds the tables of this package to A2A 1.0's proto.
func TestMembersAreThoseOfTheDefinition(t *testing.T) {
	src, err := spec.Source("1.0")
	if err != nil {
		t.Fatal(err)
	}
	messages := definition(string(src))
	seen := map[string]bool{}
	var check func(name string, got message)
	check = func(name string, got message) {
		if seen[name] {
			return
		}
		seen[name] = true
		want := messages[name]
		if want == nil {
			t.Fatalf("the definition has no message %s", name)
		}
		var list []string
		for member, f := range got {
			is, of := describe(f, want[snakeCase(member)])
			list = append(list, snakeCase(member)+" "+is)
			if f.of != nil {
				check(of, f.of)
			}
		}
		slices.Sort(list)
		var wanted []string
		for member, is := range want {
			if name != "AgentCard" || member != signaturesMember {
				wanted = append(wanted, member+" "+strings.TrimSpace(is))
			}
		}
		slices.Sort(wanted)
		if d := cmp.Diff(wanted, list); d != "" {
			t.Errorf("%s (-definition +table):\n%s", name, d)
		}
	}
	check("AgentCard", agentCard)
	if len(seen) != 20 {
		t.Errorf("%d messages are compared, want 20", len(seen))
	}
}

// describe is a member as the definition would have it, with the message that it is of there.
func describe(f member, defined string) (is, of string) {
	rules := map[rule]string{implicit: "", optional: "optional ", required: "required "}
	words := strings.Fields(defined)
	if len(words) > 0 {
		of = strings.TrimSuffix(words[len(words)-1], ">")
	}
	types := map[kind]string{
		text: "string", truth: "bool", texts: "repeated string", textMap: "map<string, string>", anything: "google.protobuf.Struct",
		one: of, several: "repeated " + of, named: "map<string, " + of + ">",
	}
	return rules[f.rule] + types[f.kind], of
}

// definition reads the messages of a proto: of each its members, as "required repeated string". Members of a oneof are as others.
func definition(src string) map[string]map[string]string {
	messages := map[string]map[string]string{}
	var in map[string]string
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "message "); ok {
			in = map[string]string{}
			messages[strings.TrimSuffix(name, " {")] = in
			continue
		}
		left, right, ok := strings.Cut(line, " = ")
		words := strings.Fields(left)
		if in == nil || !ok || len(words) < 2 || strings.HasPrefix(line, "//") {
			continue
		}
		is := strings.Join(words[:len(words)-1], " ")
		if strings.Contains(right, "REQUIRED") {
			is = "required " + is
		}
		in[words[len(words)-1]] = is
	}
	return messages
}
