package skills

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
	"github.com/a2agen/a2agen/testkit/a2atest"

	"example.com/assistant/a2a"
	"example.com/assistant/client/weather"
)

// sunIn is the forecast of a day.
func sunIn(town string) *weather.GetForecastOutput {
	day := weather.Day{Date: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), High: 24, Low: 14, Conditions: weather.ConditionsSunny}
	return &weather.GetForecastOutput{Location: town, Days: []weather.Day{day}}
}

// answer is the text of a result's answer.
func answer(r *rpc.Result) string {
	for _, a := range r.Artifacts {
		if a.ID == "answer" {
			var all []string
			for _, p := range a.Parts {
				all = append(all, p.Text)
			}
			return strings.Join(all, "")
		}
	}
	return ""
}

// told is what the model was told last.
func told(w *world) string {
	asked := w.model.requests()
	messages := asked[len(asked)-1].Messages
	return messages[len(messages)-1].Content
}

func TestAsk_streamsWhatTheModelSays(t *testing.T) {
	w := newWorld(t, says("It is ", "sunny", "."))
	var pieces []string
	var result *rpc.Result
	for step, err := range w.assistant(t).AskStream(t.Context(), "How is the weather?") {
		if err != nil {
			t.Fatal(err)
		}
		if step.Artifact != nil && step.Artifact.ID == "answer" {
			pieces = append(pieces, step.Text())
		}
		if step.Done {
			result = step.Output
		}
	}
	if strings.Join(pieces, "|") != "It is |sunny|." || answer(result) != "It is sunny." {
		t.Errorf("got %q, %q", pieces, answer(result))
	}
	asked := w.model.requests()[0]
	if asked.Model != "tiny" || asked.Auth != "Bearer secret" || asked.MaxTokens != 2000 || told(w) != "How is the weather?" {
		t.Errorf("the model was asked %+v", asked)
	}
	var names []string
	for _, f := range asked.Tools {
		names = append(names, f.Function.Name)
	}
	if strings.Join(names, " ") != "convert get_current_weather get_forecast" {
		t.Errorf("the tools are %s", names)
	}
	var spent struct {
		Model string
		Usage usage
	}
	for _, a := range result.Artifacts {
		if a.ID != "usage" {
			continue
		}
		if err := json.Unmarshal(a.Metadata, &spent); err != nil {
			t.Error(err)
		}
	}
	if spent.Model != "tiny-1" || spent.Usage.Total != 12 {
		t.Errorf("it took %+v", spent)
	}
}

func TestAsk_callsSeveralToolsInATurn(t *testing.T) {
	w := newWorld(t,
		stream(words("Let me see. "), piece(0, "a", "get_forecast", `{"loca`), piece(1, "b", "convert", `{"value": 24,`),
			piece(0, "", "", `tion":"Paris","da`), piece(1, "", "", ` "from":"celsius","to":"fahrenheit"}`), piece(0, "", "", `ys":1}`), stop, done),
		says("24 °C are 75 °F."))
	w.weather.GetForecast.Returns(sunIn("Paris"))
	r, err := w.assistant(t).Ask(t.Context(), "Paris?")
	if err != nil || answer(r) != "Let me see. 24 °C are 75 °F." {
		t.Fatalf("got %+v, %v", r, err)
	}
	messages := w.model.requests()[1].Messages
	said, first, second := messages[len(messages)-3], messages[len(messages)-2], messages[len(messages)-1]
	if len(said.Calls) != 2 || first.CallID != "a" || second.CallID != "b" {
		t.Errorf("the model was told %+v", messages)
	}
	if !strings.Contains(first.Content, `"location":"Paris"`) || second.Content != `{"value":75.2}` {
		t.Errorf("the tools gave %s and %s", first.Content, second.Content)
	}
}

func TestAsk_tellsTheModelWhatIsWrongWithACall(t *testing.T) {
	for name, c := range map[string]struct{ call, want string }{
		"an unknown tool":            {`get_tides {}`, `There is no tool "get_tides". The tools are convert, get_current_weather, get_forecast.`},
		"arguments that do not fit":  {`get_forecast {"location":"Paris","days":9}`, "The arguments do not fit: input.days must be at most 5. Call the tool again with arguments that fit."},
		"arguments that are no JSON": {`get_forecast {"location":`, "The arguments do not fit: input must be JSON. Call the tool again with arguments that fit."},
		"a tool that declines":       {`convert {"value":1,"from":"celsius","to":"miles"}`, "The tool declined: celsius cannot be converted to miles."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, calls(c.call), says("Sorry."))
			r, err := w.assistant(t).Ask(t.Context(), "?")
			if err != nil || answer(r) != "Sorry." || told(w) != c.want {
				t.Errorf("got %v, %v; the model was told\n%s\nwant\n%s", r, err, told(w), c.want)
			}
		})
	}
}

