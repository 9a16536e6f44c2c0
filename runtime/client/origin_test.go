package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
)

// What another agent answers is no answer to one's own caller, unless it is passed on.

// denied is a 401 of another agent, in words that are nobody else's.
const denied = `{"code":-31401,"message":"secret of the other","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNAUTHENTICATED","domain":"a2a-protocol.org"}]}`

// asking are ways to call another agent, all of which fail.
var asking = map[string]struct {
	replies map[string][]reply
	call    func(ctx context.Context, f *fake) error
}{
	"a call": {map[string][]reply{"SendMessage": {fault(denied)}}, func(ctx context.Context, f *fake) error {
		_, err := f.typed().SendMessage(ctx, hello())
		return err
	}},
	"a stream": {map[string][]reply{"SendStreamingMessage": {events(taskWorking, "!data: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"error\":"+denied+"}\n\n")}}, func(ctx context.Context, f *fake) error {
		for _, err := range f.typed().SendStreamingMessage(ctx, hello()) {
			if err != nil {
				return err
			}
		}
		return nil
	}},
	"a task that failed":               {map[string][]reply{"SendStreamingMessage": {events(finished("FAILED", `{"text":"secret of the other"}`, ""))}}, ofSkill},
	"a question":                       {map[string][]reply{"SendStreamingMessage": {events(finished("INPUT_REQUIRED", `{"text":"secret of the other"}`, ""))}}, ofSkill},
	"an output that breaks its schema": {map[string][]reply{"SendStreamingMessage": {events(finished("COMPLETED", "", artifact(`{"data":{"secret of the other":1}}`, "")))}}, ofSkill},
	"no A2A":                           {map[string][]reply{"SendStreamingMessage": {events(`{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"history":"secret of the other"}}`)}}, ofSkill},
	"a deadline of its own": {nil, func(ctx context.Context, f *fake) error {
		ctx, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
		defer cancel()
		return ofSkill(ctx, f)
	}},
}

func ofSkill(ctx context.Context, f *fake) error {
	_, err := forecast.Call(ctx, f.dial(), &input{City: "Rome"})
	return err
}

// returning are ways to make something of an error before it is returned.
var returning = map[string]func(error) error{
	"as it is": func(err error) error { return err },
	"wrapped":  func(err error) error { return fmt.Errorf("ask the other: %w", err) },
	"joined":   func(err error) error { return errors.Join(errors.New("ask the other"), err) },
	"taken apart": func(err error) error {
		if e, ok := errors.AsType[*runtime.Error](err); ok {
			return e.With("a note on %s", e.Message)
		}
		return err
	},
	"as a panic": func(err error) error { panic(err) },
}

// TestAnErrorOfAnotherAgentIsNoAnswer: it fails the task in one's own words, and goes to the log.
func TestAnErrorOfAnotherAgentIsNoAnswer(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		for asked, other := range asking {
			for returned, change := range returning {
				t.Run(asked+" "+returned, func(t *testing.T) {
					f := newFake(t, binding, other.replies)
					var failure error
					a := asks(t, func(ctx context.Context, t *server.Task) error {
						if t.Text() == "late" {
							if err := t.Progress("asking"); err != nil {
								return err
							}
						}
						failure = other.call(ctx, f)
						if failure == nil {
							return nil
						}
						return change(failure)
					})
					for _, text := range []string{"early", "late"} {
						a.log.Reset()
						status, answer := a.send(text)
						if failure == nil || runtime.Made(failure) != nil {
							t.Fatalf("the call fails with %v", failure)
						}
						if status != 200 || !strings.Contains(answer, "TASK_STATE_FAILED") || !strings.Contains(answer, "The skill failed unexpectedly.") || strings.Contains(answer, "secret") {
							t.Errorf("%s: %d %s", text, status, answer)
						}
						if want := failure.Error(); returned != "taken apart" && !strings.Contains(a.log.String(), fmt.Sprintf("%q", want)[1:len(want)/2]) {
							t.Errorf("%s: %q is not in the log:\n%s", text, want, &a.log)
						}
						if got := a.reason; got != runtime.ErrInternal.Reason {
							t.Errorf("%s: observers hear of %q", text, got)
						}
					}
				})
			}
		}
	})
}

