package schema_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/runtime/gen/check/format"
)

// limited are schemas by the keyword that sets a limit in them, with a value that breaks it.
var limited = map[string]struct{ schema, bad string }{
	"minimum":          {`{"type":"number","minimum":3}`, `2`},
	"exclusiveMinimum": {`{"type":"number","exclusiveMinimum":3}`, `3`},
	"maximum":          {`{"type":"number","maximum":-3}`, `-2`},
	"exclusiveMaximum": {`{"type":"number","exclusiveMaximum":-3}`, `-3`},
	"multipleOf":       {`{"type":"number","multipleOf":0.3,"minimum":1}`, `1`},
	"minLength":        {`{"type":"string","minLength":12}`, `"x"`},
	"maxLength":        {`{"type":"string","maxLength":1}`, `"xx"`},
	"pattern":          {`{"type":"string","pattern":"^a\\u0062$"}`, `"x"`},
	"format":           {`{"type":"string","format":"email"}`, `"x"`},
	"minItems":         {`{"type":"array","minItems":2}`, `[1]`},
	"maxItems":         {`{"type":"array","maxItems":1}`, `[1,2]`},
	"uniqueItems":      {`{"type":"array","uniqueItems":true}`, `[1,1]`},
	"minProperties":    {`{"type":"object","minProperties":2}`, `{}`},
	"maxProperties":    {`{"type":"object","maxProperties":0}`, `{"a":1}`},
	"even":             {`{"type":"integer","even":true,"minimum":3}`, `3`},
}

// limits holds the parts of a row to one another, and with the made-up keyword that a row is all that there is of one:
// emitted code checks it, the generator judges by it in the same words, a sample keeps to it.
func limits(t *testing.T) inquiry {
	var cases []conformance
	for _, name := range schema.Limits() {
		test, ok := limited[name]
		if !ok {
			t.Errorf("no schema with %s", name)
			continue
		}
		cases = append(cases, conformance{name: name, schema: test.schema, tests: []instance{{json: test.bad}}})
	}
	return inquiry{"a limit is checked, judged and kept to", cases, func(t *testing.T, roots []schema.Root, verdicts [][]verdict) {
		for i, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				judge, err := schema.NewEvaluator(roots[i].Bundle)
				if err != nil {
					t.Fatal(err)
				}
				said, err := judge.Problem("", []byte(c.tests[0].json))
				got := verdicts[i][0].Violations
				if err != nil || said == "" || len(got) != 1 || got[0].Message != said && c.name != "uniqueItems" {
					t.Errorf("emitted code says %v, the generator %q, %v", got, said, err)
				}
				sample, ok := moved(roots[i].Ref.Type.Of)
				if said, err := judge.Problem("", []byte(sample)); err != nil || said != "" || !ok {
					t.Errorf("sample %s: %s, %v", sample, said, err)
				}
			})
		}
	}}
}

// moved is a sample that was moved to the limits of a root.
func moved(ref *ir.DataRef) (json string, ok bool) {
	var limits []ir.Limit
	if ref.Checks != nil {
		limits = ref.Checks.Limits
	}
	switch d := (schema.Draft{Text: "sample", Size: 1}); ref.Kind {
	case ir.DataString:
		ok = d.Keep(limits)
		return `"` + d.Text + `"`, ok
	case ir.DataList:
		ok = d.Keep(limits)
		return "[" + strings.TrimSuffix(strings.Repeat("1,", d.Size), ",") + "]", ok
	case ir.DataMap:
		ok = d.Keep(limits)
		return "{" + strings.TrimSuffix(strings.Join([]string{`"a":1,`, `"b":2,`}[:d.Size], ""), ",") + "}", ok
	default:
		n, err := d.NumberText(limits)
		return n, err == nil
	}
}

func TestAMadeUpKeywordIsOneRow(t *testing.T) {
	schema.AddEven(t)
	for text, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"integer","even":true,"default":3}}}`: "the default is not valid and has no effect: must be a multiple of 2",
		`{"type":"string","even":true}`:  "even says nothing about a value of type string",
		`{"type":"integer","evne":true}`: `did you mean "even"?`,
		`{"type":"integer","even":2}`:    "must be true or false, got the number 2",
	} {
		if _, list := compileOne(text, nil); len(list) != 1 || !strings.Contains(list[0].String(), want) {
			t.Errorf("%s: %v, want %s", text, list, want)
		}
	}
}

// TestDocsListTheKeywords holds the tables of docs/skills.md to the tables of keywords and formats.
func TestDocsListTheKeywords(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "skills.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, keywords, _ := strings.Cut(string(text), "\n## Keywords\n")
	keywords, formats, _ := strings.Cut(keywords, "\n## Formats\n")
	formats, _, _ = strings.Cut(formats, "\n## ")
	row := func(text, name string) string {
		for line := range strings.Lines(text) {
			if first, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |"); strings.Contains(first, "`"+name+"`") || strings.Contains(first, "`"+name+":") {
				return line
			}
		}
		return ""
	}
	taken, refused := schema.Keywords()
	for _, name := range taken {
		if line := row(keywords, name); line == "" || strings.Contains(line, "error with a remedy") {
			t.Errorf("%s is understood; the docs say %q", name, line)
		}
	}
	for _, name := range refused {
		if line := row(keywords, name); !strings.Contains(line, "error with a remedy") {
			t.Errorf("%s is refused; the docs say %q", name, line)
		}
	}
	checked, others := schema.Formats()
	for _, name := range checked {
		if line := row(formats, name); line == "" || strings.Contains(line, "not checked") {
			t.Errorf("format %s is checked; the docs say %q", name, line)
		}
		if format.Valid(name, "\x00 ~") && name != "regex" {
			t.Errorf("runtime/gen/check/format takes anything as %s", name)
		}
	}
	for _, name := range others {
		if line := row(formats, name); !strings.Contains(line, "not checked") || !format.Valid(name, "\x00 ~") {
			t.Errorf("format %s is not checked; the docs say %q", name, line)
		}
	}
}

// TestRefusedKeywordsAreCompared holds the rows of keywords that Go types cannot express: schemas of others have them, and
// one without a word on how it is compared would say nothing about values.
func TestRefusedKeywordsAreCompared(t *testing.T) {
	silent := map[string]bool{"$dynamicAnchor": true, "$recursiveAnchor": true, "$vocabulary": true}
	_, refused := schema.Keywords()
	for _, name := range refused {
		row := schema.Lookup(name)
		if compared := row.Compared != schema.ByMeaning || name == "patternProperties"; compared == silent[name] {
			t.Errorf("%s is compared: %v", name, compared)
		}
		for _, other := range row.With {
			if !slices.Equal(schema.Lookup(other).With, row.With) {
				t.Errorf("%s speaks together with %s, which does not say so", name, other)
			}
		}
	}
	if row := schema.Lookup("frobnicate"); row.Name != "" || row.Remedy != "" || row.Holds != schema.HoldsNone {
		t.Errorf("a keyword nobody knows has a row: %+v", row)
	}
}
