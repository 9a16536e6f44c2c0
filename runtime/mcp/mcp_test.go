package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/mcp"
	"github.com/a2agen/a2agen/runtime/server"
)

const (
	cityIn  = `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","required":["city"],"properties":{"city":{"$ref":"#/$defs/City"},"zone":{"type":"number","minimum":1.50}},"$defs":{"City":{"type":"string","pattern":"^[A-Z] é"}}}`
	cityOut = `{"type":"object","required":["sky"],"properties":{"sky":{"type":"string"}},"x-unit":1e2}`
)

// says is a skill that answers a text, or JSON.
func says(answer string) func(context.Context, *server.Task, any) ([]byte, error) {
	return func(context.Context, *server.Task, any) ([]byte, error) { return []byte(answer), nil }
}

func TestToolsHaveTheSchemasOfTheCardByteForByte(t *testing.T) {
	a := agentOf(t, "1.0", cityIn, cityOut, says(`{"sky":"blue"}`))
	for _, version := range versions {
		h := connect(t, a.options, version, `{}`)
		m, _ := h.until(h.begin("tools/list", "", ""))
		want := `{"description":"Does it.\n\nExamples: this; that","inputSchema":` + cityIn + `,"name":"do","outputSchema":` + cityOut + `,"title":"Do"}`
		var got struct{ Tools []json.RawMessage }
		if err := json.Unmarshal(m.Result, &got); err != nil || len(got.Tools) != 1 || string(got.Tools[0]) != want {
			t.Errorf("%s: got %s\nwant %s", version, m.Result, want)
		}
	}
}

func TestWhatIsNoObjectIsBelowValue(t *testing.T) {
	a := agentOf(t, "1.0", `{"type":"array","items":{"type":"integer"}}`, `{"type":"integer"}`, func(_ context.Context, _ *server.Task, in any) ([]byte, error) {
		var list []int
		err := json.Unmarshal(in.([]byte), &list)
		return []byte(string(rune('0' + len(list)))), err
	})
	h := connect(t, a.options, newest, `{}`)
	m, _ := h.until(h.begin("tools/list", "", ""))
	for _, want := range []string{`"inputSchema":{"type":"object","required":["value"],"properties":{"value":{"type":"array",`, `"properties":{"value":{"type":"integer"}}`} {
		if !strings.Contains(string(m.Result), want) {
			t.Errorf("%s has no %s", m.Result, want)
		}
	}
	if r := h.call(`{"value":[1,2,3]}`); r.IsError || string(r.Structured) != `{"value":3}` || r.text() != `{"value":3}` {
		t.Errorf("got %+v", r)
	}
	if r := h.call(`{}`); !r.IsError || !strings.Contains(r.text(), "input.value is required, but missing") {
		t.Errorf("got %+v", r)
	}
}

func TestATypedResultIsStructuredContentAndText(t *testing.T) {
	a := agentOf(t, "1.0", cityIn, cityOut, func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		err := t.Artifact("map", runtime.File("map.png", "image/png", []byte("png")))
		return []byte(`{"sky":"blue"}`), err
	})
	for _, version := range versions {
		h := connect(t, a.options, version, `{}`)
		r := h.call(`{"city":"A é"}`)
		if r.IsError || string(r.Structured) != `{"sky":"blue"}` || r.text() != `{"sky":"blue"}` {
			t.Errorf("%s: got %+v", version, r)
		}
		if len(r.Content) != 2 || r.Content[1].Type != "image" || r.Content[1].Data != "cG5n" {
			t.Errorf("%s: the artifact beside it is %+v", version, r.Content)
		}
		if r.Meta["a2a/taskId"] == nil || r.Meta["a2a/contextId"] == nil {
			t.Errorf("%s: the task is not named: %v", version, r.Meta)
		}
	}
}