// TestAnErrorOfAnotherAgentIsPassedOnByWish: as the answer, or as the words of the task that fails.
func TestAnErrorOfAnotherAgentIsPassedOnByWish(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, asking["a call"].replies)
		a := asks(t, func(ctx context.Context, t *server.Task) error {
			if t.Text() == "late" {
				if err := t.Progress("asking"); err != nil {
					return err
				}
			}
			return fmt.Errorf("ask the other: %w", runtime.PassOn(asking["a call"].call(ctx, f)))
		})
		if status, answer := a.send("early"); status != 401 || !strings.Contains(answer, "secret of the other") || !strings.Contains(answer, "-31401") {
			t.Errorf("%d %s", status, answer)
		}
		if status, answer := a.send("late"); status != 200 || !strings.Contains(answer, "TASK_STATE_FAILED") || !strings.Contains(answer, "secret of the other") {
			t.Errorf("%d %s", status, answer)
		}
	})
}

// TestWhatTheAgentItselfSaysGoesFirst: an answer that it makes of an error of another agent.
func TestWhatTheAgentItselfSaysGoesFirst(t *testing.T) {
	f := newFake(t, runtime.BindingJSONRPC, asking["a call"].replies)
	a := asks(t, func(ctx context.Context, _ *server.Task) error {
		return fmt.Errorf("%w, %w", asking["a call"].call(ctx, f), runtime.ErrUnsupportedOperation.With("not today"))
	})
	if _, answer := a.send("x"); !strings.Contains(answer, "-32004") || !strings.Contains(answer, "not today") || strings.Contains(answer, "secret") {
		t.Error(answer)
	}
}

// TestAnErrorOfAnotherAgentStaysInsideWhereverItComesUp: in a router, a hook, and what finds out who calls.
func TestAnErrorOfAnotherAgentStaysInsideWhereverItComesUp(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		for _, asked := range []string{"a call", "a deadline of its own"} {
			f := newFake(t, binding, asking[asked].replies)
			fails := func(ctx context.Context) error { return asking[asked].call(ctx, f) }
			nothing := func(context.Context, *server.Task) error { return nil }
			for place, option := range map[string]server.Option{
				"router":   server.WithRouter(func(ctx context.Context, _ runtime.Message) (string, error) { return "", fails(ctx) }),
				"hook":     server.OnRequest(func(ctx context.Context, _ *a2a.SendMessageRequest) error { return fails(ctx) }),
				"identity": server.WithProxyIdentity(func(r *http.Request) (string, error) { return "", fails(r.Context()) }),
			} {
				a := asks(t, nothing, option)
				want, code := 200, "-32603"
				if place == "identity" {
					want, code = 401, "-31401"
				}
				status, answer := a.send("x")
				if status != want || !strings.Contains(answer, code) || strings.Contains(answer, "secret") || strings.Contains(answer, "RESOURCE_EXHAUSTED") {
					t.Errorf("%s, %s: %d %s", place, asked, status, answer)
				}
				if log := a.log.String(); !strings.Contains(log, "secret of the other") && !strings.Contains(log, "deadline exceeded") {
					t.Errorf("%s, %s: logged\n%s", place, asked, log)
				}
				if answer := a.grpc("x"); strings.Contains(answer, "secret") {
					t.Errorf("%s, %s over gRPC: %s", place, asked, answer)
				}
			}
		}
	})
}

