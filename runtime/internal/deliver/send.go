package deliver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/store"
)

// How a notification that does not arrive is sent again: after a backoff that doubles each time, with some jitter,
// until there were too many tries or too much time is over (R84, R192).
const (
	firstBackoff = time.Second
	lastBackoff  = 30 * time.Minute
	maxTries     = 60
	triesFor     = 24 * time.Hour
	maxAfter     = time.Hour // that a receiver may ask for
)

// deliver sends the next notification of a job and settles what came of it.
func (w *Worker) deliver(j *job) {
	ctx, cancel := w.storeContext()
	defer cancel()
	recs, err := w.Store.Events(ctx, j.Key, j.Next-1, maxBatch+1)
	if err == nil && len(recs) == 0 {
		w.settle(j, store.Outcome{})
		return
	}
	b, err := w.next(ctx, j, recs, err)
	if err != nil {
		w.unread(j, err)
		return
	}
	err = w.post(j, b)
	var failure *runtime.PushFailure
	switch {
	case err == nil:
		o := store.Outcome{Sent: b.last}
		if n := int(b.last - b.first + 1); n < len(recs) {
			o.Until = w.joined(recs[n:])
		}
		w.settle(j, o)
	case w.ctx.Err() != nil: // the worker is closing; it may have arrived
		w.settle(j, store.Outcome{})
	case errors.As(err, &failure):
		w.failed(j, failure)
	default:
		w.failed(j, &runtime.PushFailure{Reason: err.Error()})
	}
}

// unread settles a job whose notification could not be read: if its claim were left to run out, what follows would
// wait, although the store may answer the next moment.
func (w *Worker) unread(j *job, err error) {
	switch {
	case w.ctx.Err() != nil:
		w.settle(j, store.Outcome{})
	case !errors.Is(err, store.ErrNotFound): // if the task is gone, so is the delivery
		w.failed(j, &runtime.PushFailure{Reason: "it could not be read: " + err.Error()})
	}
}

// post encodes a notification and sends it.
func (w *Worker) post(j *job, b *batch) error {
	waiting, cancel := context.WithTimeout(w.ctx, maxClaimAge/2)
	defer cancel()
	if err := w.bodies.Acquire(waiting, b.bytes); err != nil {
		return &runtime.PushFailure{Reason: "there was no room to write it"}
	}
	defer w.bodies.Release(b.bytes)
	encoded, err := w.Encode(j.Push.Version, b.task, w.event(b))
	if err != nil {
		return &runtime.PushFailure{Reason: err.Error()}
	}
	if encoded.LeftOut != nil {
		w.log(j).Warn("what a task holds cannot be written in a push notification", "error", encoded.LeftOut)
	}
	return w.push(j, &runtime.Notification{
		Config: j.Push.Config, Version: encoded.Version, Body: encoded.Body,
		TaskID: j.Key.Task, ID: notificationID(j, b), Sequence: b.sequence(),
	})
}

// push sends a notification, and tells the observers.
func (w *Worker) push(j *job, n *runtime.Notification) error {
	if len(w.Observers.List) == 0 {
		return w.ask(w.ctx, j.host, n)
	}
	h := w.head(j)
	c := &carrier{kept: *observing.ReadTrace(h.Trace)}
	a := &observe.Activity{
		Kind: observe.Deliver, Begun: time.Now(), Attempt: j.Attempt + 1, Peer: j.host.name, Carrier: c,
		Skill: h.Skill, Task: j.Key.Task, Context: h.Context, Caller: j.Key.Owner.Caller(), Tenant: j.Key.Owner.Tenant,
	}
	ctx := w.Observers.Begin(w.ctx, a)
	n.TraceParent, n.TraceState = c.sent.Parent, c.sent.State
	err := w.ask(ctx, j.host, n)
	a.Reason = reasonOf(err)
	w.Observers.End(ctx, a)
	return err
}

