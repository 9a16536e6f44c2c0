package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

// An agent that calls another one: the planner asks the weather, in one process, each behind a server of its own.

// What the planner's clients are told of the weather.
var weathers = map[string]struct{ version, capabilities string }{
	"ours":        {"1.0", streams + `"extensions":[{"uri":"` + runtime.SkillsExtension + `","params":{"idempotency":{"window":86400}}}],`},
	"no keys":     {"1.0", streams},
	"no streams":  {"1.0", ""},
	"version 0.3": {"0.3", streams},
}

// hosted is an agent whose server is replaced by another one at the same URL when it crashes.
type hosted struct {
	t    *testing.T
	ln   *pipes
	make func() (*server.Server, store.Store)
	now  atomic.Pointer[server.Server]
	kept store.Store
	saw  func(r *http.Request) // nil: nobody looks
}

func host(t *testing.T, make func() (*server.Server, store.Store)) *hosted {
	h := &hosted{t: t, make: make}
	h.start()
	h.ln = newPipes()
	web := &http.Server{ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	web.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h.saw != nil {
			h.saw(r)
		}
		h.now.Load().ServeHTTP(w, r)
	})
	go func() { _ = web.Serve(h.ln) }()
	t.Cleanup(func() {
		_ = h.now.Load().Close()
		_ = web.Close()
		_ = h.ln.Close()
	})
	return h
}

// dial returns a client of the agent by a card of that version.
func (h *hosted) dial(version, capabilities string, opts ...rpc.Option) *rpc.Client {
	h.t.Helper()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return h.ln.dial(ctx) }, DisableKeepAlives: true,
	}
	card := strings.Replace(cardJSON("http://agent/rpc", "", capabilities), `"protocolVersion":"1.0"`, `"protocolVersion":"`+version+`"`, 1)
	opts = append([]rpc.Option{rpc.HTTPClient(&http.Client{Transport: transport})}, opts...)
	c, err := rpc.FromCard(a2a.Protocol(), decodeCard(h.t, card), opts...)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(c.Close)
	return c
}

func (h *hosted) start() {
	s, kept := h.make()
	h.kept = kept
	h.now.Store(s)
	// A server that does not listen by itself begins with the first task.
	const wake = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}],"metadata":{"skillId":"wake"}}}}`
	r := httptest.NewRequest("POST", "http://agent/rpc", strings.NewReader(wake))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("A2A-Version", "1.0")
	answer := httptest.NewRecorder()
	if s.ServeHTTP(answer, r); !strings.Contains(answer.Body.String(), "awake") {
		h.t.Fatal(answer.Body)
	}
}

var wake = server.Skill{ID: "wake", Name: "wake", Run: func(context.Context, *server.Task, any) ([]byte, error) {
	return []byte("awake"), nil
}}

// crash ends the process: nothing that it still says is stored, and the next one takes over its task.
func (h *hosted) crash(task string) {
	h.t.Helper()
	if err := h.kept.Close(store.Key{Task: task}); err != nil {
		h.t.Fatal(err)
	}
	old := h.now.Load()
	h.start()
	_ = old.Close()
}

// everyVersion is the card of both agents as they are served.
var everyVersion = cardJSON("http://agent/rpc", "", streams+declared)

// remembered is how long an agent knows messages.
const remembered = time.Hour

func newServer(t *testing.T, skills []server.Skill, kept store.Store, opts ...server.Option) *server.Server {
	t.Helper()
	opts = append(opts, server.WithLogger(slog.New(slog.DiscardHandler)))
	if kept != nil {
		opts = append(opts, server.WithStore(kept))
	}
	s, err := server.New(server.Config{
		Protocol: a2a.Protocol(), Card: decodeCard(t, everyVersion), Skills: append(skills, wake),
		Repeats: server.Repeats{Window: remembered},
	}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// weather is an agent that counts what it is asked.
type weather struct {
	*hosted
	kind string

	cancels atomic.Int32 // requests to cancel
	mu      sync.Mutex
	tasks   []string // inputs of tasks that its handler began
	answers []string
	began   chan string // task, when one begins
	stopped chan error  // causes of the end of a slow one
	next    chan struct{}
}

func newWeather(t *testing.T, kind string) *weather {
	w := &weather{kind: kind, began: make(chan string, 100), stopped: make(chan error, 100), next: make(chan struct{}, 100)}
	w.hosted = host(t, func() (*server.Server, store.Store) {
		return newServer(t, []server.Skill{{ID: "weather", Name: "weather", Run: w.run}}, nil), nil
	})
	w.saw = func(r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(b))
		if method := []byte(`"method":"`); bytes.Contains(b, append(method, "CancelTask"...)) || bytes.Contains(b, append(method, "tasks/cancel"...)) {
			w.cancels.Add(1)
		}
	}
	return w
}