// TestErrorsThatTheClientMakesCountAsReceived looks at its source: an A2A error that is not marked would be taken for one
// that the agent made for its own caller.
func TestErrorsThatTheClientMakesCountAsReceived(t *testing.T) {
	files, err := filepath.Glob("*.go")
	more, err2 := filepath.Glob("grpcclient/*.go")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	found := 0
	for _, name := range append(files, more...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		good := map[ast.Node]bool{} // mentions that mark the error, or only compare with it
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Is" {
					for _, arg := range n.Args {
						good[arg] = true
					}
				}
			case *ast.SelectorExpr:
				switch n.Sel.Name {
				case "AsReceived", "Is", "Reason", "Code":
					good[n.X] = true
				}
				pkg, ok := n.X.(*ast.Ident)
				if !ok || pkg.Name != "runtime" || !strings.HasPrefix(n.Sel.Name, "Err") || n.Sel.Name == "ErrUnknownEvent" || n.Sel.Name == "Error" {
					return true
				}
				if found++; !good[n] {
					t.Errorf("%s: runtime.%s without AsReceived", set.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
	}
	if found < 10 {
		t.Errorf("only %d mentions were found", found)
	}
}

// asker is an agent whose only skill asks another one.
type asker struct {
	t      *testing.T
	url    string
	log    safeLog
	reason string // of the last run, as observers hear of it
}

// safeLog is a log that several goroutines write.
type safeLog struct {
	mu sync.Mutex
	bytes.Buffer
}

func (o *safeLog) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Buffer.Write(b)
}

func (o *safeLog) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.Buffer.String()
}

func (a *asker) Begin(ctx context.Context, _ *observe.Activity) context.Context { return ctx }

func (a *asker) End(_ context.Context, x *observe.Activity) {
	if x.Kind == observe.Run {
		a.reason = x.Reason
	}
}

func asks(t *testing.T, handler func(context.Context, *server.Task) error, opts ...server.Option) *asker {
	t.Helper()
	a := &asker{t: t}
	card := strings.Replace(cardJSON("http://localhost/rpc", "", streams), `}],
	"capabilities"`, `},{"url":"http://localhost","protocolBinding":"GRPC","protocolVersion":"1.0"}],
	"capabilities"`, 1)
	skill := func(id string) server.Skill {
		return server.Skill{ID: id, Name: id, Run: func(ctx context.Context, t *server.Task, _ any) ([]byte, error) { return nil, handler(ctx, t) }}
	}
	skills := []server.Skill{skill("one")}
	if len(opts) > 0 {
		skills = append(skills, skill("two")) // so that there is something to route
	}
	s, err := server.New(server.Config{Protocol: a2a.Protocol(), Card: decodeCard(t, card), Skills: skills},
		append(opts, server.WithLogger(slog.New(slog.NewTextHandler(&a.log, nil))), server.WithObserver(a), grpcserver.Serve())...)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(s)
	web.Config.Protocols = new(http.Protocols)
	web.Config.Protocols.SetHTTP1(true)
	web.Config.Protocols.SetUnencryptedHTTP2(true)
	web.Start()
	a.url = web.URL
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	return a
}

// send sends a message over JSON-RPC, and returns what comes back.
func (a *asker) send(text string) (status int, answer string) {
	a.t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"` + text + `"}]}}}`
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, a.url+"/rpc", strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	http.DefaultClient.CloseIdleConnections()
	return resp.StatusCode, string(b)
}

// grpc sends a message over gRPC, and returns the error that comes back.
func (a *asker) grpc(text string) (answer string) {
	a.t.Helper()
	card := strings.ReplaceAll(cardJSON(a.url, "", ""), "JSONRPC", "GRPC")
	c, err := a2aclient.FromCard(decodeCard(a.t, card).Generated().(*a2a.AgentCard), withGRPC(nil)...)
	if err != nil {
		a.t.Fatal(err)
	}
	defer c.Close()
	_, err = c.SendMessage(a.t.Context(), &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.RoleUser, a2a.Text(text))})
	if err == nil {
		a.t.Error("no error over gRPC")
		return ""
	}
	return err.Error()
}
