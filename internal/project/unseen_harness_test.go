package project_test

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// unseen is a definition that nobody here has seen, and what to ask an agent that was generated from it.
type unseen struct {
	version  string            // its name
	file     string            // in the project: "protocol/a2a.proto"
	files    map[string]string // it, and what it imports
	requests string            // more of [unseenRequests]
	// ask is Go code of the asking program: func ask(unseen *agentUnderTest), with imports.
	ask string
	// answers are what it prints, as regular expressions of lines.
	answers []string
}

const unseenAgent = `name: weather
description: Weather.
version: "0.1.0"
skills:
  - id: forecast
    name: Forecast
    description: Tomorrow.
    tags: [weather]
    input: {type: object, required: [city], properties: {city: {type: string}}}
    output: {type: object, required: [high], properties: {high: {type: number}}}
  - id: chat
    name: Chat
    description: Talks.
    tags: [talk]
`

// unseenSkills are written for the types of 1.0, and stay as they are.
const unseenSkills = `package skills

import (
	"context"
	"strings"

	"example.com/both/FOLDER/a2a"
	"example.com/both/FOLDER/agent"
	"github.com/a2agen/a2agen/runtime"
)

type Agent struct{}

func (a *Agent) Forecast(ctx context.Context, in *agent.ForecastInput, t *agent.Task) (*agent.ForecastOutput, error) {
	if in.City == "" {
		return nil, t.Ask("Which city?")
	}
	if err := t.Progress("Looking at %s", in.City); err != nil {
		return nil, err
	}
	return &agent.ForecastOutput{High: 20}, nil
}

func (a *Agent) Chat(ctx context.Context, in *a2a.Message, t *agent.Task) (string, error) {
	if in.Role != a2a.RoleUser || len(in.ReferenceTaskIDs) > 0 {
		return "", t.Reject("not so")
	}
	if err := t.Artifact("map", runtime.Text("a map"), runtime.Data(map[string]any{"a": 1})); err != nil {
		return "", err
	}
	return strings.ToUpper(t.Text()), nil
}
`

// unseenMain asks the plain agent and the one with the unseen definition the same, and calls ask with the latter.
const unseenMain = `package main

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	plain "example.com/both/plain/agent"
	plainskills "example.com/both/plain/skills"
	"example.com/both/unseen/agent"
	"example.com/both/unseen/skills"
	"github.com/a2agen/a2agen/runtime/server"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

var options = []server.Option{
	server.WithLogger(slog.New(slog.DiscardHandler)),
	server.WithClock(func() time.Time { return time.Unix(now.Load(), 0) }),
}

// now goes on from one request to the next, so that lists have one order.
var now atomic.Int64

var ids = regexp.MustCompile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

// agentUnderTest has a memory for the last id of a task that it answered.
type agentUnderTest struct {
	h    http.Handler
	seen map[string]string
}

// ask sends a request; ids in it and in the answer are named by when they came up.
func (a *agentUnderTest) ask(verb, path, version, body string) string {
	for id, name := range a.seen {
		body = strings.ReplaceAll(body, name, id)
	}
	r := httptest.NewRequest(verb, path, strings.NewReader(body))
	if version != "0.3" && version != "none" {
		r.Header.Set("A2A-Version", version)
	}
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, r)
	return fmt.Sprint(w.Code, " ") + ids.ReplaceAllStringFunc(w.Body.String(), func(id string) string {
		if a.seen[id] == "" {
			a.seen[id] = fmt.Sprintf("<id %d>", len(a.seen)+1)
		}
		return a.seen[id]
	})
}

func same(old, unseen *agentUnderTest, verb, path, version, body string) {
	now.Add(1)
	want, got := old.ask(verb, path, version, body), unseen.ask(verb, path, version, body)
	// The card lists the interfaces of one version more, before the others.
	for _, more := range []string{"/\",\"protocolBinding\":\"JSONRPC\"", "\",\"protocolBinding\":\"HTTP+JSON\""} {
		got = strings.Replace(got, "{\"url\":\"http://example.com"+more+",\"protocolVersion\":\"VERSION\"},", "", 1)
	}
	if got != want {
		fmt.Printf("DIFFERENT %s %s %s\n got %s\nwant %s\n", version, path, body, got, want)
		return
	}
	fmt.Println("SAME", version, want)
}

// call asks in a version and prints the answer behind what it is about.
func (a *agentUnderTest) call(about, version, method, params string) {
	fmt.Println(about, a.ask("POST", "/", version, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\""+method+"\",\"params\":"+params+"}"))
}

func main() {
	now.Store(1700000000)
	old := &agentUnderTest{must(plain.NewServer(&plainskills.Agent{}, options...)), map[string]string{}}
	unseen := &agentUnderTest{must(agent.NewServer(&skills.Agent{}, options...)), map[string]string{}}
	for line := range strings.Lines(string(must(io.ReadAll(os.Stdin)))) {
		version, body, _ := strings.Cut(strings.TrimSpace(line), " ")
		same(old, unseen, "POST", "/", version, body)
	}
	for _, version := range []string{"1.0", "0.3"} {
		same(old, unseen, "GET", "/.well-known/agent-card.json", version, "")
	}
	ask(unseen)
}
`

