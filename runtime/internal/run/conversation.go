package run

import (
	"context"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

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