func TestAsk_asksWhatAToolAsks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tasks.db")
	w := newWorld(t, calls(`get_current_weather {"location":"Oslo"}`, `get_forecast {"location":"Springfield","days":1}`), says("Sun in Oregon."))
	w.weather.GetCurrentWeather.Returns(&weather.GetCurrentWeatherOutput{Location: "Oslo", Units: weather.UnitsCelsius, Conditions: weather.ConditionsRain})
	w.weather.GetForecast.Asks("Illinois or Oregon?").Returns(sunIn("Springfield, Oregon"))
	before, stop := w.serve(t, w.agent, kept(t, file))
	_, err := before.Ask(t.Context(), "Do I need a coat in Springfield?")
	var ask *rpc.InputRequiredError
	if !errors.As(err, &ask) || ask.Prompt != "Illinois or Oregon?" {
		t.Fatalf("got %v, want the question of the weather agent", err)
	}
	stop() // the process ends; another one goes on
	after, _ := w.serve(t, w.newAgent(t), kept(t, file))
	r, err := after.AskAnswer(t.Context(), ask, runtime.Text("Oregon"))
	if err != nil || answer(r) != "Sun in Oregon." || !strings.Contains(told(w), "Springfield, Oregon") {
		t.Fatalf("got %+v, %v; the model was told %s", r, err, told(w))
	}
	if asked := len(w.model.requests()); asked != 2 {
		t.Errorf("the model was asked %d times", asked)
	}
	if n := len(w.weather.GetCurrentWeather.Calls()); n != 1 {
		t.Errorf("the call before the question was worked on %d times", n)
	}
}

// TestAsk_goesOnAfterACrash: what the model said is not asked for again, and the weather agent does nothing twice.
func TestAsk_goesOnAfterACrash(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tasks.db")
	w := newWorld(t, calls(`get_forecast {"location":"Paris","days":1}`), says("Sun."))
	begun, goOn := make(chan struct{}), make(chan struct{})
	w.weather.OnGetForecast(func(context.Context, *weather.GetForecastInput, *a2atest.Task) (*weather.GetForecastOutput, error) {
		close(begun)
		<-goOn
		return sunIn("Paris"), nil
	})
	before, stop := w.serve(t, w.agent, kept(t, file))
	_, err := before.Ask(t.Context(), "Paris?", rpc.ReturnImmediately())
	var pending *rpc.PendingError
	if !errors.As(err, &pending) {
		t.Fatalf("got %v, want a task that is at work", err)
	}
	<-begun
	stop()
	after, _ := w.serve(t, w.newAgent(t), kept(t, file))
	close(goOn)
	r, err := after.RPC().Await(t.Context(), pending.TaskID)
	if err != nil || answer(r) != "Sun." {
		t.Fatalf("got %+v, %v", r, err)
	}
	if asked, sky := len(w.model.requests()), len(w.weather.GetForecast.Calls()); asked != 2 || sky != 1 {
		t.Errorf("the model was asked %d times, the weather agent %d times", asked, sky)
	}
}

// kept keeps tasks in a file, as the agent does outside of tests.
func kept(t *testing.T, file string) server.Option {
	t.Helper()
	tasks, err := sqlite.Open(file, a2a.Protocol(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return server.WithStore(tasks)
}

func TestAsk_knowsEarlierQuestions(t *testing.T) {
	w := newWorld(t, says("Sunny."), says("Rainy."))
	c := w.assistant(t)
	first, err := c.Ask(t.Context(), "Paris?")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ask(t.Context(), "And Oslo?", rpc.InContext(first.ContextID)); err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, m := range w.model.requests()[1].Messages[1:] {
		said = append(said, m.Role+": "+m.Content)
	}
	if got := strings.Join(said, "; "); got != "user: Paris?; assistant: Sunny.; user: And Oslo?" {
		t.Errorf("the model was told %s", got)
	}
}

func TestAsk_aCancelEndsTheRequest(t *testing.T) {
	ended := make(chan struct{})
	begun := make(chan struct{})
	w := newWorld(t, func(rw http.ResponseWriter, r *http.Request) {
		stream(words("Well, "))(rw, r)
		close(begun)
		<-r.Context().Done()
		close(ended)
	})
	c := w.assistant(t)
	_, err := c.Ask(t.Context(), "?", rpc.ReturnImmediately())
	var pending *rpc.PendingError
	if !errors.As(err, &pending) {
		t.Fatalf("got %v, want a task that is at work", err)
	}
	<-begun
	if _, err := c.CancelTask(t.Context(), &a2a.CancelTaskRequest{ID: pending.TaskID}); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func TestAsk_endsAfterTooManyRounds(t *testing.T) {
	w := newWorld(t)
	w.model.otherwise = calls(`convert {"value":1,"from":"celsius","to":"celsius"}`)
	_, err := w.assistant(t).Ask(t.Context(), "?")
	if err == nil || !strings.Contains(err.Error(), "called tools 8 times") || len(w.model.requests()) != maxRounds {
		t.Errorf("got %v after %d requests", err, len(w.model.requests()))
	}
}

func TestAsk_endsWhenAllTokensAreUsed(t *testing.T) {
	w := newWorld(t, stream(piece(0, "a", "convert", `{"value":1,"from":"celsius","to":"celsius"}`), stop, `{"usage":{"total_tokens":60000}}`, done))
	_, err := w.assistant(t).Ask(t.Context(), "?")
	if err == nil || !strings.Contains(err.Error(), "60000 tokens") {
		t.Errorf("got %v", err)
	}
}
