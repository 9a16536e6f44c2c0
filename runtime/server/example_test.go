package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
)

// answering is a handler as in these examples: of a skill that takes a message and gives text.
type answering func(ctx context.Context, t *server.Task) (string, error)

// talk has a client send the messages, the second and further ones to the task of the first, and prints what it gets: the answer, or the task's
// artifacts and the message of its status. What differs each time is left out.
func talk(h answering, messages ...string) {
	s := exampleServer(h)
	defer func() { _ = s.Close() }()
	to := ""
	for _, text := range messages {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("POST", "/rpc", strings.NewReader(rpcBody("SendMessage", message(text, to+`"contextId":"c"`)))))
		var answer struct {
			Result map[string]map[string]any
			Error  *runtime.Error
		}
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			fmt.Println(err)
		}
		if answer.Error != nil {
			fmt.Println("error", answer.Error.Code, answer.Error.Message)
			continue
		}
		if m := answer.Result["message"]; m != nil {
			show("message", m)
			continue
		}
		task := answer.Result["task"]
		to = fmt.Sprintf(`"taskId":%q,`, task["id"])
		artifacts, _ := task["artifacts"].([]any)
		for _, a := range artifacts {
			show("artifact", a)
		}
		status, _ := task["status"].(map[string]any)
		show(strings.ToLower(strings.TrimPrefix(fmt.Sprint(status["state"]), "TASK_STATE_")), status["message"])
	}
}

// exampleServer serves an agent with one skill.
func exampleServer(h answering) *server.Server {
	protocol := a2a.Protocol()
	card, err := protocol.DecodeCard([]byte(testCard))
	if err != nil {
		fmt.Println(err)
	}
	s, err := server.New(server.Config{Protocol: protocol, Card: card, Skills: []server.Skill{run("example", h)}},
		server.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		fmt.Println(err)
	}
	return s
}

func show(what string, v any) {
	if m, ok := v.(map[string]any); ok {
		for _, name := range []string{"messageId", "contextId", "taskId", "role"} {
			delete(m, name)
		}
	}
	if v == nil {
		fmt.Println(what)
		return
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		fmt.Println(err)
	}
	fmt.Print(what, " ", b.String())
}

// A plain answer, and no task.
func ExampleTask_Reply() {
	talk(func(_ context.Context, t *server.Task) (string, error) {
		return "", t.Reply(runtime.Text("Hello."), runtime.Data(map[string]string{"mood": "good"}))
	}, "hi")
	// Output:
	// message {"parts":[{"text":"Hello."},{"data":{"mood":"good"},"mediaType":"application/json"}]}
}

// An answer with all that a message can have.
func ExampleTask_Say() {
	talk(func(_ context.Context, t *server.Task) (string, error) {
		m := runtime.MessageOf(runtime.Text("As last week."))
		m.Metadata = runtime.Metadata(map[string]any{"confidence": 0.9})
		m.Extensions = []string{"https://example.com/ext/confidence"}
		m.References = []string{"task-of-last-week"}
		return "", t.Say(runtime.StateUnspecified, m)
	}, "how is it?")
	// Output:
	// message {"extensions":["https://example.com/ext/confidence"],"metadata":{"confidence":0.9},"parts":[{"text":"As last week."}],"referenceTaskIds":["task-of-last-week"]}
}

// A task that ends with a message; a result that the handler returns would be an artifact before it.
func ExampleTask_Say_completed() {
	talk(func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Artifact("report", runtime.File("report.csv", "text/csv", []byte("a,b"))); err != nil {
			return "", err
		}
		return "", t.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text("The report is ready.")))
	}, "make the report")
	// Output:
	// artifact {"artifactId":"artifact-1","name":"report","parts":[{"filename":"report.csv","mediaType":"text/csv","raw":"YSxi"}]}
	// completed {"parts":[{"text":"The report is ready."}]}
}

