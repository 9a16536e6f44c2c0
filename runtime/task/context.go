package task

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Context is what handlers keep with the context of their message, for the tasks that come later in it. It is the
// caller's own, as the caller's tasks are: another caller who names the same context has another. It is in the store,
// beside the tasks; [store.Note] says for how long. Methods are safe for concurrent use while the handler runs.
type Context Task

// Context returns what is kept with the context. In one call it is always the same.
func (t *Task) Context() *Context { return (*Context)(t) }

// ContextID returns the id of the conversation.
//
// Deprecated: it is Context().ID(). It goes with the version after the first.
func (t *Task) ContextID() string { return t.run.ContextID() }

// ID is the context's id.
func (x *Context) ID() string { return x.run.ContextID() }

// Load reads what was saved last into v, whichever task did it. It reports whether there was anything.
func (x *Context) Load(v any) (bool, error) {
	value, err := x.run.ContextValue()
	if err != nil {
		return false, fmt.Errorf("load of the context: %w", err)
	}
	return read("load of the context", value, v)
}

// Save puts v, as JSON, in the place of what is kept; nil leaves nothing. It is in the store when Save returns. After a
// Load in the same call it fails with server.ErrContextChanged if another task has saved since; without one it replaces
// whatever there is. What is too long is server.ErrTooLarge. Nothing is saved once the call is over, or its task was
// canceled.
func (x *Context) Save(v any) error {
	var value []byte
	if v != nil {
		var err error
		if value, err = json.Marshal(v); err != nil {
			return fmt.Errorf("save of the context: %w", err)
		}
	}
	return x.run.SetContextValue(value)
}

// Exchange is a task of a conversation, and what was said in it.
type Exchange struct {
	TaskID string
	State  runtime.State
	At     time.Time      // of its last status
	Turns  []runtime.Turn // messages, oldest first, then artifacts, then the message of the status
}

// Conversation returns at most n earlier tasks of the context, with what was said in them: the last one first, by the
// time of their status. They are those of the same caller and tenant, as far as they are still kept; tasks that still
// go on are among them, this one is not. Tasks of skills that only the extended card has are for handlers of such
// skills.
//
// All of it together has as many bytes as a page of tasks may have: further tasks are left out, but there is at least
// one. A message that was answered without a task is in no store.
func (x *Context) Conversation(ctx context.Context, n int) ([]Exchange, error) {
	return x.run.Conversation(ctx, n)
}
