package otel

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/a2agen/a2agen/runtime/store"
)

// Attributes of a store, by the semantic conventions for databases.
const (
	dbSystem    = attribute.Key("db.system.name")
	dbOperation = attribute.Key("db.operation.name")
	poolName    = attribute.Key("db.client.connection.pool.name")
	poolState   = attribute.Key("db.client.connection.state")
)

// storeBounds are those of the histogram of calls, in seconds, as the conventions for databases have them.
var storeBounds = []float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10}

// watched is a store whose calls are measured.
type watched struct {
	store.Counter
	o        *observer
	system   attribute.KeyValue
	duration metric.Float64Histogram
	counted  metric.Registration // of what the store says of itself; nil: it was refused

	begun   time.Time    // the observing
	leased  atomic.Int64 // until how long after that the lease lasts, in nanoseconds; 0: it does not end
	claimed atomic.Int64 // calls that were taken over
	lost    atomic.Int64 // tasks that were lost to others
	dropped atomic.Int64 // tasks, by sweeps
}

// ObserveStore has the calls of a store measured. A store in memory stays as it is.
func (o *observer) ObserveStore(s store.Store) store.Store {
	c, ok := s.(store.Counter)
	if !ok {
		return s
	}
	w := &watched{Counter: c, o: o, begun: time.Now(), system: dbSystem.String(c.Stats().System)}
	m := o.measures.Meter(scope)
	w.duration, _ = m.Float64Histogram("db.client.operation.duration", metric.WithUnit("s"),
		metric.WithDescription("How long calls of the store took."), metric.WithExplicitBucketBoundaries(storeBounds...))
	w.count(m)
	return w
}

// errorTypes are what errors of a store are called. Those that are not here and are the store's decision, such as that
// there is no such task, are no errors to whoever runs it.
var errorTypes = []struct {
	err  error
	name string
}{
	{store.ErrUnavailable, "unavailable"}, {store.ErrUnknown, "unknown"}, {store.ErrNoSpace, "no_space"},
	{store.ErrConflict, "conflict"}, {store.ErrLost, "lost"}, {store.ErrFull, "full"},
}

func errorTypeOf(err error) string {
	if err == nil {
		return ""
	}
	for _, t := range errorTypes {
		if errors.Is(err, t.err) {
			return t.name
		}
	}
	if store.Unsure(err) {
		return "_OTHER"
	}
	return ""
}

// called measures a call that began then.
func (w *watched) called(ctx context.Context, op string, begun time.Time, err error) {
	if !w.duration.Enabled(ctx) {
		return
	}
	l := w.o.labels(series{system: w.system.Value.AsString(), call: op, reason: errorTypeOf(err)})
	w.duration.Record(ctx, time.Since(begun).Seconds(), l.record...)
}

func (w *watched) Create(ctx context.Context, key store.Key, n store.New, view *store.View) (s store.Snapshot, err error) {
	defer func(t time.Time) { w.called(ctx, "create", t, err) }(time.Now())
	return w.Counter.Create(ctx, key, n, view)
}

func (w *watched) Apply(ctx context.Context, key store.Key, expect int64, u store.Update, view *store.View) (s store.Snapshot, err error) {
	defer func(t time.Time) { w.called(ctx, "apply", t, err) }(time.Now())
	return w.Counter.Apply(ctx, key, expect, u, view)
}

func (w *watched) Get(ctx context.Context, key store.Key, view store.View) (s store.Snapshot, err error) {
	defer func(t time.Time) { w.called(ctx, "get", t, err) }(time.Now())
	return w.Counter.Get(ctx, key, view)
}

func (w *watched) Head(ctx context.Context, key store.Key) (h store.Head, err error) {
	defer func(t time.Time) { w.called(ctx, "head", t, err) }(time.Now())
	return w.Counter.Head(ctx, key)
}

func (w *watched) Events(ctx context.Context, key store.Key, after int64, max int) (r []*store.Record, err error) {
	defer func(t time.Time) { w.called(ctx, "events", t, err) }(time.Now())
	return w.Counter.Events(ctx, key, after, max)
}

func (w *watched) Ticket(ctx context.Context, hash [32]byte) (k store.Key, t store.Ticket, err error) {
	defer func(t time.Time) { w.called(ctx, "ticket", t, err) }(time.Now())
	return w.Counter.Ticket(ctx, hash)
}

func (w *watched) List(ctx context.Context, owner store.Owner, q store.Query) (p store.Page, err error) {
	defer func(t time.Time) { w.called(ctx, "list", t, err) }(time.Now())
	return w.Counter.List(ctx, owner, q)
}

func (w *watched) Claim(ctx context.Context, skills []string, max int) (runs []store.Run, err error) {
	defer func(t time.Time) { w.called(ctx, "claim", t, err) }(time.Now())
	runs, err = w.Counter.Claim(ctx, skills, max)
	w.claimed.Add(int64(len(runs)))
	return runs, err
}

func (w *watched) Renew(ctx context.Context) (l store.Lease, err error) {
	begun := time.Now()
	defer func() { w.called(ctx, "renew", begun, err) }()
	if l, err = w.Counter.Renew(ctx); err == nil && l.For > 0 {
		w.leased.Store(int64(begun.Add(l.For).Sub(w.begun)))
	}
	w.lost.Add(int64(len(l.Lost)))
	return l, err
}

func (w *watched) SetPush(ctx context.Context, key store.Key, p store.Push) (err error) {
	defer func(t time.Time) { w.called(ctx, "set_push", t, err) }(time.Now())
	return w.Counter.SetPush(ctx, key, p)
}

func (w *watched) Pushes(ctx context.Context, key store.Key) (p []store.Push, err error) {
	defer func(t time.Time) { w.called(ctx, "pushes", t, err) }(time.Now())
	return w.Counter.Pushes(ctx, key)
}

func (w *watched) DeletePush(ctx context.Context, key store.Key, id string) (err error) {
	defer func(t time.Time) { w.called(ctx, "delete_push", t, err) }(time.Now())
	return w.Counter.DeletePush(ctx, key, id)
}

func (w *watched) Due(ctx context.Context, max int, hold time.Duration) (due []store.Delivery, next time.Duration, err error) {
	defer func(t time.Time) { w.called(ctx, "due", t, err) }(time.Now())
	return w.Counter.Due(ctx, max, hold)
}

func (w *watched) Settle(ctx context.Context, d store.Delivery, o store.Outcome) (err error) {
	defer func(t time.Time) { w.called(ctx, "settle", t, err) }(time.Now())
	return w.Counter.Settle(ctx, d, o)
}

func (w *watched) Note(ctx context.Context, owner store.Owner, context string) (n store.Note, err error) {
	defer func(t time.Time) { w.called(ctx, "note", t, err) }(time.Now())
	return w.Counter.Note(ctx, owner, context)
}

func (w *watched) SetNote(ctx context.Context, owner store.Owner, context string, value []byte, expect int64) (v int64, err error) {
	defer func(t time.Time) { w.called(ctx, "set_note", t, err) }(time.Now())
	return w.Counter.SetNote(ctx, owner, context, value, expect)
}

func (w *watched) Sweep(ctx context.Context) (dropped int, more bool, err error) {
	defer func(t time.Time) { w.called(ctx, "sweep", t, err) }(time.Now())
	dropped, more, err = w.Counter.Sweep(ctx)
	w.dropped.Add(int64(dropped))
	return dropped, more, err
}

func (w *watched) Close(left ...store.Key) error {
	if w.counted != nil {
		_ = w.counted.Unregister()
	}
	return w.Counter.Close(left...)
}
