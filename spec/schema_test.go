package spec

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/diag"
)

// rpcSchema is a protocol in JSON Schema, in the manner of 0.3.
const rpcSchema = `{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "definitions": {
    "Thing": {
      "description": "Thing is a thing.",
      "properties": {
        "kind": {"const": "thing", "type": "string"},
        "id": {"description": "Which.", "type": "string"},
        "count": {"type": ["integer", "null"], "default": 3},
        "on": {"type": "boolean", "default": false, "deprecated": true},
        "mode": {"$ref": "#/definitions/Mode"},
        "how": {"enum": ["fast", "slow"]},
        "at": {"type": "string", "format": "date-time"},
        "meta": {"additionalProperties": {}, "type": "object"},
        "names": {"type": "object", "additionalProperties": {"type": "string"}},
        "inner": {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": true},
        "parts": {"type": "array", "items": {"$ref": "#/definitions/Part"}},
        "any": {},
        "maybe": {"anyOf": [{"$ref": "#/definitions/Other"}, {"type": "null"}]},
        "key": {"type": ["string", "integer"]},
        "alias": {"$ref": "#/definitions/Alias"},
        "same": {"allOf": [{"$ref": "#/definitions/Other"}], "description": "Said in the old way."}
      },
      "required": ["kind", "id"]
    },
    "Other": {"allOf": [{"$ref": "#/definitions/Base"}, {"properties": {"kind": {"const": "other"}}, "required": ["kind", "note"]}]},
    "Base": {"properties": {"note": {"type": "string"}}},
    "Alias": {"type": "array", "items": {"type": "string", "contentEncoding": "base64"}},
    "Mode": {"enum": ["a", "b-c"], "type": "string"},
    "Part": {"oneOf": [{"$ref": "#/definitions/Thing"}, {"$ref": "#/definitions/Other"}]},
    "GetRequest": {
      "description": "Get gets.",
      "properties": {"jsonrpc": {"const": "2.0"}, "id": {"type": ["string", "integer"]}, "method": {"const": "things/get"}, "params": {"$ref": "#/definitions/Base"}}
    },
    "GetResponse": {"anyOf": [{"$ref": "#/definitions/ErrorResponse"}, {"$ref": "#/definitions/GetSuccessResponse"}]},
    "GetSuccessResponse": {"properties": {"jsonrpc": {"const": "2.0"}, "result": {"type": "null"}}},
    "FollowRequest": {"properties": {"jsonrpc": {}, "method": {"const": "things/stream"}}},
    "FollowResponse": {"properties": {"jsonrpc": {}, "result": {"anyOf": [{"$ref": "#/definitions/Thing"}, {"$ref": "#/definitions/Other"}]}}},
    "AgainRequest": {"properties": {"jsonrpc": {}, "method": {"enum": ["things/resubscribe"]}}},
    "ErrorResponse": {"properties": {"jsonrpc": {}, "error": {"$ref": "#/definitions/GoneError"}}},
    "GoneError": {"properties": {"code": {"const": -32001}, "message": {"default": "Gone"}}, "description": "GoneError says so."},
    "AnyRequest": {"oneOf": [{"$ref": "#/definitions/GetRequest"}, {"$ref": "#/definitions/FollowRequest"}]}
  }
}`

