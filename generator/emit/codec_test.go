package emit

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/ir"
)

// Hand-built hub types with every kind in every place, which no published protocol has.
var (
	colorType = &ir.Type{Name: "Color", Go: "Color", Kind: ir.Enum, Values: []*ir.Value{
		{Name: "COLOR_UNSPECIFIED", Go: "ColorUnspecified", Unspecified: true}, {Name: "COLOR_RED", Go: "ColorRed", Number: 1},
	}}
	leafType = &ir.Type{Name: "Leaf", Go: "Leaf", Kind: ir.Message, Fields: []*ir.Field{
		{Name: "name", Go: "Name", Type: ir.TypeRef{Kind: ir.KindString}, Presence: ir.Implicit},
	}}
	everyKind = []ir.TypeRef{
		{Kind: ir.KindString}, {Kind: ir.KindBool}, {Kind: ir.KindInt32}, {Kind: ir.KindInt64}, {Kind: ir.KindUint32}, {Kind: ir.KindUint64},
		{Kind: ir.KindFloat}, {Kind: ir.KindDouble}, {Kind: ir.KindBytes}, {Kind: ir.KindTimestamp}, {Kind: ir.KindDuration}, {Kind: ir.KindStruct},
		{Kind: ir.KindValue}, {Kind: ir.KindMessage, Name: "Leaf", Type: leafType}, {Kind: ir.KindEnum, Name: "Color", Type: colorType},
	}
)

// sinkType has a field of every kind, plain, explicit, listed and mapped, and two unions.
func sinkType() *ir.Type {
	t := &ir.Type{Name: "Sink", Go: "Sink", Kind: ir.Message}
	add := func(name string, ref ir.TypeRef, p ir.Presence) {
		t.Fields = append(t.Fields, &ir.Field{Name: name, Go: "F" + strings.ToUpper(name[:1]) + name[1:], Type: ref, Presence: p})
	}
	for _, ref := range everyKind {
		elem := ref
		add(string(ref.Kind), ref, ir.Implicit)
		if ref.Kind != ir.KindMessage && ref.Kind != ir.KindStruct && ref.Kind != ir.KindValue && ref.Kind != ir.KindTimestamp && ref.Kind != ir.KindBytes {
			add("opt"+string(ref.Kind), ref, ir.Explicit)
		}
		add("list"+string(ref.Kind), ir.TypeRef{Kind: ir.KindList, Elem: &elem}, ir.Implicit)
		add("map"+string(ref.Kind), ir.TypeRef{Kind: ir.KindMap, Elem: &elem}, ir.Implicit)
	}
	for i := range 64 {
		add(fmt.Sprintf("flag%d", i), ir.TypeRef{Kind: ir.KindBool}, ir.Implicit)
	}
	add("last", ir.TypeRef{Kind: ir.KindTimestamp}, ir.Required)
	leaf := ir.TypeRef{Kind: ir.KindMessage, Name: "Leaf", Type: leafType}
	t.Fields = append(t.Fields,
		&ir.Field{Name: "choice", Go: "Case", Type: ir.TypeRef{Kind: ir.KindUnion}, Presence: ir.Implicit, Union: &ir.Union{
			Go: "SinkChoice", Marker: "isSinkChoice", Unknown: "SinkChoiceUnknown", Cases: []*ir.Case{
				{Name: "one", Go: "SinkOne", Type: leaf}, {Name: "two", Go: "SinkTwo", Type: leaf},
				{Name: "hue", Go: "SinkHue", Type: ir.TypeRef{Kind: ir.KindEnum, Name: "Color", Type: colorType}},
				{Name: "blob", Go: "SinkBlob", Type: ir.TypeRef{Kind: ir.KindBytes}}, {Name: "when", Go: "SinkWhen", Type: ir.TypeRef{Kind: ir.KindTimestamp}},
				{Name: "count`\"", Go: "SinkCount", Type: ir.TypeRef{Kind: ir.KindInt64}},
			}}},
		&ir.Field{Name: "extra", Go: "Extra", Type: ir.TypeRef{Kind: ir.KindUnion}, Presence: ir.Explicit, Union: &ir.Union{
			Go: "SinkExtra", Marker: "isSinkExtra", Unknown: "SinkExtraUnknown", Cases: []*ir.Case{
				{Name: "ratio", Go: "SinkRatio", Type: ir.TypeRef{Kind: ir.KindDouble}},
			}}},
	)
	return t
}

// layoutOf lays a type out with its own names.
func layoutOf(t *ir.Type) *ir.Layout {
	l := &ir.Layout{Type: t, Name: t.Name}
	for _, v := range t.Values {
		l.Values = append(l.Values, &ir.ValueLayout{Value: v, Name: v.Name, Number: v.Number})
	}
	for _, f := range t.Fields {
		if f.Union == nil {
			l.Fields = append(l.Fields, &ir.FieldLayout{Field: f, Name: f.Name, Required: f.Presence == ir.Required})
			continue
		}
		for _, c := range f.Union.Cases {
			l.Fields = append(l.Fields, &ir.FieldLayout{Field: f, Case: c, Name: c.Name})
		}
	}
	return l
}

