package client_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/store"
	memstore "github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

// keyed declares our extension with the promise that a message with a key is worked on once.
const keyed = `"extensions":[{"uri":"` + runtime.SkillsExtension + `","params":{"idempotency":{"window":86400}}}],`

// pipes is a listener whose connections are pipes.
type pipes struct {
	conns chan net.Conn
	over  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), over: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.over:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.over) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.over:
	case <-ctx.Done():
	}
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
}

// faulty is an agent of ours, whose answers to messages meet faults: one after the other, then none.
type faulty struct {
	t       *testing.T
	store   store.Store
	binding string
	version string
	faults  chan func(agent http.Handler, w http.ResponseWriter, r *http.Request)
	runs    atomic.Int32  // of the skill
	work    time.Duration // how long it takes

	mu     sync.Mutex
	pipes  *pipes // of the server that runs; nil when none does
	server *server.Server
	web    *http.Server
}

// startFaulty starts an agent that has run for a minute. The caller stops it.
func startFaulty(t *testing.T, binding, version string) *faulty {
	f := newFaulty(t, binding, version, memstore.New(memstore.Limits{Parked: 100 * time.Hour}))
	time.Sleep(time.Minute)
	return f
}

func newFaulty(t *testing.T, binding, version string, s store.Store) *faulty {
	f := &faulty{
		t: t, binding: binding, version: version, store: s, faults: make(chan func(http.Handler, http.ResponseWriter, *http.Request), 10),
	}
	f.start()
	return f
}

func (f *faulty) start() {
	p := a2a.Protocol()
	chat := server.Skill{ID: "chat", Name: "chat", Run: func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
		f.runs.Add(1)
		time.Sleep(f.work)
		switch {
		case t.Resumed():
			return []byte("you said " + t.Text()), nil
		case t.Text() == "ask":
			return nil, t.Ask("which one?")
		}
		return []byte("done"), nil
	}}
	s, err := server.New(server.Config{Protocol: p, Card: decodeCard(f.t, f.everywhere()), Skills: []server.Skill{chat}},
		server.WithLogger(slog.New(slog.DiscardHandler)), server.WithStore(f.store), grpcserver.Serve())
	if err != nil {
		f.t.Fatal(err)
	}
	web := &http.Server{Protocols: new(http.Protocols), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	web.Protocols.SetHTTP1(true)
	web.Protocols.SetUnencryptedHTTP2(true)
	web.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !sends(r) {
			s.ServeHTTP(w, r)
			return
		}
		select {
		case fault := <-f.faults:
			fault(s, w, r)
		default:
			s.ServeHTTP(w, r)
		}
	})
	ln := newPipes()
	go func() { _ = web.Serve(ln) }()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pipes, f.server, f.web = ln, s, web
}

// sends reports whether a request sends a message.
func sends(r *http.Request) bool {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	for _, name := range []string{"SendMessage", "SendStreamingMessage", "message:", "message/s"} {
		if strings.Contains(r.URL.Path, name) || strings.Contains(string(body), `"method":"`+name) {
			return true
		}
	}
	return false
}

func (f *faulty) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	_ = f.web.Close()
	_ = f.pipes.Close()
	if err := f.server.Close(); err != nil {
		f.t.Errorf("close the server: %v", err)
	}
}

func (f *faulty) dialContext(ctx context.Context) (net.Conn, error) {
	f.mu.Lock()
	ln := f.pipes
	f.mu.Unlock()
	return ln.dial(ctx)
}

// card is the agent's, with something more among its capabilities.
func (f *faulty) card(capabilities string) string {
	url := "http://agent/rpc"
	if f.binding == runtime.BindingGRPC {
		url = "127.0.0.1:80"
	}
	return `{"name":"weather","description":"d","version":"1","supportedInterfaces":[{"url":"` + url + `","protocolBinding":"` + f.binding +
		`","protocolVersion":"` + f.version + `"}],"capabilities":{` + streams + capabilities + `"pushNotifications":false},
		"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"chat","name":"chat","description":"d","tags":[]}]}`
}

// everywhere is the card with an interface of each binding.
func (f *faulty) everywhere() string {
	var list []string
	for _, b := range bindings {
		list = append(list, iface("http://agent/rpc", b, f.version, ""))
	}
	head, rest, _ := strings.Cut(f.card(keyed), `"supportedInterfaces":[`)
	_, rest, _ = strings.Cut(rest, "]")
	return head + `"supportedInterfaces":[` + strings.Join(list, ",") + "]" + rest
}