func TestReadKeepsEverythingASchemaSays(t *testing.T) {
	doc, problems := Read("defs/my.json", []byte(rpcSchema))
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	message := func(name string) Type { return Type{Kind: MessageOf, Name: name} }
	list := func(t Type) Type { return Type{Kind: List, Elem: &t} }
	text := Type{Kind: String}
	want := &Document{
		Syntax: Schema, Path: "defs/my.json", Files: []string{"defs/my.json"},
		Messages: []*Message{
			{Name: "Thing", Comment: "Thing is a thing.", Fields: []*Field{
				{Name: "kind", JSON: "kind", Type: text, Required: true, Const: `"thing"`},
				{Name: "id", JSON: "id", Comment: "Which.", Type: text, Required: true},
				{Name: "count", JSON: "count", Type: Type{Kind: Int64}, Optional: true, Nullable: true, Default: "3"},
				{Name: "on", JSON: "on", Type: Type{Kind: Bool}, Optional: true, Deprecated: true, Default: "false"},
				{Name: "mode", JSON: "mode", Type: Type{Kind: EnumOf, Name: "Mode"}, Optional: true},
				{Name: "how", JSON: "how", Type: Type{Kind: EnumOf, Name: "Thing.how"}, Optional: true},
				{Name: "at", JSON: "at", Type: Type{Kind: Timestamp}},
				{Name: "meta", JSON: "meta", Type: Type{Kind: Struct}},
				{Name: "names", JSON: "names", Type: Type{Kind: Map, Elem: &text}},
				{Name: "inner", JSON: "inner", Type: message("Thing.inner")},
				{Name: "parts", JSON: "parts", Type: list(Type{Kind: ChoiceOf, Name: "Part"})},
				{Name: "any", JSON: "any", Type: Type{Kind: Value}},
				{Name: "maybe", JSON: "maybe", Type: message("Other"), Nullable: true},
				{Name: "key", JSON: "key", Type: Type{Kind: ChoiceOf, Name: "Thing.key"}},
				{Name: "alias", JSON: "alias", Type: list(Type{Kind: Bytes})},
				{Name: "same", JSON: "same", Comment: "Said in the old way.", Type: message("Other")},
			}},
			{Name: "Thing.inner", Fields: []*Field{{Name: "x", JSON: "x", Type: Type{Kind: Double}, Optional: true}}, Extra: &Type{Kind: Value}},
			{Name: "Other", Fields: []*Field{
				{Name: "note", JSON: "note", Type: text, Required: true},
				{Name: "kind", JSON: "kind", Type: text, Required: true, Const: `"other"`},
			}},
			{Name: "Base", Fields: []*Field{{Name: "note", JSON: "note", Type: text, Optional: true}}},
		},
		Enums: []*Enum{
			{Name: "Thing.how", Values: []*EnumValue{{Name: "fast", Number: 1}, {Name: "slow", Number: 2}}},
			{Name: "Mode", Values: []*EnumValue{{Name: "a", Number: 1}, {Name: "b-c", Number: 2}}},
		},
		Choices: []*Choice{
			{Name: "Thing.key", Types: []Type{text, {Kind: Int64}}},
			{Name: "Part", Types: []Type{message("Thing"), message("Other")}, Tag: "kind"},
			{Name: "FollowResponse.result", Types: []Type{message("Thing"), message("Other")}, Tag: "kind"},
		},
		Operations: []*Operation{
			{Name: "Get", RPC: "things/get", Comment: "Get gets.", Request: message("Base"), Response: Type{Kind: Empty}},
			{Name: "Follow", RPC: "things/stream", Request: Type{Kind: Empty}, Response: Type{Kind: ChoiceOf, Name: "FollowResponse.result"}, Stream: true},
			{Name: "Again", RPC: "things/resubscribe", Request: Type{Kind: Empty}, Response: Type{Kind: ChoiceOf, Name: "FollowResponse.result"}, Stream: true},
		},
		Errors: []*ErrorCode{{Name: "GoneError", Code: -32001, Message: "Gone", Comment: "GoneError says so."}},
	}
	doc.Envelope = nil // compared where it matters
	if diff := cmp.Diff(want, doc, ignorePositions); diff != "" {
		t.Errorf("document differs (-want +got):\n%s", diff)
	}
	at := func(line, col int) diag.Pos { return diag.Pos{File: "defs/my.json", Line: line, Col: col} }
	for what, got := range map[diag.Pos]diag.Pos{
		at(4, 5): doc.Messages[0].Pos, at(8, 9): doc.Messages[0].Fields[1].Pos, at(12, 26): doc.Enums[0].Values[0].Pos, at(31, 5): doc.Operations[0].Pos,
	} {
		if got != what {
			t.Errorf("position %v, want %v", got, what)
		}
	}
}