func sinkProtocol() (*ir.Protocol, *ir.Wire) {
	sink := sinkType()
	w := &ir.Wire{Name: "9.9/json", Suffix: "V99JSON", File: "codec_v9_9_json", Encoding: ir.JSON,
		Layouts: []*ir.Layout{layoutOf(colorType), layoutOf(leafType), layoutOf(sink)}}
	return &ir.Protocol{Types: []*ir.Type{colorType, leafType, sink}, Versions: []*ir.Version{{Name: "9.9", Wires: []*ir.Wire{w}}}}, w
}

// sinkMain reads one document a line and prints what is written again, or the error.
const sinkMain = `package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var x Sink
		if err := x.UnmarshalJSON(lines.Bytes()); err != nil {
			fmt.Println("read", err)
			continue
		}
		b, err := x.AppendJSON(nil)
		if err != nil {
			fmt.Println("write", err)
			continue
		}
		fmt.Println(string(b))
	}
}
`

func TestCodecOfEveryKindInEveryPlace(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	const last = `"last":"2026-01-01T00:00:00Z"`
	tests := []struct{ name, src, want string }{
		{"zero values are left out", `{` + last + `,"string":"","bool":false,"int32":0,"uint64":"0","double":0,"bytes":"","duration":"0s","enum":0,"liststring":[],"mapenum":{},"one":{}}`,
			`{` + last + `,"one":{}}`},
		{"explicit zero values are kept", `{` + last + `,"optstring":"","optbool":false,"optint32":0,"optint64":0,"optuint32":0,"optuint64":0,"optfloat":0,"optdouble":0,"optduration":"0s","optenum":0,"two":{"name":"x"}}`,
			`{"optstring":"","optbool":false,"optint32":0,"optint64":"0","optuint32":0,"optuint64":"0","optfloat":0,"optdouble":0,"optduration":"0s","optenum":"COLOR_UNSPECIFIED",` + last + `,"two":{"name":"x"}}`},
		{"values", `{"string":"s","bool":true,"int32":1,"int64":2,"uint32":3,"uint64":4,"float":0.1,"double":-1e300,"bytes":"_w","timestamp":"2026-01-01T01:00:00+01:00","duration":"-1.5s","struct":{"a": 1},"value":null,"message":{"name":"n"},"enum":1,` + last + `,"hue":"COLOR_RED"}`,
			`{"string":"s","bool":true,"int32":1,"int64":"2","uint32":3,"uint64":"4","float":0.1,"double":-1e+300,"bytes":"/w==","timestamp":"2026-01-01T00:00:00Z","duration":"-1.500s","struct":{"a":1},"value":null,"message":{"name":"n"},"enum":"COLOR_RED",` + last + `,"hue":"COLOR_RED"}`},
		{"lists", `{"liststring":["a"],"listbool":[true],"listint64":[1],"listdouble":["NaN"],"listbytes":["AA=="],"listtimestamp":["2026-01-01T00:00:00Z"],"listduration":["1s"],"liststruct":[{}],"listvalue":[null,1],"listmessage":[{},{"name":"b"}],"listenum":["COLOR_RED",7],` + last + `,"blob":""}`,
			`{"liststring":["a"],"listbool":[true],"listint64":["1"],"listdouble":["NaN"],"listbytes":["AA=="],"listtimestamp":["2026-01-01T00:00:00Z"],"listduration":["1s"],"liststruct":[{}],"listvalue":[null,1],"listmessage":[{},{"name":"b"}],"listenum":["COLOR_RED",7],` + last + `,"blob":""}`},
		{"maps", `{"mapstring":{"b":"2","a":"1"},"mapuint32":{"":1},"mapfloat":{"x":2},"mapstruct":{"s":{}},"mapvalue":{"v":null},"mapmessage":{"m":{"name":"n"}},"mapenum":{"e":1},` + last + `,"count` + "`" + `\"":"5","ratio":0}`,
			`{"mapstring":{"a":"1","b":"2"},"mapuint32":{"":1},"mapfloat":{"x":2},"mapstruct":{"s":{}},"mapvalue":{"v":null},"mapmessage":{"m":{"name":"n"}},"mapenum":{"e":"COLOR_RED"},` + last + `,"count` + "`" + `\"":"5","ratio":0}`},
		{"members beyond the 64th", `{"flag0":true,"flag63":true,` + last + `,"when":"2026-01-01T00:00:00Z"}`, `{"flag0":true,"flag63":true,` + last + `,"when":"2026-01-01T00:00:00Z"}`},
		{"member beyond the 64th twice", `{"flag63":true,"flag63":true,` + last + `}`, "read /flag63: member given more than once"},
		{"required member beyond the 64th missing", `{"one":{}}`, "read /last: required, but missing"},
		{"no case of the one that needs one", `{` + last + `,"ratio":1}`, "read exactly one of one, two, hue, blob, when, count`\" is required"},
		{"map entry twice", `{"mapstring":{"a":"1","a":"2"}}`, "read /mapstring/a: member given more than once"},
		{"null in a map", `{"mapint32":{"a":null}}`, "read /mapint32/a: null in a map"},
		{"null in a list", `{"listint32":[null]}`, "read /listint32/0: expected a number"},
	}
	var in strings.Builder
	for _, tt := range tests {
		in.WriteString(tt.src + "\n")
	}
	got := strings.Split(strings.TrimSpace(runSink(t, in.String())), "\n")
	if len(got) != len(tests) {
		t.Fatalf("got %d lines: %q", len(got), got)
	}
	for i, tt := range tests {
		if got[i] != tt.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.name, got[i], tt.want)
		}
	}
}