// dial returns a client of the card.
func (f *faulty) dial(card string, opts ...rpc.Option) *rpc.Client {
	f.t.Helper()
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return f.dialContext(ctx) }, DisableKeepAlives: true,
	}
	dialer := grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return f.dialContext(ctx) })
	c, err := rpc.FromCard(a2a.Protocol(), decodeCard(f.t, card), append([]rpc.Option{
		rpc.HTTPClient(&http.Client{Transport: transport}), rpc.Use(grpcclient.Binding(grpcclient.ClearText(), grpcclient.DialOptions(dialer))),
	}, opts...)...)
	if err != nil {
		f.t.Fatal(err)
	}
	return c
}

// cutWriter lets so many bytes of an answer through.
type cutWriter struct {
	http.ResponseWriter
	left int
}

func (w *cutWriter) WriteHeader(status int) {
	if w.left > 0 {
		w.ResponseWriter.WriteHeader(status)
	}
}

func (w *cutWriter) Write(p []byte) (int, error) {
	if n := min(w.left, len(p)); n > 0 {
		w.left -= n
		_, _ = w.ResponseWriter.Write(p[:n])
	}
	return len(p), nil
}

func (w *cutWriter) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok && w.left > 0 {
		f.Flush()
	}
}

// The faults.
var (
	// before the agent saw anything.
	cutBefore = func(http.Handler, http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	// after the agent did all, without a byte of its answer.
	cutAfter = func(agent http.Handler, w http.ResponseWriter, r *http.Request) {
		agent.ServeHTTP(&cutWriter{ResponseWriter: w}, r)
		panic(http.ErrAbortHandler)
	}
	// in the middle of the answer.
	cutWithin = func(agent http.Handler, w http.ResponseWriter, r *http.Request) {
		agent.ServeHTTP(&cutWriter{w, 20}, r)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	// while the agent works.
	cutDuring = func(agent http.Handler, _ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r = r.Clone(context.WithoutCancel(r.Context()))
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		go agent.ServeHTTP(&cutWriter{ResponseWriter: nobody{}}, r)
		time.Sleep(time.Second)
		panic(http.ErrAbortHandler)
	}
	// by a proxy that cannot take it, and says for how long.
	notNow = func(_ http.Handler, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
)

// nobody reads an answer.
type nobody struct{}

func (nobody) Header() http.Header         { return http.Header{} }
func (nobody) Write(p []byte) (int, error) { return len(p), nil }
func (nobody) WriteHeader(int)             {}

var faults = map[string]func(http.Handler, http.ResponseWriter, *http.Request){
	"before the first byte": cutBefore, "after the work": cutAfter, "within the answer": cutWithin, "during the work": cutDuring, "503 with Retry-After": notNow,
}

// TestAFaultIsOnePieceOfWork: over each binding, in two versions, whatever breaks, once or twice, the caller gets the
// result of work that was done once.
func TestAFaultIsOnePieceOfWork(t *testing.T) {
	calls := map[string]func(ctx context.Context, c *rpc.Client) (*rpc.Result, error){
		"call": func(ctx context.Context, c *rpc.Client) (*rpc.Result, error) { return chat.Call(ctx, c, rpc.Say("hi")) },
		"stream": func(ctx context.Context, c *rpc.Client) (r *rpc.Result, err error) {
			for e, err := range chat.Stream(ctx, c, rpc.Say("hi")) {
				if err != nil {
					return nil, err
				}
				r = e.Result
			}
			return r, nil
		},
	}
	for _, version := range []string{"1.0", "0.3"} {
		for name, fault := range faults {
			for how, call := range calls {
				for times := 1; times <= 2; times++ {
					over(t, func(t *testing.T, binding string) {
						t.Run(version+"/"+how+"/"+name, func(t *testing.T) {
							synctest.Test(t, func(t *testing.T) {
								f := startFaulty(t, binding, version)
								defer f.stop()
								f.work = 5 * time.Second
								for range times {
									f.faults <- fault
								}
								c := f.dial(f.card(keyed))
								defer c.Close()
								began := time.Now()
								r, err := call(t.Context(), c)
								if err != nil || r.Text() != "done" || r.State != runtime.StateCompleted || f.runs.Load() != 1 {
									t.Errorf("%+v, %v after %d runs", r, err, f.runs.Load())
								}
								if took := time.Since(began); name == "503 with Retry-After" && binding != runtime.BindingGRPC && took < time.Duration(times)*3*time.Second {
									t.Errorf("it did not wait as it was told: %v", took)
								}
							})
						})
					})
				}
			}
		}
	}
}

// lostBy is the error of a call that was lost.
func lostBy(t *testing.T, err error) *rpc.LostCallError {
	t.Helper()
	var lost *rpc.LostCallError
	if !errors.As(err, &lost) || lost.MessageID == "" || lost.Skill != "chat" {
		t.Fatalf("got %v", err)
	}
	return lost
}

// TestAnAgentThatPromisesNothingIsNotSentAMessageTwice: the caller hears that it is not known what became of it.
func TestAnAgentThatPromisesNothingIsNotSentAMessageTwice(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		for name, runs := range map[string]int32{"before the first byte": 0, "after the work": 1, "within the answer": 1, "during the work": 1} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := startFaulty(t, binding, "1.0")
					defer f.stop()
					f.work = 5 * time.Second
					f.faults <- faults[name]
					c := f.dial(f.card(declared))
					defer c.Close()
					_, err := chat.Call(t.Context(), c, rpc.Say("hi"), rpc.MessageID("m1"))
					lost := lostBy(t, err)
					time.Sleep(time.Minute)
					if lost.MessageID != "m1" || lost.Key != "" || lost.Again() != nil || f.runs.Load() != runs || !strings.Contains(err.Error(), "may do the work twice") {
						t.Errorf("%+v after %d runs", err, f.runs.Load())
					}
					f.faults <- faults[name]
					for _, err = range chat.Stream(t.Context(), c, rpc.Say("hi")) {
					}
					if name != "within the answer" { // which brought the task
						lostBy(t, err)
					}
					time.Sleep(time.Minute)
				})
			})
		}
	})
}

