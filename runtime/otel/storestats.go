package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/a2agen/a2agen/runtime/store"
)

// storeNumber is an instrument for a number that a store says of itself, and how it is read.
type storeNumber struct {
	name, unit, what string
	counter          bool // it only grows
	read             func(w *watched, s *store.Stats) float64
}

// storeNumbers are all of them but those of pools. What is negative is not known and not reported.
var storeNumbers = []storeNumber{
	{"a2a.store.transactions", "{transaction}", "Transactions that were committed.", true,
		func(_ *watched, s *store.Stats) float64 { return float64(s.Transactions) }},
	{"a2a.store.writes", "{write}", "Changes in them.", true,
		func(_ *watched, s *store.Stats) float64 { return float64(s.Writes) }},
	{"a2a.store.conflicts", "{conflict}", "Changes that were decided anew, since another instance was faster.", true,
		func(_ *watched, s *store.Stats) float64 { return float64(s.Conflicts) }},
	{"a2a.store.notifications.sent", "{notification}", "Notifications to other instances.", true,
		func(_ *watched, s *store.Stats) float64 { return float64(s.Sent) }},
	{"a2a.store.notifications.received", "{notification}", "Notifications of other instances.", true,
		func(_ *watched, s *store.Stats) float64 { return float64(s.Received) }},
	{"a2a.store.notifications.lag", "s", "How long the last notification was on its way.", false,
		func(_ *watched, s *store.Stats) float64 { return s.Lag.Seconds() }},
	{"a2a.store.tasks", "{task}", "Tasks that the store keeps, of all instances.", false,
		func(_ *watched, s *store.Stats) float64 { return float64(s.Tasks) }},
	{"a2a.store.size", "By", "Bytes that the store keeps, of all instances.", false,
		func(_ *watched, s *store.Stats) float64 { return float64(s.Bytes) }},
	{"a2a.store.lease.remaining", "s", "For how long work goes on here if the lease is not renewed.", false,
		func(w *watched, _ *store.Stats) float64 { return w.remaining() }},
	{"a2a.store.claimed", "{task}", "Tasks that were taken over.", true,
		func(w *watched, _ *store.Stats) float64 { return float64(w.claimed.Load()) }},
	{"a2a.store.lost", "{task}", "Tasks that others run now, although this instance did.", true,
		func(w *watched, _ *store.Stats) float64 { return float64(w.lost.Load()) }},
	{"a2a.store.dropped", "{task}", "Tasks that were dropped by the retention rules.", true,
		func(w *watched, _ *store.Stats) float64 { return float64(w.dropped.Load()) }},
}

// remaining is how long the lease lasts, 0 when it is over, -1 when it never ends.
func (w *watched) remaining() float64 {
	until := time.Duration(w.leased.Load())
	if until == 0 {
		return -1
	}
	return max((until - time.Since(w.begun)).Seconds(), 0)
}

// pools are the instruments of connections.
type pools struct {
	count, max       metric.Float64Observable
	waited, timeouts metric.Float64Observable
}

// count makes the instruments and has them read when somebody collects. One that is refused does nothing, and the SDK
// has reported why.
func (w *watched) count(m metric.Meter) {
	all, used := make([]metric.Float64Observable, len(storeNumbers)), []metric.Observable(nil)
	for i, n := range storeNumbers {
		all[i] = n.instrument(m)
	}
	number := func(name, unit, what string, counter bool) metric.Float64Observable {
		return storeNumber{name: name, unit: unit, what: what, counter: counter}.instrument(m)
	}
	p := pools{
		count:    number("db.client.connection.count", "{connection}", "Connections, by what they do.", false),
		max:      number("db.client.connection.max", "{connection}", "Connections that there may be.", false),
		timeouts: number("db.client.connection.timeouts", "{timeout}", "Calls that got no connection in time.", true),
		waited:   number("a2a.store.connection.waited", "s", "How long calls have waited for a connection, in all.", true),
	}
	for _, one := range append(all, p.count, p.max, p.timeouts, p.waited) {
		if one != nil {
			used = append(used, one)
		}
	}
	w.counted, _ = m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := w.Stats()
		base := w.base()
		for i, n := range storeNumbers {
			if v := n.read(w, &s); v >= 0 && all[i] != nil {
				o.ObserveFloat64(all[i], v, metric.WithAttributes(base...))
			}
		}
		for i := range s.Pools {
			p.observe(o, &s.Pools[i], base)
		}
		return nil
	}, used...)
}

// base are the attributes of all numbers of the store.
func (w *watched) base() []attribute.KeyValue {
	var l list
	l.text(agentName, w.o.agent)
	return append(l, w.system)
}

func (p *pools) observe(o metric.Observer, of *store.Pool, base []attribute.KeyValue) {
	base = append(base[:len(base):len(base)], poolName.String(of.Name))
	with := func(more ...attribute.KeyValue) metric.MeasurementOption {
		return metric.WithAttributes(append(base[:len(base):len(base)], more...)...)
	}
	o.ObserveFloat64(p.count, float64(of.Used), with(poolState.String("used")))
	o.ObserveFloat64(p.count, float64(of.Idle), with(poolState.String("idle")))
	o.ObserveFloat64(p.max, float64(of.Max), with())
	o.ObserveFloat64(p.timeouts, float64(of.GaveUp), with())
	o.ObserveFloat64(p.waited, of.Waited.Seconds(), with())
}

// instrument makes the instrument of a number; nil if it is refused.
func (n storeNumber) instrument(m metric.Meter) metric.Float64Observable {
	if n.counter {
		i, err := m.Float64ObservableCounter(n.name, metric.WithUnit(n.unit), metric.WithDescription(n.what))
		if err != nil {
			return nil
		}
		return i
	}
	i, err := m.Float64ObservableGauge(n.name, metric.WithUnit(n.unit), metric.WithDescription(n.what))
	if err != nil {
		return nil
	}
	return i
}
