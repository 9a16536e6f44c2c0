package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

// contextNote is what a call knows of the note that is kept with its context.
type contextNote struct {
	c *call

	mu     sync.Mutex
	loaded int64 // version that the handler knows; store.AnyVersion before it does
}

// contextNote returns the call's one.
func (c *call) contextNote() *contextNote {
	c.task.notes.mu.Lock()
	defer c.task.notes.mu.Unlock()
	if c.task.context == nil {
		c.task.context = &contextNote{c: c, loaded: store.AnyVersion}
	}
	return c.task.context
}

func (v *view) ContextValue() ([]byte, error) {
	x := (*call)(v).contextNote()
	note, err := x.c.r.Store.Note(x.c.r.Soon(), x.c.owner, x.c.context())
	if err != nil {
		return nil, err
	}
	x.know(note.Version)
	return note.Value, nil
}

func (v *view) SetContextValue(value []byte) error {
	err := (*call)(v).contextNote().save(value)
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

func (x *contextNote) save(value []byte) error {
	c := x.c
	c.handle.mu.Lock()
	defer c.handle.mu.Unlock()
	switch cause := c.ctx.Cause(); {
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
	x      *contextNote
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

// has reports whether the store has this value, and notes its version then.
func (x *contextNote) has(value []byte) bool {
	note, err := x.c.r.Store.Note(x.c.r.Soon(), x.c.owner, x.c.context())
	if err != nil || !bytes.Equal(note.Value, value) {
		return false
	}
	x.know(note.Version)
	return true
}

func (x *contextNote) know(version int64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.loaded = version
}

func (x *contextNote) known() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.loaded
}

// What was said before: a handler reads the earlier tasks of the context that its message belongs to. A client chooses
// the ids of contexts, so that they say nothing of whose a task is: what is read is the caller's own.

// pageSize is the most tasks of one page of a store.
const pageSize = 100

// conversation reads the last n tasks of the call's context: see [task.Context.Conversation].
func (c *call) conversation(ctx context.Context, n int) ([]task.Exchange, error) {
	q := store.Query{Context: c.context(), View: store.Full, Bytes: c.r.Limits.Page, Without: c.unseen()}
	id := c.taskID()
	var list []task.Exchange
	for more := n > 0; more; {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("conversation: %w", context.Cause(ctx))
		}
		q.Size = min(n-len(list)+1, pageSize) // one more: this task may be among them
		page, err := c.r.Store.List(c.r.Soon(), c.owner, q)
		if err != nil {
			return nil, fmt.Errorf("conversation: %w", err)
		}
		for _, t := range page.Tasks {
			if info := t.TaskInfo(); info.ID != id && len(list) < n {
				list = append(list, task.Exchange{TaskID: info.ID, State: info.State, At: info.At, Turns: runtime.Turns(t)})
			}
		}
		full := len(page.Tasks) < q.Size // the bytes were too many, or there are no others
		q.Token, q.Bytes = page.Next, q.Bytes-page.Bytes
		more = page.Next != "" && !full && len(list) < n && q.Bytes > 0
	}
	return list, nil
}

// unseen are the skills whose tasks the handler does not see.
func (c *call) unseen() (ids []string) {
	if c.skill.Hidden {
		return nil
	}
	for _, sk := range c.r.Skills.all {
		if sk.Hidden {
			ids = append(ids, sk.ID)
		}
	}
	return ids
}
