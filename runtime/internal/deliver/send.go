package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// How a notification that does not arrive is repeated: after a while that doubles each time, with some jitter, until
// there were too many tries or too much time is over (R84, R192).
const (
	firstRepeat  = time.Second
	lastRepeat   = 30 * time.Minute
	repeatFor    = 24 * time.Hour
	repeats      = 60
	longestAfter = time.Hour // that a receiver may ask for
)

// How much travels as one.
const (
	togetherAtMost = 64
	togetherBytes  = 256 << 10
)

// stretch are the events that travel as one notification: first to last. task is set for one that shows the task as it
// stands instead, because they are not kept any more.
type stretch struct {
	first, last int64
	events      []runtime.Event
	task        runtime.Task
	bytes       int64
}

// deliver sends the next notification of a claimed delivery and settles what came of it. It reports whether the
// receiver answered.
func (c *courier) deliver(p *parcel) (answered bool) {
	ctx, cancel := c.soon()
	defer cancel()
	recs, err := c.e.store.Events(ctx, p.Key, p.Next-1, togetherAtMost+1)
	if err == nil && len(recs) == 0 {
		c.settle(p, store.Outcome{})
		return true
	}
	s, err := c.stretch(ctx, p, recs, err)
	if err != nil {
		if !errors.Is(err, store.ErrNotFound) { // its claim runs out
			c.log(p).Warn("push notification could not be read, trying again", "error", err)
		}
		return true
	}
	err = c.post(p, s)
	var failure *runtime.PushFailure
	switch {
	case err == nil:
		o := store.Outcome{Sent: s.last}
		if n := int(s.last - s.first + 1); n < len(recs) {
			o.Until = c.together(recs[n:])
		}
		c.settle(p, o)
		return true
	case c.ctx.Err() != nil: // the engine shuts down; it may have arrived
		c.settle(p, store.Outcome{})
		return false
	case !errors.As(err, &failure):
		failure = &runtime.PushFailure{Reason: err.Error()}
	}
	c.failed(p, failure)
	return failure.Answered
}

