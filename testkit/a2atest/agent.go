package a2atest

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/testkit/fault"
)

// Agent is an agent that is served in this process, without a socket, until its test ends. Its URL is answered by its
// own HTTP client alone, which reaches nothing else.
//
// All that it does it does inside the bubble of testing/synctest in which it was made.
type Agent struct {
	t    testing.TB
	name string
	host string // "weather.test"

	seed    int64
	made    time.Time
	handler http.Handler
	open    func() // makes the handler, with the first connection; nil: it is there
	client  *http.Client
	ln      *listener
	start   sync.Once // the first connection starts the server

	mu     sync.Mutex
	faults []*fault.Injector // each in front of those before it
	stop   func()            // nil until the server starts
	closed bool
}

// Option changes an [Agent] or a [Fake].
type Option func(*settings)

type settings struct {
	name     string
	seed     int64
	versions []string
	bindings []string
	server   []server.Option
}

func settingsOf(name string, opts []Option) *settings {
	s := &settings{name: name}
	for _, o := range opts {
		o(s)
	}
	return s
}

// Name names the agent, whose URL is made from that: "weather" is at https://weather.test. It is for tests with several
// agents.
func Name(name string) Option { return func(s *settings) { s.name = name } }

// Seed sets what is random about faults: see [Agent.Fault].
func Seed(n int64) Option { return func(s *settings) { s.seed = n } }

// Serve hosts an agent, or any other handler, in this process until the test ends. A *server.Server is closed then:
// handlers that still work are canceled.
//
//	srv, err := agent.NewServer(skills.New(), a2atest.ServerOptions(t)...)
//	if err != nil {
//		t.Fatal(err)
//	}
//	a := a2atest.Serve(t, srv)
//	c, err := client.New(t.Context(), a.URL(), a.Options()...)
func Serve(t testing.TB, h http.Handler, opts ...Option) *Agent {
	t.Helper()
	a := newAgent(t, settingsOf("agent", opts))
	if srv, ok := h.(*server.Server); h == nil || ok && srv == nil {
		t.Fatalf("a2atest: the handler of the agent %q is nil: look at the error that NewServer returned", a.name)
	}
	a.handler = h
	return a
}

// ServerOptions are for the server of an agent in a test: it keeps its tasks in memory, each call is by [Tester], without the
// credentials that the card demands, and its log is the test's. Further options go behind them.
func ServerOptions(t testing.TB, more ...server.Option) []server.Option {
	return append(serverOptions(newLogger(t, slog.LevelInfo)), more...)
}

func serverOptions(log *slog.Logger) []server.Option {
	tester := func(*http.Request) (string, error) { return Tester, nil }
	return []server.Option{
		server.WithStore(memory.NewFirst(memory.Limits{})), server.WithProxyIdentity(tester), server.WithLogger(log),
	}
}

// newLogger logs to a test, until that ends.
func newLogger(t testing.TB, level slog.Level) *slog.Logger {
	out := &output{t: t}
	t.Cleanup(func() {
		out.mu.Lock()
		defer out.mu.Unlock()
		out.over = true
	})
	return slog.New(stacks{slog.NewTextHandler(out, &slog.HandlerOptions{Level: level}), out})
}

// stacks writes the stack of a panic below its line of the log, as a panic of the test itself has it.
type stacks struct {
	slog.Handler
	out *output
}

func (s stacks) Handle(ctx context.Context, r slog.Record) error {
	var stack string
	line := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "stack" && a.Value.Kind() == slog.KindString {
			stack = a.Value.String()
			return true
		}
		line.AddAttrs(a)
		return true
	})
	if err := s.Handler.Handle(ctx, line); err != nil || stack == "" {
		return err
	}
	_, err := s.out.Write([]byte(strings.TrimRight(stack, "\n") + "\n"))
	return err
}

func (s stacks) WithAttrs(attrs []slog.Attr) slog.Handler {
	return stacks{s.Handler.WithAttrs(attrs), s.out}
}

func (s stacks) WithGroup(name string) slog.Handler { return stacks{s.Handler.WithGroup(name), s.out} }

// output is the output of a test, until that ends.
type output struct {
	t    testing.TB
	mu   sync.Mutex
	over bool
}

func (o *output) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return len(line), nil
	}
	return o.t.Output().Write(line)
}

// Tester is the principal of all calls to an agent that has [ServerOptions].
const Tester = "tester"

// newAgent makes an agent without a handler.
func newAgent(t testing.TB, s *settings) *Agent {
	t.Helper()
	letters := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(s.name))
	host := cmp.Or(strings.Trim(letters, "-"), "agent")
	a := &Agent{t: t, name: s.name, host: host[:min(len(host), 63)] + ".test", seed: s.seed, made: time.Now()}
	a.ln = &listener{addr: address(a.host), next: make(chan net.Conn), done: make(chan struct{})}
	a.client = &http.Client{Transport: &http.Transport{DialContext: a.Dial, DialTLSContext: a.Dial}}
	t.Cleanup(a.close)
	return a
}

