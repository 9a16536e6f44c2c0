package a2awires

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/spec"
)

// unseenEdits turn the definition of 1.0 into one that nobody has seen.
var unseenEdits = [][2]string{
	// New: a scalar, a message and a repeated field on Task, Message and AgentCard.
	{"  google.protobuf.Struct metadata = 6;\n}\n\n// TaskState", "  google.protobuf.Struct labels = 6;\n  string priority = 40;\n  Budget budget = 41;\n  repeated string watchers = 42;\n}\n\nmessage Budget {\n  int64 tokens = 1;\n}\n\n// TaskState"},
	{"message Message {\n", "message Message {\n  string language = 40;\n  Budget budget = 41;\n  repeated string tones = 42;\n"},
	{"message AgentCard {\n", "message AgentCard {\n  string motto = 40;\n  Budget budget = 41;\n  repeated string regions = 42;\n"},
	// A new enum value, a new member of a oneof, a new operation.
	{"  TASK_STATE_AUTH_REQUIRED = 8;\n", "  TASK_STATE_AUTH_REQUIRED = 8;\n  // On hold.\n  TASK_STATE_PAUSED = 9;\n"},
	{"    google.protobuf.Value data = 4;\n", "    google.protobuf.Value data = 4;\n    string formula = 40;\n"},
	{"  // GetExtendedAgentCard returns", "  // PauseTask holds a task.\n  rpc PauseTask(CancelTaskRequest) returns (Task) {\n    option (google.api.http) = {\n      post: \"/tasks/{id=*}:pause\"\n      body: \"*\"\n    };\n  }\n  // GetExtendedAgentCard returns"},
	// A field that is gone: the description of an artifact. One that is renamed: metadata of Task, above.
	{"package lf.a2a.v1;", "package example.a2a.v1;"},
}

const unseenMain = `package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/a2agen/a2agen/runtime"
)

// Each line is a version, a role and a document; it is read and written by that version and by all others.
func main() {
	p := Protocol()
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			break
		}
		version, doc, _ := strings.Cut(strings.TrimSpace(line), " ")
		event, err := byName(p, version).ReadEvent([]byte(doc))
		if err != nil {
			fmt.Println("error", err)
			continue
		}
		for _, v := range p.Versions {
			b, err := v.AppendEvent(nil, event)
			if err != nil {
				b = []byte("error " + err.Error())
			}
			fmt.Println(v.Name, string(b))
		}
	}
	for _, op := range p.Versions[0].Operations {
		if op.Role == runtime.RoleOther {
			x, err := op.Decode([]byte("{\"id\":\"t\"}"))
			fmt.Println(op.RPC, op.HTTP[0].Path, x.(*CancelTaskRequest).ID, err)
		}
	}
	card, err := p.DecodeCard([]byte(os.Args[1]))
	if err != nil {
		panic(err)
	}
	for _, v := range p.Versions[:2] {
		b, err := v.AppendCard(nil, card)
		fmt.Println(v.Name, string(b), err)
	}
}

func byName(p *runtime.Protocol, name string) *runtime.Version {
	for _, v := range p.Versions {
		if v.Name == name {
			return v
		}
	}
	return nil
}
`

// unseenDocument is 1.0 with the edits.
func unseenDocument(t *testing.T) *spec.Document {
	t.Helper()
	src, err := spec.Source("1.0")
	if err != nil {
		t.Fatal(err)
	}
	text := string(src)
	for _, edit := range unseenEdits {
		if strings.Count(text, edit[0]) != 1 {
			t.Fatalf("%q is there %d times", edit[0], strings.Count(text, edit[0]))
		}
		text = strings.Replace(text, edit[0], edit[1], 1)
	}
	doc, problems := spec.Read("protocol/a2a.proto", []byte(text))
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	doc.Version = "1.1-preview"
	for _, m := range doc.Messages {
		if m.Name == "Artifact" {
			m.Fields = append(m.Fields[:2:2], m.Fields[3:]...) // without the description
		}
	}
	return doc
}

// runUnseen emits the package for the unseen definition and the older versions as a program, and runs it.
func runUnseen(t *testing.T, stdin, card string) []string {
	t.Helper()
	docs := []*spec.Document{unseenDocument(t)}
	for _, version := range []string{"1.0", "0.3", "0.2", "0.1"} {
		doc, err := spec.Shipped(version)
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	p, problems := lower.Protocol(docs)
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	files, err := emit.ProtocolPackage(p, emit.Paths{Protocol: "example.com/main"})
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir, replace := t.TempDir(), map[string]string{}
	write := func(name string, data []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, "internal", "unseen", name)] = file
		return file
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Path, "client.gen.go") { // a program needs no client, and links faster without
			write(filepath.Base(f.Path), f.Data)
		}
	}
	write("main.go", []byte(unseenMain))
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "-gcflags=-l", "-overlay", write("overlay.json", overlay), "./internal/unseen", card)
	cmd.Dir, cmd.Stdin = root, strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return strings.Split(strings.TrimSpace(out.String()), "\n")
}

