package equivalence

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/gen/extension"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// agent is a running agent that speaks all there is on one port.
type agent struct {
	door
	hook    *hook
	gates   gates
	server  *server.Server
	handles sync.Map // of authorizations, by principal
}

// door is how an agent is reached.
type door struct {
	addr  string      // host:port
	query string      // that of every URL begins with it
	tls   *tls.Config // nil: clear text
}

// agents are what scenarios are played with, by name; "" is the one for most of them.
var agents = map[string]struct {
	capabilities string
	tenants      []string
	extended     bool // it has an extended card, and a skill that only that one shows
	guarded      bool // its skill demands the scope "work"
	typed        bool // its only skill takes and answers data
	opts         []server.Option
}{
	"":         {capabilities: `{"streaming":true,"pushNotifications":true,"extensions":[{"uri":"https://example.com/x"},{"uri":"https://example.com/y"}]}`},
	"bare":     {capabilities: `{}`},
	"extended": {capabilities: `{"streaming":true,"extendedAgentCard":true}`},
	"extending": {capabilities: `{"streaming":true,"pushNotifications":true,
		"extensions":[{"uri":"https://example.com/must","required":true},{"uri":"https://example.com/x"}]}`},
	"extending values": {capabilities: `{"streaming":true,"pushNotifications":true,"extensions":[{"uri":"https://example.com/trace"}]}`},
	"tenants":          {capabilities: `{"streaming":true}`, tenants: []string{"acme", "b c/d"}},
	"strict":           {capabilities: `{"streaming":true}`, opts: []server.Option{server.WithCompat(server.Compat{StrictVersion: true})}},
	"whole":            {capabilities: `{"streaming":true,"extendedAgentCard":true}`, extended: true},
	"typed":            {capabilities: `{"streaming":true}`, typed: true},
	"former":           {capabilities: `{"streaming":true}`, opts: []server.Option{server.WithCompat(server.Compat{FormerStatuses: true})}},
	"busy":             {capabilities: `{"streaming":true}`, opts: []server.Option{server.WithLimits(server.Limits{Running: 1, Streams: 1})}},
	"guarded":          {capabilities: `{"streaming":true,"pushNotifications":true}`, guarded: true},
	"small": {capabilities: `{"streaming":true,"pushNotifications":true}`, opts: []server.Option{
		server.WithLimits(server.Limits{Body: 64 << 10, Pushes: 2, Page: 4 << 10})}},
}

// startAgent serves the agent of a name until the test ends.
func startAgent(t *testing.T, name string) *agent {
	t.Helper()
	say := agents[name]
	a := &agent{hook: startHook(t)}
	p := a2amore.AllVersions()
	text := cardText(p, say.capabilities, say.tenants)
	if say.guarded {
		text = strings.Replace(text, `"tags":["travel"]`, `"tags":["travel"],"securityRequirements":[{"schemes":{"bearer":{"list":["work"]}}}]`, 1)
	}
	cfg := server.Config{
		Protocol: p, Card: readCard(t, p, text), Skills: []server.Skill{{ID: "desk", Name: "Desk", Run: a.desk}},
		Operations: map[string]server.Operation{
			"Inspect": server.NewOperation(inspect), "Watch": server.NewStreamOperation(watch),
		},
	}
	if strings.Contains(text, tracing.URI) {
		cfg.Extensions = extension.SetOf(tracing)
	}
	if say.typed {
		cfg.Skills = []server.Skill{booking}
	}
	if say.extended {
		vault := server.Skill{ID: "vault", Name: "Vault", Tags: []string{"gold"}, Hidden: true, Run: a.desk}
		cfg.Extended = readCard(t, p, strings.Replace(text, `"skills":[`, `"skills":[{"id":"vault","name":"Vault","description":"Holds.","tags":["gold"]},`, 1))
		cfg.Skills = append(cfg.Skills, vault)
	}
	opts := append([]server.Option{grpcserver.Serve(),
		server.WithLogger(slog.New(slog.DiscardHandler)), server.WithClock(newClock()), webhooks.Send(), server.WithPushTargets("127.0.0.1"),
		server.WithAuth(auth.Verifiers{"bearer": auth.Func(caller)}), server.WithHosts("agent.test"), server.WithOrigins("https://trusted.example"),
	}, say.opts...)
	s, err := server.New(cfg, opts...)
	if err != nil {
		t.Fatal(err)
	}
	a.addr, a.server = serve(t, s), s
	return a
}