// stretch is what goes out next.
func (c *courier) stretch(ctx context.Context, p *parcel, recs []*store.Record, err error) (*stretch, error) {
	if errors.Is(err, store.ErrTrimmed) { // a receiver that was away for too long gets the task as it stands
		return c.snapshot(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	n := 1
	for n < len(recs) && recs[n].Seq <= p.Until {
		n++
	}
	s := &stretch{first: p.Next, last: recs[n-1].Seq}
	for _, rec := range recs[:n] {
		e, err := rec.Event()
		if err != nil {
			return nil, err
		}
		s.events = append(s.events, e)
		s.bytes += int64(store.SizeOf(e, nil).Bytes)
	}
	if !p.Push.Tasks {
		return s, nil
	}
	snap, err := c.e.store.Get(ctx, p.Key, store.View{Artifacts: true, At: s.last})
	if errors.Is(err, store.ErrTrimmed) {
		return c.snapshot(ctx, p)
	}
	s.task, s.bytes = snap.Task, int64(snap.Bytes)
	return s, err
}

// snapshot is the task as it stands, in place of all events that were not sent.
func (c *courier) snapshot(ctx context.Context, p *parcel) (*stretch, error) {
	snap, err := c.e.store.Get(ctx, p.Key, store.Full)
	if err != nil {
		return nil, err
	}
	return &stretch{
		first: p.Next, last: snap.Version, events: []runtime.Event{snap.Task}, task: snap.Task, bytes: int64(snap.Bytes),
	}, nil
}

// post writes a notification and has it sent.
func (c *courier) post(p *parcel, s *stretch) error {
	v := c.e.Spoken(p.Push.Version)
	if v == nil {
		return &runtime.PushFailure{Reason: "version " + p.Push.Version + " is not spoken any more", Answered: true}
	}
	waiting, cancel := context.WithTimeout(c.ctx, freshFor/2)
	defer cancel()
	if err := c.bodies.Acquire(waiting, s.bytes); err != nil {
		return &runtime.PushFailure{Reason: "there was no room to write it", Answered: true}
	}
	defer c.bodies.Release(s.bytes)
	n := &runtime.Notification{
		Config: p.Push.Config, Version: v.Name, TaskID: p.Key.Task, ID: notificationID(p, s), Sequence: s.sequence(),
	}
	var err error
	if n.Body, err = c.body(p, v, s); err != nil {
		return &runtime.PushFailure{Reason: err.Error(), Answered: true}
	}
	return c.push(p, n)
}

// body writes a notification. Content that cannot be written is left out: repeating it would hold back all that follows.
func (c *courier) body(p *parcel, v *Version, s *stretch) ([]byte, error) {
	task, event := c.e.pushed(s.task), c.event(s)
	b, err := c.e.protocol.AppendPush(nil, v.Version, task, event)
	if err == nil {
		return b, nil
	}
	c.log(p).Warn("what a task holds cannot be written in a push notification", "error", err)
	if task != nil {
		task = c.e.bareTask(task)
	}
	return c.e.protocol.AppendPush(nil, v.Version, task, c.e.bareEvent(event))
}

// pushed is a task as the hooks want it answered.
func (e *Engine) pushed(task runtime.Task) runtime.Task {
	if len(e.hooks.Answers) == 0 || task == nil {
		return task
	}
	task = task.View(nil, true) // others may read it at the same time
	for _, f := range e.hooks.Answers {
		f(context.Background(), task)
	}
	return task
}

// event is the one that stands for a stretch.
func (c *courier) event(s *stretch) runtime.Event {
	if len(s.events) == 1 || s.task != nil {
		return s.events[len(s.events)-1]
	}
	info := s.events[0].EventInfo()
	data := s.events[0].(runtime.ArtifactUpdate).ArtifactUpdate()
	for _, e := range s.events[1:] {
		more := e.(runtime.ArtifactUpdate).ArtifactUpdate()
		data.Parts = append(data.Parts, more.Parts...)
		data.LastChunk = more.LastChunk
	}
	return c.e.protocol.NewArtifact(info.TaskID, info.ContextID, data)
}

// together is the last of the records that travel as one with the first: chunks that are appended to one artifact and
// say nothing else. 0: the first one travels alone. What is decided here is kept with the delivery before anything is
// sent, so that a repeat is the same notification.
func (c *courier) together(recs []*store.Record) int64 {
	if c.e.hooks.any() { // they may have put something into an event that would be lost
		return 0
	}
	id, bytes, last := "", 0, 0
	for i, rec := range recs[:min(len(recs), togetherAtMost)] {
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
		if i > 0 && (!bare(&data) || data.ID != id || bytes > togetherBytes) {
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

// bare reports whether a chunk brings parts and nothing else.
func bare(a *runtime.ArtifactData) bool {
	return a.Append && a.Name == "" && a.Description == "" && len(a.Metadata)+len(a.Extensions) == 0
}

// sequence is the number of the event, or the range of them.
func (s *stretch) sequence() string {
	text := strconv.FormatInt(s.first, 10)
	if s.last > s.first {
		text += "-" + strconv.FormatInt(s.last, 10)
	}
	return text
}

// notificationID is the same on every repeat. It tells a receiver nothing.
func notificationID(p *parcel, s *stretch) string {
	owner := p.Key.Owner
	text := fmt.Appendf(nil, "%q %q %q %q %s", owner.Tenant, owner.Principal, p.Key.Task, p.Push.ID, s.sequence())
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// failed decides whether a notification is sent again, and when.
func (c *courier) failed(p *parcel, failure *runtime.PushFailure) {
	tries := p.Attempt + 1
	log := c.log(p).With("try", tries, "reason", failure.Reason)
	switch {
	case failure.Gone:
		log.Info("push notifications are not wanted any more")
		c.settle(p, store.Outcome{Dead: failure.Reason})
	case tries >= repeats || !p.Since.IsZero() && time.Since(p.Since) >= repeatFor:
		log.Warn("push notification was given up")
		c.settle(p, store.Outcome{Dead: fmt.Sprintf("given up after %d tries: %s", tries, failure.Reason)})
	default:
		level := slog.LevelDebug
		if tries == 1 {
			level = slog.LevelInfo // once is enough to know
		}
		log.Log(c.ctx, level, "push notification did not arrive, it is sent again")
		c.settle(p, store.Outcome{Again: max(pauseAfter(tries), min(failure.After, longestAfter))})
	}
}

// pauseAfter is how long to wait after so many failed tries: a half up to the whole of a time that doubles.
func pauseAfter(tries int) time.Duration {
	d := min(firstRepeat<<min(tries-1, 20), lastRepeat)
	return d/2 + rand.N(d/2+1)
}

// settle tells the store. If it cannot be told, the claim runs out and the notification is sent again.
func (c *courier) settle(p *parcel, o store.Outcome) {
	patience := storeTime
	if c.ctx.Err() != nil {
		patience = lastGrace
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := c.e.store.Settle(ctx, p.Delivery, o)
	if err != nil && !errors.Is(err, store.ErrLost) {
		c.log(p).Warn("what came of a push notification could not be stored", "error", err)
	}
}
