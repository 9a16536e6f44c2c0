package mcpserver

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/internal/sse"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// answer writes an answer within the agent's limits: a client that takes nothing is dropped, and one that waits for the
// next event of a stream gets a comment now and then, so that nobody between the two takes the connection for idle.
type answer struct {
	http.ResponseWriter
	heartbeat time.Duration

	mu   sync.Mutex
	out  *binding.ResponseWriter
	beat *time.Timer // nil before the first event, and when the request is over
	over bool
}

func newAnswer(w http.ResponseWriter, l engine.Limits) *answer {
	return &answer{ResponseWriter: w, heartbeat: l.Heartbeat, out: binding.NewResponseWriter(w, l.Stall)}
}

// Write writes b, in pieces of which each has its time.
func (a *answer) Write(b []byte) (n int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return 0, http.ErrHandlerTimeout
	}
	a.keepAlive()
	for first := true; first || len(b) > 0 && err == nil; first = false {
		var m int
		m, err = a.out.Write(b[:min(len(b), binding.MaxWrite)])
		n, b = n+m, b[m:]
	}
	return n, err
}

// keepAlive has a comment follow, if the answer is a stream. Callers must hold mu.
func (a *answer) keepAlive() {
	if a.beat != nil {
		a.beat.Reset(a.heartbeat)
	} else if strings.HasPrefix(a.Header().Get("Content-Type"), sse.ContentType) {
		a.beat = time.AfterFunc(a.heartbeat, a.comment)
	}
}

func (a *answer) comment() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	if _, err := a.out.Write(sse.AppendComment(nil, "")); err == nil && a.out.FlushError() == nil {
		a.beat.Reset(a.heartbeat)
	}
}

// FlushError sends what was written.
func (a *answer) FlushError() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return http.ErrHandlerTimeout
	}
	return a.out.FlushError()
}

// Flush is FlushError without its error.
func (a *answer) Flush() { _ = a.FlushError() }

// finish ends the writing, before the handler returns.
func (a *answer) finish() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	if a.beat != nil {
		a.beat.Stop()
	}
}