// runSink emits the package as a program, compiles it in this module by an overlay, and returns its output.
func runSink(t *testing.T, stdin string) string {
	t.Helper()
	p, w := sinkProtocol()
	paths := Paths{Protocol: "example.com/main"}
	types, err := Types(p, paths)
	if err != nil {
		t.Fatal(err)
	}
	codec, err := Codec(p, w, paths)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	write := func(name string, data []byte) {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, "internal", "sink", name)] = file
	}
	write(filepath.Base(types.Path), types.Data)
	write(filepath.Base(codec.Path), codec.Data)
	write("main.go", []byte(sinkMain))
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-gcflags=-l", "-overlay", file, "./internal/sink")
	cmd.Dir, cmd.Stdin = root, strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func TestCodecRefusesWhatItCannotPrint(t *testing.T) {
	list := ir.TypeRef{Kind: ir.KindList, Elem: &ir.TypeRef{Kind: ir.KindString}}
	tests := []struct {
		name   string
		change func(w *ir.Wire, m *ir.FieldLayout)
		want   string
	}{
		{"another encoding", func(w *ir.Wire, _ *ir.FieldLayout) { w.Encoding = "xml" }, `emit codec 9.9/json: no codec for encoding "xml"`},
		{"unknown hook", func(_ *ir.Wire, m *ir.FieldLayout) { m.Hook = "Sideways" }, `emit codec 9.9/json: Leaf.name: no hook "Sideways"`},
		{"fallback without one", func(_ *ir.Wire, m *ir.FieldLayout) { m.Hook, m.Fallback = "Schemes", true },
			`emit codec 9.9/json: Leaf.name: hook "Schemes" does not say what absence means`},
		{"a hook of two fields for one", func(_ *ir.Wire, m *ir.FieldLayout) { m.Hook = "ConfigName" },
			`emit codec 9.9/json: Leaf.name: hook "ConfigName" needs two fields`},
		{"a message without a layout", func(_ *ir.Wire, m *ir.FieldLayout) {
			other := &ir.Type{Name: "Other", Go: "Other", Kind: ir.Message}
			m.Field = &ir.Field{Name: "other", Type: ir.TypeRef{Kind: ir.KindMessage, Name: "Other", Type: other}}
		}, `emit codec 9.9/json: Leaf.name: Other has no layout on this wire`},
		{"a tag on what is no message", func(w *ir.Wire, m *ir.FieldLayout) {
			w.Layouts[1].Tag, m.Case = "kind", &ir.Case{Name: "text", Type: ir.TypeRef{Kind: ir.KindString}}
		}, `emit codec 9.9/json: Leaf.name: a case of kind is not a message of its own`},
		{"list of lists", func(_ *ir.Wire, m *ir.FieldLayout) {
			m.Field = &ir.Field{Type: ir.TypeRef{Kind: ir.KindList, Elem: &list}}
		}, "emit codec 9.9/json: Leaf.name: a list cannot be here"},
		{"list in a union", func(_ *ir.Wire, m *ir.FieldLayout) { m.Case = &ir.Case{Type: list} }, "emit codec 9.9/json: Leaf.name: a list cannot be here"},
		{"unknown kind", func(_ *ir.Wire, m *ir.FieldLayout) { m.Field = &ir.Field{Type: ir.TypeRef{Kind: "thing"}} }, `emit codec 9.9/json: Leaf.name: no codec for kind "thing"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, w := sinkProtocol()
			tt.change(w, w.Layouts[1].Fields[0])
			_, err := Codec(p, w, Paths{Protocol: "example.com/a2a"})
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func TestOnlyTheNewestWireHasMethods(t *testing.T) {
	p, w := sinkProtocol()
	older := *w
	older.Suffix, older.File = "V98JSON", "codec_v9_8_json"
	p.Versions = append(p.Versions, &ir.Version{Name: "9.8", Wires: []*ir.Wire{&older}})
	f, err := Codec(p, &older, Paths{Protocol: "example.com/a2a"})
	if err != nil {
		t.Fatal(err)
	}
	if f.Path != "a2a/codec_v9_8_json.gen.go" || strings.Contains(string(f.Data), "MarshalJSON") || !strings.Contains(string(f.Data), "\tcodecSinkV98JSON = ") {
		t.Errorf("%s:\n%s", f.Path, f.Data[:400])
	}
}
