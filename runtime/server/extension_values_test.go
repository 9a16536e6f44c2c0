package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/gen/extension"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/wire"
)

const traceURI = "https://example.com/trace/v1"

// traced is a generated type of an extension, by hand.
type traced struct{ N int }

func (v *traced) UnmarshalJSON(src []byte) error {
	var read struct{ N *int }
	if json.Unmarshal(src, &read) != nil || read.N == nil {
		return &check.Error{Violations: []check.Violation{{Pointer: "/n", Message: "must be a number"}}}
	}
	v.N = *read.N
	return nil
}

func (v *traced) AppendJSON(dst []byte) ([]byte, error) {
	if v == nil || v.N < 0 {
		return dst, &check.Error{Violations: []check.Violation{{Pointer: "/n", Message: "must be at least 0"}}}
	}
	return fmt.Appendf(dst, `{"n":%d}`, v.N), nil
}

// tracer serves an agent with an extension, whose handler is f.
func tracer(t *testing.T, declared string, x *extension.Contract, f func(*server.Task) error) *agent {
	t.Helper()
	card := strings.Replace(testCard, `"streaming":true`, `"streaming":true,"extensions":[`+declared+`]`, 1)
	skill := run("trace", func(_ context.Context, t *server.Task) (string, error) { return "", f(t) })
	s, err := server.New(server.Config{
		Protocol: a2a.Protocol(), Card: readCard(t, card), Skills: []server.Skill{skill}, Extensions: extension.SetOf(x),
	}, server.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	return host(t, s)
}

const traceDeclared = `{"uri":"` + traceURI + `"}`

// emit sends an artifact with a value.
func emit(x *extension.Contract, v *traced) func(*server.Task) error {
	return func(t *server.Task) error {
		a := runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text("x")}, LastChunk: true}
		if err := extension.OnArtifact(t, x, &a, v); err != nil {
			return err
		}
		return t.Emit(a)
	}
}

func TestValuesOfAnExtensionGoToThoseWhoAsk(t *testing.T) {
	for name, c := range map[string]struct {
		always bool
		header []string
		more   string
		want   bool
	}{
		"nobody asks":                          {},
		"the extension is always sent":         {always: true, want: true},
		"the header asks":                      {header: []string{"A2A-Extensions: https://other.example, " + traceURI}, want: true},
		"the header of 0.3 asks":               {header: []string{"X-A2A-Extensions: " + traceURI}, want: true},
		"the message lists it":                 {more: `"extensions":["` + traceURI + `"]`, want: true},
		"the message has a value":              {more: `"metadata":{"` + traceURI + `":{"n":2}}`, want: true},
		"the message lists another version":    {more: `"extensions":["https://example.com/trace/v2"]`},
		"the header has the URI and something": {header: []string{"A2A-Extensions: " + traceURI + "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			x := &extension.Contract{URI: traceURI, Always: c.always, Message: extension.Check[traced]}
			a := tracer(t, traceDeclared, x, emit(x, &traced{1}))
			more := []string{}
			if c.more != "" {
				more = append(more, c.more)
			}
			resp, body := a.post(rpcBody("SendMessage", message("go", more...)), c.header...)
			artifact := at(parse(t, body), "result", "task", "artifacts", 0)
			if got := at(artifact, "metadata", traceURI, "n"); (got == 1.0) != c.want {
				t.Errorf("the artifact has %v", artifact)
			}
			if got := at(artifact, "extensions", 0); (got == traceURI) != c.want {
				t.Errorf("the artifact lists %v", got)
			}
			if echo := resp.Header.Get("A2A-Extensions"); (echo == traceURI) != (c.want && !c.always) {
				t.Errorf("the answer echoes %q", echo)
			}
		})
	}
}

func TestAValueOfAnExtensionThatDoesNotFitIsRefusedBeforeAnyWork(t *testing.T) {
	x := &extension.Contract{URI: traceURI, Key: "trace", Message: extension.Check[traced], Request: extension.Check[traced], MediaType: "application/x-trace+json", CallerPart: extension.Check[traced]}
	a := tracer(t, traceDeclared, x, func(*server.Task) error { t.Error("the handler is called"); return nil })
	for field, params := range map[string]string{
		`message.metadata["trace"].n`: message("go", `"metadata":{"trace":{"n":"x"}}`),
		`metadata["trace"].n`:         strings.Replace(message("go"), `{"message"`, `{"metadata":{"trace":[]},"message"`, 1),
		`message.parts[0].data.n`:     strings.Replace(data(`{}`), `"data":{}`, `"data":{},"mediaType":"application/x-trace+json"`, 1),
	} {
		_, e := a.call("SendMessage", params)
		if e == nil || !errors.Is(e, runtime.ErrInvalidParams) || len(e.Violations()) == 0 || e.Violations()[0].Field != field ||
			!strings.Contains(e.Note, traceURI) {
			t.Errorf("%s: %v", field, e)
		}
	}
	if n := at(a.ok("ListTasks", `{}`), "totalSize"); n != 0.0 {
		t.Errorf("%v tasks were made", n)
	}
}

