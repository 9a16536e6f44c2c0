package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/push"
)

const token = "the agent shows this"

// webhook hears of a task as any HTTP server may, once it is up.
type webhook struct {
	*httptest.Server
	up    atomic.Bool
	ended chan struct{}

	mu    sync.Mutex
	heard []string
	last  uint64 // number of the last event
	err   error
}

func newWebhook() *webhook {
	w := &webhook{ended: make(chan struct{})}
	receiver, err := push.NewReceiver(a2a.Protocol(), push.Token(token), push.On(w.status), push.On(w.artifact))
	if err != nil {
		panic(err) // the options are constant
	}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !w.up.Load() {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		receiver.ServeHTTP(rw, r)
	}))
	return w
}

func (w *webhook) artifact(_ context.Context, _ *a2a.TaskArtifactUpdateEvent, n *push.Notification) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follow(n)
	return nil
}

func (w *webhook) status(_ context.Context, e *a2a.TaskStatusUpdateEvent, n *push.Notification) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.follow(n)
	if m := e.Status.Message; m != nil {
		w.heard = append(w.heard, m.Text())
	}
	if e.Status.State == a2a.TaskStateCompleted {
		close(w.ended)
	}
	return nil
}

// follow notes a notification that does not follow the one before it.
func (w *webhook) follow(n *push.Notification) {
	if w.last > 0 && n.First != w.last+1 && w.err == nil {
		w.err = fmt.Errorf("event %d came after %d", n.First, w.last)
	}
	w.last = n.Last
}

// story waits for the end of the task and returns what it said.
func (w *webhook) story(ctx context.Context) ([]string, error) {
	select {
	case <-w.ended:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(30 * time.Second):
		return nil, errors.New("the webhook does not hear of the end")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heard, w.err
}