// Progress with more than a text. The last progress message is in the history when the task is completed.
func ExampleTask_Say_working() {
	talk(func(_ context.Context, t *server.Task) (string, error) {
		m := runtime.MessageOf(runtime.Link("preview.png", "image/png", "https://example.com/preview.png"))
		m.Metadata = runtime.Metadata(map[string]int{"percent": 50})
		if err := t.Say(runtime.StateWorking, m); err != nil {
			return "", err
		}
		return "", t.Fail("The printer is out of paper.")
	}, "print")
	// Output:
	// failed {"parts":[{"text":"The printer is out of paper."}]}
}

// A question with files and data beside the text.
func ExampleTask_Ask() {
	talk(func(_ context.Context, t *server.Task) (string, error) {
		if !t.Resumed() {
			return "", t.Ask("Which of these?", runtime.Link("a.png", "image/png", "https://example.com/a.png"), map[string]any{"choices": []string{"a", "b"}})
		}
		return "You have chosen " + t.Text() + ".", nil
	}, "a logo", "a")
	// Output:
	// input_required {"parts":[{"text":"Which of these?"},{"filename":"a.png","mediaType":"image/png","url":"https://example.com/a.png"},{"data":{"choices":["a","b"]},"mediaType":"application/json"}]}
	// artifact {"artifactId":"result","extensions":["https://github.com/a2agen/a2agen/extensions/skills/v1"],"metadata":{"https://github.com/a2agen/a2agen/extensions/skills/v1":{"skill":"example"}},"parts":[{"text":"You have chosen a."}]}
	// completed
}

// A call can end in any state with all that a message can have.
func ExampleTask_Say_rejected() {
	talk(func(_ context.Context, t *server.Task) (string, error) {
		m := runtime.MessageOf(runtime.Text("Not on Sundays."), runtime.Data(map[string]string{"next": "Monday"}))
		m.Metadata = runtime.Metadata(map[string]string{"policy": "7"})
		return "", t.Say(runtime.StateRejected, m)
	}, "open")
	// Output:
	// rejected {"metadata":{"policy":"7"},"parts":[{"text":"Not on Sundays."},{"data":{"next":"Monday"},"mediaType":"application/json"}]}
}

// An artifact with all that it can have, and with which a later call goes on.
func ExampleTask_Emit() {
	talk(func(_ context.Context, t *server.Task) (string, error) {
		if !t.Resumed() {
			err := t.Emit(runtime.ArtifactData{
				ID: "minutes", Name: "Minutes", Description: "What was said.",
				Parts:      []runtime.Part{runtime.Text("First: " + t.Text())},
				Metadata:   runtime.Metadata(map[string]string{"language": "en"}),
				Extensions: []string{"https://example.com/ext/minutes"},
			})
			if err != nil {
				return "", err
			}
			return "", t.Ask("And then?")
		}
		return "", t.Emit(runtime.ArtifactData{ID: "minutes", Append: true, LastChunk: true, Parts: []runtime.Part{runtime.Text("Then: " + t.Text())}})
	}, "hello", "goodbye")
	// Output:
	// artifact {"artifactId":"minutes","description":"What was said.","extensions":["https://example.com/ext/minutes"],"metadata":{"language":"en"},"name":"Minutes","parts":[{"text":"First: hello"}]}
	// input_required {"parts":[{"text":"And then?"}]}
	// artifact {"artifactId":"minutes","description":"What was said.","extensions":["https://example.com/ext/minutes"],"metadata":{"language":"en"},"name":"Minutes","parts":[{"text":"First: hello"},{"text":"Then: goodbye"}]}
	// completed
}

// An artifact written piece by piece.
func ExampleTask_Stream() {
	talk(func(_ context.Context, t *server.Task) (string, error) {
		w := t.Stream("poem")
		for _, line := range []string{"Roses are red,\n", "violets are blue.\n"} {
			if _, err := io.WriteString(w, line); err != nil {
				return "", err
			}
		}
		return "", w.Close()
	}, "a poem")
	// Output:
	// artifact {"artifactId":"artifact-1","name":"poem","parts":[{"text":"Roses are red,\n"},{"text":"violets are blue.\n"}]}
	// completed
}

