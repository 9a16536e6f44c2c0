// Package feed gives the events of tasks to readers: streams, which are cursors in a task's log, and whoever waits for
// a task to change. It decides nothing about tasks.
package feed

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/store"
)

// Config is what a [Feed] works with.
type Config struct {
	Store    store.Store
	Protocol *runtime.Protocol
	// Context returns a context for a call of the store that begins now.
	Context func() context.Context
	// Show returns a task as the agent's hooks want it shown.
	Show       func(context.Context, runtime.Task) runtime.Task
	MaxStreams int
	Heartbeat  time.Duration   // silence after which a stream has something written
	Stall      time.Duration   // how long a client may take nothing
	Closing    <-chan struct{} // closed when streams are to end
}

// Feed gives readers the events of tasks.
type Feed struct {
	Config
	Ticker  Ticker
	streams atomic.Int64
}

// Streams returns how many streams are open.
func (f *Feed) Streams() int { return int(f.streams.Load()) }

// Admit counts an open stream that is none of a task, or refuses one too many. release counts it down.
func (f *Feed) Admit() (release func(), err error) {
	if err := f.admit(); err != nil {
		return nil, err
	}
	return sync.OnceFunc(func() { f.streams.Add(-1) }), nil
}

// admit counts one more open stream, or refuses one too many. Who is admitted must count it down again.
func (f *Feed) admit() error {
	if f.streams.Add(1) > int64(f.MaxStreams) {
		f.streams.Add(-1)
		return budget.ErrBusy.With("too many open streams, try again later")
	}
	return nil
}

func (f *Feed) isClosing() bool {
	select {
	case <-f.Closing:
		return true
	default:
		return false
	}
}
