package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/mcp"
	"github.com/a2agen/a2agen/runtime/server"
)

// notices are the params of notifications about progress.
func notices(t *testing.T, list []message) (messages []string) {
	t.Helper()
	last := 0.0
	for _, m := range list {
		var p struct {
			ProgressToken any
			Progress      float64
			Message       string
		}
		if err := json.Unmarshal(m.Params, &p); err != nil || m.Method != "notifications/progress" || p.ProgressToken != "tok" || p.Progress <= last {
			t.Errorf("%s %s: %v", m.Method, m.Params, err)
		}
		last = p.Progress
		messages = append(messages, p.Message)
	}
	return messages
}

func streaming(_ context.Context, t *server.Task, _ any) ([]byte, error) {
	if err := t.Progress("looking"); err != nil {
		return nil, err
	}
	w := t.Stream("words")
	for _, word := range []string{"one ", "two ", "three"} {
		if _, err := io.WriteString(w, word); err != nil {
			return nil, err
		}
	}
	return nil, w.Close()
}

func TestProgressAndStreamedTextAreProgressOfTheCall(t *testing.T) {
	for _, a2a := range []string{"1.0", "0.3"} {
		a := agentOf(t, a2a, "", "", streaming)
		for _, version := range versions {
			h := connect(t, a.options, version, `{}`)
			m, list := h.until(h.begin("tools/call", `"name":"do","arguments":{"text":"x"}`, `"progressToken":"tok"`))
			if got := notices(t, list); len(got) < 2 || got[0] != "looking" || strings.Join(got[1:], "") != "one two three" {
				t.Errorf("A2A %s, MCP %s: the host is told %q", a2a, version, got)
			}
			if r := h.read(m); r.text() != "one two three" {
				t.Errorf("A2A %s, MCP %s: got %+v", a2a, version, r)
			}
		}
	}
}

func TestWithoutATokenNothingIsTold(t *testing.T) {
	h := connect(t, agentOf(t, "1.0", "", "", streaming).options, newest, `{}`)
	if m, list := h.until(h.begin("tools/call", `"name":"do","arguments":{"text":"x"}`, "")); len(list) != 0 || h.read(m).text() != "one two three" {
		t.Errorf("got %s, %v", m.Result, list)
	}
}

func TestSilenceIsBrokenByHeartbeats(t *testing.T) {
	heard := make(chan struct{})
	a := agentOf(t, "1.0", "", "", func(context.Context, *server.Task, any) ([]byte, error) {
		<-heard
		return []byte("done"), nil
	})
	a.options.Heartbeat = time.Millisecond
	h := connect(t, a.options, newest, `{}`)
	id := h.begin("tools/call", `"name":"do","arguments":{"text":"x"}`, `"progressToken":"tok"`)
	list := []message{h.next(), h.next(), h.next()}
	close(heard)
	m, more := h.until(id)
	for _, text := range notices(t, append(list, more...)) {
		if text != "" && text != "done" {
			t.Errorf("the host is told %q", text)
		}
	}
	if h.read(m).text() != "done" {
		t.Errorf("got %s", m.Result)
	}
}

// waiting is a skill that waits until its task is canceled, and says so.
func waiting(begun chan<- struct{}, canceled chan<- error) func(context.Context, *server.Task, any) ([]byte, error) {
	return func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
		if err := t.Call().Begin(); err != nil {
			return nil, err
		}
		begun <- struct{}{}
		<-ctx.Done()
		canceled <- context.Cause(ctx)
		return nil, ctx.Err()
	}
}

func TestACancelOfTheHostCancelsTheTask(t *testing.T) {
	begun, canceled := make(chan struct{}, 1), make(chan error, 1)
	a := agentOf(t, "1.0", "", "", waiting(begun, canceled))
	for _, version := range versions {
		h := connect(t, a.options, version, `{}`)
		id := h.begin("tools/call", `"name":"do","arguments":{"text":"x"}`, "")
		await(t, begun)
		h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		await(t, canceled)
	}
}

func await[T any](t *testing.T, c <-chan T) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatal("it does not come")
	}
}

// TestACancelBeforeTheTaskIsNamedCancelsItThen: the agent takes its time to say which task it is.
func TestACancelBeforeTheTaskIsNamedCancelsItThen(t *testing.T) {
	begun, canceled := make(chan struct{}, 1), make(chan error, 1)
	a := agentOf(t, "1.0", "", "", waiting(begun, canceled))
	a.gate = make(chan struct{})
	before := a.requests()
	h := connect(t, a.options, newest, `{}`)
	id := h.begin("tools/call", `"name":"do","arguments":{"text":"x"}`, "")
	a.isCalled(t, before)
	h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	h.until(h.begin("tools/list", "", "")) // the notification was read before
	close(a.gate)
	await(t, canceled)
}

func TestACancelWhileAPersonIsAskedCancelsTheTask(t *testing.T) {
	a := agentOf(t, "1.0", "", "", asking("Which one?"))
	h := connect(t, a.options, forms, asks)
	id := h.begin("tools/call", `"name":"do","arguments":{"text":"x"}`, "")
	if got := h.line(); !strings.Contains(got, "elicitation/create") {
		t.Fatalf("the host gets %s", got)
	}
	before := a.requests()
	h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	a.isCalled(t, before)
}