// An artifact written piece by piece, with an id and metadata, of parts of any kind, whose last piece says that it is the last.
func ExampleTask_Stream_artifact() {
	talk(func(_ context.Context, t *server.Task) (string, error) {
		w := t.Stream("", runtime.ArtifactData{ID: "log", Metadata: runtime.Metadata(map[string]int{"level": 3})})
		if err := w.Part(runtime.Data(map[string]int{"step": 1})); err != nil {
			return "", err
		}
		return "", w.Last(runtime.Text("end of log"))
	}, "log")
	// Output:
	// artifact {"artifactId":"log","metadata":{"level":3},"parts":[{"data":{"step":1},"mediaType":"application/json"},{"text":"end of log"}]}
	// completed
}

func ExampleTask_Call() {
	paid := map[string]int{}
	pay := func(_ context.Context, amount int, key string) error {
		paid[key] = amount
		return nil
	}
	talk(func(ctx context.Context, t *server.Task) (string, error) {
		if err := pay(ctx, 30, t.Call().IdempotencyKey()); err != nil { // once, however often this is called
			return "", err
		}
		return "", t.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text(fmt.Sprintf("Paid at attempt %d.", t.Call().Attempt()))))
	}, "pay")
	// Output:
	// completed {"parts":[{"text":"Paid at attempt 1."}]}
}

// granted is what the provider says where it sends the person back to.
type granted struct{ Code, Error string }

// readCalendar reads a person's calendar, once that person has let it.
func readCalendar(provider, callback string) answering {
	entries := func(_ context.Context, code string) (string, error) { return "One entry, by " + code + ".", nil }
	return func(ctx context.Context, t *server.Task) (string, error) {
		var g granted
		back, err := t.Call().Authorized(&g)
		switch {
		case err != nil:
			return "", err
		case back && g.Error != "":
			return "", t.Reject("Without your calendar there is nothing to look at.")
		case back:
			return entries(ctx, g.Code) // gets a token for the code, and reads the calendar with that
		}
		return "", t.RequireAuth(server.AuthRequest{
			Prompt: "Please let me read your calendar:",
			Scheme: "calendar", Scopes: []string{"calendar.read"},
			Visit: func(handle string) string {
				return provider + "/authorize?" + url.Values{
					"response_type": {"code"}, "client_id": {"my-agent"}, "scope": {"calendar.read"},
					"redirect_uri": {callback}, "state": {handle},
				}.Encode()
			},
		})
	}
}

// serveCallback serves the page to which the provider sends the person back.
func serveCallback(srv *server.Server) {
	srv.Handle("GET /oauth/callback", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := srv.Redeem(r.Context(), r.FormValue("state"), granted{r.FormValue("code"), r.FormValue("error")})
		switch {
		case errors.Is(err, server.ErrHandle):
			http.Error(w, "This link is no longer good. Please ask the agent for another.", http.StatusNotFound)
		case err != nil:
			http.Error(w, "Please try again.", http.StatusServiceUnavailable)
		default:
			_, _ = fmt.Fprintln(w, "Thank you. You can close this page.")
		}
	}))
}

