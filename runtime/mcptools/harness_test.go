package mcptools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"sync"
	"testing"

	"github.com/a2agen/a2agen/internal/test/mcpserver"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/nested"
	"github.com/a2agen/a2agen/runtime/task"
)

// TestMain lets tests start this program as an MCP server.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		mcpserver.Stdio()
		return
	}
	os.Exit(m.Run())
}

// command is a server that is a command.
func command(t *testing.T) *Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return closing(t, &Server{Name: "Tools", Command: []string{self, "serve"}})
}

// web is a server at a path of [mcpserver.Server.Handler].
func web(t *testing.T, path string) (*Server, *mcpserver.Server) {
	t.Helper()
	fake := mcpserver.New()
	srv := httptest.NewServer(fake.Handler())
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
	})
	return closing(t, &Server{Name: "Tools", URL: srv.URL + path}), fake
}

func closing(t *testing.T, s *Server) *Server {
	t.Cleanup(func() {
		if c := s.current; c != nil {
			c.close()
			<-c.gone
		}
	})
	return s
}

// everywhere runs a test over every transport.
func everyTransport(t *testing.T, test func(t *testing.T, s *Server)) {
	t.Run("command", func(t *testing.T) { test(t, command(t)) })
	for _, path := range []string{"/mcp", "/stateless", "/sse"} {
		t.Run(path[1:], func(t *testing.T) {
			s, _ := web(t, path)
			test(t, s)
		})
	}
}

// recorder is a task that writes down what it is told.
type recorder struct {
	mu       sync.Mutex
	progress []string
	artifact runtime.ArtifactData
	told     chan string // gets progress, if there is one
}

func (r *recorder) Progress(format string, args ...any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.progress = append(r.progress, fmt.Sprintf(format, args...))
	if r.told != nil {
		r.told <- r.progress[len(r.progress)-1]
	}
	return nil
}

func (r *recorder) Emit(a runtime.ArtifactData) error {
	r.artifact = a
	return nil
}

// asking is the error of a task that waits.
type asking struct{ task.Question }

func (r *recorder) AskFrom(q task.Question) error { return asking{q} }

func (r *recorder) Fail(reason string, args ...any) error {
	return fmt.Errorf("failed: "+reason, args...)
}

func (r *recorder) Logger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// handler is a handler's task that remembers calls as the runner of tasks does, one of each tool.
type handler struct {
	calls  map[string]*nested.Known
	answer *nested.Answer
	cancel func(context.Context, string) error
}

func newHandler() *handler { return &handler{calls: map[string]*nested.Known{}} }

// context is that of the handler, called once more.
func (h *handler) context(t *testing.T) context.Context {
	return context.WithValue(t.Context(), nested.Key{}, nested.Handler(h))
}

func (h *handler) Call(c nested.Call) (nested.Known, error) {
	known := h.calls[c.Skill]
	if h.cancel = c.Cancel; known == nil {
		h.calls[c.Skill] = &nested.Known{ID: c.Skill}
		return nested.Known{ID: c.Skill}, nil
	}
	again := *known
	again.Answer = h.answer
	return again, nil
}

func (h *handler) Began(id, task string) error {
	h.calls[id].Task = task
	return nil
}

func (h *handler) Replied(id string, message []byte) error {
	h.calls[id].Task, h.calls[id].Reply = "", message
	return nil
}

func (h *handler) Answered(string) { h.answer = nil }
func (h *handler) Ended(string)    {}
func (h *handler) Left(string)     {}

// question is what a call asks.
func askedBy(t *testing.T, err error) task.Question {
	t.Helper()
	var a asking
	if err = Explain(&recorder{}, err); !errors.As(err, &a) {
		t.Fatalf("got %v, want a question", err)
	}
	return a.Question
}

// Error is the question.
func (a asking) Error() string { return a.Question.Error() }
