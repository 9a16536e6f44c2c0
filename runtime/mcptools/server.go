// Package mcptools calls the tools of servers that speak the Model Context Protocol (MCP), for the handlers that "a2agen
// import mcp" writes. It keeps one connection to each server and makes it anew when it is lost, adds the credentials of the
// environment, and turns what a server says meanwhile into what a task has: progress, questions, artifacts.
//
// A server is somebody else's: time, sizes and numbers are bounded, and its texts are data.
package mcptools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/task"
)

// Limits of a call unless the [Server] says otherwise.
const (
	defaultTimeout  = time.Minute // without a sign of life
	defaultMaxBytes = 16 << 20    // of a message
	// questionTimeout is how long a tool waits for the answer to a question.
	questionTimeout = time.Hour
)

// Server is an MCP server: behind a URL, or a command that is started and spoken to over its standard input and output.
// It must not be copied after its first call, and may be used concurrently.
type Server struct {
	Name string // for messages: "GitHub"
	// URL is where the server is, unless the environment variable URLEnv has another URL, which also goes before Command.
	URL, URLEnv string
	// Command is a program and its arguments. It is started without a shell. "${NAME}" in an argument stands for a variable
	// of the environment, which must be set.
	Command []string
	// Env are the variables of the environment that the command gets beside those that every program needs (PATH, HOME and
	// the like). They must be set.
	Env []string
	// Headers go with every request, "${NAME}" as in Command: {"Authorization": "Bearer ${GITHUB_TOKEN}"}.
	Headers map[string]string
	Client  *http.Client // nil: one that follows redirects on the server's own host only
	// Timeout is how long a call may take without a sign of life of the server; progress is one. 0: a minute.
	Timeout time.Duration

	lock    lock
	current *connection
	sse     string // the URL that speaks the older transport; "": none
	waiting waiting
}

// Tool is a tool of a server.
type Tool struct {
	Name string
	// Again: calling the tool twice does no harm, so that a call may be made again of which nobody knows what became.
	Again bool
}

// Task is what a call tells of itself: the task of a handler.
type Task interface {
	Progress(format string, args ...any) error
	Emit(runtime.ArtifactData) error
	AskFrom(task.Question) error
	Fail(reason string, args ...any) error
	Logger() *slog.Logger
}

// Call calls a tool with an input, which is a JSON object, and decodes what it gives into out: its structured content into
// any value that takes JSON, its text into a *string. Files among its contents become an artifact of the task, its progress that of
// the task. ctx is the handler's.
//
// Hand the error to [Explain]. A tool that asks something ends the call with an error that is a question: when the task has
// the answer, the same call, made again by the handler, goes on with the tool.
func (s *Server) Call(ctx context.Context, t Task, tool Tool, in, out any) error {
	args, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("write the input: %w", err)
	}
	c, err := s.begin(ctx, t, tool, args)
	if err != nil {
		return err
	}
	result, err := c.result(ctx)
	if err != nil {
		return err
	}
	return c.deliver(result, out)
}

func (s *Server) timeout() time.Duration { return cmp.Or(s.Timeout, defaultTimeout) }

// lock is a mutex for which one waits no longer than a context allows.
type lock struct {
	once sync.Once
	free chan struct{}
}

func (l *lock) take(ctx context.Context) error {
	l.once.Do(func() { l.free = make(chan struct{}, 1) })
	select {
	case l.free <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *lock) release() { <-l.free }

// errNowhere says that nobody said where a server is.
var errNowhere = errors.New("nobody says where it is")