func TestASkillWithoutSchemasTakesATextAndGivesAllThatIsSaid(t *testing.T) {
	a := agentOf(t, "1.0", "", "", func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		return []byte("you said " + t.Text()), t.Artifact("more",
			runtime.Text("one "), runtime.Text("text"), runtime.Data(map[string]int{"n": 1}), runtime.Text("end"),
			runtime.File("a b.txt", "text/plain", []byte("words")), runtime.File("x.bin", "application/octet-stream", []byte{255}),
			runtime.File("s.wav", "audio/wav", []byte("wav")),
			runtime.Part{Kind: runtime.PartURL, URL: "https://files.test/x", Filename: "x", MediaType: "text/csv"})
	})
	h := connect(t, a.options, newest, `{}`)
	r := h.call(`{"text":"hello"}`)
	var got []string
	for _, c := range r.Content {
		got = append(got, strings.Join([]string{c.Type, c.Text, c.URI, c.MimeType, c.Data, c.Resource.Text, c.Resource.Blob}, " "))
	}
	for _, want := range []string{"text you said hello     ", "text one text     ", `text {"n":1}     `, "text end     ", "resource     words ", "resource      /w==",
		"audio   audio/wav d2F2  ", "resource_link  https://files.test/x text/csv   "} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	if r.Structured != nil || r.IsError {
		t.Errorf("got %+v", r)
	}
	if r := h.call(`{"text":7}`); !r.IsError || !strings.Contains(r.text(), "input.text must be a text that is not empty") {
		t.Errorf("a number is answered %+v", r)
	}
}

func TestAnAnswerThatIsNoObjectDoesNotPassForOne(t *testing.T) {
	a := agentOf(t, "1.0", "", "", says("no JSON"))
	a.options.Skills[0].Output = raw(cityOut)
	h := connect(t, a.options, newest, `{}`)
	if r := h.call(`{"text":"x"}`); !r.IsError || r.Structured != nil || !strings.HasSuffix(r.text(), "|no JSON") {
		t.Errorf("got %+v", r)
	}
}

func TestErrorsAreResultsInWordsForAModel(t *testing.T) {
	a := agentOf(t, "1.0", "", "", func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		switch t.Text() {
		case "fail":
			if err := t.Artifact("half", runtime.Text("half of it")); err != nil {
				return nil, err
			}
			return nil, t.Fail("no map")
		case "reject":
			return nil, t.Reject("not on Sundays")
		}
		return nil, context.DeadlineExceeded // an error of its own, which is only logged
	})
	h := connect(t, a.options, newest, `{}`)
	for text, want := range map[string]string{
		"fail": "The tool failed: no map.|half of it", "reject": "The tool declined: not on Sundays.", "break": "The tool failed",
	} {
		if r := h.call(`{"text":"` + text + `"}`); !r.IsError || !strings.HasPrefix(r.text(), want) || r.Meta["a2a/taskId"] == nil {
			t.Errorf("%s: got %+v", text, r)
		}
	}
	if m, _ := h.until(h.begin("tools/call", `"name":"nothing"`, "")); !strings.Contains(string(m.Error), "unknown tool") {
		t.Errorf("an unknown tool is answered %s", m.Error)
	}
}

func TestArgumentsThatTheAgentRefusesAreToldByPath(t *testing.T) {
	a := agentOf(t, "1.0", cityIn, cityOut, func(context.Context, *server.Task, any) ([]byte, error) { return nil, invalid("/city", "must match") })
	h := connect(t, a.options, newest, `{}`)
	if r := h.call(`{"city":"x"}`); !r.IsError || !strings.Contains(r.text(), "The arguments do not fit: input.city must match") {
		t.Errorf("got %+v", r)
	}
}

func TestAnAgentThatDoesNotAnswerIsAnErrorWithoutItsAddress(t *testing.T) {
	a := agentOf(t, "1.0", "", "", says("x"))
	a.options.Client = broken(t)
	h := connect(t, a.options, newest, `{}`)
	if r := h.call(`{"text":"x"}`); !r.IsError || !strings.Contains(r.text(), "cannot be reached") || strings.Contains(r.text(), "agent.test") {
		t.Errorf("got %+v", r)
	}
}

func TestAnAgentWithoutSkillsIsOneTool(t *testing.T) {
	a := agentOf(t, "1.0", "", "", says("hello"))
	a.options.Skills = []mcp.Skill{{Name: "tester", Description: "A tester."}}
	h := connect(t, a.options, newest, `{}`)
	if r := h.callWith(`"name":"ask","arguments":{"text":"x"}`); r.IsError || r.text() != "hello" {
		t.Errorf("got %+v", r)
	}
}
