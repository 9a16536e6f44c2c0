package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// post is a request that was let in. The calls that it brings are made for its sender.
type post struct {
	sender atomic.Pointer[http.Request] // with credentials; nil when the request is over, since a session keeps its first post
	size   int                          // of its body, in bytes
	caller string                       // the principal; "" for nobody who is known
	tools  *tools                       // for its tenant
	hidden bool                         // the caller may see hidden skills
	// context is that of its calls. In versions with sessions they may outlive the request.
	context context.Context
	end     context.CancelCauseFunc
}

type postKey struct{}

func postOf(ctx context.Context) *post {
	p, _ := ctx.Value(postKey{}).(*post)
	return p
}

// newPost makes what the SDK gets of a request, whose caller the agent has found: no credentials.
func (e *endpoint) newPost(q *binding.HTTPRequest, r *http.Request, t *tools) (p *post, request *http.Request) {
	p = &post{caller: q.Caller.Principal(), tools: t, hidden: q.Barred == nil}
	p.sender.Store(r)
	if q.Body != nil {
		p.size = len(*q.Body)
	}
	p.context, p.end = context.WithCancelCause(e.closing)
	request = q.R.WithContext(context.WithValue(r.Context(), postKey{}, p))
	request.Header = headerOfMCP(r.Header)
	return p, request
}

// headerOfMCP is what of a header is MCP's.
func headerOfMCP(all http.Header) http.Header {
	h := http.Header{"Authorization": {"Bearer " + placeholder}}
	for name, values := range all {
		if strings.HasPrefix(name, "Mcp-") || name == "Accept" || name == "Content-Type" || name == "Last-Event-Id" {
			h[name] = values
		}
	}
	return h
}

// over ends the calls of the request.
func (p *post) over(cause error) {
	p.end(cause)
	p.sender.Store(nil)
}

// errPostOver fails a request of A2A of a call that has ended.
var errPostOver = errors.New("mcpserver: the request of the host is over")

// placeholder is the token of all requests by which the SDK knows them.
const placeholder = "-"

// identified has the SDK know who calls. It keeps a session to the caller who began it.
func identified(h http.Handler) http.Handler {
	verify := func(_ context.Context, _ string, r *http.Request) (*auth.TokenInfo, error) {
		p := postOf(r.Context())
		return &auth.TokenInfo{UserID: p.caller, Expiration: time.Now().Add(time.Hour), Extra: map[string]any{extraPost: p}}, nil
	}
	return auth.RequireBearerToken(verify, nil)(h)
}

// extraPost is the member of a token's info with the post.
const extraPost = "post"

// forCaller has a message handled in the context of the request that brought it: a session has another one. The context
// ends when the client has left, too, or the server has shut down.
func forCaller(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		p := sentBy(req)
		if p == nil {
			return next(ctx, method, req)
		}
		ctx, cancel := context.WithCancelCause(context.WithValue(ctx, postKey{}, p))
		defer cancel(nil)
		defer context.AfterFunc(p.context, func() { cancel(context.Cause(p.context)) })()
		return next(ctx, method, req)
	}
}

func sentBy(req sdk.Request) *post {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return nil
	}
	p, _ := extra.TokenInfo.Extra[extraPost].(*post)
	return p
}

// handedOn are headers of a request of MCP that are those of the calls which it brings, too.
var handedOn = []string{tenantHeader, http.CanonicalHeaderKey(observe.TraceParent), http.CanonicalHeaderKey(observe.TraceState)}

// transport makes requests of A2A for the sender of the request of MCP in their context.
type transport struct{ server.EndpointHost }

// RoundTrip returns with the head of the answer.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	p := postOf(r.Context())
	if p == nil { // for the card
		return t.Call(r, r)
	}
	sender := p.sender.Load()
	if sender == nil {
		return nil, errPostOver
	}
	r = r.Clone(r.Context())
	for _, name := range handedOn {
		if values := sender.Header[name]; len(values) > 0 && len(r.Header[name]) == 0 {
			r.Header[name] = values
		}
	}
	return t.Call(sender, r)
}
