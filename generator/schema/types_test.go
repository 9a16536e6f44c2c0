package schema_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/ir"
)

// goNames lists the types as "Go kind".
func goNames(res compiled) []string {
	var out []string
	for _, t := range res.Types {
		out = append(out, t.Go+" "+string(t.Kind))
	}
	return out
}

func TestTypesAreNamedByPlaceOrDefinition(t *testing.T) {
	for _, test := range []struct {
		name, schema string
		want         []string
	}{
		{"nested objects by their path", `{type: object, properties: {location: {type: object, properties: {city_id: {type: object, properties: {}}}}}}`,
			[]string{"ForecastInput struct", "ForecastInputLocation struct", "ForecastInputLocationCityID struct"}},
		{"items and values", `{type: object, properties: {days: {type: array, items: {type: object, properties: {}}}, by: {type: object, additionalProperties: {enum: [a]}}}}`,
			[]string{"ForecastInput struct", "ForecastInputByValue enum", "ForecastInputDaysItem struct"}},
		{"definitions by their name", `{type: object, properties: {a: {$ref: '#/$defs/geo_point'}}, $defs: {geo_point: {type: object, properties: {unit: {enum: [m]}}}}}`,
			[]string{"ForecastInput struct", "GeoPoint struct", "GeoPointUnit enum"}},
		{"title names nothing", `{title: Foo, type: object, properties: {}}`, []string{"ForecastInput struct"}},
		{"list at the root", `{type: array, items: {type: object, properties: {}}}`, []string{"ForecastInput defined", "ForecastInputItem struct"}},
		{"union at the root", `{oneOf: [{type: string}, {type: integer}]}`, []string{"ForecastInput wrapper", "ForecastInputValue union", "ForecastInputValueInteger defined", "ForecastInputValueString defined"}},
		{"nullable object at the root", `{type: [object, "null"], properties: {}}`, []string{"ForecastInput wrapper", "ForecastInputValue struct"}},
		{"enum at the root", `enum: [a, b]`, []string{"ForecastInput enum"}},
		{"root by reference", `{$ref: '#/$defs/In', $defs: {In: {type: object, properties: {again: {$ref: '#/$defs/In'}}}}}`, []string{"ForecastInput struct"}},
		{"cases by their constant", `{type: object, properties: {s: {oneOf: [{type: object, required: [k], properties: {k: {const: round_one}}}, {type: object, required: [k], properties: {k: {const: 2}}}]}}}`,
			[]string{"ForecastInput struct", "ForecastInputS union", "ForecastInputS2 struct", "ForecastInputSRoundOne struct"}},
		{"two properties with one Go name", `{type: object, properties: {a_b: {type: object, properties: {x: {type: string}}}, aB: {type: object, properties: {y: {type: string}}}}}`,
			[]string{"ForecastInput struct", "ForecastInputAB struct", "ForecastInputAB2 struct"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, list := compileOne(test.schema, nil)
			if got := goNames(res); list.HasErrors() || !slices.Equal(got, test.want) {
				t.Errorf("got %v %v, want %v", got, list, test.want)
			}
		})
	}
}

func TestSkillsShareDefinitionsOnlyWhenTheyAreEqual(t *testing.T) {
	point := func(skill, unit string) request {
		text := `{"type":"object","properties":{"p":{"$ref":"#/$defs/Point"}},"$defs":{"Point":{"type":"object","properties":{"unit":{"enum":["` + unit + `"]},"next":{"$ref":"#/$defs/Point"}}}}}`
		return request{skill + "Input", "agent.yaml", text}
	}
	res, list := compile([]request{point("One", "m"), point("Two", "m"), point("Three", "ft")}, nil)
	if list.HasErrors() {
		t.Fatal(list)
	}
	want := []string{"OneInput struct", "Point struct", "PointUnit enum", "ThreeInput struct", "ThreeInputPoint struct", "ThreeInputPointUnit enum", "TwoInput struct"}
	if got := goNames(res); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, typ := range res.Types {
		for _, f := range typ.Fields {
			if f.Type.Kind == ir.DataNamed && (f.Type.Type == nil || f.Type.Name != f.Type.Type.Go || !slices.Contains(res.Types, f.Type.Type)) {
				t.Errorf("%s.%s refers to a type that is not emitted: %v", typ.Go, f.Go, f.Type)
			}
		}
	}
}

