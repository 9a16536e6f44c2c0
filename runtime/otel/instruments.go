package otel

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
)

// bounds are those of the histograms in seconds: an agent answers in milliseconds or works for an hour.
var bounds = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}

// instruments measure activities of one kind.
type instruments struct {
	duration metric.Float64Histogram
	active   metric.Int64UpDownCounter
}

// newInstruments makes the instruments of all kinds. Where one is refused it does nothing, and the SDK has reported why.
func newInstruments(m metric.Meter) (all [len(kinds)]instruments) {
	for i, k := range kinds {
		if k.name == "" {
			continue
		}
		all[i].duration, _ = m.Float64Histogram(k.name+".duration", metric.WithUnit("s"),
			metric.WithDescription("How long it took, a stream to its end."), metric.WithExplicitBucketBoundaries(bounds...))
		all[i].active, _ = m.Int64UpDownCounter(k.name+".active", metric.WithUnit("{"+k.unit+"}"),
			metric.WithDescription("How many there are now."))
	}
	return all
}

// series is what measurements are told apart by. It has nothing that a peer chooses, so that there are few.
type series struct {
	operation, binding, skill string
	stream                    bool
	state                     runtime.State
	over                      bool   // reason says how it ended
	system, call              string // a database, and what is called of a store
	reason                    string
}

// labels are the attributes of a series as instruments take them.
type labels struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

// seen are the labels of all series so far: to make them takes longer than to measure.
type seen struct {
	mu  sync.RWMutex
	all map[series]*labels
}

func (o *observer) labels(s series) *labels {
	o.seen.mu.RLock()
	found := o.seen.all[s]
	o.seen.mu.RUnlock()
	if found != nil {
		return found
	}
	option := metric.WithAttributeSet(attribute.NewSet(o.describe(s)...))
	made := &labels{[]metric.AddOption{option}, []metric.RecordOption{option}}
	o.seen.mu.Lock()
	defer o.seen.mu.Unlock()
	o.seen.all[s] = made
	return made
}

// describe makes the attributes of a series.
func (o *observer) describe(s series) list {
	var l list
	l.text(agentName, o.agent)
	l.text(operation, s.operation)
	l.text(binding, s.binding)
	l.text(skill, s.skill)
	l.text(state, stateName(s.state))
	l.text(errorType, s.reason)
	l.text(dbSystem, s.system)
	l.text(dbOperation, s.call)
	if s.stream {
		l = append(l, stream.Bool(true))
	}
	if s.over {
		l.text(outcome, outcomeOf(s.reason))
	}
	return l
}

// count adds an activity to those that there are now, until what it returns is taken off again; nil if nobody counts.
func (o *observer) count(ctx context.Context, a *observe.Activity) *labels {
	active := o.instruments[a.Kind].active
	if !active.Enabled(ctx) {
		return nil
	}
	s := series{stream: a.Stream}
	if a.Kind == observe.Run {
		s.skill = a.Skill
	}
	l := o.labels(s)
	active.Add(ctx, 1, l.add...)
	return l
}

// measure takes down what is over.
func (o *observer) measure(ctx context.Context, a *observe.Activity, counted *labels) {
	of := o.instruments[a.Kind]
	if counted != nil {
		of.active.Add(ctx, -1, counted.add...)
	}
	if !of.duration.Enabled(ctx) {
		return
	}
	s := series{operation: a.Operation, binding: a.Binding, state: a.State, over: true, reason: a.Reason}
	if a.Kind == observe.Run {
		s.skill = a.Skill
	}
	of.duration.Record(ctx, time.Since(a.Begun).Seconds(), o.labels(s).record...)
}