// TestALostCallIsMadeAgainHoursLater: by another process, with what the error says.
func TestALostCallIsMadeAgainHoursLater(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			f := startFaulty(t, binding, "1.0")
			defer f.stop()
			f.faults <- cutAfter
			c := f.dial(f.card(keyed), rpc.Policy(rpc.CallPolicy{Attempts: 1}))
			_, err := chat.Call(t.Context(), c, rpc.Say("hi"))
			c.Close()
			lost := lostBy(t, err)
			time.Sleep(30 * time.Minute)
			again := f.dial(f.card(keyed))
			defer again.Close()
			kept := []rpc.CallOption{rpc.MessageID(lost.MessageID), rpc.IdempotencyKey(lost.Key), rpc.SentBefore(lost.Sent)}
			for _, opts := range [][]rpc.CallOption{lost.Again(), kept} {
				if r, err := chat.Call(t.Context(), again, rpc.Say("hi"), opts...); err != nil || r.Text() != "done" || f.runs.Load() != 1 {
					t.Errorf("%+v, %v after %d runs", r, err, f.runs.Load())
				}
			}
			for _, tt := range []struct {
				after time.Duration
				want  error
			}{{20 * time.Hour, runtime.ErrTaskNotFound}, {4 * time.Hour, runtime.ErrInvalidParams}} { // the task is forgotten first, then the key
				time.Sleep(tt.after)
				_, err := chat.Call(t.Context(), again, rpc.Say("hi"), lost.Again()...)
				if lostBy(t, err); !errors.Is(err, tt.want) || f.runs.Load() != 1 {
					t.Errorf("%v after %d runs", err, f.runs.Load())
				}
			}
		})
	})
}

// TestAnAgentThatLostItsMemoryDoesNothingTwice: what was sent to it before may have been done.
func TestAnAgentThatLostItsMemoryDoesNothingTwice(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			f := startFaulty(t, binding, "1.0")
			defer func() { f.stop() }()
			f.faults <- func(agent http.Handler, w http.ResponseWriter, r *http.Request) {
				agent.ServeHTTP(&cutWriter{ResponseWriter: w}, r)
				go func() {
					f.stop()
					time.Sleep(2 * time.Second)
					f.store = memstore.New(memstore.Limits{})
					f.start()
				}()
				panic(http.ErrAbortHandler)
			}
			c := f.dial(f.card(keyed), rpc.Policy(rpc.CallPolicy{Attempts: 10}))
			defer c.Close()
			_, err := chat.Call(t.Context(), c, rpc.Say("hi"))
			if lost := lostBy(t, err); lost.Key == "" || !errors.Is(err, runtime.ErrInvalidParams) || f.runs.Load() != 1 {
				t.Errorf("%v after %d runs", err, f.runs.Load())
			}
		})
	})
}

// TestARestartIsOnePieceOfWork where tasks outlive the process.
func TestARestartIsOnePieceOfWork(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		file := filepath.Join(t.TempDir(), "tasks.db")
		open := func() store.Store {
			s, err := sqlite.OpenStore(file, "agent", a2a.Protocol())
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		f := newFaulty(t, binding, "1.0", open())
		defer func() { f.stop() }()
		f.faults <- func(agent http.Handler, w http.ResponseWriter, r *http.Request) {
			agent.ServeHTTP(&cutWriter{ResponseWriter: w}, r)
			go func() {
				f.stop()
				f.store = open()
				f.start()
			}()
			panic(http.ErrAbortHandler)
		}
		c := f.dial(f.card(keyed), rpc.Policy(rpc.CallPolicy{Attempts: 20}))
		defer c.Close()
		within(t, func() {
			r, err := chat.Call(t.Context(), c, rpc.Say("hi"))
			if err != nil || r.Text() != "done" || f.runs.Load() != 1 {
				t.Errorf("%+v, %v after %d runs", r, err, f.runs.Load())
			}
		})
	})
}