// URL returns the agent's URL, such as "https://weather.test". Only [Agent.HTTPClient] and [Agent.Dial] reach it.
// Nothing is encrypted, but both sides take the connection for a safe one, so that clients send credentials.
func (a *Agent) URL() string { return "https://" + a.host }

// HTTPClient returns the HTTP client that reaches the agent, and nothing else.
func (a *Agent) HTTPClient() *http.Client { return a.client }

// Options are what a generated client needs to reach the agent: its HTTP client, that calls are sent without the
// credentials that the card may demand, and that the card need not be signed.
func (a *Agent) Options() []rpc.Option {
	return []rpc.Option{rpc.HTTPClient(a.client), rpc.SendAnyway(), rpc.VerifyCard(nil)}
}

// Dial connects to the agent: for clients that make connections of their own, such as those of gRPC. The address is the
// agent's host, with any port.
func (a *Agent) Dial(ctx context.Context, _, to string) (net.Conn, error) {
	if host, _, err := net.SplitHostPort(to); err != nil || !strings.EqualFold(host, a.host) {
		return nil, fmt.Errorf("a2atest: %s is not the agent %q, which is at %s, and nothing else is reached from here",
			to, a.name, a.URL())
	}
	if time.Until(a.made.Round(0)) > 24*time.Hour { // clocks of bubbles begin in the year 2000
		return nil, fmt.Errorf("a2atest: the agent %q was made outside of the bubble of testing/synctest that calls it: "+
			"make it inside", a.name)
	}
	a.start.Do(a.serve)
	if a.handler == nil {
		return nil, fmt.Errorf("a2atest: the agent %q cannot serve", a.name)
	}
	client, srv := newPipe(address("client"), a.ln.addr)
	select {
	case a.ln.next <- srv:
		return client, nil
	case <-a.ln.done:
		return nil, fmt.Errorf("a2atest: the agent %q has ended with its test", a.name)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// serve starts the server. One that is closed starts no more.
func (a *Agent) serve() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	if a.open != nil {
		a.open()
	}
	if a.handler == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	web := &http.Server{
		Handler: http.HandlerFunc(a.answer), Protocols: new(http.Protocols),
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	web.Protocols.SetHTTP1(true)
	web.Protocols.SetUnencryptedHTTP2(true)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = web.Serve(a.ln)
	}()
	a.stop = func() {
		cancel()
		within, done := context.WithTimeout(context.Background(), stopWithin)
		defer done()
		_ = web.Shutdown(within)
		_ = web.Close()
		<-ended
	}
}

// answer has the handler answer a request, through the faults that there are now.
func (a *Agent) answer(w http.ResponseWriter, r *http.Request) {
	r.TLS = &tls.ConnectionState{Version: tls.VersionTLS13, HandshakeComplete: true} // it is as safe: it left no process
	a.mu.Lock()
	h := a.handler
	for _, in := range a.faults {
		h = in.Handler(h)
	}
	a.mu.Unlock()
	h.ServeHTTP(w, r)
}

// Fault has requests to the agent that come from now on meet faults, in their order: see package fault. Given again
// they add up. A fault that could not be applied fails the test, as does one that hit nothing by the end of the test.
func (a *Agent) Fault(faults ...fault.Fault) {
	a.t.Helper()
	in, err := fault.New(a.seed, faults...)
	if err != nil {
		a.t.Fatalf("a2atest: %v", err)
	}
	at := testLine()
	a.mu.Lock()
	a.faults = append(a.faults, in)
	a.mu.Unlock()
	a.t.Cleanup(func() {
		in.Close()
		if err := in.Err(); err != nil {
			a.t.Errorf("a2atest: %s: a fault could not be applied: %v", at, err)
		}
		for _, f := range in.Unused() {
			a.t.Errorf("a2atest: %s: the fault %v hit no request to the agent %q", at, f, a.name)
		}
	})
}

// stopWithin is how long handlers may take to return at the end of the test, when their contexts have ended.
const stopWithin = 5 * time.Second

// close ends what serves the agent, and the connections to it.
func (a *Agent) close() {
	a.mu.Lock()
	stop := a.stop
	a.stop, a.closed = nil, true
	a.mu.Unlock()
	_ = a.ln.Close()
	if srv, ok := a.handler.(*server.Server); ok {
		if err := srv.Close(); err != nil {
			a.t.Logf("a2atest: closing the agent %q: %v", a.name, err)
		}
	}
	a.client.CloseIdleConnections()
	if stop != nil {
		stop()
	}
}