// isCalled waits until there were more requests to the agent than before.
func (a *agent) isCalled(t *testing.T, before int) {
	t.Helper()
	for deadline := time.Now().Add(patience); a.requests() == before; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Error("the agent is not called")
			return
		}
	}
}

func (a *agent) requests() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.headers)
}

func TestAHostThatLeavesDoesNotCancelTheTask(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan error, 1)
	goOn := make(chan struct{})
	a := agentOf(t, "1.0", "", "", func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
		if err := t.Call().Begin(); err != nil {
			return nil, err
		}
		begun <- struct{}{}
		select {
		case <-goOn:
		case <-ctx.Done():
		}
		ended <- ctx.Err()
		return []byte("done"), nil
	})
	h := connect(t, a.options, newest, `{}`)
	h.begin("tools/call", `"name":"do","arguments":{"text":"x"}`, "")
	await(t, begun)
	_ = h.out.Close()
	await(t, h.ended)
	close(goOn)
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the task ends with %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the task does not end")
	}
}

func TestAnAgentWithoutStreamsIsCalledInOneGo(t *testing.T) {
	a := agentThat(t, "", "1.0", "", "", streaming)
	h := connect(t, a.options, newest, `{}`)
	if r := h.call(`{"text":"x"}`); r.IsError || r.text() != "one two three" {
		t.Errorf("got %+v", r)
	}
}

// TestHostileLinesEndTheConnectionAlone: what a host may send is bounded, and none of it is more than an error.
func TestHostileLinesEndTheConnectionAlone(t *testing.T) {
	a := agentOf(t, "1.0", "", "", says("hello"))
	for name, line := range map[string]string{
		"no JSON":       `<html>`,
		"an empty list": `[]`,
		"too deep":      `{"jsonrpc":"2.0","id":9,"method":"ping","params":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
		"too long":      `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"` + strings.Repeat("x", maxLine) + `"}}`,
	} {
		h := connect(t, a.options, newest, `{}`)
		go func() { _, _ = io.WriteString(h.out, line+"\n") }()
		select {
		case <-h.ended:
		case got, ok := <-h.lines:
			if ok && !strings.Contains(got, `"error"`) {
				t.Errorf("%s: %s", name, got)
			}
		case <-time.After(patience):
			t.Errorf("%s: the server waits for more", name)
		}
	}
	h := connect(t, a.options, newest, `{}`)
	for _, params := range []string{`"name":"do","arguments":5`, `"name":"do","arguments":[]`, `"name":"do","arguments":{"text":{}}`, `"name":"do","arguments":null`} {
		m, _ := h.until(h.begin("tools/call", params, ""))
		if m.Error == nil && !h.read(m).IsError {
			t.Errorf("%.60s: %s", params, m.Result)
		}
	}
	if r := h.call(`{"text":"x"}`); r.text() != "hello" {
		t.Errorf("afterwards: %+v", r)
	}
}

// TestSchemasThatAreNoneLeaveATool: a stranger's card must not keep the server from starting.
func TestSchemasThatAreNoneLeaveATool(t *testing.T) {
	a := agentOf(t, "1.0", "", "", func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		return []byte("got " + string(t.Parts()[0].Data)), nil
	})
	deep := `{"type":"object","not":` + strings.Repeat(`{"not":`, 20_000) + `true` + strings.Repeat(`}`, 20_001)
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}`, `{"type":"object","properties":{"a":{"type":"string","x-mcp-header":7}}}`,
		`{"type":"object","properties":7}`, `"x"`, `7`, `null`, `{"type":["object","null"]}`, `{"type":"object"`, deep,
	} {
		a.options.Skills[0].Input, a.options.Skills[0].Output = raw(schema), nil
		h := connect(t, a.options, newest, `{}`)
		m, _ := h.until(h.begin("tools/list", "", ""))
		if !bytes.Contains(m.Result, []byte(`"name":"do"`)) || !bytes.Contains(m.Result, []byte(`"type":"object"`)) {
			t.Errorf("%.60s: %.200s", schema, m.Result)
		}
		if r := h.call(`{"value":{"a":1}}`); r.IsError || !strings.Contains(r.text(), `{"a":1}`) {
			t.Errorf("%.60s: %+v", schema, r)
		}
	}
}

// TestManySkillsAreListedInLinearTime: a stranger's card may have a mebibyte of them, and their ids may make one name.
func TestManySkillsAreListedInLinearTime(t *testing.T) {
	growth.Linear(t, 500, func(n int) func() {
		skills := make([]mcp.Skill, n)
		for i := range skills {
			skills[i] = mcp.Skill{ID: string(rune(0x4e00 + i)), Input: raw(anInput)}
		}
		return func() { mcp.NewServer(mcp.Options{Skills: skills}) }
	})
}

const anInput = `{"type":"object","properties":{"a":{"type":"string"}}}`

func TestFilesOfAMessageAreNamedWithoutATask(t *testing.T) {
	a := agentOf(t, "1.0", "", "", func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		return nil, t.Reply(runtime.Text("here"), runtime.File("", "application/pdf", []byte("pdf")))
	})
	h := connect(t, a.options, newest, `{}`)
	if r := h.call(`{"text":"x"}`); len(r.Content) != 2 || r.Content[1].Resource.URI != "a2a://message/file" || r.Content[1].Resource.Blob != "cGRm" {
		t.Errorf("got %+v", r)
	}
}