var ignorePositions = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() == reflect.TypeFor[diag.Pos]() }, cmp.Ignore())

func TestDefinitionsMayBeUnderEitherKeyword(t *testing.T) {
	doc, problems := Read("x.json", []byte(`{"$defs": {"A": {"properties": {"b": {"$ref": "#/$defs/B%20~1c"}}}, "B /c": {"properties": {}}}}`))
	if len(problems) != 0 {
		t.Fatal(problems)
	}
	if got := doc.Messages[0].Fields[0].Type; got != (Type{Kind: MessageOf, Name: "B /c"}) {
		t.Errorf("type %v", got)
	}
}

func TestTypesOfSchemas(t *testing.T) {
	for src, want := range map[string]string{
		`{}`: "value", `true`: "value", `{"type": "string"}`: "string", `{"type": "string", "format": "uuid"}`: "string", `{"type": "string", "format": "byte"}`: "bytes",
		`{"type": "integer"}`: "int64", `{"type": "integer", "format": "int32"}`: "int32", `{"type": "integer", "format": "uint32"}`: "uint32", `{"type": "integer", "format": "uint64"}`: "uint64",
		`{"type": "number"}`: "double", `{"type": "number", "format": "float"}`: "float", `{"type": "null"}`: "empty", `{"type": ["null"]}`: "empty",
		`{"type": "array"}`: "list of value", `{"items": {"type": "boolean"}}`: "list of bool", `{"type": "object"}`: "struct", `{"additionalProperties": false}`: "struct",
		`{"additionalProperties": {"type": "array", "items": {"type": "string"}}}`: "map of list of string", `{"type": "object", "additionalProperties": false}`: "A.f",
		`{"const": 1}`: "int64", `{"const": 1.5}`: "double", `{"const": true}`: "bool", `{"const": null}`: "empty", `{"const": [1]}`: "value", `{"enum": ["x"]}`: "string",
		`{"enum": ["x", "y"]}`: "A.f", `{"enum": ["x", null, "y"]}`: "A.f or null", `{"enum": [1, 2]}`: "value", `{"type": "integer", "enum": [1, 2]}`: "int64",
		`{"anyOf": [{"type": "string"}]}`: "string", `{"anyOf": [{"type": "null"}, {"items": {"type": "string"}}], "default": null}`: "list of string or null",
		`{"type": ["string", "boolean", "null"]}`: "A.f or null", `{"allOf": [{"type": "string"}]}`: "string", `{"allOf": [{"properties": {"x": {}}}, {"required": ["x"]}]}`: "A.f",
		`{"items": {"properties": {}}}`: "list of A.f", `{"$ref": "#/definitions/Maybe"}`: "Maybe or null", `{"$ref": "#/definitions/A"}`: "A",
	} {
		doc, problems := Read("x.json", []byte(`{"definitions": {"Maybe": {"anyOf": [{"properties": {}}, {"type": "null"}]}, "A": {"properties": {"f": `+src+`}}}}`))
		if problems.HasErrors() {
			t.Errorf("%s: %v", src, problems)
			continue
		}
		checkDocument(t, doc)
		f := doc.Messages[slices.IndexFunc(doc.Messages, func(m *Message) bool { return m.Name == "A" })].Fields[0]
		got := f.Type.String()
		if f.Nullable {
			got += " or null"
		}
		if got != want {
			t.Errorf("%s is %s, want %s", src, got, want)
		}
	}
}

