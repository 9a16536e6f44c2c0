package spec

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/diag"
)

// headBundle is what the newer script makes of a small proto.
const headBundle = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "A2A Protocol Schemas", "version": "v1",
  "$defs": {
    "AgentThing": {"additionalProperties": false, "title": "Agent Thing", "type": "object", "description": "A thing.",
      "patternProperties": {"^(o_auth)$": {"$ref": "#/$defs/O2Auth"}, "^(page_size)$": {"type": "integer"}},
      "properties": {
        "oAuth": {"$ref": "#/$defs/O2Auth"},
        "data": {"$ref": "#/$defs/Value"}, "meta": {"$ref": "#/$defs/Struct"}, "when": {"$ref": "#/$defs/Timestamp"},
        "mode": {"anyOf": [{"pattern": "^MODE_NONE$", "type": "string"}, {"enum": ["MODE_A", "MODE_B"], "type": "string"}, {"maximum": 2147483647, "minimum": -2147483648, "type": "integer"}], "default": 0, "title": "Thing Mode"},
        "modes": {"type": "array", "items": {"anyOf": [{"pattern": "^MODE_NONE$", "type": "string"}, {"enum": ["MODE_A", "MODE_B"], "type": "string"}, {"maximum": 2147483647, "minimum": -2147483648, "type": "integer"}], "title": "Thing Mode"}},
        "pageSize": {"anyOf": [{"maximum": 2147483647, "minimum": -2147483648, "type": "integer"}, {"pattern": "^-?[0-9]+$", "type": "string"}]},
        "big": {"anyOf": [{"exclusiveMaximum": 9223372036854775808, "minimum": -9223372036854775808, "type": "integer"}, {"pattern": "^-?[0-9]+$", "type": "string"}], "default": 0},
        "count": {"anyOf": [{"maximum": 4294967295, "minimum": 0, "type": "integer"}, {"pattern": "^[0-9]+$", "type": "string"}], "default": 0},
        "ratio": {"anyOf": [{"type": "number"}, {"pattern": "^-?[0-9]+$", "type": "string"}, {"enum": ["NaN", "Infinity", "-Infinity"], "type": "string"}], "default": 0},
        "raw": {"pattern": "^[A-Za-z0-9+/]*={0,2}$", "type": "string"},
        "huge": {"anyOf": [{"exclusiveMaximum": 18446744073709551616, "minimum": 0, "type": "integer"}, {"pattern": "^[0-9]+$", "type": "string"}], "default": 0},
        "part": {"anyOf": [{"maximum": 3.4028234663852886e+38, "minimum": -3.4028234663852886e+38, "type": "number"}, {"pattern": "^-?[0-9]+$", "type": "string"}], "default": 0},
        "plain": {"type": "integer", "default": 0}, "took": {"$ref": "#/$defs/Duration"},
        "byName": {"additionalProperties": {"$ref": "#/$defs/O2Auth"}, "propertyNames": {"type": "string"}, "type": "object"}
      }},
    "O2Auth": {"additionalProperties": false, "properties": {}, "title": "O2 Auth", "type": "object"},
    "Duration": {"format": "duration", "title": "Duration", "type": "string"},
    "Struct": {"title": "Struct", "type": "object"},
    "Value": {"title": "Value"},
    "Timestamp": {"format": "date-time", "title": "Timestamp", "type": "string"}
  }
}`

// legacy turns it into what the older script makes of it.
func legacy(bundle string) string {
	for _, name := range []string{"Struct", "Value", "Timestamp", "Duration"} {
		bundle = strings.ReplaceAll(bundle, `"#/$defs/`+name+`"`, `"google.protobuf.`+name+`.jsonschema.json"`)
	}
	for _, keys := range [][2]string{{`"$defs"`, `"definitions"`}, {`"AgentThing":`, `"Agent Thing":`}, {`"O2Auth":`, `"O2 Auth":`}} {
		bundle = strings.ReplaceAll(bundle, keys[0], keys[1])
	}
	before, rest, found := strings.Cut(bundle, `"#/$defs/`)
	for found {
		name, after, _ := strings.Cut(rest, `"`)
		bundle = before + `"acme.v2.` + name + `.jsonschema.json"` + after
		before, rest, found = strings.Cut(bundle, `"#/$defs/`)
	}
	return bundle
}