// unseenRequests are sent to both agents in the versions that both speak.
const unseenRequests = `1.0 {"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"city":"Bonn"}}],"metadata":{"https://github.com/a2agen/a2agen/extensions/skills/v1":{"skill":"forecast"}}}}}
1.0 {"jsonrpc":"2.0","id":2,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"talk"}],"metadata":{"a":1}}}}
1.0 {"jsonrpc":"2.0","id":3,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"talk"}],"referenceTaskIds":["x"]}}}
1.0 {"jsonrpc":"2.0","id":3,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"talk"}],"relatedTasks":["x"],"language":"nl"}}}
1.0 {"jsonrpc":"2.0","id":4,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"formula":"E=mc2"}]}}}
1.0 {"jsonrpc":"2.0","id":5,"method":"GetTask","params":{"id":"<id 1>"}}
1.0 {"jsonrpc":"2.0","id":6,"method":"ListTasks","params":{"includeArtifacts":true}}
1.0 {"jsonrpc":"2.0","id":7,"method":"CancelTask","params":{"id":"<id 1>"}}
1.0 {"jsonrpc":"2.0","id":8,"method":"GetTask","params":{"id":"unknown"}}
1.0 {"jsonrpc":"2.0","id":9,"method":"PauseTask","params":{"id":"x"}}
1.0 {"jsonrpc":"2.0","id":10,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"talk"}]}}}
none {"jsonrpc":"2.0","id":11,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"talk"}],"referenceTaskIds":["x"]}}}
none {"jsonrpc":"2.0","id":12,"method":"nonsense","params":{}}
0.3 {"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"data","data":{"city":"Bonn"}}],"metadata":{"https://github.com/a2agen/a2agen/extensions/skills/v1":{"skill":"forecast"}}}}}
0.3 {"jsonrpc":"2.0","id":2,"method":"message/send","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"talk"}],"referenceTaskIds":["x"]}}}
0.3 {"jsonrpc":"2.0","id":3,"method":"tasks/get","params":{"id":"<id 1>"}}
0.3 {"jsonrpc":"2.0","id":4,"method":"tasks/cancel","params":{"id":"<id 1>"}}
0.3 {"jsonrpc":"2.0","id":5,"method":"message/stream","params":{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"talk"}]}}}
`

// run generates two projects in one module, a plain one and one with the unseen definition beside the same versions,
// compares what they answer, and asks what is new. It returns the folder of the latter.
func (u unseen) run(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles a program")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{
		"go.mod":  projecttest.GoMod("example.com/both", root) + "\n" + modulesOfAFile.Requirement(),
		"go.sum":  string(modulesOfAFile.Sums()),
		"main.go": strings.ReplaceAll(unseenMain, "VERSION", u.version), "ask.go": u.ask,
	}
	for folder, versions := range map[string]string{"plain": `["1.0", "0.3"]`, "unseen": `[{version: "` + u.version + `", file: ` + u.file + `}, "1.0", "0.3"]`} {
		files[folder+"/agent.yaml"] = unseenAgent
		files[folder+"/a2agen.yaml"] = "protocol: " + versions + "\n"
		files[folder+"/skills/agent.go"] = strings.ReplaceAll(unseenSkills, "FOLDER", folder)
	}
	for name, text := range u.files {
		files["unseen/"+name] = text
	}
	projecttest.Write(t, dir, files)
	for _, folder := range []string{"plain", "unseen"} {
		if _, err := project.Run(t.Context(), project.Options{Tool: project.Tool{Version: "v1.0.0"}, Dir: filepath.Join(dir, folder)}); err != nil {
			t.Fatalf("%s: %v", folder, err)
		}
	}
	cmd := gotool.Command(dir, "run", ".")
	cmd.Stdin = strings.NewReader(unseenRequests + u.requests)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out.String(), errs.String())
	}
	t.Log(out.String())
	u.check(t, out.String())
	return filepath.Join(dir, "unseen")
}

// check compares what the program printed.
func (u unseen) check(t *testing.T, out string) {
	t.Helper()
	if strings.Contains(out, "DIFFERENT") {
		t.Error("an older version answers otherwise")
	}
	if n, want := strings.Count(out, "SAME"), strings.Count(unseenRequests+u.requests, "\n")+2; n != want {
		t.Errorf("%d answers are the same, want %d", n, want)
	}
	for _, want := range u.answers {
		if !regexp.MustCompile(`(?m)^` + want).MatchString(out) {
			t.Errorf("no answer matches %s", want)
		}
	}
}

// modulesOfAFile are what an agent links whose tasks are kept in a file.
var modulesOfAFile = scaffold.ModulesOf(&config.Config{Store: "sqlite"}, scaffold.Links{})