func TestWhatIsDeclaredInPlaceNeverTakesTheNameOfADefinition(t *testing.T) {
	doc, problems := Read("x.json", []byte(`{"definitions": {"A": {"properties": {"b": {"properties": {}}, "c": {"items": {"enum": ["x", "y"]}}}}, "A.b": {"properties": {}}, "A.c": {"enum": ["x", "z"]}}}`))
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	checkDocument(t, doc)
	if f := doc.Messages[0].Fields; f[0].Type.Name != "A.b2" || f[1].Type.Elem.Name != "A.c2" {
		t.Errorf("types %v and %v", f[0].Type, f[1].Type)
	}
}

func TestReadReportsMistakesInSchemasWhereTheyAre(t *testing.T) {
	define := func(definitions string) string { return "{\"definitions\": {\n" + definitions + "\n}}" }
	for name, test := range map[string]struct{ src, want string }{
		"not JSON":                      {"hello", "x.json:1:1: a JSON Schema is an object"},
		"nothing":                       {"", "x.json:1:1: the file is empty"},
		"two documents":                 {"{} {}", "x.json:1:"},
		"a member twice":                {"{\"a\": 1,\n \"a\": 2}", "x.json:2:2: key \"a\" is written twice"},
		"invalid UTF-8":                 {"{\"\xff\": 1}", "x.json:1:"},
		"a list":                        {"[]", "x.json:1:1: a JSON Schema is an object"},
		"no definitions":                {`{"title": "x"}`, "x.json:1:1: the schema defines nothing"},
		"a definition without a name":   {define(`"": {}`), "x.json:2:1: the definition \"\" has no name"},
		"a definition that is none":     {define(`"A": 1`), "x.json:2:6: definition A is not a schema"},
		"a field that is no schema":     {define(`"A": {"properties": {"b": []}}`), "x.json:2:27: a schema must be a map, true or false, got a list"},
		"an unknown reference":          {define(`"A": {"properties": {"b": {"$ref": "#/definitions/B"}}}`), "x.json:2:36: nothing at \"#/definitions/B\""},
		"a reference to another file":   {define(`"A": {"properties": {"b": {"$ref": "https://example.com/b.json"}}}`), "x.json:2:36: \"https://example.com/b.json\": schemas are not fetched from the network (put the definition under $defs)"},
		"a reference that is none":      {define(`"A": {"properties": {"b": {"$ref": 1}}}`), "x.json:2:36: must be text, got the number 1"},
		"a circle of names":             {define(`"A": {"$ref": "#/definitions/B"}, "B": {"$ref": "#/definitions/A"}`), "x.json:2:1: definition A is defined by itself"},
		"an unknown type":               {define(`"A": {"properties": {"b": {"type": "text"}}}`), "x.json:2:36: the text \"text\" is no JSON type"},
		"a value twice":                 {define(`"A": {"enum": ["a", "b", "a"]}`), "x.json:2:26: value \"a\" is listed twice"},
		"all of a string":               {define(`"A": {"allOf": [{"$ref": "#/definitions/B"}, {"properties": {}}]}, "B": {"type": "string"}`), "x.json:2:26: B is no object"},
		"an envelope inside":            {define(`"A": {"properties": {"b": {"$ref": "#/definitions/B"}}}, "B": {"properties": {"jsonrpc": {}}}`), "x.json:2:36: B is an envelope"},
		"a request without a response":  {define(`"ARequest": {"properties": {"method": {"const": "a"}}}`), "x.json:2:1: the operation A has no response"},
		"a code that is no integer":     {define(`"A": {"properties": {"code": {"const": 1.5}, "message": {}}}`), "x.json:2:30: the code of A"},
		"two definitions of one name":   {`{"definitions": {"A": {}}, "$defs": {"A": {}}}`, "x.json:1:38: there are two definitions of A"},
		"required that is no list":      {define(`"A": {"required": "id", "properties": {"id": {}}}`), "x.json:2:19: required must be a list of property names"},
		"an empty enum":                 {define(`"A": {"enum": []}`), "x.json:2:15: enum is empty: no value is valid"},
		"no alternatives":               {define(`"A": {"anyOf": []}`), "x.json:2:16: anyOf must be a list of schemas"},
		"a value of another type":       {define(`"A": {"properties": {"b": {"type": "string", "enum": ["a", 1]}}}`), "x.json:2:60: 1 is not of type string"},
		"a constant of another type":    {define(`"A": {"properties": {"b": {"type": ["integer", "null"], "const": 1.5}}}`), "x.json:2:66: 1.5 is not of type integer or null"},
		"members of a text":             {define(`"A": {"type": "string", "properties": {"b": {}}}`), "x.json:2:39: properties beside the type string"},
		"required that is not there":    {define(`"A": {"properties": {"name": {}}, "required": ["nam"]}`), "x.json:2:48: A requires \"nam\", which it does not have (did you mean \"name\"?)"},
		"a reference to nothing inside": {define(`"A": {"properties": {"b": {"$ref": "#/definitions/A/properties/c"}}}`), "x.json:2:36: nothing at \"#/definitions/A/properties/c\""},
		"a circle inside":               {define(`"A": {"properties": {"b": {"items": {"$ref": "#/definitions/A/properties/b"}}}}`), "x.json:2:27: the schema at A.b is defined by itself"},
		"too deep":                      {define(`"A": ` + strings.Repeat(`{"items":`, 100) + `{}` + strings.Repeat("}", 100)), "x.json:2:"},
		"too large":                     {strings.Repeat(" ", maxSource+1), "x.json:1:1: the file has"},
	} {
		doc, problems := Read("x.json", []byte(test.src))
		if doc != nil || !slices.ContainsFunc(problems, func(d diag.Diagnostic) bool { return strings.HasPrefix(d.String(), test.want) }) {
			t.Errorf("%s: got %v, want %q", name, problems, test.want)
		}
	}
}