// run does what the text says.
func (w *weather) run(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
	w.mu.Lock()
	if t.Resumed() {
		w.answers = append(w.answers, t.Text())
	} else {
		w.tasks = append(w.tasks, t.Text())
	}
	w.mu.Unlock()
	var city string
	if _, err := t.Load(&city); err != nil {
		return nil, err
	}
	if t.Resumed() {
		return []byte(city + " in " + t.Text()), nil
	}
	if city = t.Text(); city == "reply" {
		return nil, t.Reply(runtime.Text("just words"))
	}
	if err := errors.Join(t.Save(city), t.Progress("looking at %s", city)); err != nil {
		return nil, err
	}
	w.began <- t.Call().TaskID()
	switch {
	case strings.HasPrefix(city, "ask"):
		return nil, t.Ask("Which units?", map[string]any{"units": []string{"celsius", "fahrenheit"}})
	case strings.HasPrefix(city, "auth"):
		return nil, t.RequireAuth(server.AuthRequest{Prompt: "Log in.", Scheme: "idp", Scopes: []string{"read"}, Visit: func(string) string { return "https://idp.example/login" }})
	case strings.HasPrefix(city, "slow"):
		select {
		case <-w.next:
		case <-ctx.Done():
			w.stopped <- context.Cause(ctx)
			return nil, ctx.Err()
		}
	case strings.HasPrefix(city, "map"):
		poem := t.Stream("poem")
		for _, line := range []string{"it ", "is ", "fine"} {
			if _, err := poem.WriteString(line); err != nil {
				return nil, err
			}
		}
		if err := poem.Close(); err != nil {
			return nil, err
		}
		return []byte("sunny"), nil
	case city == "fail":
		return nil, t.Fail("no weather today")
	}
	return []byte("sunny in " + city), nil
}

// ran is how often its handler began and was answered.
func (w *weather) ran() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return fmt.Sprintf("%q %q", w.tasks, w.answers)
}

// client is what the planner calls it with. The card says what kind of agent it is.
func (w *weather) client(opts ...rpc.Option) *rpc.Client {
	w.t.Helper()
	kind := weathers[w.kind]
	return w.dial(kind.version, kind.capabilities, opts...)
}

var askWeather = rpc.Skill[string, *rpc.Result]{ID: "weather", In: rpc.TextInput, Out: rpc.PlainOutput}

// planner is an agent with one skill, over a store in a file.
type planner struct {
	*hosted
	run    func(ctx context.Context, t *server.Task, in any) ([]byte, error)
	points chan string // where a handler waits for the crash
	runs   atomic.Int32
}

// stop has the handler wait at a point for its end, at its first attempt.
func (p *planner) stop(ctx context.Context, t *server.Task, point string) error {
	if t.Call().Attempt() > 1 {
		return nil
	}
	p.points <- point
	<-ctx.Done()
	return ctx.Err()
}

const (
	tripInput  = `{"type":"object","properties":{"city":{"type":"string"},"units":{"type":"string"}},"required":["city"],"additionalProperties":false}`
	tripOutput = `{"type":"object"}`
)

func newPlanner(t *testing.T, run func(p *planner) func(ctx context.Context, t *server.Task, in any) ([]byte, error), opts ...server.Option) *planner {
	p := &planner{points: make(chan string, 10)}
	handler := run(p)
	p.run = func(ctx context.Context, t *server.Task, in any) ([]byte, error) {
		p.runs.Add(1)
		return handler(ctx, t, in)
	}
	file := filepath.Join(t.TempDir(), "tasks.db")
	p.hosted = host(t, func() (*server.Server, store.Store) {
		kept, err := sqlite.OpenStore(file, "agent", a2a.Protocol())
		if err != nil {
			t.Fatal(err)
		}
		return newServer(t, []server.Skill{
			{ID: "plan", Name: "plan", Run: p.run, OnCrash: server.CrashRetry},
			{ID: "trip", Name: "trip", Run: p.run, OnCrash: server.CrashRetry, InputSchema: tripInput, OutputSchema: tripOutput},
		}, kept, opts...), kept
	})
	return p
}

func (p *planner) client() *rpc.Client {
	p.t.Helper()
	return p.dial("1.0", streams+declared)
}

var plan = rpc.Skill[string, *rpc.Result]{ID: "plan", In: rpc.TextInput, Out: rpc.PlainOutput}

// begin calls the planner and returns the task, which goes on.
func (p *planner) begin(c *rpc.Client, text string) string {
	p.t.Helper()
	_, err := plan.Call(p.t.Context(), c, text, rpc.ReturnImmediately())
	var pending *rpc.PendingError
	if !errors.As(err, &pending) {
		p.t.Fatalf("the call begins with %v", err)
	}
	return pending.TaskID
}

