package run

import (
	"context"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// What was said before: a handler reads the earlier tasks of the context that its message belongs to. A client chooses
// the ids of contexts, so that they say nothing of whose a task is: what is read is the caller's own.

// Exchange is a task of a conversation, and what was said in it.
type Exchange struct {
	TaskID string
	State  runtime.State
	At     time.Time      // of its last status
	Turns  []runtime.Turn // messages, oldest first, then artifacts, then the message of the status
}

// pageSize is the most tasks of one page of a store.
const pageSize = 100

// Conversation returns at most n earlier tasks of the context, with what was said in them: the last one first, by the
// time of their status. They are those of the same caller and tenant, as far as they are still kept; tasks that still go
// on are among them, this one is not. Tasks of skills that only the extended card has are for handlers of such skills.
//
// All of it together has as many bytes as a page of tasks may have ([Limits].Page): further tasks are left out, but
// there is at least one. A message that was answered without a task is in no store.
func (t *Task) Conversation(ctx context.Context, n int) ([]Exchange, error) {
	c := t.c
	q := store.Query{Context: c.context(), View: store.Full, Bytes: c.r.Limits.Page, Without: c.unseen()}
	id := c.taskID()
	var list []Exchange
	for more := n > 0; more; {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("conversation: %w", context.Cause(ctx))
		}
		q.Size = min(n-len(list)+1, pageSize) // one more: this task may be among them
		page, err := c.r.Store.List(c.r.Soon(), c.owner, q)
		if err != nil {
			return nil, fmt.Errorf("conversation: %w", err)
		}
		for _, task := range page.Tasks {
			if info := task.TaskInfo(); info.ID != id && len(list) < n {
				list = append(list, Exchange{info.ID, info.State, info.At, runtime.Turns(task)})
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

// Turns returns what was said in the task so far, the message being handled included: see [runtime.Turns].
func (t *Task) Turns() []runtime.Turn {
	c := t.c
	if task := t.Snapshot(); task != nil {
		return runtime.Turns(task)
	}
	return []runtime.Turn{{User: true, Parts: c.parts}}
}
