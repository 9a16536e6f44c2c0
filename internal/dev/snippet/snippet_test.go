package snippet

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/test/gotool"
)

// weather is the project of the example.
func weather(t *testing.T) *Project {
	t.Helper()
	out, list, err := project.Inspect(t.Context(), project.Options{Tool: project.ThisTool(), Dir: "../../../examples/weather"})
	if err != nil || list.HasErrors() {
		t.Fatal(err, list)
	}
	return &Project{
		URL: "http://127.0.0.1:8080", Agent: out.Model.Agent, Helper: true,
		Client: "example.com/weather/client", Server: "example.com/weather/agent", Handlers: "example.com/weather/skills",
	}
}

// call is a call of JSON-RPC: a message for a skill with parts, and what came.
func call(id int64, operation, skill, parts, outcome, answer string) traffic.Exchange {
	x := traffic.Exchange{Summary: traffic.Summary{ID: id, Method: "POST", Path: "/", Operation: operation, Skill: skill, Status: 200, Outcome: outcome, State: traffic.Done}}
	x.Request.Bytes = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[%s]}}}`, operation, parts)
	x.Response.Bytes = []byte(answer)
	return x
}

const (
	forecast = "get_forecast"
	named    = "get_current_weather"
)

// conversations are calls with what copies of them must have.
func conversations() map[string]struct {
	calls    []traffic.Exchange
	inGo     []string
	inTest   []string
	passes   bool // the test, with the handlers of the example
	testName string
} {
	type row = struct {
		calls    []traffic.Exchange
		inGo     []string
		inTest   []string
		passes   bool
		testName string
	}
	text := func(s string) string { b, _ := json.Marshal(s); return `{"text":` + string(b) + `}` }
	return map[string]row{
		"a typed input, whose task is rejected": {
			[]traffic.Exchange{call(4, "SendMessage", named, `{"data":{"location":"Atlantis","units":"fahrenheit"}}`, "TASK_STATE_REJECTED", `{}`)},
			[]string{`out, err := c.GetCurrentWeather(ctx, &client.GetCurrentWeatherInput{Location: "Atlantis", Units: client.UnitsFahrenheit})`, `client.New(ctx, "http://127.0.0.1:8080")`},
			[]string{`_, err := c.GetCurrentWeather(t.Context(), `, `ended.State != runtime.StateRejected`}, true, "GetCurrentWeather_call4",
		},
		"an output that is known": {
			[]traffic.Exchange{call(5, "SendMessage", named, `{"data":{"location":"Paris","units":"celsius"}}`, "TASK_STATE_COMPLETED",
				`{"result":{"task":{"artifacts":[{"parts":[{"data":{"location":"Paris","temperature":99,"units":"celsius","conditions":"snow"}}]}]}}}`)},
			nil, []string{`want := new(client.GetCurrentWeatherOutput)`, `reflect.DeepEqual(out, want)`}, false, "GetCurrentWeather_call5",
		},
		"a question and its answer": {
			[]traffic.Exchange{
				call(6, "SendMessage", forecast, `{"data":{"location":"Springfield","days":1}}`, "TASK_STATE_INPUT_REQUIRED", `{}`),
				call(7, "SendMessage", "", text(`Springfield, Oregon`), "TASK_STATE_COMPLETED", `{}`),
			},
			[]string{`_, err = c.GetForecast(ctx, &client.GetForecastInput{Location: "Springfield", Days: 1})`, `out, err := c.GetForecastAnswer(ctx, ask, runtime.Text("Springfield, Oregon"))`},
			[]string{`_, err := c.GetForecast(`, `_, err = c.GetForecastAnswer(`}, true, "GetForecast_call7",
		},
		"a question that is the end": {
			[]traffic.Exchange{call(8, "SendMessage", forecast, `{"data":{"location":"Springfield"}}`, "TASK_STATE_INPUT_REQUIRED", `{}`)},
			nil, []string{`errors.As(err, &ask)`}, true, "GetForecast_call8",
		},
		"text that no client types": {
			[]traffic.Exchange{call(9, "SendMessage", "", text("Current conditions in \"Tokyo\"\n`x`"), "TASK_STATE_COMPLETED", `{}`)},
			[]string{`skill := rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "", In: rpc.PlainInput, Out: rpc.PlainOutput}`, "runtime.Text(\"Current conditions in \\\"Tokyo\\\"\\n`x`\")"},
			[]string{`func TestAgent_call9(`}, true, "Agent_call9",
		},
		"an input that breaks its schema": {
			[]traffic.Exchange{call(10, "SendMessage", forecast, `{"data":{"place":"Rome"}}`, "error", `{"error":{"code":-32602,"message":"/location: \"missing\""}}`)},
			nil, []string{`json.Unmarshal([]byte(`, `{"place":"Rome"}`}, false, "GetForecast_call10",
		},
		"a stream": {
			[]traffic.Exchange{call(11, "SendStreamingMessage", forecast, `{"data":{"location":"London","days":2}}`, "TASK_STATE_COMPLETED", "")},
			[]string{`for e, err := range c.GetForecastStream(ctx, `}, []string{`c.GetForecast(t.Context(), `}, true, "GetForecast_call11",
		},
		"parts of all kinds": {
			[]traffic.Exchange{call(12, "SendMessage", "", text("see")+`,{"data":{"a":[1]}},{"url":"https://x.test/a","filename":"a"},{"raw":"aGk=","mediaType":"text/plain"}`, "error", `{"error":{"message":"no"}}`)},
			[]string{"runtime.Data(json.RawMessage(`{\"a\":[1]}`))", `runtime.Link("a", "", "https://x.test/a")`, `runtime.File("", "text/plain", []byte("hi"))`},
			[]string{`want one such as %q", "no")`}, false, "Agent_call12",
		},
	}
}

// TestACallIsCopiedAsGo and as a test, in words of the typed client where that has them.
func TestACallIsCopiedAsGo(t *testing.T) {
	p := weather(t)
	for name, c := range conversations() {
		for kind, copy := range map[string]struct {
			make func([]traffic.Exchange, *Project) (string, error)
			want []string
		}{"Go": {Go, c.inGo}, "a test": {Test, append(c.inTest, "func Test"+c.testName+"(")}} {
			code, err := copy.make(c.calls, p)
			if err != nil {
				t.Errorf("%s as %s: %v", name, kind, err)
			}
			for _, want := range copy.want {
				if !strings.Contains(code, want) {
					t.Errorf("%s as %s has no %s:\n%s", name, kind, want, code)
				}
			}
		}
	}
}

// TestCopiesCompile in the project of the example, and the tests say of its handlers what is so. The files are laid over
// the folder: nothing is written there.
func TestCopiesCompile(t *testing.T) {
	gotool.Long(t)
	p := weather(t)
	root, err := filepath.Abs("../../../examples/weather")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	over := map[string]string{}
	lay := func(at, code string, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, strings.ReplaceAll(at, "/", "_"))
		if err := os.WriteFile(file, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
		over[filepath.Join(root, at)] = file
	}
	var run []string
	for _, c := range conversations() {
		p.Helper = len(run)%2 == 0
		if c.passes {
			run = append(run, "^Test"+c.testName+"$")
		}
		code, err := Test(c.calls, p)
		lay("skills/"+strings.ToLower(c.testName)+"_test.go", code, err)
		if len(c.calls) == 1 && c.testName != "Agent_call12" { // each program costs its compilation
			continue
		}
		code, err = Go(c.calls, p)
		lay("cmd/"+strings.ToLower(c.testName)+"/main.go", code, err)
	}
	list, _ := json.Marshal(map[string]any{"Replace": over})
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"build", "-overlay", overlay, "./cmd/..."}, {"test", "-overlay", overlay, "-count=1", "-run", strings.Join(run, "|"), "./skills"}} {
		cmd := exec.Command("go", args...)
		cmd.Dir = root
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", args[0], err, said)
		}
	}
}

// TestACallIsCopiedForAShell: with variables where secrets were, and nothing that the shell obeys.
func TestACallIsCopiedForAShell(t *testing.T) {
	p := &Project{URL: "http://127.0.0.1:8080"}
	x := call(1, "SendStreamingMessage", "", `{"text":"it's $(reboot) `+"`x`"+`"}`, "", "")
	x.Path = "/rpc?key=[masked]&tenant=a%20b"
	x.RequestHeader = map[string][]string{
		"Content-Type": {"application/json"}, "Authorization": {"Bearer [masked]"}, "X-$(reboot)`": {"[masked]"}, "Content-Length": {"7"}, "A2a-Version": {"1.0"},
	}
	got, err := Curl(&x, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"curl -sS -N 'http://127.0.0.1:8080/rpc?''key='\"$KEY\"'&''tenant=a%20b'", "-H 'Content-Type: application/json' \\\n", `-H 'Authorization: Bearer '"$AUTHORIZATION"`,
		"-H 'X-$(reboot)`: '\"$X___REBOOT__\"", "--data-raw '", `it'\''s $(reboot)`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "Content-Length") {
		t.Error(got)
	}
	t.Run("as a shell reads it", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "curl"), []byte("#!/bin/sh\nfor a; do printf '%s\\n' \"$a\"; done\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		sh, err := exec.LookPath("sh")
		if err != nil {
			t.Skip("no sh")
		}
		cmd := exec.Command(sh, "-c", got)
		cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "AUTHORIZATION=tok", "KEY=k e"}
		said, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(said), "\n"+string(x.Request.Bytes)+"\n") || !strings.Contains(string(said), "\nAuthorization: Bearer tok\n") ||
			!strings.Contains(string(said), "/rpc?key=k e&tenant=a%20b\n") {
			t.Errorf("%v\n%s", err, said)
		}
	})
}