// remembers waits until the store has a text in what it keeps privately with a task.
func (p *planner) remembers(task, text string) {
	p.t.Helper()
	for {
		snap, err := p.kept.Get(p.t.Context(), store.Key{Task: task}, store.View{})
		if err != nil {
			p.t.Fatal(err)
		}
		if bytes.Contains(snap.Private.Saved, []byte(text)) {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// passOn is a handler that asks the weather for what it is asked for.
func passOn(c *rpc.Client, at string) func(p *planner) func(ctx context.Context, t *server.Task, in any) ([]byte, error) {
	return func(p *planner) func(ctx context.Context, t *server.Task, in any) ([]byte, error) {
		return func(ctx context.Context, t *server.Task, in any) ([]byte, error) {
			reached := func(point string) error {
				if point != at {
					return nil
				}
				return p.stop(ctx, t, point)
			}
			if err := errors.Join(t.Call().Begin(), reached("before the call")); err != nil {
				return nil, err
			}
			r, err := askWeather.Call(ctx, c, t.Text())
			var ask *rpc.InputRequiredError
			if errors.As(err, &ask) {
				if err := reached("while it asks"); err != nil {
					return nil, err
				}
				return nil, t.AskFrom(ask)
			}
			if err != nil {
				return nil, err
			}
			if err := reached("after the answer"); err != nil {
				return nil, err
			}
			return []byte("the weather is " + r.Text()), nil
		}
	}
}

// eachWeather runs a test for each kind of agent.
func eachWeather(t *testing.T, f func(t *testing.T, w *weather)) {
	for kind := range weathers {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f(t, newWeather(t, kind))
		})
	}
}

func TestAHandlerThatIsCalledAgainAfterACrashFindsTheTaskOfTheOtherAgent(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"before the call", "after the answer"} {
		t.Run(at, func(t *testing.T) {
			eachWeather(t, func(t *testing.T, w *weather) {
				p := newPlanner(t, passOn(w.client(), at))
				c := p.client()
				task := p.begin(c, "Rome")
				<-p.points
				p.crash(task)
				r, err := c.Await(t.Context(), task)
				if err != nil || r.Text() != "the weather is sunny in Rome" {
					t.Errorf("got %+v, %v", r, err)
				}
				if got := w.ran(); got != `["Rome"] []` {
					t.Errorf("the weather was asked %s", got)
				}
			})
		})
	}
}

func TestACrashWhileTheOtherAgentWorksLosesNothing(t *testing.T) {
	t.Parallel()
	eachWeather(t, func(t *testing.T, w *weather) {
		p := newPlanner(t, passOn(w.client(), ""))
		c := p.client()
		task := p.begin(c, "slow Rome")
		other := <-w.began
		if w.kind != "ours" {
			p.remembers(task, other)
		}
		p.crash(task)
		w.next <- struct{}{}
		r, err := c.Await(t.Context(), task)
		if err != nil || r.Text() != "the weather is sunny in slow Rome" {
			t.Errorf("got %+v, %v", r, err)
		}
		if got := w.ran(); got != `["slow Rome"] []` || len(w.stopped) > 0 || p.runs.Load() != 2 {
			t.Errorf("the weather was asked %s, by %d runs, %d stopped", got, p.runs.Load(), len(w.stopped))
		}
	})
}

// TestACrashBetweenAMessageAndItsAnswer: an agent that promises to know messages does the work once; of another one
// the handler is told that nobody knows.
func TestACrashBetweenAMessageAndItsAnswer(t *testing.T) {
	t.Parallel()
	eachWeather(t, func(t *testing.T, w *weather) {
		// The message that is sent again comes after the first one was taken on: an agent that is as young as this one does not know whether
		// it got one that may be older than it is.
		sent, on, taken, look := make(chan struct{}), make(chan struct{}), make(chan struct{}), w.saw
		var requests atomic.Int32
		w.saw = func(r *http.Request) {
			look(r)
			if requests.Add(1) > 1 {
				<-taken
				return
			}
			close(sent)
			<-on
		}
		weather := w.client()
		lost := make(chan *rpc.LostCallError, 1)
		p := newPlanner(t, func(*planner) func(ctx context.Context, t *server.Task, in any) ([]byte, error) {
			return func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
				r, err := askWeather.Call(ctx, weather, t.Text())
				var e *rpc.LostCallError
				if errors.As(err, &e) && ctx.Err() == nil {
					lost <- e
					return []byte("nobody knows"), nil
				}
				if err != nil {
					return nil, err
				}
				return []byte(r.Text()), nil
			}
		})
		c := p.client()
		task := p.begin(c, "Rome")
		<-sent
		p.crash(task)
		close(on)
		<-w.began
		close(taken)
		r, err := c.Await(t.Context(), task)
		want := "sunny in Rome"
		if w.kind != "ours" {
			want = "nobody knows"
		}
		if err != nil || r.Text() != want || w.ran() != `["Rome"] []` {
			t.Fatalf("got %+v, %v, the weather was asked %s", r, err, w.ran())
		}
		if w.kind != "ours" {
			if e := <-lost; e.TaskID != "" || e.MessageID == "" || e.Key != "" || e.Sent.IsZero() {
				t.Errorf("got %+v", e)
			}
		}
	})
}

