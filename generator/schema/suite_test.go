package schema_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// suiteFiles are the files of the official suite about keywords and formats that docs/skills.md lists as understood.
var suiteFiles = []string{
	"additionalProperties", "allOf", "anchor", "anyOf", "boolean_schema", "const", "default", "defs", "dependentRequired", "enum",
	"exclusiveMaximum", "exclusiveMinimum", "infinite-loop-detection", "items", "maxItems", "maxLength", "maxProperties", "maximum", "minItems",
	"minLength", "minProperties", "minimum", "multipleOf", "oneOf", "pattern", "properties", "propertyNames", "ref", "required", "type",
	"uniqueItems",
	"optional/format/date-time", "optional/format/date", "optional/format/duration", "optional/format/email", "optional/format/hostname",
	"optional/format/ipv4", "optional/format/ipv6", "optional/format/json-pointer", "optional/format/regex", "optional/format/time",
	"optional/format/unknown", "optional/unknownKeyword", "optional/format/ecmascript-regex", "optional/format/uri-reference", "optional/format/uri", "optional/format/uuid",
}

// suiteGroup is a schema of the official suite with instances.
type suiteGroup struct {
	file        string
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

func readSuite(t *testing.T, dir string) []suiteGroup {
	t.Helper()
	var all []suiteGroup
	for _, name := range suiteFiles {
		text, err := os.ReadFile(filepath.Join(dir, "tests", "draft2020-12", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var groups []suiteGroup
		if err := json.Unmarshal(text, &groups); err != nil {
			t.Fatal(err)
		}
		for i := range groups {
			groups[i].file = name
		}
		all = append(all, groups...)
	}
	return all
}

// suiteCounts are the groups of the suite, those taken, those of them in which a good value is refused, those refused, and
// the bad values that are accepted.
type suiteCounts struct{ groups, taken, differ, refused, accepted int }

// TestOfficialSuite counts the groups of a checkout of the official suite, and holds docs/decisions/06-schemas-and-contracts.md to it.
func TestOfficialSuite(t *testing.T) {
	dir := os.Getenv("JSON_SCHEMA_TEST_SUITE")
	if dir == "" {
		fmt.Println("the groups of the official suite were not run: set JSON_SCHEMA_TEST_SUITE to a checkout of JSON-Schema-Test-Suite")
		return
	}
	var cases []conformance
	var taken []suiteGroup
	all := readSuite(t, dir)
	n := suiteCounts{groups: len(all)}
	for _, g := range all {
		if _, list := compileOne(string(g.Schema), nil); list.HasErrors() {
			n.refused++
			t.Logf("refused: %s: %s: %v", g.file, g.Description, list[0])
			continue
		}
		c := conformance{name: g.file + ": " + g.Description, schema: string(g.Schema)}
		for _, test := range g.Tests {
			c.tests = append(c.tests, instance{json: string(test.Data)})
		}
		cases, taken = append(cases, c), append(taken, g)
	}
	n.taken = len(taken)
	res := compileCases(t, cases)
	for i, verdicts := range ask(t, module(t, res), cases) {
		same := true
		for j, test := range taken[i].Tests {
			valid := len(verdicts[j].Violations) == 0
			if valid != test.Valid {
				same = false
				t.Logf("%s: %s: %s: %s: valid %v: %v", taken[i].file, taken[i].Description, test.Description, test.Data, test.Valid, verdicts[j].Violations)
			}
			if valid && !test.Valid {
				n.accepted++
			}
			if valid && !evaluate(t, res.Roots[i].Bundle, string(test.Data)) {
				t.Errorf("%s: %s: the evaluator refuses %s, emitted code takes it", taken[i].file, taken[i].Description, test.Data)
			}
		}
		if !same {
			n.differ++
		}
	}
	row := fmt.Sprintf("| %d | %d | %d | %d | %d |", n.groups, n.taken, n.differ, n.refused, n.accepted)
	docs, err := os.ReadFile(filepath.Join("..", "..", "docs", "decisions", "06-schemas-and-contracts.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n.accepted > 0 || !strings.Contains(string(docs), row) {
		t.Errorf("docs/decisions/06-schemas-and-contracts.md lacks the row %s", row)
	}
}
