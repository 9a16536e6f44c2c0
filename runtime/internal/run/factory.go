package run

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

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