func TestAQuestionGoesUpAndItsAnswerDownAlsoOverACrash(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"", "while it asks", "after the answer"} {
		t.Run("crash "+at, func(t *testing.T) {
			eachWeather(t, func(t *testing.T, w *weather) {
				p := newPlanner(t, passOn(w.client(), at))
				c := p.client()
				task := p.begin(c, "ask Rome")
				if at == "while it asks" {
					<-p.points
					p.crash(task)
				}
				_, err := c.Await(t.Context(), task)
				var ask *rpc.InputRequiredError
				if !errors.As(err, &ask) || ask.Prompt != "Which units?" || string(ask.Data) != `{"units":["celsius","fahrenheit"]}` || ask.Auth != nil {
					t.Fatalf("got %v", err)
				}
				if _, err := plan.Answer(t.Context(), c, ask.With(rpc.ReturnImmediately()), runtime.Text("celsius")); !errors.As(err, new(*rpc.PendingError)) {
					t.Fatal(err)
				}
				if at == "after the answer" {
					<-p.points
					p.crash(task)
				}
				r, err := c.Await(t.Context(), task)
				if err != nil || r.Text() != "the weather is ask Rome in celsius" {
					t.Errorf("got %+v, %v", r, err)
				}
				if got := w.ran(); got != `["ask Rome"] ["celsius"]` {
					t.Errorf("the weather was asked %s", got)
				}
			})
		})
	}
}

var trip = rpc.Skill[json.RawMessage, *rpc.Result]{
	ID: "trip", In: func(in json.RawMessage) ([]runtime.Part, error) { return []runtime.Part{runtime.Data(in)}, nil }, Out: rpc.PlainOutput,
}

// TestTheAnswerToAnotherAgentIsNoInputOfOnesOwn: data that answers the other agent are not merged over one's own input,
// and calls before the one that asked are not made again.
func TestTheAnswerToAnotherAgentIsNoInputOfOnesOwn(t *testing.T) {
	t.Parallel()
	eachWeather(t, func(t *testing.T, w *weather) {
		weather := w.client()
		p := newPlanner(t, func(p *planner) func(ctx context.Context, t *server.Task, in any) ([]byte, error) {
			return func(ctx context.Context, t *server.Task, in any) ([]byte, error) {
				var v input
				if err := json.Unmarshal(in.([]byte), &v); err != nil {
					return nil, err
				}
				var all []string
				for _, city := range []string{"Paris", "ask " + v.City, "ask " + v.City, "Oslo"} {
					r, err := askWeather.Call(ctx, weather, city)
					var ask *rpc.InputRequiredError
					if errors.As(err, &ask) {
						return nil, t.AskFrom(ask)
					}
					if err != nil {
						return nil, err
					}
					all = append(all, r.Text())
				}
				return json.Marshal(map[string]any{"all": all, "in": v})
			}
		})
		c := p.client()
		_, err := trip.Call(t.Context(), c, json.RawMessage(`{"city":"Rome"}`))
		var ask *rpc.InputRequiredError
		for _, units := range []string{`{"units":"kelvin"}`, `{"city":"Bern"}`} {
			if !errors.As(err, &ask) {
				t.Fatalf("got %v", err)
			}
			_, err = trip.Answer(t.Context(), c, ask.With(rpc.ReturnImmediately()), runtime.Text("units"), runtime.Data(json.RawMessage(units)))
			if !errors.As(err, new(*rpc.PendingError)) {
				t.Fatal(err)
			}
			_, err = c.Await(t.Context(), ask.TaskID)
		}
		r, err := c.Await(t.Context(), ask.TaskID)
		const want = `{"all":["sunny in Paris","ask Rome in units","ask Rome in units","sunny in Oslo"],"in":{"city":"Rome"}}`
		if err != nil {
			t.Fatal(err)
		}
		if got, err := r.JSON(); err != nil || string(got) != want {
			t.Errorf("got %s, %v", got, err)
		}
		if got := w.ran(); got != `["Paris" "ask Rome" "ask Rome" "Oslo"] ["units" "units"]` {
			t.Errorf("the weather was asked %s", got)
		}
	})
}