// ask sends a notification to a host, and notes how long that took to answer.
func (w *Worker) ask(ctx context.Context, h *host, n *runtime.Notification) error {
	asked := time.Now()
	w.mu.Lock()
	h.ask(asked)
	w.mu.Unlock()
	err := w.Sender.Push(ctx, n)
	now := time.Now()
	var failure *runtime.PushFailure
	answered := err == nil || errors.As(err, &failure) && failure.Answered
	w.mu.Lock()
	defer w.mu.Unlock()
	h.reply(asked, now, answered)
	return err
}

// carrier holds the trace that is kept with the task, and the one to be sent.
type carrier struct{ kept, sent observing.Trace }

func (c *carrier) Get(key string) string { return c.kept.Get(key) }
func (c *carrier) Set(key, value string) { c.sent.Set(key, value) }

// head returns what is known of a job's task; nothing when the store cannot say.
func (w *Worker) head(j *job) store.Head {
	ctx, cancel := w.storeContext()
	defer cancel()
	h, err := w.Store.Head(ctx, j.Key)
	if err != nil {
		return store.Head{}
	}
	return h
}

// reasonOf is why a notification did not arrive, as observers name it; "" if it did.
func reasonOf(err error) string {
	var failure *runtime.PushFailure
	switch {
	case err == nil:
		return ""
	case !errors.As(err, &failure):
		return observe.ReasonOf(err)
	case failure.Gone:
		return observe.ReasonRejected
	case failure.Answered:
		return observe.ReasonFailed
	}
	return observe.ReasonAway
}

// failed decides whether a notification is sent again, and when.
func (w *Worker) failed(j *job, failure *runtime.PushFailure) {
	tries := j.Attempt + 1
	log := w.log(j).With("try", tries, "reason", failure.Reason)
	switch {
	case failure.Gone:
		log.Info("push notifications are not wanted any more")
		w.settle(j, store.Outcome{Dead: failure.Reason})
	case tries >= maxTries || !j.Since.IsZero() && time.Since(j.Since) >= triesFor:
		log.Warn("push notification was given up")
		w.settle(j, store.Outcome{Dead: fmt.Sprintf("given up after %d tries: %s", tries, failure.Reason)})
	default:
		level := slog.LevelDebug
		if tries == 1 {
			level = slog.LevelInfo // once is enough to know
		}
		log.Log(w.ctx, level, "push notification did not arrive, it is sent again")
		w.settle(j, store.Outcome{Again: max(backoff(tries), min(failure.After, maxAfter))})
	}
}

// backoff is how long to wait after so many failed tries: a half up to the whole of a time that doubles.
func backoff(tries int) time.Duration {
	d := min(firstBackoff<<min(tries-1, 20), lastBackoff)
	return d/2 + rand.N(d/2+1)
}

// How long to wait before the store is told again what came of a job, which doubles each time.
const (
	firstSettle = 50 * time.Millisecond
	lastSettle  = 5 * time.Second
)

// settle tells the store what came of a job: again while the store gives no answer, as long as the claim lasts, since
// until then nobody sends what follows. If the store cannot be told, the notification is sent again.
func (w *Worker) settle(j *job, o store.Outcome) {
	for wait := firstSettle; ; wait = min(2*wait, lastSettle) {
		err := w.settleOnce(j, o)
		if err == nil || errors.Is(err, store.ErrLost) {
			return
		}
		if store.Unsure(err) && time.Since(j.claimed)+wait < claimFor && w.pause(wait) {
			continue
		}
		w.log(j).Warn("what came of a push notification could not be stored", "error", err)
		return
	}
}

func (w *Worker) settleOnce(j *job, o store.Outcome) error {
	patience := w.StoreTime
	if w.ctx.Err() != nil {
		patience = w.Grace
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return w.Store.Settle(ctx, j.Delivery, o)
}

// pause waits, and reports whether the worker goes on.
func (w *Worker) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.ctx.Done():
		return false
	case <-timer.C:
		return w.ctx.Err() == nil
	}
}