func TestBundlesOfBothFormsSayWhatTheProtoDoes(t *testing.T) {
	src := []byte(`syntax = "proto3"; package acme.v2;
import "google/protobuf/duration.proto"; import "google/protobuf/struct.proto"; import "google/protobuf/timestamp.proto";
message AgentThing {
  O2Auth o_auth = 1; google.protobuf.Value data = 2; google.protobuf.Struct meta = 3; google.protobuf.Timestamp when = 4;
  ThingMode mode = 5; repeated ThingMode modes = 6; optional int32 page_size = 7; int64 big = 8; uint32 count = 9; double ratio = 10;
  optional bytes raw = 11; uint64 huge = 12; float part = 13; int64 plain = 14; google.protobuf.Duration took = 15; map<string, O2Auth> by_name = 16;
}
message O2Auth {}
enum ThingMode { MODE_NONE = 0; MODE_A = 1; MODE_B = 2; }`)
	want, problems := Read("x.proto", src)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	want.Syntax, want.Package = Bundle, ""
	for _, f := range want.Messages[0].Fields {
		f.Number = 0
		if f.JSON == "byName" {
			f.Name = "byName" // the fixture has no pattern for it
		}
	}
	want.Messages[0].Comment = "A thing."
	for name, text := range map[string]string{"newer": headBundle, "older": legacy(headBundle)} {
		t.Run(name, func(t *testing.T) {
			got, problems := Read("x.json", []byte(text))
			if len(problems) != 1 || problems[0].Code != "no-operations" || problems.HasErrors() {
				t.Fatal(problems)
			}
			want.Path, want.Files, want.Package, want.Descriptor = got.Path, got.Files, map[string]string{"older": "acme.v2"}[name], nil
			if diff := cmp.Diff(want, got, ignorePositions); diff != "" {
				t.Errorf("document differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestABundleWithADanglingFileNameIsRefused(t *testing.T) {
	doc, problems := Read("x.json", []byte(strings.ReplaceAll(legacy(headBundle), `"O2 Auth":`, `"O3 Auth":`)))
	if doc != nil || !slices.ContainsFunc(problems, func(d diag.Diagnostic) bool {
		return strings.HasPrefix(d.String(), `x.json:7:27: there is no definition "acme.v2.O2Auth.jsonschema.json"`)
	}) {
		t.Errorf("%v", problems)
	}
}

func TestThePublishedBundleSaysWhatTheProtoDoes(t *testing.T) {
	want, err := Shipped("1.0")
	if err != nil {
		t.Fatal(err)
	}
	bundle := published(t, "a2a-v1.0.1.json")
	for form, src := range map[string][]byte{"newer": bundle, "older": byTitle(t, bundle)} {
		t.Run(form, func(t *testing.T) {
			got, problems := Read("bundle.json", src)
			if problems.HasErrors() {
				t.Fatal(problems)
			}
			if diff := cmp.Diff(shapes(want), shapes(got)); diff != "" {
				t.Errorf("the bundle differs from the proto (-proto +bundle):\n%s", diff)
			}
		})
	}
}

// byTitle turns a bundle of the newer form into the one that 1.0.0 and 1.0.1 were published with: definitions by title,
// references to files.
func byTitle(t *testing.T, bundle []byte) []byte {
	t.Helper()
	var root struct {
		Defs map[string]map[string]any `json:"$defs"`
	}
	if err := json.Unmarshal(bundle, &root); err != nil {
		t.Fatal(err)
	}
	var refer func(v any)
	refer = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok {
				name, pkg := strings.TrimPrefix(ref, "#/$defs/"), "lf.a2a.v1."
				if slices.Contains([]string{"Struct", "Value", "Timestamp"}, name) {
					pkg = "google.protobuf."
				}
				v["$ref"] = pkg + name + ".jsonschema.json"
			}
			for _, member := range v {
				refer(member)
			}
		case []any:
			for _, elem := range v {
				refer(elem)
			}
		}
	}
	titled := map[string]any{}
	for _, def := range root.Defs {
		refer(def)
		titled[def["title"].(string)] = def
	}
	if titled["O Auth2 Security Scheme"] == nil || len(titled) != len(root.Defs) {
		t.Fatalf("%d titles of %d definitions", len(titled), len(root.Defs))
	}
	src, err := json.Marshal(map[string]any{"$schema": "https://json-schema.org/draft/2020-12/schema", "definitions": titled})
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// shapes are the types of all fields and the values of all enums.
func shapes(doc *Document) map[string]string {
	all := map[string]string{}
	for _, m := range doc.Messages {
		for _, f := range m.Fields {
			all[m.Name+"."+f.Name+"/"+f.JSON] = f.Type.String()
		}
	}
	for _, e := range doc.Enums {
		var names []string
		for _, v := range e.Values {
			names = append(names, v.Name)
		}
		all[e.Name] = strings.Join(names, " ")
	}
	return all
}