func TestAnUnseenDefinitionLeavesTheOlderWiresAsTheyAre(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles a program")
	}
	p := Protocol()
	var in strings.Builder
	var want []string // of the versions that both know
	events := rapid.Custom(func(t *rapid.T) []byte {
		x := random(t, reflect.TypeFor[StreamResponse](), "").Addr().Interface().(*StreamResponse)
		b, err := x.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	})
	for i := range 200 {
		doc := events.Example(i)
		event, err := p.Versions[0].ReadEvent(doc)
		if err != nil {
			t.Fatalf("%v: %s", err, doc)
		}
		clearDescriptions(event)
		doc, err = p.Versions[0].AppendEvent(nil, event)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&in, "1.0 %s\n", doc)
		for _, v := range p.Versions {
			b, err := v.AppendEvent(nil, event)
			if err != nil {
				b = []byte("error " + err.Error())
			}
			want = append(want, v.Name+" "+string(b))
		}
	}
	fmt.Fprintln(&in, `1.1-preview {"task":{"id":"t","status":{"state":"TASK_STATE_PAUSED"},"labels":{"a":1},"priority":"high","budget":{"tokens":"9"},"watchers":["w"],"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}],"language":"nl"}]}}`)
	fmt.Fprintln(&in, `1.1-preview {"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"formula":"E=mc2"}]}}`)
	card := `{"name":"n","description":"d","version":"1","supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.1-preview"}],"capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[],"motto":"more","budget":{"tokens":"1"},"regions":["eu"]}`
	lines := runUnseen(t, in.String(), card)
	var older []string
	for _, line := range lines[:200*5] {
		if !strings.HasPrefix(line, "1.1-preview ") {
			older = append(older, line)
		}
	}
	for i := range want {
		if older[i] != want[i] {
			t.Fatalf("an older wire changed:\ngot  %s\nwant %s", older[i], want[i])
		}
	}
	checkUnseen(t, lines[200*5:])
}

// checkUnseen looks at what is new.
func checkUnseen(t *testing.T, lines []string) {
	t.Helper()
	want := []string{
		`1.1-preview {"task":{"id":"t","status":{"state":"TASK_STATE_PAUSED"},"history":[{"language":"nl","messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}],"labels":{"a":1},"priority":"high","budget":{"tokens":"9"},"watchers":["w"]}}`,
		`1.0 {"task":{"id":"t","status":{"state":"TASK_STATE_PAUSED"},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}],"metadata":{"a":1}}}`,
		`0.3 {"kind":"task","id":"t","contextId":"","status":{"state":"unknown"},"history":[{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}],"metadata":{"a":1}}`,
		`0.2 {"kind":"task","id":"t","contextId":"","status":{"state":"unknown"},"history":[{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"x"}]}],"metadata":{"a":1}}`,
		`0.1 {"id":"t","status":{"state":"unknown"},"final":false,"metadata":{"a":1}}`,
		`1.1-preview {"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"formula":"E=mc2"}]}}`,
		`1.0 error /message/parts/0: exactly one of text, raw, url, data is required`,
		`0.3 error /parts/0: exactly one of text, file, data is required`,
		`0.2 error /parts/0: exactly one of text, file, data is required`,
		`0.1 error /status/message/parts/0: exactly one of text, file, data is required`,
		`PauseTask /tasks/{id=*}:pause t <nil>`,
		`1.1-preview {"motto":"more","budget":{"tokens":"1"},"regions":["eu"],"name":"n","description":"d","supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.1-preview"}],"version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[]} <nil>`,
		`1.0 {"name":"n","description":"d","supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC","protocolVersion":"1.1-preview"}],"version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[]} <nil>`,
	}
	for i := range want {
		if i >= len(lines) || lines[i] != want[i] {
			t.Fatalf("line %d:\ngot  %s\nwant %s", i, strings.Join(lines[i:min(i+1, len(lines))], ""), want[i])
		}
	}
}

// clearDescriptions takes out of an event what the unseen definition does not have.
func clearDescriptions(event any) {
	switch x := runtime.Generated(event).(type) {
	case *Task:
		for _, a := range x.Artifacts {
			a.Description = ""
		}
	case *TaskArtifactUpdateEvent:
		x.Artifact.Description = ""
	}
}
