package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/a2agen/a2agen/runtime/store"
)

// ErrContextChanged: another task of the context has saved something since this one loaded it: load it again, and
// decide anew.
var ErrContextChanged = errors.New("another task has changed the context since it was loaded")

// Context is what handlers keep with the context of their message, for the tasks that come later in it. It is the
// caller's own, as his tasks are: another caller who names the same context has another. It is in the store, beside
// the tasks; [store.Note] says for how long. Methods are safe for concurrent use while the handler runs.
type Context struct {
	c *call

	mu     sync.Mutex
	loaded int64 // version that the handler knows; store.AnyVersion before it does
}

// Context returns what is kept with the context. In one call it is always the same.
func (t *Task) Context() *Context {
	c := t.c
	c.task.notes.mu.Lock()
	defer c.task.notes.mu.Unlock()
	if c.task.common == nil {
		c.task.common = &Context{c: c, loaded: store.AnyVersion}
	}
	return c.task.common
}

// ID is the context's id.
func (x *Context) ID() string { return x.c.context() }

// Load reads what was saved last into v, whichever task did it. It reports whether there was anything.
func (x *Context) Load(v any) (bool, error) {
	note, err := x.c.r.Store.Note(x.c.r.Soon(), x.c.owner, x.c.context())
	if err != nil {
		return false, fmt.Errorf("load of the context: %w", err)
	}
	x.know(note.Version)
	if note.Value == nil {
		return false, nil
	}
	if err := json.Unmarshal(note.Value, v); err != nil {
		return true, fmt.Errorf("load of the context: %w", err)
	}
	return true, nil
}

// Save puts v, as JSON, in the place of what is kept; nil leaves nothing. It is in the store when Save returns. After a
// Load in the same call it fails with [ErrContextChanged] if another task has saved since; without one it replaces
// whatever there is. What is too long is [ErrTooLarge]. Nothing is saved once the call is over, or its task was canceled.
func (x *Context) Save(v any) error {
	var value []byte
	if v != nil {
		var err error
		if value, err = json.Marshal(v); err != nil {
			return fmt.Errorf("save of the context: %w", err)
		}
	}
	err := x.save(value)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, store.ErrConflict):
		return ErrContextChanged
	case errors.Is(err, store.ErrTooLarge):
		return ErrTooLarge
	}
	return fmt.Errorf("save of the context: %w", err)
}

func (x *Context) save(value []byte) error {
	c := x.c
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	switch cause := context.Cause(c.ctx); {
	case c.state >= ending:
		return ErrAnswered
	case cause != nil && !errors.Is(cause, ErrShutdown):
		return cause
	}
	w := write{note: &noteWrite{x, value, x.known()}, update: store.Update{Stamp: newStamp()}}
	return c.task.commit(&w)
}

// noteWrite replaces what is kept with a context.
type noteWrite struct {
	x      *Context
	value  []byte
	expect int64 // version
}

// try makes the write, once, which an earlier try may have made.
func (n *noteWrite) try(r *Runner, perhaps bool) error {
	version, err := r.Store.SetNote(r.Soon(), n.x.c.owner, n.x.c.context(), n.value, n.expect)
	if perhaps && errors.Is(err, store.ErrConflict) && n.x.has(n.value) {
		return nil
	}
	if err == nil {
		n.x.know(version)
	}
	return err
}

// has reports whether the store has this value, and takes note of its version then.
func (x *Context) has(value []byte) bool {
	note, err := x.c.r.Store.Note(x.c.r.Soon(), x.c.owner, x.c.context())
	if err != nil || !bytes.Equal(note.Value, value) {
		return false
	}
	x.know(note.Version)
	return true
}

func (x *Context) know(version int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loaded = version
}

func (x *Context) known() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.loaded
}