func TestAValueOfTheHandlersThatDoesNotFitIsAnErrorForIt(t *testing.T) {
	x := &extension.Contract{URI: traceURI}
	a := tracer(t, traceDeclared, x, func(task *server.Task) error {
		m := runtime.ArtifactData{Metadata: runtime.Metadata([]int{1})}
		if err := extension.OnArtifact(task, x, &m, &traced{1}); err == nil || m.Extensions != nil {
			t.Errorf("metadata that are a list: %v", err)
		}
		err := emit(x, &traced{-1})(task)
		if found := (*check.Error)(nil); !errors.As(err, &found) || !strings.Contains(err.Error(), traceURI) {
			t.Errorf("the handler gets %v", err)
		}
		return err
	})
	task := a.ok("SendMessage", message("go"), "A2A-Extensions: "+traceURI)["task"]
	if said := str(task, "status", "message", "parts", 0, "text"); said != "The skill failed unexpectedly." {
		t.Errorf("the caller is told %q", said)
	}
}

func TestATaskRemembersTheExtensionsItsCallerAskedFor(t *testing.T) {
	x := &extension.Contract{URI: traceURI}
	a := tracer(t, traceDeclared, x, func(t *server.Task) error {
		if !t.Resumed() {
			return errors.Join(t.Save("kept"), t.Ask("Go on?"))
		}
		var kept string
		if ok, err := t.Load(&kept); !ok || err != nil || kept != "kept" {
			return fmt.Errorf("saved %q: %v", kept, err)
		}
		return emit(x, &traced{3})(t)
	})
	task := a.ok("SendMessage", message("go"), "A2A-Extensions: "+traceURI)["task"]
	if got := at(task, "status", "message", "extensions", 0); got != traceURI {
		t.Errorf("the question lists %v", got)
	}
	task = a.ok("SendMessage", message("yes", `"taskId":"`+str(task, "id")+`"`))["task"]
	if got := at(task, "artifacts", 0, "metadata", traceURI, "n"); got != 3.0 {
		t.Errorf("the task is %v", task)
	}
	if task := a.ok("SendMessage", message("go"))["task"]; at(task, "status", "message", "extensions") != nil {
		t.Errorf("another task has it, too: %v", task)
	}
}

// R49: no work is done for callers that do not name a required extension.
func TestARequiredExtensionIsDemandedBeforeAnyWork(t *testing.T) {
	x := &extension.Contract{URI: traceURI}
	a := tracer(t, `{"uri":"`+traceURI+`","required":true}`, x, emit(x, &traced{1}))
	if _, e := a.call("SendMessage", message("go")); !errors.Is(e, runtime.ErrExtensionSupportRequired) {
		t.Errorf("without it: %v", e)
	}
	if n := at(a.ok("ListTasks", `{}`, "A2A-Extensions: "+traceURI), "totalSize"); n != 0.0 {
		t.Errorf("%v tasks were made", n)
	}
}

func TestManyExtensionsAndLargeMetadataCostNoMoreThanTheirBytes(t *testing.T) {
	x := &extension.Contract{URI: traceURI, Message: extension.Check[traced]}
	a := tracer(t, traceDeclared, x, emit(x, &traced{1}))
	uris := list(10_000, func(i int) string { return fmt.Sprintf(`"https://example.com/%d"`, i) })
	members := list(10_000, func(i int) string { return fmt.Sprintf(`"https://example.com/%d":{"n":%d}`, i, i) })
	task := a.ok("SendMessage", message("go", `"extensions":[`+uris+`,"`+traceURI+`"]`, `"metadata":{`+members+`}`))["task"]
	if got := at(task, "artifacts", 0, "extensions"); len(got.([]any)) != 1 {
		t.Errorf("the artifact lists %v", got)
	}
	large := message("go", `"metadata":{"`+traceURI+`":{"n":1,"x":"`+strings.Repeat("x", 16<<20)+`"}}`)
	if resp, _ := a.post(rpcBody("SendMessage", large)); resp.StatusCode != 413 {
		t.Errorf("16 MiB of metadata are answered with %s", resp.Status)
	}
}

func TestWithKeepsTheMetadataThatItIsGiven(t *testing.T) {
	before := wire.Object(`{"a":1,"b":{"c":[]}}`)
	after, err := extension.With(before, "a", wire.Value(`2`))
	if err != nil || string(before) != `{"a":1,"b":{"c":[]}}` || string(after) != `{"a":2,"b":{"c":[]}}` {
		t.Errorf("%s, %v", after, err)
	}
}

func TestAnOperationOfAnExtensionIsForThoseWhoAsk(t *testing.T) {
	x := &extension.Contract{URI: traceURI, Methods: []string{"Ping"}}
	card := strings.Replace(testCard, `"streaming":true`, `"streaming":true,"extensions":[`+traceDeclared+`]`, 1)
	done := server.NewOperation(func(context.Context, *ping) (*pong, error) { return &pong{`{"b":2}`}, nil })
	s, err := server.New(server.Config{
		Protocol: strange(), Card: readCard(t, card), Extensions: extension.SetOf(x), Operations: map[string]server.Operation{"Ping": done},
	}, server.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	a := host(t, s)
	if _, e := a.call("Ping", `{}`); !errors.Is(e, runtime.ErrExtensionSupportRequired) || !strings.Contains(e.Note, traceURI) {
		t.Errorf("without the extension: %v", e)
	}
	if got := a.ok("Ping", `{}`, "A2A-Extensions: "+traceURI); got["b"] != 2.0 {
		t.Errorf("with it: %v", got)
	}
}