// An authorization by OAuth: the task goes on when the provider sends the person back, at whichever instance.
func ExampleServer_Redeem() {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("redirect_uri")+"?code=c7&state="+r.FormValue("state"), http.StatusFound)
	}))
	defer provider.Close()
	web := httptest.NewServer(nil)
	defer web.Close()
	srv := exampleServer(readCalendar(provider.URL, web.URL+"/oauth/callback"))
	defer func() { _ = srv.Close() }()
	serveCallback(srv)
	web.Config.Handler = srv

	ctx := context.Background()
	c, err := rpc.New(ctx, a2a.Protocol(), web.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer c.Close()
	ask := &rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "example", In: rpc.PlainInput, Out: rpc.PlainOutput}
	_, err = ask.Call(ctx, c, rpc.Say("what is on today?"))
	var q *rpc.InputRequiredError
	if !errors.As(err, &q) || q.Auth == nil {
		fmt.Println(err)
		return
	}
	fmt.Println(q.Prompt, q.Auth.Scheme, q.Auth.Scopes)
	for range 2 { // a person opens the page, twice
		resp, err := http.Get(q.Auth.URL)
		if err != nil {
			fmt.Println(err)
			return
		}
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		fmt.Print(resp.StatusCode, " ", string(text))
	}
	r, err := c.Await(ctx, q.TaskID)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.State, r.Text())
	// Output:
	// Please let me read your calendar: calendar [calendar.read]
	// 200 Thank you. You can close this page.
	// 404 This link is no longer good. Please ask the agent for another.
	// completed One entry, by c7.
}

// What was said before in the context, for a prompt.
func ExampleContext_Conversation() {
	contextual(func(ctx context.Context, t *server.Task) (string, error) {
		past, err := t.Context().Conversation(ctx, 10)
		if err != nil {
			return "", err
		}
		var prompt []string
		for _, task := range slices.Backward(past) { // the oldest first
			for _, turn := range task.Turns {
				prompt = append(prompt, turn.Role()+": "+turn.Text())
			}
		}
		for _, turn := range t.Turns() { // of this task, with the message at hand
			prompt = append(prompt, turn.Role()+": "+turn.Text())
		}
		fmt.Println(strings.Join(prompt, " / "))
		return "You said " + t.Text() + ".", nil
	}, "hi", "bye")
	// Output:
	// user: hi
	// user: hi / agent: You said hi. / user: bye
}

// What is kept with a context is there for its next task.
func ExampleTask_Context() {
	contextual(func(_ context.Context, t *server.Task) (string, error) {
		var profile struct{ Name string }
		if _, err := t.Context().Load(&profile); err != nil {
			return "", err
		}
		if profile.Name == "" {
			profile.Name = t.Text()
			if err := t.Context().Save(profile); err != nil {
				return "", err
			}
		}
		fmt.Println(profile.Name, "said", t.Text())
		return "", nil
	}, "Ann", "hello")
	// Output:
	// Ann said Ann
	// Ann said hello
}

// contextual has a client send messages with one context, each of which is a task.
func contextual(h answering, messages ...string) {
	s := exampleServer(h)
	defer func() { _ = s.Close() }()
	for _, text := range messages {
		s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/rpc", strings.NewReader(rpcBody("SendMessage", message(text, `"contextId":"c"`)))))
	}
}

// weather calls another agent, which knows few cities and few callers.
func weather(_ context.Context, city string) (string, error) {
	if city == "Rome" {
		return "", fmt.Errorf("skill %q: %w", "forecast", runtime.ErrUnauthenticated.AsReceived()) // as clients return it
	}
	return "", fmt.Errorf("skill %q: %w", "forecast", runtime.ErrInvalidParams.AsReceived())
}

// An error of another agent fails the task, unless it is passed on.
func Example_anotherAgent() {
	talk(func(ctx context.Context, t *server.Task) (string, error) {
		sky, err := weather(ctx, t.Text())
		switch {
		case errors.Is(err, a2a.ErrInvalidParams):
			return "", runtime.PassOn(err) // the caller can do something about it
		case err != nil:
			return "", err
		}
		return "The sky is " + sky + ".", nil
	}, "Rome")
	talk(func(ctx context.Context, t *server.Task) (string, error) {
		_, err := weather(ctx, t.Text())
		return "", runtime.PassOn(err)
	}, "Atlantis")
	// Output:
	// failed {"parts":[{"text":"The skill failed unexpectedly."}]}
	// error -32602 Invalid parameters
}

// An agent with a client of another one, whose typed methods are like these.
type callers struct{ Weather weatherClient }

