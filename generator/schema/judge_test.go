package schema_test

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/schema"
)

// TestRawSchemasDoNotKeepDefaultsFromBeingJudged: what stays raw JSON may hold anything. The contract can then perhaps not be
// evaluated, which is an error and no panic, but its defaults are.
func TestRawSchemasDoNotKeepDefaultsFromBeingJudged(t *testing.T) {
	for name, raw := range map[string]string{
		"lookahead":          `"pattern":"(?=a)"`,
		"lookahead of names": `"patternProperties":{"(?=a)":{}}`,
		"wrong types":        `"properties":3,"allOf":{},"minimum":"x"`,
		"huge bound":         `"minimum":1e999999999`,
	} {
		t.Run(name, func(t *testing.T) {
			res, list := compileOne(`{"type":"object","properties":{
				"v":{"x-go":"raw",`+raw+`},"w":{"type":"integer","default":"x"}}}`, nil)
			if len(list) != 1 || !strings.Contains(list[0].String(), "the default is not valid") {
				t.Fatal(list)
			}
			judge, err := schema.NewEvaluator(res.Roots[0].Bundle)
			if err == nil {
				_, err = judge.Problem("", []byte(`{"v":"x"}`))
			}
			if err == nil {
				t.Error("no error")
			}
		})
	}
}

// A name with a percent sign is that name, though a pointer in a URL has it otherwise.
func TestAPointerIsTakenAsItIs(t *testing.T) {
	e, err := schema.NewEvaluator([]byte(`{"properties":{"50%25":{"type":"string"},"100%":{"type":"integer"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]string{"/properties/50%25": "", "/properties/100%": `must be a whole number, not the text "a"`} {
		if problem, err := e.Problem(pointer, []byte(`"a"`)); err != nil || problem != want {
			t.Errorf("%s: %q, %v, want %q", pointer, problem, err, want)
		}
	}
}

// To the evaluator's library every value fits what is no schema: contracts of others come to it as they are.
func TestWhatCannotBeEvaluatedIsAnError(t *testing.T) {
	e, err := schema.NewEvaluator([]byte(`{"prefixItems":[{"type":"string"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if problem, err := e.Problem("/items", []byte(`"a"`)); err == nil || problem != "" {
		t.Errorf("%q, %v", problem, err)
	}
}
