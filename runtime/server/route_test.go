package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// agency has three typed skills that say who they are, and what they got.
func agency() []server.Skill {
	who := func(id string) func(context.Context, *server.Task, map[string]any) (any, error) {
		return func(_ context.Context, _ *server.Task, in map[string]any) (any, error) {
			return map[string]any{"skill": id, "in": in}, nil
		}
	}
	forecast, route, paint := typed("forecast", []string{"city"}, who("forecast")), typed("route", []string{"from", "to"}, who("route")), typed("paint", []string{"motif"}, who("paint"))
	forecast.Name, forecast.Tags, forecast.Examples = "Weather forecast", []string{"weather", "rain"}, []string{"Will it rain in Paris tomorrow?"}
	route.Name, route.Tags, route.Examples = "Route planner", []string{"maps", "driving"}, []string{"How do I get from Berlin to Bonn?"}
	paint.Name, paint.Tags, paint.Description, paint.InputModes = "Painter", []string{"art"}, "Paints pictures", []string{"application/json", "image/*"}
	forecast.InputModes, route.InputModes = []string{"application/json", "text/plain"}, []string{"application/json", "text/plain"}
	return []server.Skill{forecast, route, paint}
}

const skillsMeta = `"metadata":{"` + runtime.SkillsExtension + `":{"skill":"paint"},"skillId":"route"}`

