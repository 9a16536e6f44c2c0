package mcp

import (
	"context"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// progress tells the caller of a tool how far it is. It tells nothing if the request has no progress token.
type progress struct {
	ctx     context.Context
	session *sdk.ServerSession
	token   any
	every   time.Duration

	mu    sync.Mutex
	count float64     // of notifications
	beat  *time.Timer // nil: nothing is told, or nothing any more
}

func newProgress(ctx context.Context, req *sdk.CallToolRequest, every time.Duration) *progress {
	p := &progress{ctx: ctx, session: req.Session, token: req.Params.GetProgressToken(), every: every}
	if p.token != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.beat = time.AfterFunc(every, func() { p.notify("") })
	}
	return p
}

// say tells what the agent says.
func (p *progress) say(text string) {
	if text != "" {
		p.notify(text)
	}
}

// notify sends a notification, and another one when nothing is said for a while.
func (p *progress) notify(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beat == nil {
		return
	}
	p.count++
	params := &sdk.ProgressNotificationParams{ProgressToken: p.token, Progress: p.count, Message: text}
	_ = p.session.NotifyProgress(p.ctx, params) // to who has left
	p.beat.Reset(p.every)
}

// stop ends it: nothing is told after that.
func (p *progress) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beat != nil {
		p.beat.Stop()
		p.beat = nil
	}
}
