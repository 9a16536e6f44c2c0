package mcpserver

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/engine"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// bindingName is what observers and the log call refused requests by. Those that are let in they know as calls of A2A.
const bindingName = "MCP"

// Headers of requests, in the form of header map keys.
const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	tenantHeader  = "A2a-Tenant"
)

// afterLeaving is how long a call goes on when its connection has broken. Clients of older versions cancel by another
// request, which may come after that.
const afterLeaving = 10 * time.Second

// errLeft is the cause with which a call ends then. Its task goes on.
var errLeft = errors.New("the client has left")

// ServeHTTP answers a request of MCP. The order of checks is that of A2A: caller, size, form.
func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := &binding.HTTPRequest{W: w, R: r}
	q.Request.Begin(r.Context(), e.agent, bindingName)
	defer func() { q.DropBody(); q.End() }()
	if err := q.Identify(func(*engine.Version) bool { return true }); err != nil {
		q.Observe(r.Header)
		refuse(q, err)
		return
	}
	release, err := e.agent.AdmitStream()
	if err != nil {
		refuse(q, err)
		return
	}
	defer release()
	if r.Method == http.MethodPost && !e.receive(q) {
		return
	}
	t, err := e.begin(r.Header.Get(tenantHeader))
	if err != nil {
		refuse(q, err)
		return
	}
	if r.Method != http.MethodPost { // a stream lasts as long as its session
		e.posts.Done()
	} else {
		defer e.posts.Done()
	}
	e.serve(q, r, t)
}

// serve has the SDK answer a request whose sender is known.
func (e *endpoint) serve(q *binding.HTTPRequest, r *http.Request, t *tools) {
	stateless := r.Header.Get(versionHeader) >= statelessFrom
	if !stateless && r.Method == http.MethodPost && r.Header.Get(sessionHeader) == "" && !e.admitSession(q) {
		return
	}
	p, request := e.newPost(q, r, t)
	a := newAnswer(q.W, e.agent.Limits)
	defer a.finish()
	if stateless {
		e.stateless.ServeHTTP(a, request)
		p.over(nil)
		return
	}
	e.stateful.ServeHTTP(a, request)
	if r.Context().Err() == nil {
		p.over(nil)
		return
	}
	time.AfterFunc(afterLeaving, func() { p.over(errLeft) })
}

// Errors of requests that are not let in.
var (
	errBatch   = runtime.ErrInvalidRequest.With("a request has one message: send the messages of a batch one by one")
	errObjects = runtime.ErrInvalidRequest.With("the request has too many objects")
)

// objectWeight and copies are what reading a message takes in memory: about so many bytes for each object, and so many
// times its size, since the SDK copies what it reads.
const (
	objectWeight = 256
	copies       = 3
)

// receive reads the body within the limits of the agent and looks at its form. It reports whether the request may go on;
// otherwise it has been answered.
func (e *endpoint) receive(q *binding.HTTPRequest) bool {
	if status, refusal := q.Receive(); refusal != nil {
		http.Error(q.W, refusal.Text(), status)
		return false
	}
	body := *q.Body
	if len(body) > binding.FreeBody {
		weight := copies*int64(len(body)) + objectWeight*int64(bytes.Count(body, []byte("{")))
		switch {
		case weight > e.agent.Limits.Bodies/2:
			http.Error(q.W, errObjects.Text(), http.StatusRequestEntityTooLarge)
			return false
		case !q.Take(weight):
			refuse(q, binding.ErrTooMany)
			return false
		}
	}
	if bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("[")) { // of versions before 2025-06-18
		http.Error(q.W, errBatch.Text(), http.StatusBadRequest)
		return false
	}
	q.R.Body, q.R.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return true
}

// refuse answers with an error of the agent, as over HTTP.
func refuse(q *binding.HTTPRequest, err error) {
	told, status := q.ToldHTTP(err)
	if status == 0 {
		status = q.Status(told).HTTP
	}
	if status == http.StatusServiceUnavailable {
		q.W.Header().Set("Retry-After", "1")
	}
	http.Error(q.W, told.Text(), status)
}