func TestWhatASchemaSaysInVainIsAWarning(t *testing.T) {
	doc, problems := Read("x.json", []byte(`{"definitions": {"A": {"properties": {"b": {"not": {"type": "string"}}}}}}`))
	if doc == nil || problems.HasErrors() || len(problems) != 1 || !strings.Contains(problems[0].Message, `"not" is not understood`) {
		t.Errorf("%v", problems)
	}
}

func TestReferencesLeadWhereJSONSchemaSays(t *testing.T) {
	doc, problems := Read("x.json", []byte(`{"$id": "https://example.com/a2a.json", "definitions": {
		"A": {"properties": {
			"role": {"enum": ["x", "y"]},
			"step": {"properties": {"again": {"$ref": "#/definitions/A/properties/step"}}},
			"key": {"$anchor": "key", "type": "integer", "format": "int32"}}},
		"B": {"properties": {
			"role": {"$ref": "#/definitions/A/properties/role"},
			"later": {"$ref": "#/definitions/C/properties/list/items"},
			"key": {"$ref": "#key"},
			"own": {"$ref": "https://example.com/a2a.json#/definitions/A"},
			"short": {"$ref": "a2a.json#/definitions/A"}}},
		"C": {"properties": {"list": {"items": {"properties": {"z": {"type": "string"}}}}}}}}`))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	checkDocument(t, doc)
	want := map[string]string{"role": "A.role", "later": "C.list", "own": "A", "short": "A"}
	for _, f := range messageNamed(doc, "B").Fields {
		if f.Type.Name != want[f.Name] {
			t.Errorf("%s is of %v, want %s", f.Name, f.Type, want[f.Name])
		}
	}
	if f := messageNamed(doc, "B").Fields[2]; f.Type.Kind != Int32 {
		t.Errorf("key is %v", f.Type)
	}
	if f := messageNamed(doc, "C").Fields[0]; f.Type.Elem.Name != "C.list" {
		t.Errorf("list is %v", f.Type)
	}
	if f := messageNamed(doc, "A.step").Fields[0]; f.Type.Name != "A.step" {
		t.Errorf("again is %v", f.Type)
	}
}

