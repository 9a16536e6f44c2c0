package engine

import (
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/feed"
)

// listed are the tasks of a page, for when one of them cannot be written.
type listed struct {
	tasks       []runtime.Task
	next        string
	size, total int
}

func (l *listed) page(p *runtime.Protocol) any {
	return p.NewTaskPage(l.tasks, l.next, l.size, l.total)
}

// AppendResult appends the result of the operation as its Append does. A task of a page that cannot be written is there
// with its id, its context and its state alone; any other result that cannot be written is an error for the peer.
func (r *Request) AppendResult(dst []byte, result any) ([]byte, error) {
	b, err := r.Op.Append(dst, result)
	if err == nil {
		return b, nil
	}
	if r.listed != nil && r.listed.bare(r) {
		return r.Op.Append(b[:len(dst)], r.listed.page(r.e.protocol))
	}
	return b[:len(dst)], feed.Unwritable(err)
}

// bare replaces the tasks that cannot be written. It reports whether there are any.
func (l *listed) bare(r *Request) (found bool) {
	for i, task := range l.tasks {
		one := listed{tasks: []runtime.Task{task}, size: 1, total: 1}
		if _, err := r.Op.Append(nil, one.page(r.e.protocol)); err != nil {
			r.warn(task.TaskInfo().ID, err)
			l.tasks[i], found = feed.BareTask(r.e.protocol, task), true
		}
	}
	return found
}

// warn logs that content of a task cannot be written.
func (r *Request) warn(task string, err error) {
	r.Logger().Warn("what a task holds cannot be written over this binding", "task", task, "error", err)
}
