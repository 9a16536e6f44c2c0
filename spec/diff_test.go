package spec

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// protoHead and schemaHead begin definitions in which clients send In and Both, and servers answer Out and Both.
const protoHead = `syntax = "proto3"; package p; import "google/api/annotations.proto"; import "google/api/field_behavior.proto";
message In { Both both = 100; InMode mode = 101; oneof u { string m = 102; } %in }
message Out { Both both = 100; OutMode mode = 101; oneof u { string m = 102; } %out }
message Both { %both }
enum InMode { IN_NONE = 0; IN_A = 1; %inmode }
enum OutMode { OUT_NONE = 0; OUT_A = 1; %outmode }
message Idle { %idle }
service S { rpc Do(In) returns (Out) %do }
`

const schemaHead = `{"definitions": {
	"In": {"properties": {"both": {"$ref": "#/definitions/Both"}, "part": {"$ref": "#/definitions/InPart"} %in}},
	"Out": {"properties": {"both": {"$ref": "#/definitions/Both"}, "part": {"$ref": "#/definitions/OutPart"} %out}},
	"Both": {"properties": {"x": {} %both}},
	"A": {"properties": {"kind": {"const": "a"}, "type": {"const": "A"}}}, "B": {"properties": {"kind": {"const": "b"}, "type": {"const": "B"}}}, "C": {"properties": {"kind": {"const": "c"}, "type": {"const": "A"}}},
	"InPart": {"anyOf": [{"$ref": "#/definitions/A"}, {"$ref": "#/definitions/B"} %inpart]},
	"OutPart": {"anyOf": [{"$ref": "#/definitions/A"}, {"$ref": "#/definitions/B"} %outpart]},
	"DoRequest": {"properties": {"jsonrpc": {}, "method": {"const": "%method"}, "params": {"$ref": "#/definitions/In"}}},
	"DoResponse": {"properties": {"jsonrpc": {}, "result": {"$ref": "#/definitions/Out"}}},
	"GoneError": {"properties": {"code": {"const": %code}, "message": {"const": "%text"}}}
	%more
}}`

// fill puts what the places of a definition hold, "in: string a = 1;", into it. Places that are not named stay empty.
func fill(head string, places map[string]string) string {
	defaults := map[string]string{"do": ";", "method": "do", "code": "-1", "text": "gone"}
	for _, place := range []string{"inmode", "outmode", "inpart", "outpart", "in", "out", "both", "idle", "do", "method", "code", "text", "more"} {
		value, ok := places[place]
		if !ok {
			value = defaults[place]
		}
		head = strings.ReplaceAll(head, "%"+place, value)
	}
	return head
}

func read(t *testing.T, name, src string) *Document {
	t.Helper()
	doc, problems := Read(name, []byte(src))
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	return doc
}

// render writes changes as "server client text", S and C for breaking.
func render(changes []Change) []string {
	var lines []string
	for _, c := range changes {
		server, client := "-", "-"
		if c.Server == Breaking {
			server = "S"
		}
		if c.Client == Breaking {
			client = "C"
		}
		lines = append(lines, server+client+" "+c.Text)
	}
	return lines
}

type places = map[string]string

