package deliver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// How much goes into one notification.
const (
	maxBatch   = 64
	batchBytes = 256 << 10
)

// batch are the events that one notification is about: first to last. task is set for a version whose notifications
// show the task, and for one that stands for events that are not kept any more.
type batch struct {
	first, last int64
	events      []runtime.Event
	task        runtime.Task
	bytes       int64
}

// next reads what goes out next. recs and err are what the store said of the events after the last that was sent.
func (w *Worker) next(ctx context.Context, j *job, recs []*store.Record, err error) (*batch, error) {
	if errors.Is(err, store.ErrTrimmed) { // a receiver that was away for too long gets the task as it stands
		return w.snapshot(ctx, j)
	}
	if err != nil {
		return nil, err
	}
	n := 1
	for w.Join != nil && n < len(recs) && recs[n].Seq <= j.Until { // it may have been decided by a process that joins
		n++
	}
	b := &batch{first: j.Next, last: recs[n-1].Seq}
	for _, rec := range recs[:n] {
		e, err := rec.Event()
		if err != nil {
			return nil, err
		}
		b.events = append(b.events, e)
		b.bytes += int64(store.SizeOf(e, nil).Bytes)
	}
	if !j.Push.Tasks {
		return b, nil
	}
	snap, err := w.Store.Get(ctx, j.Key, store.View{Artifacts: true, At: b.last})
	if errors.Is(err, store.ErrTrimmed) {
		return w.snapshot(ctx, j)
	}
	b.task, b.bytes = snap.Task, int64(snap.Bytes)
	return b, err
}

// snapshot is the task as it stands, in place of all events that were not sent.
func (w *Worker) snapshot(ctx context.Context, j *job) (*batch, error) {
	snap, err := w.Store.Get(ctx, j.Key, store.Full)
	if err != nil {
		return nil, err
	}
	return &batch{
		first: j.Next, last: snap.Version, events: []runtime.Event{snap.Task}, task: snap.Task, bytes: int64(snap.Bytes),
	}, nil
}

// event returns the one event that stands for a batch.
func (w *Worker) event(b *batch) runtime.Event {
	if len(b.events) == 1 || b.task != nil {
		return b.events[len(b.events)-1]
	}
	info := b.events[0].EventInfo()
	data := b.events[0].(runtime.ArtifactUpdate).ArtifactUpdate()
	for _, e := range b.events[1:] {
		more := e.(runtime.ArtifactUpdate).ArtifactUpdate()
		data.Parts = append(data.Parts, more.Parts...)
		data.LastChunk = more.LastChunk
	}
	return w.Join(info.TaskID, info.ContextID, data)
}

// joined returns the number of the last of the records that go into one notification with the first: chunks that are
// appended to one artifact and say nothing else. 0: the first one travels alone. It is stored with the delivery before
// anything is sent, so that a repeat is the same notification.
func (w *Worker) joined(recs []*store.Record) int64 {
	if w.Join == nil {
		return 0
	}
	id, bytes, last := "", 0, 0
	for i, rec := range recs[:min(len(recs), maxBatch)] {
		if rec.Kind != runtime.EventArtifact {
			break
		}
		e, err := rec.Event()
		update, ok := e.(runtime.ArtifactUpdate)
		if err != nil || !ok {
			break
		}
		data := update.ArtifactUpdate()
		bytes += store.SizeOfArtifact(&data).Bytes
		if i > 0 && (!onlyParts(&data) || data.ID != id || bytes > batchBytes) {
			break
		}
		id, last = data.ID, i
		if data.LastChunk {
			break
		}
	}
	if last == 0 {
		return 0
	}
	return recs[last].Seq
}

// onlyParts reports whether a chunk appends parts and says nothing else.
func onlyParts(a *runtime.ArtifactData) bool {
	return a.Append && a.Name == "" && a.Description == "" && len(a.Metadata)+len(a.Extensions) == 0
}

// sequence is the number of the event, or the range of them.
func (b *batch) sequence() string {
	text := strconv.FormatInt(b.first, 10)
	if b.last > b.first {
		text += "-" + strconv.FormatInt(b.last, 10)
	}
	return text
}

// notificationID is the same on every repeat. It tells a receiver nothing.
func notificationID(j *job, b *batch) string {
	owner := j.Key.Owner
	text := fmt.Appendf(nil, "%q %q %q %q %s", owner.Tenant, owner.Principal, j.Key.Task, j.Push.ID, b.sequence())
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}