type weatherClient struct{ rpc *rpc.Client }

var forecast = rpc.Skill[string, *rpc.Result]{ID: "example", In: rpc.TextInput, Out: rpc.PlainOutput}

func (c weatherClient) Forecast(ctx context.Context, city string) (*rpc.Result, error) {
	return forecast.Call(ctx, c.rpc, city)
}

func (c weatherClient) ForecastStream(ctx context.Context, city string) iter.Seq2[rpc.Event[*rpc.Result], error] {
	return forecast.Stream(ctx, c.rpc, city)
}

// calling makes an agent that calls another one, which has the handler.
func calling(h answering) (a *callers, closeAll func()) {
	s := exampleServer(h)
	web := httptest.NewServer(s)
	c, err := rpc.New(context.Background(), a2a.ClientProtocol(), web.URL, rpc.Endpoint(web.URL+"/rpc"))
	if err != nil {
		fmt.Println(err)
	}
	return &callers{weatherClient{c}}, func() {
		c.Close()
		_ = s.Close()
		web.Close()
	}
}

// A question of another agent is passed on, and the answer goes to it by the same call.
func ExampleTask_AskFrom() {
	a, closeAll := calling(func(_ context.Context, t *server.Task) (string, error) {
		if !t.Resumed() {
			return "", t.Ask("In which country?")
		}
		return "blue in " + t.Text(), nil
	})
	defer closeAll()
	talk(func(ctx context.Context, t *server.Task) (string, error) {
		sky, err := a.Weather.Forecast(ctx, t.Text())
		var ask *rpc.InputRequiredError
		if errors.As(err, &ask) {
			return "", t.AskFrom(ask)
		}
		if err != nil {
			return "", err
		}
		return "The sky is " + sky.Text() + ".", nil
	}, "Rome", "Georgia")
	// Output:
	// input_required {"parts":[{"text":"In which country?"}]}
	// artifact {"artifactId":"result","extensions":["https://github.com/a2agen/a2agen/extensions/skills/v1"],"metadata":{"https://github.com/a2agen/a2agen/extensions/skills/v1":{"skill":"example"}},"parts":[{"text":"The sky is blue in Georgia."}]}
	// completed
}

// The progress and the artifacts of another agent are one's own.
func Example_forward() {
	a, closeAll := calling(func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Progress("Looking out of the window."); err != nil {
			return "", err
		}
		return "blue", t.Artifact("picture", runtime.Text("~~~ o ~~~"))
	})
	defer closeAll()
	contextual(func(ctx context.Context, t *server.Task) (string, error) {
		sky, err := rpc.Forward(t, a.Weather.ForecastStream(ctx, t.Text()))
		if err != nil {
			return "", err
		}
		for _, turn := range t.Turns() {
			fmt.Println(turn.Role() + ": " + turn.Text())
		}
		return "", t.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text("The sky is "+sky.Text()+".")))
	}, "Rome")
	// Output:
	// user: Rome
	// agent: ~~~ o ~~~
	// agent: Looking out of the window.
}

// The handlers in the docs are those of the examples.
func TestHandlersInTheDocsAreExamples(t *testing.T) {
	docs, err := os.ReadFile("../../docs/handlers.md")
	if err != nil {
		t.Fatal(err)
	}
	calls, err := os.ReadFile("../../docs/agent-calls.md")
	if err != nil {
		t.Fatal(err)
	}
	_, ofCalls, _ := strings.Cut(string(calls), "\n### Questions\n")
	ofCalls, _, _ = strings.Cut(ofCalls, "\n### After a crash\n")
	examples, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	blocks := strings.Split(string(docs)+ofCalls, "```go\n")[1:]
	if len(blocks) < 16 {
		t.Errorf("there are %d handlers in the docs", len(blocks))
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(flat(string(examples)), flat(code)) {
			t.Errorf("no example has\n%s", code)
		}
	}
}
