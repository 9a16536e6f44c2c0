package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// specification returns docs/extensions/skills-v1.md, and its blocks of code in a language.
func specification(t *testing.T, language string) (page string, blocks []string) {
	t.Helper()
	b, err := os.ReadFile("../../docs/extensions/skills-v1.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^ *```"+language+"\n(.*?)^ *```$").FindAllStringSubmatch(string(b), -1) {
		blocks = append(blocks, m[1])
	}
	return string(b), blocks
}

// R86: the URI of the extension names its version.
func TestTheSpecificationOfTheSkillsExtensionHasItsURIs(t *testing.T) {
	page, _ := specification(t, "json")
	if !strings.Contains(page, "\nURI: `"+runtime.SkillsExtension+"`\n") || !strings.HasSuffix(runtime.SkillsExtension, "/v1") {
		t.Errorf("the page has another URI than %s", runtime.SkillsExtension)
	}
	if !strings.Contains(page, "`"+runtime.FormerSkillsExtension+"`") {
		t.Errorf("the page does not have the former URI")
	}
}

// What the page shows of other languages is what make interop runs.
func TestTheProgramsOfTheSpecificationAreThoseThatRun(t *testing.T) {
	for language, file := range map[string]string{"python": "forecast.py", "js": "forecast.mjs"} {
		program, err := os.ReadFile("../../interop/languages/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if _, blocks := specification(t, language); len(blocks) != 1 || blocks[0] != string(program) {
			t.Errorf("the program of the page is not %s: %q", file, blocks)
		}
	}
}

// forecaster serves the card of the specification: the typed skill get_forecast, which answers its input without days, and chat.
func forecaster(t *testing.T) (a *agent, request, artifact, question string) {
	_, blocks := specification(t, "json")
	if len(blocks) != 5 {
		t.Fatalf("the page has %d blocks of JSON", len(blocks))
	}
	var declared struct {
		Params struct {
			Skills map[string]struct{ Input json.RawMessage }
		}
	}
	if err := json.Unmarshal([]byte(blocks[0]), &declared); err != nil {
		t.Fatal(err)
	}
	forecast := ruled("get_forecast", string(declared.Params.Skills["get_forecast"].Input), []string{"location"}, map[string]rule{"location": text, "days": number}, nil)
	forecast.Run = func(_ context.Context, task *server.Task, input any) ([]byte, error) {
		var in struct{ Location string }
		if err := errors.Join(json.Unmarshal(input.([]byte), &in), task.Call().Begin()); err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"location": in.Location, "days": []int{}})
	}
	chat := run("chat", func(context.Context, *server.Task) (string, error) { return "hello", nil })
	card := strings.Replace(testCard, `"streaming":true`, `"streaming":true,"extensions":[`+blocks[0]+`]`, 1)
	return start(t, card, []server.Skill{forecast, chat}), blocks[1], blocks[2], blocks[3]
}

// parse reads JSON, for comparisons.
func parse(t *testing.T, text string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}

func TestCallsAndResultsAreAsTheSpecificationOfTheSkillsExtensionSays(t *testing.T) {
	a, request, artifact, _ := forecaster(t)
	_, body := a.post(request)
	if diff := cmp.Diff(parse(t, artifact), at(parse(t, body), "result", "task", "artifacts", 0)); diff != "" {
		t.Errorf("the artifact (-page +got):\n%s", diff)
	}
	_, body = a.post(strings.Replace(request, `"message":`, `"configuration": {"acceptedOutputModes": ["text/plain"]}, "message":`, 1))
	if got := str(parse(t, body), "result", "task", "artifacts", 0, "parts", 0, "text"); got != `{"days":[],"location":"London"}` {
		t.Errorf("as text it is %q", got)
	}
	_, body = a.post(strings.Replace(request, `"skill": "get_forecast"`, `"skill": "chat"`, 1))
	if got := str(parse(t, body), "result", "task", "artifacts", 0, "metadata", runtime.SkillsExtension, "skill"); got != "chat" {
		t.Errorf("the result of the skill without output schema is marked with %q: %s", got, body)
	}
}

func TestRefusalsAreAsTheSpecificationOfTheSkillsExtensionSays(t *testing.T) {
	a, request, _, _ := forecaster(t)
	for field, wrong := range map[string]string{
		"input.days":       strings.Replace(request, `"days": 3`, `"days": "three"`, 1),
		"message.metadata": strings.Replace(request, `"skill": "get_forecast"`, `"skill": "get_tides"`, 1),
	} {
		_, body := a.post(wrong)
		e := at(parse(t, body), "error")
		bad, _ := json.Marshal(at(e, "data"))
		if at(e, "code") != -32602.0 || !strings.Contains(string(bad), `"@type":"type.googleapis.com/google.rpc.BadRequest"`) || !strings.Contains(string(bad), `"field":"`+field+`"`) {
			t.Errorf("%s: %s", field, body)
		}
	}
	if n := at(a.ok("ListTasks", `{}`), "totalSize"); n != 0.0 {
		t.Errorf("%v tasks were made", n)
	}
}

func TestQuestionsAreAsTheSpecificationOfTheSkillsExtensionSays(t *testing.T) {
	a, _, _, question := forecaster(t)
	mark := `"metadata":{"` + runtime.SkillsExtension + `":{"skill":"get_forecast"}}`
	task := a.ok("SendMessage", message("days: 2", mark))["task"]
	asked, shown := at(task, "status", "message", "parts", 1, "data"), parse(t, question)
	if str(asked, "skill") != str(shown, "skill") || at(asked, "input", "properties", "days") == nil || !cmp.Equal(at(asked, "input", "required"), at(shown, "input", "required")) {
		t.Errorf("the question is %v", task)
	}
	other := `"metadata":{"` + runtime.SkillsExtension + `":{"skill":"chat"}}`
	task = a.ok("SendMessage", data(`{"location":"Rome"}`, other, `"taskId":"`+str(task, "id")+`"`))["task"]
	if got := str(task, "artifacts", 0, "parts", 0, "data", "location"); got != "Rome" {
		t.Errorf("the answer gave %v", task)
	}
}

func TestAuthorizationsAreAsTheSpecificationOfTheSkillsExtensionSays(t *testing.T) {
	_, blocks := specification(t, "json")
	const url = "https://calendar.example/authorize?…"
	asks := run("x", func(_ context.Context, task *server.Task) (string, error) {
		return "", task.RequireAuth(server.AuthRequest{
			Prompt: "Please.", Scheme: "calendar", Scopes: []string{"calendar.read"}, Visit: func(string) string { return url },
		})
	})
	clock := func() time.Time { return time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC) }
	said := at(start(t, testCard, []server.Skill{asks}, server.WithClock(clock)).ok("SendMessage", message("hi")), "task", "status", "message")
	if diff := cmp.Diff(parse(t, blocks[4]), at(said, "metadata", runtime.SkillsExtension)); diff != "" {
		t.Errorf("the metadata (-page +got):\n%s", diff)
	}
	if str(said, "parts", 0, "text") != "Please." || str(said, "parts", 1, "text") != url {
		t.Errorf("in words it is %v", said)
	}
}
