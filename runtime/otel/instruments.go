package otel

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/a2agen/a2agen/runtime/observe"
)

// bounds are those of the histograms in seconds: an agent answers in milliseconds or works for an hour.
var bounds = []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600}

// instruments measure activities of one kind. Nothing that a peer chooses is an attribute of theirs, so that the series are few.
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

// count adds to those that are there now. It is called with the attributes of the beginning both times.
func (i instruments) count(ctx context.Context, n int64, l list) {
	i.active.Add(ctx, n, metric.WithAttributes(l...))
}

// measure takes down what is over.
func (i instruments) measure(ctx context.Context, agent string, a *observe.Activity) {
	l := make(list, 0, 8)
	l.text(agentName, agent)
	l.text(operation, a.Operation)
	l.text(binding, a.Binding)
	if a.Kind == observe.Run {
		l.text(skill, a.Skill)
	}
	l.text(state, stateName(a.State))
	l.text(outcome, outcomeOf(a))
	l.text(errorType, a.Reason)
	i.duration.Record(ctx, time.Since(a.Begun).Seconds(), metric.WithAttributes(l...))
}