func readCard(t *testing.T, p *runtime.Protocol, text string) runtime.Card {
	t.Helper()
	card, err := p.DecodeCard([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return card
}

// serve hosts a server on a port of its own until the test ends.
func serve(t *testing.T, s *server.Server) (addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return ln.Addr().String()
}

// cardText is a card with an interface for each version over each binding that has one.
func cardText(p *runtime.Protocol, capabilities string, tenants []string) string {
	type face struct {
		URL             string `json:"url"`
		ProtocolBinding string `json:"protocolBinding"`
		ProtocolVersion string `json:"protocolVersion"`
		Tenant          string `json:"tenant,omitempty"`
	}
	var faces []face
	for _, tenant := range append([]string{""}, tenants...) {
		for _, sp := range speakers(p) {
			faces = append(faces, face{sp.at(), sp.binding, sp.version.Name, tenant})
		}
	}
	list, _ := json.Marshal(faces)
	return `{"name":"Desk","description":"for tests","version":"1.0.0","supportedInterfaces":` + string(list) + `,"capabilities":` + capabilities + `,
		` + demandsBearer + `,
		"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"skills":[{"id":"desk","name":"Desk","description":"Answers.","tags":["travel"]}]}`
}

// demandsBearer is what the card demands, if nothing else.
const demandsBearer = `"securitySchemes":{"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}},"securityRequirements":[{"schemes":{"bearer":{}}}]`

// caller is who calls: the token is his name, and what is behind a dot says what is special about it. Scenarios do not see
// one another's tasks.
func caller(_ context.Context, c auth.Credential) (auth.Caller, error) {
	name, special, _ := strings.Cut(c.Value, ".")
	switch special {
	case "weak":
		return auth.Caller{ID: name, Scopes: []string{"workshop"}}, nil
	case "expired":
		return auth.Caller{}, auth.ErrWrong
	case "unsure":
		return auth.Caller{}, &auth.Unavailable{Err: errors.New("nobody answers")}
	case "tenant":
		return auth.Caller{ID: name, Scopes: []string{"work"}, Tenants: []string{"acme"}}, nil
	}
	return auth.Caller{ID: c.Value, Scopes: []string{"work"}}, nil
}

// newClock makes a clock that is later each time it is asked, so that the order of tasks is that of their making.
func newClock() func() time.Time {
	var ticks atomic.Int64
	start := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	return func() time.Time { return start.Add(time.Duration(ticks.Add(1)) * time.Millisecond) }
}

// hook takes push notifications.
type hook struct {
	url   string
	taken chan notification
}

type notification struct {
	token string
	body  []byte
}

func startHook(t *testing.T) *hook {
	h := &hook{taken: make(chan notification, 1000)}
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && r.Header.Get(runtime.PushTokenHeader) != "" {
			h.taken <- notification{r.Header.Get(runtime.PushTokenHeader), body}
		}
	}))
	h.url = web.URL + "/hook"
	t.Cleanup(web.Close)
	return h
}

// gates let the handlers of one conversation go on that wait.
type gates struct{ by sync.Map }

func (g *gates) of(principal string) chan struct{} {
	gate, _ := g.by.LoadOrStore(principal, make(chan struct{}, 8))
	return gate.(chan struct{})
}

// desk does what the first word of a message says. The second one is the conversation that it waits in.
func (a *agent) desk(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
	first, rest, _ := strings.Cut(t.Text(), " ")
	var word string
	if granted, err := t.Call().Authorized(&word); granted {
		return []byte("It is " + word + "."), err
	}
	if t.Resumed() {
		return []byte("Booked for " + t.Text() + "."), nil
	}
	if do := deeds[first]; do != nil {
		return []byte("Done."), do(t, rest)
	}
	switch first {
	case "answer":
		return []byte("You said " + rest + "."), nil
	case "authorize":
		return nil, t.RequireAuth(server.AuthRequest{
			Prompt: "Whose card?", Scheme: "bank", Scopes: []string{"pay", "see"},
			Visit: func(handle string) string {
				a.handles.Store(rest, handle)
				return "https://bank.example/pay?for=" + rest
			},
		})
	case "wait", "stubborn":
		if err := t.Progress("Waiting."); err != nil {
			return nil, err
		}
		done := ctx.Done()
		if first == "stubborn" {
			done = nil
		}
		select {
		case <-a.gates.of(rest):
			return []byte("Waited."), nil
		case <-done:
			return nil, context.Cause(ctx)
		}
	}
	return nil, t.Reject("I do not know how to " + first + ".")
}

// booking is a skill as generated glue has it.
var booking = server.Skill{
	ID: "booking", Name: "Booking",
	InputSchema:  `{"type":"object","properties":{"day":{"type":"string"},"seats":{"type":"integer"}},"required":["day"]}`,
	OutputSchema: `{"type":"object"}`,
	Decode: func(input []byte) (any, error) {
		var in struct {
			Day   string
			Seats int
		}
		if err := json.Unmarshal(input, &in); err != nil || in.Day == "" {
			return nil, &check.Error{Violations: []check.Violation{{Pointer: "/day", Message: "is required"}, {Pointer: "/seats", Message: "must be a number"}}}
		}
		return in.Day, nil
	},
	Run: func(_ context.Context, t *server.Task, in any) ([]byte, error) {
		if err := t.Call().Begin(); err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{"booked": in, "seats": []int{1, 2}})
	},
}