func TestReservedNamesAreNotTaken(t *testing.T) {
	text := `{type: object, properties: {a: {$ref: '#/$defs/Task'}}, $defs: {Task: {type: object, properties: {}}}}`
	res, list := compile([]request{{"PlanOutput", "f", text}}, nil)
	if got, want := goNames(res), []string{"PlanOutput struct", "PlanOutputTask struct"}; list.HasErrors() || !slices.Equal(got, want) {
		t.Errorf("got %v %v, want %v", got, list, want)
	}
}

func TestTextFieldIsTheOnlyRequiredString(t *testing.T) {
	for _, test := range []struct{ name, schema, want string }{
		{"one string", `{type: object, required: [q], properties: {q: {type: string}, n: {type: integer}}}`, "q"},
		{"bounded string", `{type: object, required: [q], properties: {q: {type: string, minLength: 1}}}`, "q"},
		{"two required", `{type: object, required: [q, n], properties: {q: {type: string}, n: {type: integer}}}`, ""},
		{"number", `{type: object, required: [n], properties: {n: {type: integer}}}`, ""},
		{"enum", `{type: object, required: [q], properties: {q: {enum: [a, b]}}}`, ""},
		{"format", `{type: object, required: [q], properties: {q: {type: string, format: uuid}}}`, ""},
		{"constant beside it", `{type: object, required: [q, k], properties: {q: {type: string}, k: {const: 1}}}`, ""},
		{"none required", `{type: object, properties: {q: {type: string}}}`, ""},
		{"string root", `{type: string}`, ""},
		{"union root", `{oneOf: [{type: string}, {type: integer}]}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, list := compileOne(test.schema, nil)
			if list.HasErrors() || res.Roots[0].TextField != test.want {
				t.Errorf("got %q %v, want %q", res.Roots[0].TextField, list, test.want)
			}
		})
	}
}

func TestPresenceFollowsWhatZeroMeans(t *testing.T) {
	res, list := compileOne(`
type: object
required: [req]
properties:
  req: {type: integer}
  opt: {type: integer}
  nul: {type: [integer, "null"]}
  def: {type: integer, default: 3, minimum: 1}
  defAmbiguous: {type: integer, default: 3}
  defZero: {type: boolean, default: false}
  list: {type: array}
  at: {type: string, format: date-time}
`, nil)
	if list.HasErrors() {
		t.Fatal(list)
	}
	want := map[string]string{"req": "", "opt": "pointer", "nul": "null", "def": "omitzero", "defAmbiguous": "pointer", "defZero": "omitzero", "list": "", "at": "omitzero"}
	for _, f := range types(res)["ForecastInput"].Fields {
		got := ""
		switch {
		case f.Pointer:
			got = "pointer"
		case f.OmitZero:
			got = "omitzero"
		case f.Type.Null:
			got = "null"
		}
		if got != want[f.Name] {
			t.Errorf("%s: %q, want %q", f.Name, got, want[f.Name])
		}
	}
}

func TestBundleStandsAlone(t *testing.T) {
	files := map[string]string{"geo.yaml": "Point:\n  $anchor: p\n  type: object\n  x-note: {b: 1, a: 2}\n  properties: {lat: {type: number, minimum: 0, exclusiveMinimum: true}}\n"}
	res, list := compileOne(`{title: T, properties: {p: {$ref: 'geo.yaml#/Point', description: here}, q: {$ref: 'geo.yaml#p'}, e: {enum: [a], nullable: true, description: d}}, definitions: {unused: {type: string}}, examples: [{p: {}}]}`, files)
	const want = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","title":"T","properties":{"p":{"$ref":"#/$defs/Point","description":"here"},"q":{"$ref":"#/$defs/Point"},` +
		`"e":{"description":"d","anyOf":[{"enum":["a"]},{"type":"null"}]}},"examples":[{"p":{}}],"$defs":{"Point":{"type":"object","x-note":{"b":1,"a":2},"properties":{"lat":{"type":"number","exclusiveMinimum":0}}}}}`
	if got := string(res.Roots[0].Bundle); list.HasErrors() || got != want {
		t.Errorf("%v\ngot  %s\nwant %s", list, got, want)
	}
}

func TestEmissionIsDeterministic(t *testing.T) {
	cases := allCases()
	var first []byte
	for range 3 {
		code := emitted(t, compileCases(t, cases))
		if first == nil {
			first = code
		}
		if !bytes.Equal(first, code) {
			t.Fatal("two runs differ")
		}
	}
}

func TestDescriptionsNeverBecomeCode(t *testing.T) {
	res, list := compileOne(`{"type":"object","description":"x\n//go:generate touch /tmp/x\n+build ignore\r\npackage p\u2028func init() {}","properties":{"a":{"type":"string","description":"*/ }\n//go:embed x"}}}`, nil)
	if list.HasErrors() {
		t.Fatal(list)
	}
	for i, line := range strings.Split(string(emitted(t, res)), "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "//go:") || strings.HasPrefix(line, "// +build") || strings.HasPrefix(line, "func init") {
			t.Errorf("line %d: %s", i+1, line)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, c := range allCases() {
		f.Add(c.schema)
	}
	f.Add(`{"oneOf":[{"$ref":"#/oneOf/0"}]}`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}]}}}`)
	f.Add("type: object\nproperties: {a: {$ref: '#/properties'}}")
	f.Fuzz(func(t *testing.T, text string) {
		res, list := compileOne(text, nil)
		if list.HasErrors() {
			return
		}
		out := emitted(t, res)
		again, list := compileOne(string(res.Roots[0].Bundle), nil)
		if list.HasErrors() {
			t.Fatalf("bundle %s: %v", res.Roots[0].Bundle, list)
		}
		if second := emitted(t, again); !bytes.Equal(out, second) {
			t.Errorf("bundle %s gives other types: %s", res.Roots[0].Bundle, firstDifference(out, second))
		}
	})
}

// BenchmarkTenSkills compiles and emits the contracts of ten skills with a nested object, an enum and a list each.
func BenchmarkTenSkills(b *testing.B) {
	var reqs []request
	for i := range 10 {
		for _, role := range []string{"Input", "Output"} {
			text := `{"type":"object","required":["city"],"properties":{"city":{"type":"string","minLength":1},"days":{"type":"integer","minimum":1,"default":3},"units":{"enum":["c","f"]},"tags":{"type":"array","items":{"type":"string"}},"at":{"type":"object","properties":{"lat":{"type":"number"},"lon":{"type":"number"}}}}}`
			reqs = append(reqs, request{fmt.Sprintf("Skill%d%s", i, role), "agent.yaml", text})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		res, list := compile(reqs, nil)
		if list.HasErrors() {
			b.Fatal(list)
		}
		if _, err := emit.Data(res.Types, "agent", "agent/data.gen.go"); err != nil {
			b.Fatal(err)
		}
	}
}

func TestCodesKeepTheirCapitals(t *testing.T) {
	for values, want := range map[string]string{
		`["EMEA","APAC","A4"]`: "EMEA APAC A4", `["EMEA","NORTH_AMERICA","PENDING","LOW"]`: "EMEA NorthAmerica Pending Low", `["LOW","MEDIUM"]`: "Low Medium", `["emea","us"]`: "Emea Us",
	} {
		res, list := compileOne(`{"type":"object","properties":{"v":{"enum":`+values+`}}}`, nil)
		if list.HasErrors() {
			t.Fatal(list)
		}
		enum := types(res)["ForecastInputV"]
		var got []string
		for _, v := range enum.Values {
			got = append(got, strings.TrimPrefix(v.Go, "ForecastInputV"))
		}
		if names := strings.Join(got, " "); names != want {
			t.Errorf("%s: %s, want %s", values, names, want)
		}
	}
}
