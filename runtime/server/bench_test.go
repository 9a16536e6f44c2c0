package server_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// sink is a response writer that costs nothing.
type sink struct {
	header http.Header
	n      int
	events int
}

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Write(p []byte) (int, error) { s.n += len(p); return len(p), nil }
func (s *sink) Flush()                      { s.events++ }

func (s *sink) SetReadDeadline(time.Time) error { return nil }

// bound is how a message is sent over a binding: the path and the body of the request.
var bound = map[string]func(params string) (path, body string){
	"JSON-RPC":  func(params string) (string, string) { return "/rpc", rpcBody("SendMessage", params) },
	"HTTP+JSON": func(params string) (string, string) { return "/rest/message:send", params },
}

// ask returns what sends a request to a server with a skill.
func ask(t testing.TB, path, body string, skill server.Skill, opts ...server.Option) func() {
	s := newServer(t, restCard, []server.Skill{skill}, opts...)
	t.Cleanup(func() { _ = s.Close() })
	req, err := http.NewRequest(http.MethodPost, "http://localhost"+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	req.ContentLength = int64(len(body))
	return func() {
		w := &sink{header: http.Header{}}
		req.Body = io.NopCloser(strings.NewReader(body))
		s.ServeHTTP(w, req)
		if w.n < 100 {
			t.Fatal("no answer")
		}
	}
}

func benchmark(b *testing.B, path, body string, skill server.Skill) {
	do := ask(b, path, body, skill)
	b.ReportAllocs()
	for b.Loop() {
		do()
	}
}

func benchmarkSend(b *testing.B, skill func() server.Skill) {
	for name, request := range bound {
		b.Run(name, func(b *testing.B) {
			path, body := request(message("hello there, how are you?"))
			benchmark(b, path, body, skill())
		})
	}
}

// What a line for every call costs beside BenchmarkSendAnsweredByMessage, written to a file that takes it at once.
func BenchmarkSendLogged(b *testing.B) {
	for name, opts := range map[string][]server.Option{"with lines": nil, "without": {server.WithoutCallLog()}} {
		b.Run(name, func(b *testing.B) {
			to, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = to.Close() }()
			path, body := bound["JSON-RPC"](message("hello there, how are you?"))
			opts := append(opts, server.WithLogger(slog.New(slog.NewTextHandler(to, nil))))
			do := ask(b, path, body, run("say", func(_ context.Context, t *server.Task) (string, error) {
				return "", t.Reply(runtime.Text("hello"))
			}), opts...)
			b.ReportAllocs()
			for b.Loop() {
				do()
			}
		})
	}
}

// What a check of credentials costs beside BenchmarkSendAnsweredByMessage: a tenth of net/http's 11 µs may go to a key.
func BenchmarkSendWithAnAPIKey(b *testing.B) {
	do := askAs(b, authCard, guards(), "X-Api-Key", aKey)
	b.ReportAllocs()
	for b.Loop() {
		do()
	}
}

// What an audit log costs: two lines, of a call and of its run.
func BenchmarkSendWrittenDown(b *testing.B) {
	do := askAs(b, testCard, server.WithAudit(filepath.Join(b.TempDir(), "audit")), "X-Api-Key", aKey)
	b.ReportAllocs()
	for b.Loop() {
		do()
	}
}

// askAs returns what sends a message to an agent that demands credentials.
func askAs(t testing.TB, card string, guards server.Option, header, value string) func() {
	s := newServer(t, card, []server.Skill{chat()}, guards)
	t.Cleanup(func() { _ = s.Close() })
	body := rpcBody("SendMessage", message("hello there, how are you?"))
	req, err := http.NewRequest(http.MethodPost, "http://localhost/rpc", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	req.Header.Set(header, value)
	req.ContentLength = int64(len(body))
	return func() {
		w := &sink{header: http.Header{}}
		req.Body = io.NopCloser(strings.NewReader(body))
		s.ServeHTTP(w, req)
		if w.n < 100 {
			t.Fatal("no answer")
		}
	}
}

func chat() server.Skill {
	return run("chat", func(_ context.Context, t *server.Task) (string, error) {
		return "", t.Reply(runtime.Text("fine, thank you"))
	})
}

func work() server.Skill {
	return run("work", func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Progress("on it"); err != nil {
			return "", err
		}
		return "done", nil
	})
}

// The work beyond what net/http does for any request (about 11 µs, of which a Message may add 30 % and a task 100 %).
func BenchmarkSendAnsweredByMessage(b *testing.B) {
	benchmarkSend(b, chat)
}

func BenchmarkSendAnsweredByTaskOfFourEvents(b *testing.B) {
	benchmarkSend(b, work)
}

func BenchmarkStreamOf100Chunks(b *testing.B) {
	benchmark(b, "/rpc", rpcBody("SendStreamingMessage", message("count")), run("count", func(_ context.Context, t *server.Task) (string, error) {
		w := t.Stream("numbers")
		for range 100 {
			if _, err := io.WriteString(w, "a chunk of text "); err != nil {
				return "", err
			}
		}
		return "", w.Close()
	}))
}