func messageNamed(doc *Document, name string) *Message {
	i := slices.IndexFunc(doc.Messages, func(m *Message) bool { return m.Name == name })
	return doc.Messages[i]
}

func TestObjectsThatArePartsOfEachOtherEnd(t *testing.T) {
	doc, problems := Read("x.json", []byte(`{"definitions": {
		"A": {"allOf": [{"$ref": "#/definitions/B"}, {"$ref": "#/definitions/B"}], "properties": {"a": {}}},
		"B": {"allOf": [{"$ref": "#/definitions/A"}, {"$ref": "#/definitions/A"}], "properties": {"b": {}}}}}`))
	if problems.HasErrors() || len(doc.Messages[0].Fields) != 2 || len(doc.Messages[1].Fields) != 2 {
		t.Errorf("%v %v", doc, problems)
	}
}

func FuzzReadSchemaNeverPanics(f *testing.F) {
	for _, version := range []string{"0.1", "0.3"} {
		src, err := shipped.ReadFile("v" + version + "/a2a.json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(src))
	}
	for _, s := range []string{
		"", "{}", "[]", "null", rpcSchema, headBundle, legacy(headBundle), `{"definitions": {"": {"": ""}}}`, `{"definitions": {"A": true, "B": {"anyOf": [true, false, {}]}}}`,
		`{"definitions": {"A": {"anyOf": [{"$ref": "#/definitions/A"}, {"type": "null"}]}}}`, `{"definitions": {"Request": {"properties": {"method": {"const": null}}}}}`,
		`{"$defs": {".jsonschema.json": {"patternProperties": {"": {}}, "properties": {"": {"anyOf": [{"type": "integer"}]}}}}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		began := time.Now()
		doc, problems := Read("x.json", []byte(s))
		if (doc == nil) != problems.HasErrors() {
			t.Errorf("document %v with problems %v", doc, problems)
		}
		for _, p := range problems {
			if p.Message == "" || p.Pos.File != "x.json" || strings.ContainsAny(p.Message, "\n") {
				t.Errorf("problem %+v", p)
			}
		}
		if d := time.Since(began); d > 5*time.Second {
			t.Errorf("took %v for %d bytes", d, len(s))
		}
		if doc != nil {
			checkDocument(t, doc)
			if changes := Diff(doc, doc); len(changes) > 0 {
				t.Errorf("differs from itself: %v", render(changes))
			}
		}
	})
}

// checkDocument wants every type of a document to be there, once.
func checkDocument(t *testing.T, doc *Document) {
	t.Helper()
	types := map[Type]bool{}
	declare := func(kind Kind, name string) {
		for _, k := range []Kind{MessageOf, EnumOf, ChoiceOf} {
			if types[Type{Kind: k, Name: name}] {
				t.Errorf("%s is declared twice", name)
			}
		}
		types[Type{Kind: kind, Name: name}] = true
	}
	for _, m := range doc.Messages {
		declare(MessageOf, m.Name)
	}
	for _, e := range doc.Enums {
		declare(EnumOf, e.Name)
	}
	for _, c := range doc.Choices {
		declare(ChoiceOf, c.Name)
	}
	var use func(Type)
	use = func(u Type) {
		if u.Elem != nil {
			use(*u.Elem)
		} else if u.Kind == "" || u.Name != "" && !types[u] {
			t.Errorf("type %v is not declared", u)
		}
	}
	for _, m := range doc.Messages {
		for _, f := range m.Fields {
			use(f.Type)
		}
	}
	for _, c := range doc.Choices {
		for _, o := range c.Types {
			use(o)
		}
	}
	for _, op := range doc.Operations {
		use(op.Request)
		use(op.Response)
	}
}

func TestEveryTypeOfTheShippedDefinitionsIsDeclaredOnce(t *testing.T) {
	for _, doc := range allShipped(t) {
		checkDocument(t, doc)
	}
}