// The order in which a message finds its skill.
func TestMessagesFindTheirSkill(t *testing.T) {
	a := start(t, testCard, agency(), server.WithRouter(func(_ context.Context, m runtime.Message) (string, error) {
		if strings.Contains(m.Contents()[0].Text, "router") {
			return "paint", nil
		}
		return "", nil
	}))
	for _, c := range []struct{ name, params, skill, in string }{
		{"our extension wins over everything", data(`{"motif":"sea"}`, skillsMeta), "paint", `{"motif":"sea"}`},
		{"its former address does, too", data(`{"motif":"sea"}`, strings.Replace(skillsMeta, runtime.SkillsExtension, runtime.FormerSkillsExtension, 1)), "paint", `{"motif":"sea"}`},
		{"extension with a wrapped call of the same skill", data(`{"skill":"paint","parameters":{"motif":"sea"}}`, skillsMeta), "paint", `{"motif":"sea"}`},
		{"data part with skill and parameters", data(`{"skill":"forecast","parameters":{"city":"Rome"}}`), "forecast", `{"city":"Rome"}`},
		{"data part with skill and input", data(`{"skill":"forecast","input":{"city":"Rome"}}`), "forecast", `{"city":"Rome"}`},
		{"data part with skillId and arguments", data(`{"skillId":"forecast","arguments":{"city":"Rome"}}`), "forecast", `{"city":"Rome"}`},
		{"the MCP bridge's skillId and args", data(`{"skillId":"forecast","args":{"city":"Rome"}}`), "forecast", `{"city":"Rome"}`},
		{"metadata.skillId", data(`{"from":"A","to":"B"}`, `"metadata":{"skillId":"route"}`), "route", `{"from":"A","to":"B"}`},
		{"the only schema that the data satisfies", data(`{"from":"A","to":"B"}`), "route", `{"from":"A","to":"B"}`},
		{"words of tags", message("I need the weather"), "forecast", `{"city":"I need the weather"}`},
		{"words of examples", message("Paris tomorrow"), "forecast", `{"city":"Paris tomorrow"}`},
		{"a draw of words is no match", message("rain or maps, router?"), "paint", `{"motif":"rain or maps, router?"}`},
		{"a word more decides", message("maps or rain in Paris, router?"), "forecast", `{"city":"maps or rain in Paris, router?"}`},
		{"the user's router", message("ask the router"), "paint", `{"motif":"ask the router"}`},
		{"JSON as text", message(`{"from":"A","to":"B"}`, `"metadata":{"skillId":"route"}`), "route", `{"from":"A","to":"B"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			task := a.ok("SendMessage", c.params)["task"]
			out := at(task, "artifacts", 0, "parts", 0, "data")
			in, _ := json.Marshal(at(out, "in"))
			if str(out, "skill") != c.skill || string(in) != c.in {
				t.Errorf("went to %q with %s: %v", str(out, "skill"), in, task)
			}
		})
	}
}

func TestAMediaTypeThatOneSkillTakesDecides(t *testing.T) {
	a := start(t, testCard, agency())
	task := a.ok("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"raw":"AAAA","mediaType":"image/png"},{"data":{"motif":"this"}}]}}`)["task"]
	if got := str(task, "artifacts", 0, "parts", 0, "data", "skill"); got != "paint" {
		t.Errorf("went to %q", got)
	}
	_, e := a.call("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","metadata":{"skillId":"route"},"parts":[{"url":"https://x/y","mediaType":"image/png"},{"data":{"from":"a","to":"b"}}]}}`)
	if !errors.Is(e, runtime.ErrContentTypeNotSupported) || e.Metadata("mediaType") != "image/png" {
		t.Errorf("a file of a type that the skill does not take: %v", e)
	}
}

func TestTheOnlySkillTakesEverything(t *testing.T) {
	a := start(t, testCard, []server.Skill{echo()})
	if got := str(a.ok("SendMessage", message("xyzzy")), "task", "artifacts", 0, "parts", 0, "text"); got != "echo: xyzzy" {
		t.Errorf("got %q", got)
	}
}

// What a person says and fits no skill goes to the default one, after the router; data and files do not.
func TestTheDefaultSkillTakesTextThatFitsNone(t *testing.T) {
	skills := agency()
	skills[2].Default = true
	router := func(_ context.Context, m runtime.Message) (string, error) {
		if strings.Contains(m.Contents()[0].Text, "router") {
			return "route", nil
		}
		return "", nil
	}
	for _, options := range [][]server.Option{nil, {server.WithRouter(router)}} {
		a := start(t, testCard, skills, options...)
		for text, want := range map[string]string{"hello there": "paint", "I need the weather": "forecast", "rain or maps?": "paint"} {
			if got := str(a.ok("SendMessage", message(text)), "task", "artifacts", 0, "parts", 0, "data", "skill"); got != want {
				t.Errorf("%q went to %q, want %q", text, got, want)
			}
		}
		for name, params := range map[string]string{
			"data":   data(`{"unknown":1}`),
			"a file": `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"url":"https://x","mediaType":"audio/ogg"}]}}`,
		} {
			if _, e := a.call("SendMessage", params); !errors.Is(e, runtime.ErrInvalidParams) {
				t.Errorf("%s: %v", name, e)
			}
		}
	}
	a := start(t, testCard, skills, server.WithRouter(router))
	asked := a.ok("SendMessage", message("ask the router"))["task"]
	if str(asked, "status", "state") != "TASK_STATE_INPUT_REQUIRED" || !strings.Contains(str(asked, "status", "message", "parts", 0, "text"), "from (string)") {
		t.Errorf("the router's word does not count: %v", asked)
	}
	skills[0].Default = true
	if _, err := server.New(server.Config{Protocol: a2a.Protocol(), Card: readCard(t, testCard), Skills: skills}); err == nil || !strings.Contains(err.Error(), "default") {
		t.Errorf("two defaults: %v", err)
	}
}

// A person gets an answer that helps; a program gets an error. Both list the skills (R28, R37).
func TestMessagesThatFitNoSkill(t *testing.T) {
	a := start(t, testCard, agency())
	m := a.ok("SendMessage", message("hello there"))["message"]
	for _, want := range []string{"Weather forecast", "Route planner", "Painter", "Paints pictures", "Will it rain in Paris tomorrow?"} {
		if !strings.Contains(str(m, "parts", 0, "text"), want) {
			t.Errorf("the answer does not mention %q: %v", want, m)
		}
	}
	for name, params := range map[string]string{
		"data":                     data(`{"unknown":1}`),
		"unknown skill":            data(`{"city":"x"}`, `"metadata":{"skillId":"fly"}`),
		"unknown, former address":  data(`{"city":"x"}`, `"metadata":{"`+runtime.FormerSkillsExtension+`":{"skill":"fly"}}`),
		"unknown by extension":     data(`{"city":"x"}`, `"metadata":{"`+runtime.SkillsExtension+`":{"skill":"fly"}}`),
		"malformed extension":      data(`{"city":"x"}`, `"metadata":{"`+runtime.SkillsExtension+`":5}`),
		"a file that nobody reads": `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"url":"https://x","mediaType":"audio/ogg"}]}}`,
	} {
		if _, e := a.call("SendMessage", params); !errors.Is(e, runtime.ErrInvalidParams) || !strings.Contains(e.Note, "forecast") || len(e.Violations()) == 0 {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// R36, R218, R240: violations of the input are named by their place in it.
func TestDataThatBreaksTheSchemaIsInvalidParams(t *testing.T) {
	a := start(t, testCard, agency())
	_, e := a.call("SendMessage", data(`{"city":5,"x":1}`, `"metadata":{"skillId":"forecast"}`))
	if !errors.Is(e, runtime.ErrInvalidParams) {
		t.Fatalf("got %v", e)
	}
	fields := map[string]string{}
	for _, v := range e.Violations() {
		fields[v.Field] = v.Description
	}
	if fields["input.city"] != "must be a string" || fields["input.x"] == "" {
		t.Errorf("violations are %v", fields)
	}
	if n := at(a.ok("ListTasks", `{}`), "totalSize"); n != 0.0 {
		t.Errorf("%v tasks were made", n)
	}
}

// Text that is no input parks the task with a question; the answers are merged until the input is whole.
func TestTextForATypedSkillIsAskedForWhatIsMissing(t *testing.T) {
	a := start(t, testCard, agency())
	route := `"metadata":{"skillId":"route"}`
	parked := a.ok("SendMessage", message("drive me", route))["task"]
	id := str(parked, "id")
	ask := at(parked, "status", "message")
	if str(parked, "status", "state") != "TASK_STATE_INPUT_REQUIRED" || !strings.Contains(str(ask, "parts", 0, "text"), "from (string), to (string), note (string, optional)") {
		t.Fatalf("question is %v", ask)
	}
	if str(ask, "parts", 1, "data", "skill") != "route" || str(ask, "parts", 1, "data", "input", "type") != "object" {
		t.Errorf("the schema is not sent along: %v", at(ask, "parts", 1))
	}
	answer := `"taskId":"` + id + `"`
	still := a.ok("SendMessage", data(`{"from":"Berlin"}`, answer))["task"]
	if str(still, "status", "state") != "TASK_STATE_INPUT_REQUIRED" || !strings.Contains(str(still, "status", "message", "parts", 0, "text"), "requires property to") {
		t.Fatalf("after half an answer: %v", at(still, "status"))
	}
	done := a.ok("SendMessage", message("Bonn", answer))["task"] // text fills the one string that is still missing
	in, _ := json.Marshal(at(done, "artifacts", 0, "parts", 0, "data", "in"))
	if str(done, "status", "state") != "TASK_STATE_COMPLETED" || string(in) != `{"from":"Berlin","to":"Bonn"}` {
		t.Errorf("the input became %s: %v", in, done)
	}
	if n := len(at(done, "history").([]any)); n != 5 {
		t.Errorf("%d messages in the history, want three of the client and two questions", n)
	}
}

// Answers to a handler's question change the input only when they are data; text is for the handler.
func TestAnswersToAHandlersQuestion(t *testing.T) {
	a := start(t, testCard, []server.Skill{typed("order", []string{"dish"}, func(_ context.Context, t *server.Task, in map[string]any) (any, error) {
		if in["note"] == nil && t.Text() != "no note" {
			return nil, t.Ask("any note?", map[string]string{"field": "note"})
		}
		return in, nil
	})})
	id := str(a.ok("SendMessage", data(`{"dish":"soup"}`)), "task", "id")
	answer := `"taskId":"` + id + `"`
	if _, e := a.call("SendMessage", data(`{"note":5}`, answer)); !errors.Is(e, runtime.ErrInvalidParams) {
		t.Errorf("a bad answer gives %v", e)
	}
	if got := str(a.ok("GetTask", `{"id":"`+id+`"}`), "status", "state"); got != "TASK_STATE_INPUT_REQUIRED" {
		t.Errorf("after a bad answer the task is %q", got)
	}
	done := a.ok("SendMessage", data(`{"note":"hot"}`, answer))["task"]
	in, _ := json.Marshal(at(done, "artifacts", 0, "parts", 0, "data"))
	if string(in) != `{"dish":"soup","note":"hot"}` {
		t.Errorf("input is %s", in)
	}
	id = str(a.ok("SendMessage", data(`{"dish":"soup"}`)), "task", "id")
	done = a.ok("SendMessage", message("no note", `"taskId":"`+id+`"`))["task"]
	if in, _ := json.Marshal(at(done, "artifacts", 0, "parts", 0, "data")); string(in) != `{"dish":"soup"}` {
		t.Errorf("input is %s", in)
	}
}

// The stream of a message that does not fit is the task and its question.
func TestStreamOfAQuestion(t *testing.T) {
	a := start(t, testCard, agency())
	all := a.stream("SendStreamingMessage", message("drive me", `"metadata":{"skillId":"route"}`)).rest()
	if len(all) != 1 || str(all[0].result, "task", "status", "state") != "TASK_STATE_INPUT_REQUIRED" {
		t.Errorf("got %v", all)
	}
	if all := a.stream("SendStreamingMessage", message("hello there")).rest(); len(all) != 1 || all[0].kind() != "message" {
		t.Errorf("a message that fits nothing streams %v", all)
	}
	if all := a.stream("SendStreamingMessage", data(`{"city":5}`, `"metadata":{"skillId":"forecast"}`)).rest(); len(all) != 1 || !errors.Is(all[0].err, runtime.ErrInvalidParams) {
		t.Errorf("a bad input streams %v", all)
	}
}
