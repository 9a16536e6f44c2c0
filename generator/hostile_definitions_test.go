package generator_test

import (
	"encoding/json"
	"fmt"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/internal/test/projecttest"
	"github.com/a2agen/a2agen/spec"
)

// hostileNames are names that generated code has in use, or could be taken for: words of Go, predeclared names,
// methods and helpers of the protocol package, its imports and variables, and twins that only differ in case or in
// underscores.
func hostileNames() []string {
	list := []string{
		"any", "append", "bool", "byte", "cap", "clear", "close", "copy", "delete", "error", "false", "float64", "int", "int32", "iota", "len", "make", "max", "min", "new", "nil",
		"panic", "print", "real", "recover", "rune", "string", "true", "uint8", "init", "main",
		"append_json", "marshal_json", "unmarshal_json", "append_proto", "unmarshal_proto", "AppendProto", "UnmarshalProto", "AppendJSON", "MarshalJSON",
		"event_info", "task_info", "message_info", "card_info", "apply", "add_message", "status_message", "artifact_list", "artifact_update", "view", "contents", "bind", "text", "at", "String", "Error",
		"wire", "runtime", "legacy", "rpc", "time", "math", "strconv", "strings", "rand", "iter", "context",
		"b", "c", "e", "m", "r", "v", "w", "x", "n", "start", "err", "seen", "extra", "key", "ok", "name", "value", "values", "optional", "tag", "entry", "list", "made", "outer", "inner", "req", "data", "item",
		"Working", "working", "WORKING", "foo_bar", "fooBar", "FooBar", "foo__bar", "Unknown", "unknown", "List", "json_v10", "V10JSON", "V10Proto", "JSON", "Proto", "value_v1", "is_part_content",
		"Protocol", "NewMessage", "Text", "Data", "File", "Link", "Client", "NewClient", "NewClientFromCard", "ErrParse", "ErrTaskNotFound", "Card", "Close", "RPC",
		"PartText", "PartContent", "UnknownPartContent", "TaskStateWorking", "TaskState2", "Task2", "Message2", "part_text", "members", "decode", "read", "version", "operation",
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		list = append(list, t.String())
	}
	return list
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// hostile makes definitions at random.
type hostile struct {
	*rand.Rand
	names []string
}

// some returns n of the names.
func (h hostile) some(n int) []string {
	var list []string
	for _, i := range h.Perm(len(h.names))[:n] {
		list = append(list, h.names[i])
	}
	return list
}

// distinct drops the names that protobuf refuses in one place: those that have the same JSON name.
func distinct(list []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(list, func(name string) bool {
		key := strings.ToLower(strings.ReplaceAll(name, "_", ""))
		again := seen[key] || !identifier.MatchString(name)
		seen[key] = true
		return again
	})
}

// proto is the definition of 1.0 with hostile names added everywhere.
func (h hostile) proto(text string) string {
	types := []string{"string", "int32", "bool", "bytes", "Task", "google.protobuf.Value", "google.protobuf.Timestamp", "optional string", "repeated Part", "map<string, string>", "TaskState"}
	number := 1000
	fields := func(names []string, taken string) string {
		var b strings.Builder
		for _, name := range distinct(names) {
			if strings.Contains(strings.ToLower(strings.ReplaceAll(taken, "_", "")), " "+strings.ToLower(strings.ReplaceAll(name, "_", ""))+" =") {
				continue
			}
			number++
			fmt.Fprintf(&b, "  %s %s = %d;\n", types[h.IntN(len(types))], name, number)
		}
		return b.String()
	}
	for _, name := range []string{"Task", "Message", "Part", "Artifact", "AgentCard", "TaskStatusUpdateEvent", "GetTaskRequest"} {
		head := "message " + name + " {\n"
		_, body, _ := strings.Cut(text, head)
		body, _, _ = strings.Cut(body, "\n}\n")
		text = strings.Replace(text, head, head+fields(h.some(40), body), 1)
	}
	var more, rpcs strings.Builder
	for i, name := range h.some(40) {
		if !identifier.MatchString(name) || token.IsKeyword(name) && name == "map" {
			continue
		}
		switch {
		case strings.Contains(text, "message "+name+" {") || strings.Contains(text, "enum "+name+" {"):
		case i%3 == 0:
			fmt.Fprintf(&more, "enum %s { option allow_alias = true; %s_ZERO%d = 0; %s_A%d = 1; %s_B%d = 1; %s_C%d = 1; %s_NONE%d = 0; }\n", name, name, i, name, i, name, i, strings.ToUpper(name), i+100, name, i)
		default:
			fmt.Fprintf(&more, "message %s {\n%s  oneof pick { string pick_text = 1; Task pick_task = 2; bytes pick_raw%d = 3; Task pick_other = 4; }\n}\n", name, fields(h.some(12), ""), i)
			fmt.Fprintf(&rpcs, "  rpc %s(.lf.a2a.v1.%s) returns (.lf.a2a.v1.Task);\n", name, name)
		}
	}
	text = strings.Replace(text, "  // GetExtendedAgentCard returns", rpcs.String()+"  // GetExtendedAgentCard returns", 1)
	return strings.Replace(text, "  TASK_STATE_AUTH_REQUIRED = 8;\n", "  TASK_STATE_AUTH_REQUIRED = 8;\n  TASK_STATE_working = 2;\n  TASK_STATE_CANCELLED = 5;\n  option allow_alias = true;\n", 1) + more.String()
}

// draft is the schema of an older version with hostile names, and states that are named as those of 1.0.
func (h hostile) draft(t *testing.T, src []byte) []byte {
	var root map[string]any
	if err := json.Unmarshal(src, &root); err != nil {
		t.Fatal(err)
	}
	key := "definitions"
	if root[key] == nil {
		key = "$defs"
	}
	defs := root[key].(map[string]any)
	states := defs["TaskState"].(map[string]any)
	for _, state := range []string{"rejected", "auth-required", "Working", "WORKING", "auth_required", "cancelled", "type", "", "2"} {
		if !slices.Contains(states["enum"].([]any), any(state)) {
			states["enum"] = append(states["enum"].([]any), state)
		}
	}
	for _, name := range []string{"Task", "Message", "AgentCard", "TaskStatusUpdateEvent"} {
		properties := defs[name].(map[string]any)["properties"].(map[string]any)
		for _, member := range distinct(h.some(10)) {
			if properties[member] == nil {
				properties[member] = []any{ // of one type in all drafts
					map[string]any{"type": "string"}, map[string]any{"type": "array", "items": map[string]any{"type": "integer"}}, map[string]any{"$ref": "#/" + key + "/Task"},
				}[len(member)%3]
			}
		}
	}
	made, err := json.Marshal(root)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestDefinitionsWithHostileNamesCompile generates from definitions that have every name which generated code has
// too, and builds all in one go.
func TestDefinitionsWithHostileNamesCompile(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles packages")
	}
	source, err := spec.Source("1.0")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	add := func(name string, versions []string, docs ...*spec.Document) {
		for _, version := range versions {
			shipped, err := spec.Shipped(version)
			if err != nil {
				t.Fatal(err)
			}
			docs = append(docs, shipped)
		}
		p, list := lower.Protocol(docs)
		if list.HasErrors() {
			for _, d := range list {
				if d.Severity == diag.Error {
					t.Errorf("%s is refused: %v", name, d)
				}
			}
			return
		}
		lower.AddWires(p, ir.Proto, ir.ProtoJSON)
		files, err := emit.ProtocolPackage(p, emit.Paths{Protocol: "github.com/a2agen/a2agen/internal/hostile/" + name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		for _, f := range files {
			_, in, _ := strings.Cut(f.Path, "/") // "types.gen.go", "a2aclient/client.gen.go"
			at := filepath.Join(dir, name, in)
			projecttest.WriteFile(t, at, string(f.Data))
			replace[filepath.Join(root, "internal", "hostile", name, in)] = at
		}
	}
	for seed := range uint64(2) {
		h := hostile{Rand: rand.New(rand.NewPCG(seed, 3)), names: hostileNames()}
		add(fmt.Sprint("proto", seed), nil, definitionOf(t, "mine.proto", "11.1", []byte(h.proto(string(source)))), definitionOf(t, "other.proto", "1.11", source))
	}
	var drafts []*spec.Document
	for i, version := range []string{"0.1", "0.2", "0.3"} {
		schema, err := spec.Source(version)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(string(schema), "\n}\n")
		h := hostile{Rand: rand.New(rand.NewPCG(uint64(i), 4)), names: hostileNames()}
		drafts = append(drafts, definitionOf(t, "mine"+version+".json", "0."+fmt.Sprint(7+i), h.draft(t, []byte(text+"\n}\n"))))
	}
	add("drafts", []string{"1.0"}, drafts...)
	build(t, root, filepath.Join(dir, "overlay.json"), replace, "./internal/hostile/...")
}

func definitionOf(t *testing.T, name, version string, src []byte) *spec.Document {
	t.Helper()
	doc, list := spec.Read(name, src)
	if list.HasErrors() {
		t.Fatalf("%s: %v", name, list)
	}
	doc.Version = version
	return doc
}

// build compiles packages that are not there but for the overlay.
func build(t *testing.T, root, overlay string, replace map[string]string, packages string) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	projecttest.WriteFile(t, overlay, string(text))
	// The files have the names of this folder's, so that the compiler's messages say which definition it was.
	cmd := exec.Command("go", "build", "-gcflags=-e -l", "-overlay", overlay, packages)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOFLAGS=-trimpath")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.4000s", err, out)
	}
}
