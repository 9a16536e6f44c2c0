package feed

import (
	"errors"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// What is in the store already and cannot be written, because it was kept before such content was refused or because a
// hook made it so, costs that task or that event, and nothing around it (docs/decisions/02).

// BareTask returns a task with its id, its context and its state alone.
func BareTask(p *runtime.Protocol, task runtime.Task) runtime.Task {
	info := task.TaskInfo()
	bare := p.NewTask(info.ID, info.ContextID, info.At)
	_ = bare.Apply(p.NewStatus(info.ID, info.ContextID, info.State, nil, info.At)) // it fits: both are of one task
	return runtime.WithGeneration(bare, task.EventInfo().Generation)
}

// BareEvent returns an event without what the peer says in it: a status without its message, an artifact with a text in
// place of its parts.
func BareEvent(p *runtime.Protocol, event runtime.Event) runtime.Event {
	info := event.EventInfo()
	switch x := event.(type) {
	case runtime.Task:
		return BareTask(p, x)
	case runtime.StatusUpdate:
		return runtime.WithGeneration(p.NewStatus(info.TaskID, info.ContextID, info.State, nil, time.Time{}), info.Generation)
	case runtime.ArtifactUpdate:
		data := x.ArtifactUpdate()
		data.Parts, data.Metadata = []runtime.Part{runtime.Text(leftOut)}, nil
		return runtime.WithGeneration(p.NewArtifact(info.TaskID, info.ContextID, data), info.Generation)
	}
	return event
}

// leftOut stands where parts were.
const leftOut = "[This content cannot be expressed here.]"

// Unwritable is the error of a result that cannot be written: of what is in it, the peer may know where it is and why.
func Unwritable(err error) error {
	if found := (*wire.Error)(nil); errors.As(err, &found) {
		return runtime.ErrInternal.With("the result cannot be expressed over this binding: %s", found)
	}
	return err
}

// append appends an event that a stream begins with. What cannot be written is an error for the peer.
func (st *Stream) append(dst []byte, event runtime.Event) ([]byte, error) {
	b, err := st.Coding.Append(dst, event)
	if err != nil {
		return b[:len(dst)], Unwritable(err)
	}
	return b, nil
}

// appendOrBare appends an event of the log, without its content if that cannot be written.
func (st *Stream) appendOrBare(dst []byte, event runtime.Event) ([]byte, error) {
	b, err := st.Coding.Append(dst, event)
	if err == nil {
		return b, nil
	}
	st.Warn(event.EventInfo().TaskID, err)
	return st.append(b[:len(dst)], BareEvent(st.f.Protocol, event))
}
