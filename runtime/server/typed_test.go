package server_test

import (
	"context"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/gen/handler"
	"github.com/a2agen/a2agen/runtime/server"
)

// An input is decoded once, whoever had to know first whether it fits: the router, a notification, the reading of a text, or nobody.
func TestAnInputIsDecodedOnce(t *testing.T) {
	for _, c := range []struct {
		name, params string
		others       bool
	}{
		{"data for the only skill", data(`{"a":"x"}`), false},
		{"data that only one skill takes", data(`{"a":"x"}`), true},
		{"data for a skill by its name", data(`{"a":"x"}`, `"metadata":{"skillId":"one"}`), true},
	} {
		decoded := 0
		handle := func(_ context.Context, _ *server.Task, in map[string]any) (any, error) { return in, nil }
		one, two := typed("one", []string{"a"}, handle), typed("two", []string{"b"}, handle)
		decode := one.Decode
		one.Decode = func(input []byte) (any, error) { decoded++; return decode(input) }
		skills := []server.Skill{one}
		if c.others {
			skills = append(skills, two)
		}
		a := start(t, testCard, skills)
		if got := a.ok("SendMessage", c.params); str(got, "task", "status", "state") != "TASK_STATE_COMPLETED" || decoded != 1 {
			t.Errorf("%s: it is decoded %d times; %v", c.name, decoded, got)
		}
		decoded = 0
		resp, _ := a.post(`{"jsonrpc":"2.0","method":"SendMessage","params":` + c.params + `}`)
		if err := a.Shutdown(t.Context()); resp.StatusCode != 204 || decoded != 1 || err != nil {
			t.Errorf("%s: in a notification it is decoded %d times; status %d, %v", c.name, decoded, resp.StatusCode, err)
		}
	}
}

// What generated skills are made of: an output with a schema makes a task before its handler runs, text leaves the handler free to answer otherwise.
func TestTypedSkills(t *testing.T) {
	echo := server.Skill{ID: "echo", InputSchema: `{}`, OutputSchema: `{}`, Decode: handler.Decode[a2a.Part]}
	echo.Run = handler.JSON(func(_ context.Context, call *server.Task, in *a2a.Part) (*a2a.Part, error) {
		if in.Filename == "" {
			return nil, call.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text("nothing in it")))
		}
		return in, nil
	})
	chat := server.Skill{ID: "chat", Run: handler.Text(func(_ context.Context, call *server.Task, in *struct{}) (string, error) {
		if call.Text() == "reply" {
			return "", call.Reply(runtime.Text("hi"))
		}
		return call.Text(), nil
	})}
	a := start(t, testCard, []server.Skill{echo, chat})
	const toEcho, toChat = `"metadata":{"skillId":"echo"}`, `"metadata":{"skillId":"chat"}`
	for _, c := range []struct {
		params string
		want   string
		path   []any
	}{
		{data(`{"text":"x","filename":"f"}`, toEcho), "f", []any{"task", "artifacts", 0, "parts", 0, "data", "filename"}},
		{data(`{"text":"x"}`, toEcho), "nothing in it", []any{"task", "status", "message", "parts", 0, "text"}},
		{message("reply", toChat), "hi", []any{"message", "parts", 0, "text"}},
		{message("so it is", toChat), "so it is", []any{"task", "artifacts", 0, "parts", 0, "text"}},
	} {
		if got := a.ok("SendMessage", c.params); str(got, c.path...) != c.want {
			t.Errorf("%s comes to %v", c.params, got)
		}
	}
	if _, e := a.call("SendMessage", data(`{"text":5}`, toEcho)); e == nil || e.Violations()[0].Field != "input.text" {
		t.Errorf("a wrong input: %v", e)
	}
}
