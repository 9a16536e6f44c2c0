package mcpserver

import (
	"context"
	"net/http"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// Sessions, which only versions before 2026-07-28 have, are the SDK's. Here is how many there may be, and what they keep.

const (
	sessionTimeout = time.Hour // of a session without requests
	sessionShare   = 8         // all sessions are one of so many of the agent's streams
)

// Of what a host says of itself when it begins a session, which the session keeps: the most that is taken, and what is
// not counted, in bytes.
const (
	maxIntroduction  = 64 << 10
	freeIntroduction = 4 << 10
)

// introductionWeight is about how much memory a byte of it takes.
const introductionWeight = 16

// Errors of requests that would begin a session.
var (
	errSessions     = engine.ErrBusy.With("there are too many sessions, try again later")
	errIntroduction = runtime.ErrInvalidRequest.With("a request that begins a session has at most %d bytes", maxIntroduction)
)

// admitSession reports whether a request may begin a session; otherwise it has been answered.
func (e *endpoint) admitSession(q *binding.HTTPRequest) bool {
	if len(*q.Body) > maxIntroduction {
		http.Error(q.W, errIntroduction.Text(), http.StatusRequestEntityTooLarge)
		return false
	}
	n := 0
	for _, s := range e.openSessions() {
		if s.ID() != "" { // it is not one of a single request
			n++
		}
	}
	if n >= e.sessions {
		refuse(q, errSessions)
	}
	return n < e.sessions
}

// countSession takes what a session keeps from the budget of messages, until it ends.
func (e *endpoint) countSession(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		s, isSession := req.GetSession().(*sdk.ServerSession)
		p := sentBy(req)
		if method != "initialize" || !isSession || p == nil || p.size <= freeIntroduction {
			return next(ctx, method, req)
		}
		n := introductionWeight * int64(p.size)
		if !e.agent.Bodies.Try(n) {
			return nil, binding.ErrTooMany
		}
		go func() {
			_ = s.Wait() // the error is that of the connection
			e.agent.Bodies.Release(n)
		}()
		return next(ctx, method, req)
	}
}

// openSessions are those of all callers, also such as last no longer than their request.
func (e *endpoint) openSessions() (all []*sdk.ServerSession) {
	for _, t := range e.openTools() {
		for _, s := range slices.Compact([]*sdk.Server{t.public, t.all}) {
			all = slices.AppendSeq(all, s.Sessions())
		}
	}
	return all
}
