package engine

import (
	"errors"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// What is in the store already and cannot be written as the answer has to be, because it was kept before [Engine]
// refused such content or because a hook made it so: it costs that task, or that event, and nothing around it
// (decision 038).

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
	return b[:len(dst)], r.unsayable(err)
}

// bare replaces the tasks that cannot be written. It reports whether there are any.
func (l *listed) bare(r *Request) (found bool) {
	for i, task := range l.tasks {
		one := listed{tasks: []runtime.Task{task}, size: 1, total: 1}
		if _, err := r.Op.Append(nil, one.page(r.e.protocol)); err != nil {
			r.warn(task.TaskInfo().ID, err)
			l.tasks[i], found = r.e.bareTask(task), true
		}
	}
	return found
}

// bareTask is a task with its id, its context and its state alone.
func (e *Engine) bareTask(task runtime.Task) runtime.Task {
	info := task.TaskInfo()
	bare := e.protocol.NewTask(info.ID, info.ContextID, info.At)
	if err := bare.Apply(e.protocol.NewStatus(info.ID, info.ContextID, info.State, nil, info.At)); err != nil {
		e.logger.Error("a task could not be shortened", "task", info.ID, "error", err)
	}
	return bare
}

// bareEvent is an event without what the peer says in it: a status without its message, an artifact with a text in place
// of its parts.
func (e *Engine) bareEvent(event runtime.Event) runtime.Event {
	info := event.EventInfo()
	switch x := event.(type) {
	case runtime.Task:
		return e.bareTask(x)
	case runtime.StatusUpdate:
		return e.protocol.NewStatus(info.TaskID, info.ContextID, info.State, nil, time.Time{})
	case runtime.ArtifactUpdate:
		data := x.ArtifactUpdate()
		data.Parts, data.Metadata = []runtime.Part{runtime.Text(leftOut)}, nil
		return e.protocol.NewArtifact(info.TaskID, info.ContextID, data)
	}
	return event
}

// leftOut stands where parts were.
const leftOut = "[This content cannot be expressed here.]"

// appendEvent appends an event that a stream begins with: what cannot be written is an error for the peer.
func (r *Request) appendEvent(dst []byte, event runtime.Event) ([]byte, error) {
	b, err := r.Coding.Append(dst, event)
	if err != nil {
		return b[:len(dst)], r.unsayable(err)
	}
	return b, nil
}

// appendOrBare appends an event of a stream, without its content if that cannot be written.
func (r *Request) appendOrBare(dst []byte, event runtime.Event) ([]byte, error) {
	b, err := r.Coding.Append(dst, event)
	if err == nil {
		return b, nil
	}
	r.warn(event.EventInfo().TaskID, err)
	if b, err = r.Coding.Append(b[:len(dst)], r.e.bareEvent(event)); err != nil {
		return b[:len(dst)], r.unsayable(err)
	}
	return b, nil
}

func (r *Request) warn(task string, err error) {
	r.Logger().Warn("what a task holds cannot be written over this binding", "task", task, "error", err)
}

// unsayable is the error of a result that cannot be written: of what is in it, the peer may know where it is and why.
func (r *Request) unsayable(err error) error {
	if found := (*wire.Error)(nil); errors.As(err, &found) {
		return runtime.ErrInternal.With("the result cannot be expressed over this binding: %s", found)
	}
	return err
}