// TestAnAgentThatComesUpIsReached: what was not sent is sent again to any agent.
func TestAnAgentThatComesUpIsReached(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		synctest.Test(t, func(t *testing.T) {
			f := startFaulty(t, binding, "1.0")
			defer func() { f.stop() }()
			f.stop()
			go func() {
				time.Sleep(300 * time.Millisecond)
				f.start()
			}()
			c := f.dial(f.card(declared))
			defer c.Close()
			if r, err := chat.Call(t.Context(), c, rpc.Say("hi")); err != nil || r.Text() != "done" || f.runs.Load() != 1 {
				t.Errorf("%+v, %v after %d runs", r, err, f.runs.Load())
			}
		})
	})
}

func TestAPolicyLimitsACall(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		for name, tt := range map[string]struct {
			policy rpc.CallPolicy
			work   time.Duration
			took   time.Duration // at most; what is less than the work is no success
		}{
			"the whole":                     {rpc.CallPolicy{Timeout: 3 * time.Second}, time.Minute, 3 * time.Second},
			"one attempt":                   {rpc.CallPolicy{AttemptTimeout: 4 * time.Second}, 10 * time.Second, 12 * time.Second},
			"one attempt, and no other":     {rpc.CallPolicy{AttemptTimeout: 4 * time.Second, Attempts: 1}, time.Minute, 4 * time.Second},
			"what may be tried again":       {rpc.CallPolicy{AttemptTimeout: 4 * time.Second, Retry: func(error) bool { return false }}, time.Minute, 4 * time.Second},
			"the whole, and every attempt":  {rpc.CallPolicy{AttemptTimeout: 4 * time.Second, Timeout: 9 * time.Second}, time.Minute, 9 * time.Second},
			"nothing, as it is not to wait": {rpc.CallPolicy{}, time.Minute, time.Minute},
		} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := startFaulty(t, binding, "1.0")
					defer f.stop()
					defer time.Sleep(2 * time.Minute) // the work ends
					f.work = tt.work
					c := f.dial(f.card(keyed), rpc.Policy(rpc.CallPolicy{Attempts: 1}))
					defer c.Close()
					began := time.Now()
					r, err := chat.Call(t.Context(), c, rpc.Say("hi"), rpc.PolicyCall(tt.policy))
					if took := time.Since(began); took > tt.took || f.runs.Load() != 1 {
						t.Errorf("it took %v, %d runs", took, f.runs.Load())
					}
					if tt.took >= tt.work {
						if err != nil || r.Text() != "done" {
							t.Errorf("%+v, %v", r, err)
						}
						return
					}
					if lost := lostBy(t, err); !errors.Is(err, context.DeadlineExceeded) || lost.Key == "" {
						t.Errorf("got %v", err)
					}
				})
			})
		}
	})
}

// TestCredentialsThatEndBeforeTheTaskLoseNothing: the task goes on, and can be awaited with new ones.
func TestCredentialsThatEndBeforeTheTaskLoseNothing(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		expired := body(http.StatusUnauthorized, "text/plain", "the token is over")
		f := newFake(t, binding, map[string][]reply{
			"SendStreamingMessage": {stream(drop, taskWorking)}, "SendMessage": {result(taskWorking)},
			"SubscribeToTask": {expired, expired, events(taskWorking, chunk1, completed)}, "GetTask": {expired},
		})
		c := f.dial(rpc.DefaultHeader("Authorization", "Bearer secret-1"))
		for _, call := range []func() error{
			func() error { _, _, err := steps(chat.Stream(t.Context(), c, rpc.Say("hi"))); return err },
			func() error { _, err := chat.Call(t.Context(), c, rpc.Say("hi")); return err },
		} {
			err := call()
			lost := lostBy(t, err)
			if lost.TaskID != "t1" || !errors.Is(err, runtime.ErrUnauthenticated) || strings.Contains(err.Error(), "secret-1") {
				t.Errorf("got %v", err)
			}
		}
		if r, err := c.Await(t.Context(), "t1"); err != nil || r.Text() != "sun" {
			t.Errorf("awaited: %+v, %v", r, err)
		}
	})
}
