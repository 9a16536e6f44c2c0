package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/task"
	"github.com/a2agen/a2agen/runtime/wire"
)

// content checks what a handler says: it must be sayable in every version and every binding (decision 038), so that no
// reader of a task fails on it later.
type content struct {
	most    int // bytes of one message or artifact chunk
	nesting int // how deep data may be, as [wire.Portable] counts; 0: as deep as is read
}

// errEmpty: what A2A sends has content (R35, R305).
var errEmpty = errors.New("a message or an artifact has at least one part")

// check refuses parts that cannot be sent.
func (k content) check(parts []runtime.Part) error {
	size := 0
	for i := range parts {
		p := &parts[i]
		size += len(p.Text) + len(p.Raw) + len(p.URL) + len(p.Data)
	}
	if size > k.most {
		return task.ErrTooLarge
	}
	return k.checkParts(parts)
}

// checkParts refuses parts of a handler that could be stored, but not said in every binding.
func (k content) checkParts(parts []runtime.Part) error {
	for i := range parts {
		p := &parts[i]
		switch p.Kind {
		case runtime.PartUnknown:
			return fmt.Errorf("part %d cannot be sent: %s", i, p.Text)
		case runtime.PartOther:
			return fmt.Errorf("part %d cannot be sent: its content is of a kind that only the generated types have", i)
		}
		if p.Kind == runtime.PartData {
			if err := k.sayable(p.Data); err != nil {
				return fmt.Errorf("part %d cannot be sent: data: %w", i, err)
			}
		}
		if len(p.Metadata) == 0 {
			continue
		}
		if err := k.checkMetadata(p.Metadata); err != nil {
			return fmt.Errorf("part %d cannot be sent: %w", i, err)
		}
	}
	return nil
}

// checkMessage refuses a message of a handler that cannot be sent, but for its parts.
func (k content) checkMessage(m *runtime.MessageData) error {
	if len(m.Parts) == 0 {
		return errEmpty
	}
	return k.checkMetadata(m.Metadata)
}

// checkMetadata is checkParts for metadata, which have to be a JSON object.
func (k content) checkMetadata(o wire.Object) error {
	if err := k.sayable(o); err != nil {
		return fmt.Errorf("metadata: %w", err)
	}
	if kind := wire.Value(o).Kind(); kind != wire.KindNone && kind != wire.KindObject {
		return fmt.Errorf("metadata: not an object")
	}
	return nil
}

// sayable reports why raw JSON of a handler cannot be sent. None is null, or no metadata.
func (k content) sayable(raw []byte) error {
	if len(raw) == 0 {
		return nil
	}
	if err := wire.Valid(raw); err != nil {
		return err
	}
	return wire.Portable(raw, k.nesting)
}

// factory makes the values of the protocol, and shows each to the agent's hooks.
type factory struct {
	protocol *runtime.Protocol
	made     []func(context.Context, any)
}

func (f *factory) show(ctx context.Context, v any) {
	for _, hook := range f.made {
		hook(ctx, v)
	}
}

func (f *factory) newTask(ctx context.Context, id, contextID string, at time.Time) runtime.Task {
	task := f.protocol.NewTask(id, contextID, at)
	f.show(ctx, task)
	return task
}

func (f *factory) newMessage(ctx context.Context, data runtime.MessageData) runtime.Message {
	m := f.protocol.NewMessage(data)
	f.show(ctx, m)
	return m
}

func (f *factory) newStatus(
	ctx context.Context, id, contextID string, state runtime.State, m runtime.Message, at time.Time,
) runtime.Event {
	v := f.protocol.NewStatus(id, contextID, state, m, at)
	f.show(ctx, v)
	return v
}

func (f *factory) newArtifact(ctx context.Context, id, contextID string, data runtime.ArtifactData) runtime.Event {
	v := f.protocol.NewArtifact(id, contextID, data)
	f.show(ctx, v)
	return v
}
