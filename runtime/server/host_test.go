package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
)

const hostCard = `{"name":"Host","description":"d","version":"1","supportedInterfaces":[{"url":"http://localhost/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}`

// hosted makes a server with one skill that calls f.
func hosted(t *testing.T, f func(ctx context.Context, t *Task) (string, error), limits Limits, opts ...Option) *Server {
	t.Helper()
	return hostedAs(t, hostCard, f, append(opts, WithLimits(limits))...)
}

// hostedAs is hosted under a card of one's own.
func hostedAs(t *testing.T, text string, f func(ctx context.Context, t *Task) (string, error), opts ...Option) *Server {
	t.Helper()
	protocol := a2a.Protocol()
	card, err := protocol.DecodeCard([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Protocol: protocol, Card: card, Skills: []Skill{{ID: "x", Name: "x", Run: func(ctx context.Context, t *Task, _ any) ([]byte, error) {
		out, err := f(ctx, t)
		return []byte(out), err
	}}}}, append(opts, WithLogger(slog.New(slog.DiscardHandler)))...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const sendStream = `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}]}}}`

// lines collects what a host prints.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// url waits for the line that says where the agent listens.
func (l *lines) url(t *testing.T) string {
	t.Helper()
	re := regexp.MustCompile(`url=(https?://\S+)`)
	for range 500 {
		if m := re.FindStringSubmatch(l.String()); m != nil {
			return m[1]
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("no url in %q", l.String())
	return ""
}

// A shutdown lets a handler finish; its stream ends properly with the task's end; the exit code is 0.
func TestHostShutsDownGracefully(t *testing.T) {
	release := make(chan struct{})
	s := hosted(t, func(_ context.Context, t *Task) (string, error) {
		if err := t.Progress("working"); err != nil {
			return "", err
		}
		<-release
		return "done", nil
	}, Limits{})
	ctx, stop := context.WithCancel(t.Context())
	var out lines
	code := make(chan int, 1)
	go func() { code <- host(ctx, s, nil, []string{"-addr", "127.0.0.1:0"}, &out) }()
	url := out.url(t)
	web := &http.Client{Transport: &http.Transport{}}
	defer web.CloseIdleConnections()
	resp, err := web.Post(url, "application/json", strings.NewReader(sendStream))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	stop()
	for range 500 { // the listener closes at once
		c, err := net.DialTimeout("tcp", strings.TrimPrefix(url, "http://"), time.Second)
		if err != nil {
			break
		}
		_ = c.Close()
		time.Sleep(5 * time.Millisecond)
	}
	close(release)
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil || !strings.Contains(body.String(), "TASK_STATE_COMPLETED") {
		t.Errorf("the stream ends with %v: %s", err, body.String())
	}
	if got := <-code; got != 0 {
		t.Errorf("exit code %d: %s", got, out.String())
	}
}

// A handler that does not finish is canceled with a cause after the grace time.
func TestHostCancelsHandlersAfterTheGraceTime(t *testing.T) {
	t.Parallel()
	cause := make(chan error, 1)
	s := hosted(t, func(ctx context.Context, t *Task) (string, error) {
		if err := t.Progress("working"); err != nil {
			return "", err
		}
		<-ctx.Done()
		cause <- context.Cause(ctx)
		return "", ctx.Err()
	}, Limits{Grace: 50 * time.Millisecond})
	ctx, stop := context.WithCancel(t.Context())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	web := &http.Client{Transport: &http.Transport{}}
	defer web.CloseIdleConnections()
	resp, err := web.Post("http://"+ln.Addr().String(), "application/json", strings.NewReader(sendStream))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	stop()
	if err := <-cause; err == nil || err.Error() != "the agent is shutting down" {
		t.Errorf("cause is %v", err)
	}
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil || !strings.Contains(body.String(), "The agent was shut down before the work was done.") {
		t.Errorf("the stream ends with %v: %s", err, body.String())
	}
	if err := <-served; err != nil {
		t.Errorf("Serve returns %v", err)
	}
}

func TestShutdownEndsSubscriptionsToParkedTasks(t *testing.T) {
	s := hosted(t, func(_ context.Context, t *Task) (string, error) {
		return "", t.RequireAuth(AuthRequest{Prompt: "log in"})
	}, Limits{})
	ctx, stop := context.WithCancel(t.Context())
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	web := &http.Client{Transport: &http.Transport{}}
	defer web.CloseIdleConnections()
	resp, err := web.Post("http://"+ln.Addr().String(), "application/json", strings.NewReader(sendStream)) // R114: stays open
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	stop()
	var body bytes.Buffer
	if _, err := body.ReadFrom(resp.Body); err != nil || !strings.Contains(body.String(), "TASK_STATE_AUTH_REQUIRED") {
		t.Errorf("the stream ends with %v: %s", err, body.String())
	}
	if err := <-served; err != nil {
		t.Errorf("Serve returns %v", err)
	}
}

func TestHostExitCodes(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = busy.Close() }()
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		err  error
		args []string
		want int
	}{
		{"clean", nil, []string{"-addr", "127.0.0.1:0"}, 0},
		{"help", nil, []string{"-h"}, 0},
		{"unknown flag", nil, []string{"-nope"}, 2},
		{"stray argument", nil, []string{"start"}, 2},
		{"no server", errors.New("bad card"), nil, 1},
		{"address in use", nil, []string{"-addr", busy.Addr().String()}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out lines
			s := hosted(t, func(context.Context, *Task) (string, error) { return "", nil }, Limits{})
			if got := host(done, s, c.err, c.args, &out); got != c.want {
				t.Errorf("exit code %d, want %d: %s", got, c.want, out.String())
			}
		})
	}
}

// What an error says in lines of its own, such as statements, is printed as it is, so that it can be copied.
func TestLinesOfAnErrorAreLines(t *testing.T) {
	var out lines
	if got := host(t.Context(), nil, errors.New("no rights; run\n  GRANT \"x\";\n  GRANT y;"), nil, &out); got != exitFailed {
		t.Errorf("exit code %d", got)
	}
	if !strings.HasSuffix(out.String(), "error=\"no rights; run\"\n  GRANT \"x\";\n  GRANT y;\n") {
		t.Errorf("it prints %s", out.String())
	}
}

func TestListenAddressComesFromTheEnvironment(t *testing.T) {
	for _, c := range []struct{ addr, port, want string }{
		{"", "", DefaultAddr}, {"", "9000", ":9000"}, {"127.0.0.1:1", "9000", "127.0.0.1:1"},
	} {
		t.Setenv(EnvAddr, c.addr)
		t.Setenv(EnvPort, c.port)
		if got := listenAddr(); got != c.want {
			t.Errorf("A2A_ADDR=%q PORT=%q: %q, want %q", c.addr, c.port, got, c.want)
		}
	}
}

// An agent links the standard library, one JSON library at most, and us.
func TestDependenciesStayNearZero(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for _, path := range strings.Fields(string(out)) {
		if !strings.HasPrefix(path, "github.com/a2agen/a2agen/") && !strings.HasPrefix(path, "github.com/go-json-experiment/json") {
			t.Errorf("links %s", path)
		}
	}
}