func TestDiffOfProtosSaysWhomAChangeBreaks(t *testing.T) {
	const required = "[(google.api.field_behavior) = REQUIRED]"
	for name, test := range map[string]struct {
		old, new places
		want     []string
	}{
		"nothing":                     {places{"in": "string a = 1; /* why */"}, places{"in": "/* how */ string a = 1;"}, nil},
		"a field added":               {nil, places{"in": "string a = 1;", "out": "string a = 1;"}, []string{"-- field In.a was added", "-- field Out.a was added"}},
		"a required field added":      {nil, places{"in": "string a = 1" + required + ";", "out": "string a = 1" + required + ";"}, []string{"-C field In.a was added and is required", "S- field Out.a was added and is required"}},
		"a field removed":             {places{"in": "string a = 1;", "out": "string a = 1;"}, nil, []string{"-C field In.a was removed", "S- field Out.a was removed"}},
		"a required field removed":    {places{"in": "string a = 1" + required + ";", "out": "string a = 1" + required + ";"}, nil, []string{"SC field In.a was removed", "SC field Out.a was removed"}},
		"required now":                {places{"in": "string a = 1;", "out": "string a = 1;"}, places{"in": "string a = 1" + required + ";", "out": "string a = 1" + required + ";"}, []string{"-C field In.a is required", "S- field Out.a is required"}},
		"required no longer":          {places{"in": "string a = 1" + required + ";", "out": "string a = 1" + required + ";"}, places{"in": "string a = 1;", "out": "string a = 1;"}, []string{"S- field In.a is no longer required", "-C field Out.a is no longer required"}},
		"in both directions":          {places{"both": "string a = 1;"}, places{"both": "string a = 1" + required + ";"}, []string{"SC field Both.a is required"}},
		"in none":                     {places{"idle": "string a = 1;"}, nil, []string{"-- field Idle.a was removed"}},
		"renamed":                     {places{"in": "string a = 1;"}, places{"in": "string b = 1;"}, []string{"SC field In.a is now called b"}},
		"renamed in the proto only":   {places{"in": "string a = 1;"}, places{"in": `string b = 1 [json_name = "a"];`}, []string{"-- field In.a is declared as b instead of a"}},
		"a number used again":         {places{"in": "string a = 1;"}, places{"in": "bool b = 1;"}, []string{"-C field In.a was removed", "SC field In.b has the number 1, which In.a had", "-- field In.b was added"}},
		"another number":              {places{"in": "string a = 1;"}, places{"in": "string a = 2;"}, []string{"SC field In.a has number 2 instead of 1"}},
		"another type":                {places{"out": "string a = 1;"}, places{"out": "repeated Idle a = 1;"}, []string{"SC field Out.a is list of Idle instead of string"}},
		"another width":               {places{"out": "int32 a = 1;"}, places{"out": "int64 a = 1;"}, []string{"SC field Out.a is int64 instead of int32"}},
		"presence":                    {places{"in": "int32 a = 1;", "out": "optional int32 a = 1;"}, places{"in": "optional int32 a = 1;", "out": "int32 a = 1;"}, []string{"-- field In.a tells not set from zero", "SC field Out.a no longer tells not set from zero"}},
		"deprecated":                  {places{"in": "int32 a = 1;"}, places{"in": "int32 a = 1 [deprecated = true];"}, []string{"-- field In.a is deprecated"}},
		"a union member added":        {nil, places{"in": "oneof v { bool a = 1; }", "out": "oneof v { bool a = 1; }"}, []string{"S- field In.a was added to the union v", "-C field Out.a was added to the union v"}},
		"a union joined":              {places{"in": "string a = 1;"}, places{"in": "oneof v { string a = 1; }"}, []string{"-C field In.a is a member of the union v: it excludes the others"}},
		"a union left":                {places{"out": "oneof v { string a = 1; }"}, places{"out": "string a = 1;"}, []string{"-C field Out.a is no longer a member of the union v"}},
		"an enum value added":         {nil, places{"inmode": "IN_B = 2;", "outmode": "OUT_B = 2;"}, []string{"S- value IN_B was added to InMode", "-C value OUT_B was added to OutMode"}},
		"an enum value removed":       {places{"inmode": "IN_B = 2;", "outmode": "OUT_B = 2;"}, nil, []string{"-C value IN_B of InMode was removed", "S- value OUT_B of OutMode was removed"}},
		"an enum value renamed":       {places{"inmode": "IN_B = 2;"}, places{"inmode": "IN_C = 2;"}, []string{"SC value IN_B of InMode is now called IN_C"}},
		"an enum value renumbered":    {places{"inmode": "IN_B = 2;"}, places{"inmode": "IN_B = 3;"}, []string{"SC value IN_B of InMode has number 3 instead of 2"}},
		"an enum value deprecated":    {places{"inmode": "IN_B = 2;"}, places{"inmode": "IN_B = 2 [deprecated = true];"}, []string{"-- value IN_B of InMode is deprecated"}},
		"an operation added":          {nil, places{"do": "; rpc Undo(In) returns (Out);"}, []string{"-- operation Undo was added"}},
		"an operation removed":        {places{"do": "; rpc Undo(In) returns (Out);"}, nil, []string{"-C operation Undo was removed"}},
		"a stream":                    {places{"do": "; rpc Undo(In) returns (Out);"}, places{"do": "; rpc Undo(In) returns (stream Out);"}, []string{"SC operation Undo answers with a stream instead of one response"}},
		"another request":             {places{"do": "; rpc Undo(In) returns (Out);"}, places{"do": "; rpc Undo(Both) returns (Both);"}, []string{"SC the request of operation Undo is Both instead of In", "SC the response of operation Undo is Both instead of Out"}},
		"an operation deprecated":     {nil, places{"do": "{ option deprecated = true; }"}, []string{"-- operation Do is deprecated"}},
		"a route added":               {places{"do": `{ option (google.api.http) = { get: "/a" }; }`}, places{"do": `{ option (google.api.http) = { get: "/a" additional_bindings { post: "/b" body: "*" } }; }`}, []string{"-- operation Do is at POST /b"}},
		"one route of two removed":    {places{"do": `{ option (google.api.http) = { get: "/a" additional_bindings { post: "/b" body: "*" } }; }`}, places{"do": `{ option (google.api.http) = { get: "/a" }; }`}, []string{"-C operation Do is no longer at POST /b"}},
		"a route moved":               {places{"do": `{ option (google.api.http) = { get: "/a" }; }`}, places{"do": `{ option (google.api.http) = { get: "/b" }; }`}, []string{"SC operation Do is no longer at GET /a", "-- operation Do is at GET /b"}},
		"another body":                {places{"do": `{ option (google.api.http) = { post: "/a" body: "*" }; }`}, places{"do": `{ option (google.api.http) = { post: "/a" body: "both" }; }`}, []string{"SC the body of POST /a is the field both instead of the whole request"}},
		"a body gone":                 {places{"do": `{ option (google.api.http) = { post: "/a" body: "*" }; }`}, places{"do": `{ option (google.api.http) = { post: "/a" }; }`}, []string{"SC the body of POST /a is empty instead of the whole request"}},
		"messages of no operation":    {nil, places{"do": "; } message More {} enum Others { O_NONE = 0; } message End {"}, []string{"-- message More was added", "-- message End was added", "-- enum Others was added"}},
		"a type that took a new name": {places{"in": "Sub a = 1;", "do": "; } message Sub { string s = 1;"}, places{"in": "Part a = 1;", "do": "; } message Part { bool s = 1;"}, []string{"-- message Sub is now called Part", "SC field Sub.s is bool instead of string"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := render(Diff(read(t, "a.proto", fill(protoHead, test.old)), read(t, "b.proto", fill(protoHead, test.new))))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiffOfSchemasSaysWhomAChangeBreaks(t *testing.T) {
	for name, test := range map[string]struct {
		old, new places
		want     []string
	}{
		"nothing":                  {places{"in": `, "a": {"type": "string"}, "b": {}`}, places{"in": `, "b": {}, "a": {"description": "A.", "type": "string"}`}, nil},
		"an alternative added":     {nil, places{"inpart": `, {"$ref": "#/definitions/Both"}`, "outpart": `, {"type": "string"}`}, []string{"S- Both is a new alternative of InPart", "SC the alternatives of InPart are told apart by their fields instead of kind", "-C string is a new alternative of OutPart", "SC the alternatives of OutPart are told apart by their fields instead of kind"}},
		"an alternative removed":   {places{"inpart": `, {"type": "string"}`, "outpart": `, {"type": "string"}`}, places{"inpart": `, {"type": "boolean"}`, "outpart": `, {"type": "boolean"}`}, []string{"-C string is no longer an alternative of InPart", "S- bool is a new alternative of InPart", "S- string is no longer an alternative of OutPart", "-C bool is a new alternative of OutPart"}},
		"a constant":               {places{"in": `, "a": {"type": "string"}, "b": {"const": "x"}, "c": {"const": "x"}`}, places{"in": `, "a": {"const": "x"}, "b": {"type": "string"}, "c": {"const": "y"}`}, []string{`-C field In.a is always "x"`, `S- field In.b need no longer be "x"`, `SC field In.c is always "y" instead of "x"`}},
		"a default":                {places{"out": `, "a": {"type": "string"}, "b": {"type": "string", "default": "x"}, "c": {"default": "x"}`}, places{"out": `, "a": {"type": "string", "default": "x"}, "b": {"type": "string"}, "c": {"default": "y"}`}, []string{`-- field Out.a is "x" by default`, `SC field Out.b is no longer "x" by default`, `SC field Out.c is "y" by default instead of "x"`}},
		"a default that says zero": {places{"out": `, "a": {"type": "boolean", "default": false}`}, places{"out": `, "a": {"type": "boolean"}`}, []string{"-- field Out.a is no longer false by default"}},
		"null":                     {places{"in": `, "a": {"type": "string"}, "b": {"type": ["string", "null"]}`}, places{"in": `, "a": {"type": ["string", "null"]}, "b": {"type": "string"}`}, []string{"S- field In.a may be null", "-C field In.b may no longer be null"}},
		"an enum in place":         {places{"in": `, "a": {"enum": ["x", "y"]}`}, places{"in": `, "a": {"enum": ["x", "z"]}`}, []string{"-C value y of In.a was removed", "S- value z was added to In.a"}},
		"another method":           {nil, places{"method": "redo"}, []string{"SC operation Do has JSON-RPC method redo instead of do"}},
		"another code":             {nil, places{"code": "-2"}, []string{"SC error GoneError has code -2 instead of -1"}},
		"another text":             {nil, places{"text": "left"}, []string{`-- error GoneError says "left" instead of "gone"`}},
		"an error":                 {places{"more": `, "LostError": {"properties": {"code": {"const": 1}, "message": {}}}`}, places{"more": `, "LateError": {"properties": {"code": {"const": 2}, "message": {}}}`}, []string{"-- error LostError (1) was removed", "-- error LateError (2) was added"}},
		"a choice in place":        {nil, places{"in": `, "x": {"anyOf": [{"$ref": "#/definitions/A"}, {"$ref": "#/definitions/C"}]}`}, []string{"-- field In.x was added"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := render(Diff(read(t, "a.json", fill(schemaHead, test.old)), read(t, "b.json", fill(schemaHead, test.new))))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("changes differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiffKnowsPositionsKindsAndSubjects(t *testing.T) {
	old := read(t, "a.proto", "syntax = \"proto3\";\nmessage A {\n  string gone = 1;\n}")
	now := read(t, "b.proto", "syntax = \"proto3\";\nmessage A {\n\n  string here = 2;\n}")
	changes := Diff(old, now)
	if len(changes) != 2 || changes[0].Pos.String() != "a.proto:3:3" || changes[1].Pos.String() != "b.proto:4:3" {
		t.Fatalf("changes %+v", changes)
	}
	if c := changes[0]; c.Kind != "field-removed" || c.Subject != "A.gone" || !c.Breaking() || changes[1].Breaking() {
		t.Errorf("changes %+v", changes)
	}
}

func TestAnotherPackageIsOneChange(t *testing.T) {
	got := render(Diff(read(t, "a.proto", fill(protoHead, nil)), read(t, "b.proto", strings.Replace(fill(protoHead, nil), "package p;", "", 1))))
	if want := []string{"SC package p is now (none): all gRPC methods have another path"}; !slices.Equal(got, want) {
		t.Errorf("changes %v", got)
	}
}

func TestWhatOnlyOneSyntaxTellsApartIsNotCompared(t *testing.T) {
	proto := `syntax = "proto3"; package p; import "google/protobuf/timestamp.proto";
message A { bytes raw = 1; google.protobuf.Timestamp at = 2; int32 n = 3; float r = 4; repeated uint64 ns = 5; }`
	schema := `{"definitions": {"A": {"properties": {"raw": {"type": "string"}, "at": {"type": "string"}, "n": {"type": "integer"}, "r": {"type": "number"}, "ns": {"items": {"type": "integer"}}}}}}`
	a, b := read(t, "a.proto", proto), read(t, "b.json", schema)
	if changes := append(Diff(a, b), Diff(b, a)...); len(changes) > 0 {
		t.Errorf("changes %v", render(changes))
	}
}

func TestNoDefinitionDiffersFromItself(t *testing.T) {
	for _, doc := range allShipped(t) {
		if changes := Diff(doc, doc); len(changes) > 0 {
			t.Errorf("%s: %v", doc.Path, render(changes))
		}
	}
}

func TestABundleDoesNotDifferFromItsProto(t *testing.T) {
	proto, err := Shipped("1.0")
	if err != nil {
		t.Fatal(err)
	}
	bundle := read(t, "bundle.json", string(published(t, "a2a-v1.0.1.json")))
	if changes := append(Diff(proto, bundle), Diff(bundle, proto)...); len(changes) > 0 {
		t.Errorf("%v", render(changes))
	}
}

// The list of what 0.3 changed is the one in the history of the protocol: the card's signatures, icons and schemes.
func TestDiffOfTheShippedVersionsFindsWhatTheyAreKnownToHaveChanged(t *testing.T) {
	diff := func(from, to string) []string {
		old, err := Shipped(from)
		if err != nil {
			t.Fatal(err)
		}
		now, err := Shipped(to)
		if err != nil {
			t.Fatal(err)
		}
		return render(Diff(old, now))
	}
	want := []string{
		"-- operation GetAuthenticatedExtendedCard was added",
		`-- field AgentCard.preferredTransport is "JSONRPC" by default`,
		`-- field AgentCard.protocolVersion is "0.3.0" by default instead of "0.2.5"`,
		"-- field AgentCard.signatures was added",
		"-- field AgentSkill.security was added",
		"-- field OAuth2SecurityScheme.oauth2MetadataUrl was added",
		"-- message AgentCardSignature was added",
		"-- message MutualTLSSecurityScheme was added",
		"-- enum TransportProtocol was added",
		"-C MutualTLSSecurityScheme is a new alternative of SecurityScheme",
		"-- error AuthenticatedExtendedCardNotConfiguredError (-32007) was added",
	}
	if d := cmp.Diff(want, diff("0.2", "0.3")); d != "" {
		t.Errorf("0.2 to 0.3 (-want +got):\n%s", d)
	}
	to1 := diff("0.3", "1.0")
	for _, line := range []string{
		"SC operation SendMessage has JSON-RPC method SendMessage instead of message/send",
		"-- message MessageSendParams is now called SendMessageRequest",
		"-- message TaskQueryParams is now called GetTaskRequest",
		"-C field MessageSendConfiguration.blocking was removed",
		"SC field Artifact.parts is message Part instead of choice Part",
		"SC value input-required of TaskState is now called TASK_STATE_INPUT_REQUIRED",
		"SC value unknown of TaskState was removed",
		"SC field TaskStatusUpdateEvent.final was removed",
	} {
		if !slices.Contains(to1, line) {
			t.Errorf("0.3 to 1.0 lacks %q", line)
		}
	}
	if !slices.Contains(diff("1.0", "0.3"), "SC value TASK_STATE_INPUT_REQUIRED of TaskState is now called input-required") {
		t.Error("1.0 to 0.3 lacks the renamed state")
	}
}