// deeds are what needs no waiting.
var deeds = map[string]func(t *server.Task, rest string) error{
	"hello": func(t *server.Task, _ string) error { return t.Reply(runtime.Text("Good morning.")) },
	"book": func(t *server.Task, _ string) error {
		return t.Ask("For which day?", runtime.Data(map[string]any{"days": 7}))
	},
	"pay":    func(t *server.Task, _ string) error { return t.RequireAuth(server.AuthRequest{Prompt: "Whose card?"}) },
	"fail":   func(t *server.Task, _ string) error { return t.Fail("It cannot be done.") },
	"break":  func(*server.Task, string) error { return errors.New("secret") },
	"refuse": func(*server.Task, string) error { return runtime.ErrContentTypeNotSupported.With("no maps") },
	"panic":  func(*server.Task, string) error { panic("secret") },
	"finish": func(t *server.Task, _ string) error {
		return t.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text("That is all.")))
	},
	"steps": func(t *server.Task, _ string) error {
		return errors.Join(t.Progress("One."), t.Progress("Two."), t.Artifact("map", runtime.Link("map.png", "image/png", "https://example.com/m")))
	},
	"chunks": func(t *server.Task, _ string) error {
		w := t.Stream("report")
		return errors.Join(w.Part(runtime.Text("One.")), w.Part(runtime.Text("Two.")), w.Last(runtime.Text("Three.")))
	},
	"echo": func(t *server.Task, _ string) error {
		return t.Emit(runtime.ArtifactData{ID: "echo", Name: "echo", Description: "What came.", Parts: t.Parts(),
			Metadata: runtime.Metadata(map[string]any{"n": 1}), Extensions: []string{"https://example.com/x"}, LastChunk: true})
	},
	"trace": func(t *server.Task, _ string) error {
		sent, err := extension.Of[stepNumber](t, tracing)
		if err != nil {
			return err
		}
		v := &stepNumber{1}
		if sent != nil {
			v.N += sent.N
		}
		a := runtime.ArtifactData{ID: "traced", Parts: []runtime.Part{runtime.Text("x")}, LastChunk: true}
		m := runtime.MessageOf(runtime.Text("Traced."))
		return errors.Join(extension.OnArtifact(t, tracing, &a, v), t.Emit(a), extension.OnMessage(t, tracing, &m, v),
			t.Say(runtime.StateWorking, m), extension.OnResult(t, tracing, v))
	},
	"large": func(t *server.Task, _ string) error {
		return t.Artifact("large", runtime.Text(strings.Repeat("x", 3<<10)))
	},
}

// tracing is an extension with a contract, as generated code has it.
var tracing = &extension.Contract{URI: "https://example.com/trace", Message: extension.Check[stepNumber]}

type stepNumber struct{ N int }

func (v *stepNumber) UnmarshalJSON(src []byte) error {
	var read struct{ N *int }
	if json.Unmarshal(src, &read) != nil || read.N == nil {
		return &check.Error{Violations: []check.Violation{{Pointer: "/n", Message: "must be a number"}}}
	}
	v.N = *read.N
	return nil
}

func (v *stepNumber) AppendJSON(dst []byte) ([]byte, error) {
	return fmt.Appendf(dst, `{"n":%d}`, v.N), nil
}

// inspect answers with what it was asked, or fails as it was asked to.
func inspect(_ context.Context, in *a2amore.Sample) (*a2amore.Sample, error) {
	if err := failure(in); err != nil {
		return nil, err
	}
	out := *in
	return &out, nil
}

// watch is inspect, several times.
func watch(_ context.Context, in *a2amore.Sample) iter.Seq2[*a2amore.Sample, error] {
	return func(yield func(*a2amore.Sample, error) bool) {
		for n := range in.Times {
			out := *in
			out.Times = n
			if !yield(&out, nil) {
				return
			}
		}
		if err := failure(in); err != nil {
			yield(nil, err)
		}
	}
}

// failure is the error of the code that is asked for.
func failure(in *a2amore.Sample) error {
	for _, e := range runtime.Errors() {
		if int32(e.Code) == in.Failure {
			return e.With("as you wish").WithMetadata("sample", in.ID)
		}
	}
	switch in.Failure {
	case 0:
		return nil
	case 503:
		return server.ErrBusy
	}
	return errors.New("secret")
}
