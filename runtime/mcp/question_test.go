package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
)

// wanted is the data of a question whose answer must fit a schema, as agents of ours send it.
func wanted(schema string) map[string]any {
	return map[string]any{"skill": "do", "input": json.RawMessage(schema)}
}

// asking asks with what is given as long as the message is a new one, and answers with the answer.
func asking(prompt string, data ...any) func(context.Context, *server.Task, any) ([]byte, error) {
	return func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		if !t.Resumed() {
			return nil, t.Ask(prompt, data...)
		}
		p := t.Parts()[0]
		return []byte("answered " + t.Text() + string(p.Data)), nil
	}
}

// elicited are the versions of MCP with forms.
func elicited(t *testing.T, run func(t *testing.T, version string)) {
	for _, v := range versions {
		if v >= forms {
			t.Run(v, func(t *testing.T) { run(t, v) })
		}
	}
}

func TestAQuestionIsAFormAndItsAnswerGoesOnWithTheTask(t *testing.T) {
	flat := `{"type":"object","required":["days"],"properties":{"days":{"type":"integer","minimum":1},"unit":{"type":"string","enum":["c","f"],"default":"c"}}}`
	deep := `{"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}}`
	for name, c := range map[string]struct {
		data         []any
		form, answer string // what the host is asked, and what it says
		want         string
	}{
		"words":          {nil, `"message":"Which one?"`, `{"answer":"this"}`, "answered this"},
		"with choices":   {[]any{[]string{"a", "b"}}, `"message":"Which one?\n[\"a\",\"b\"]"`, `{"answer":"a"}`, "answered a"},
		"a form":         {[]any{wanted(flat)}, `"requestedSchema":` + flat, `{"days":2,"unit":"f"}`, `answered {"days":2,"unit":"f"}`},
		"a nested value": {[]any{wanted(deep)}, `JSON that fits this schema: {\"type\":\"object\",\"properties\":{\"a\"`, `{"answer":"{\"a\":{\"b\":\"x\"}}"}`, `answered {"a":{"b":"x"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			a := agentOf(t, "1.0", "", "", asking("Which one?", c.data...))
			elicited(t, func(t *testing.T, version string) {
				h := connect(t, a.options, version, asks)
				h.elicit = func(params string) string {
					if !strings.Contains(params, c.form) || !strings.Contains(params, `"mode":"form"`) {
						t.Errorf("the host is asked %s, which has no %s", params, c.form)
					}
					return `{"action":"accept","content":` + c.answer + `}`
				}
				if r := h.call(`{"text":"x"}`); r.IsError || r.text() != c.want {
					t.Errorf("got %+v", r)
				}
			})
		})
	}
}

func TestAQuestionIsNoProgress(t *testing.T) {
	a := agentOf(t, "1.0", "", "", asking("Which one?"))
	h := connect(t, a.options, newest, asks)
	if m, list := h.until(h.begin("tools/call", `"name":"do","arguments":{"text":"x"}`, `"progressToken":"tok"`)); len(list) != 0 || h.read(m).InputRequests == nil {
		t.Errorf("got %s after %v", m.Result, list)
	}
}

func TestAnAgentMayAskAgain(t *testing.T) {
	a := agentOf(t, "1.0", "", "", func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		switch t.Text() {
		case "x":
			return nil, t.Ask("first?")
		case "one":
			return nil, t.Ask("second?")
		}
		return []byte("then " + t.Text()), nil
	})
	elicited(t, func(t *testing.T, version string) {
		h := connect(t, a.options, version, asks)
		h.elicit = func(params string) string {
			if strings.Contains(params, "first?") {
				return `{"action":"accept","content":{"answer":"one"}}`
			}
			return `{"action":"accept","content":{"answer":"two"}}`
		}
		if r := h.call(`{"text":"x"}`); r.IsError || r.text() != "then two" {
			t.Errorf("got %+v", r)
		}
	})
}

func TestAQuestionThatIsNotAnsweredLeavesTheTaskWaiting(t *testing.T) {
	a := agentOf(t, "1.0", "", "", asking("Which one?", wanted(`{"type":"string"}`)))
	elicited(t, func(t *testing.T, version string) {
		for said, want := range map[string]string{
			`{"action":"decline"}`: "The question was not answered: Which one?", `{"action":"cancel"}`: "The question was not answered: Which one?",
			`{"action":"accept","content":{"answer":"no JSON"}}`: "The answer is no JSON. The question was: Which one?",
		} {
			h := connect(t, a.options, version, asks)
			h.elicit = func(string) string { return said }
			r := h.call(`{"text":"x"}`)
			if !r.IsError || r.text() != want {
				t.Errorf("%s: got %+v", said, r)
			}
			a.waits(t, r)
		}
	})
}

// waits fails the test if the task of a result does not wait for an answer.
func (a *agent) waits(t *testing.T, r result) {
	t.Helper()
	id, _ := r.Meta["a2a/taskId"].(string)
	_, err := a.options.Client.Await(t.Context(), id)
	var ask *rpc.InputRequiredError
	if !errors.As(err, &ask) {
		t.Errorf("task %q: %v", id, err)
	}
}

func TestAHostThatCannotAskGetsTheQuestionAsAnError(t *testing.T) {
	a := agentOf(t, "1.0", "", "", asking("Which one?", wanted(`{"type":"string"}`)))
	for _, version := range versions {
		for _, capabilities := range []string{`{}`, `{"elicitation":{"url":{}}}`} {
			if version < forms && capabilities != `{}` {
				continue
			}
			h := connect(t, a.options, version, capabilities)
			r := h.call(`{"text":"x"}`)
			want := `The tool asks: Which one? The answer must fit this JSON Schema: {"type":"string"} Call it again`
			if !r.IsError || !strings.HasPrefix(r.text(), want) || r.InputRequests != nil {
				t.Errorf("%s %s: got %+v", version, capabilities, r)
			}
			a.waits(t, r)
		}
	}
}

func TestAnAuthorizationIsAURLThatAPersonVisits(t *testing.T) {
	handles := make(chan string, 10)
	a := agentOf(t, "1.0", "", "", func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		var v any
		if ok, err := t.Call().Authorized(&v); ok || err != nil {
			return []byte("granted"), err
		}
		return nil, t.RequireAuth(server.AuthRequest{Prompt: "Log in", Visit: func(handle string) string {
			handles <- handle
			return "https://login.test/?state=x"
		}})
	})
	for _, version := range []string{newest, "2025-11-25"} {
		h := connect(t, a.options, version, opensURLs)
		h.elicit = func(params string) string {
			if !strings.Contains(params, `"url":"https://login.test/?state=x"`) || !strings.Contains(params, `"mode":"url"`) {
				t.Errorf("%s: the host is asked %s", version, params)
			}
			before := a.requests()
			go func() { // the person takes a while after the host has said that the page is open
				a.isCalled(t, before)
				if err := a.server.Redeem(t.Context(), <-handles, true); err != nil {
					t.Errorf("redeem: %v", err)
				}
			}()
			return `{"action":"accept"}`
		}
		if r := h.call(`{"text":"x"}`); r.IsError || r.text() != "granted" {
			t.Errorf("%s: got %+v", version, r)
		}
	}
	h := connect(t, a.options, newest, asks)
	if r := h.call(`{"text":"x"}`); !r.IsError || !strings.HasSuffix(r.text(), "Log in. It is given at https://login.test/?state=x") {
		t.Errorf("a host without URLs gets %+v", r)
	}
}

func TestAnAuthorizationWithoutAURLIsAnError(t *testing.T) {
	a := agentOf(t, "1.0", "", "", func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		return nil, t.RequireAuth(server.AuthRequest{Prompt: "Log in"})
	})
	for _, version := range []string{newest, "2025-11-25"} {
		h := connect(t, a.options, version, opensURLs)
		if r := h.call(`{"text":"x"}`); !r.IsError || r.text() != "The tool needs an authorization that only a person can give: Log in." {
			t.Errorf("%s: got %+v", version, r)
		}
	}
}

// TestAnAnswerThatIsRepeatedGetsWhatTheTaskCameTo: a host of the newest version may make a request again.
func TestAnAnswerThatIsRepeatedGetsWhatTheTaskCameTo(t *testing.T) {
	calls := 0
	a := agentOf(t, "1.0", "", "", func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		if calls++; !t.Resumed() {
			return nil, t.Ask("Which one?")
		}
		return []byte("answered " + t.Text()), nil
	})
	h := connect(t, a.options, newest, asks)
	const params = `"name":"do","arguments":{"text":"x"}`
	asked := h.callWith(params)
	said := `{"question":{"action":"accept","content":{"answer":"this"}}}`
	for range 2 {
		if r := h.answer(params, asked.RequestState, said); r.IsError || r.text() != "answered this" {
			t.Errorf("got %+v", r)
		}
	}
	if calls != 2 {
		t.Errorf("the skill was called %d times", calls)
	}
	if r := h.answer(params, asked.RequestState, `{}`); r.IsError || r.text() != "answered this" {
		t.Errorf("without an answer: %+v", r)
	}
}

func TestAStateWithoutAnAnswerAsksAgain(t *testing.T) {
	a := agentOf(t, "1.0", "", "", asking("Which one?"))
	h := connect(t, a.options, newest, asks)
	const params = `"name":"do","arguments":{"text":"x"}`
	asked := h.callWith(params)
	if r := h.answer(params, asked.RequestState, `{}`); string(r.InputRequests) != string(asked.InputRequests) || asked.InputRequests == nil || r.ResultType != "input_required" {
		t.Errorf("got %+v after %+v", r, asked)
	}
}

func TestAStateThatIsNoneIsRefused(t *testing.T) {
	a := agentOf(t, "1.0", "", "", asking("Which one?"))
	other := agentOf(t, "1.0", "", "", asking("Which one?"))
	h := connect(t, a.options, newest, asks)
	const params = `"name":"do","arguments":{"text":"x"}`
	elsewhere := connect(t, other.options, newest, asks).callWith(params).RequestState
	said := `{"question":{"action":"accept","content":{"answer":"this"}}}`
	for name, state := range map[string]string{"junk": "x", "long": "ask1." + strings.Repeat("x", 1<<16), "of a task that is not there": elsewhere} {
		if r := h.answer(params, state, said); !r.IsError || r.text() != "The question cannot be answered any more. Call the tool again." {
			t.Errorf("%s: got %+v", name, r)
		}
	}
	a.options.Skills = append(a.options.Skills, a.options.Skills[0])
	a.options.Skills[1].ID = "another"
	h = connect(t, a.options, newest, asks)
	state := h.callWith(params).RequestState
	if r := h.answer(strings.Replace(params, "do", "another", 1), state, said); !r.IsError || r.text() != "The question cannot be answered any more. Call the tool again." {
		t.Errorf("the state of another tool: got %+v", r)
	}
}

// TestOptionsGoWithEveryCall: a server in the process of the agent hands the caller's credentials on.
func TestOptionsGoWithEveryCall(t *testing.T) {
	a := agentOf(t, "1.0", "", "", asking("Which one?"))
	a.options.CallOptions = func(req *sdk.CallToolRequest) []rpc.CallOption {
		return []rpc.CallOption{rpc.Header("X-Caller", fmt.Sprint(req.Params.Meta["caller"]))}
	}
	h := connect(t, a.options, newest, asks)
	a.headers = nil
	m, _ := h.until(h.begin("tools/call", `"name":"do","arguments":{"text":"x"}`, `"caller":"me"`))
	asked := h.read(m)
	said := `{"question":{"action":"accept","content":{"answer":"this"}}}`
	id := h.begin("tools/call", `"name":"do","arguments":{"text":"x"},"requestState":"`+asked.RequestState+`","inputResponses":`+said, `"caller":"me"`)
	if m, _ := h.until(id); h.read(m).text() != "answered this" {
		t.Errorf("got %s", m.Result)
	}
	if len(a.headers) < 3 {
		t.Errorf("the agent was called %d times", len(a.headers))
	}
	for _, header := range a.headers {
		if got := header.Get("X-Caller"); got != "me" {
			t.Errorf("a call has the caller %q", got)
		}
	}
}

func TestQuestionsOfOlderAgentsAreAskedToo(t *testing.T) {
	for _, version := range []string{"0.3", "0.2", "0.1"} {
		a := agentOf(t, version, "", "", func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
			if !t.Resumed() {
				return nil, t.Ask("Which one?")
			}
			return []byte("answered " + t.Text()), t.Artifact("data", runtime.Data([]int{1}))
		})
		elicited(t, func(t *testing.T, mcpVersion string) {
			h := connect(t, a.options, mcpVersion, asks)
			h.elicit = func(string) string { return `{"action":"accept","content":{"answer":"this"}}` }
			if r := h.call(`{"text":"x"}`); r.IsError || !strings.Contains(r.text(), "answered this") || !strings.Contains(r.text(), "[1]") {
				t.Errorf("A2A %s: got %+v", version, r)
			}
		})
	}
}