// TestWhatCannotBeCopiedSaysWhy, and what to do.
func TestWhatCannotBeCopiedSaysWhy(t *testing.T) {
	p := weather(t)
	grpc := call(1, "SendMessage", named, `{"text":"a"}`, "", "")
	grpc.Binding = "GRPC"
	long := call(1, "SendMessage", named, `{"text":"`+strings.Repeat("a", maxArgument)+`"}`, "", "")
	cut := call(1, "SendMessage", named, `{"text":"a"}`, "", "")
	cut.Request.Cut = true
	binary := traffic.Exchange{Request: traffic.Body{Bytes: []byte{0xff}}}
	for want, x := range map[string]*traffic.Exchange{"curl does not speak gRPC": &grpc, "too long for a command": &long, "not kept whole": &cut, "is no text": &binary} {
		if _, err := Curl(x, p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, err := Go([]traffic.Exchange{cut}, p); err == nil || !strings.Contains(err.Error(), "only calls that send a message") {
		t.Error(err)
	}
	answer := call(1, "SendMessage", named, `{"text":"a"}`, "", "")
	answer.Request.Bytes = []byte(`{"params":{"message":{"taskId":"t","parts":[{"text":"a"}]}}}`)
	if _, err := Test([]traffic.Exchange{answer}, p); err == nil || !strings.Contains(err.Error(), "no longer kept") {
		t.Error(err)
	}
	if _, err := Go([]traffic.Exchange{grpc}, &Project{}); err == nil || !strings.Contains(err.Error(), "no typed client") {
		t.Error(err)
	}
}
