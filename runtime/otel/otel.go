// Package otel tells OpenTelemetry what an agent and its clients do: a span and measurements for every call that comes in, every
// run of a skill, every call that goes out, and every attempt to deliver a push notification.
//
// It links the API of OpenTelemetry and no SDK: a program that sets none up pays little and sends nothing. Traces go from
// agent to agent in the form of the W3C, and a task keeps the trace that it began in.
package otel

import (
	"context"

	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/a2agen/a2agen/runtime/observe"
)

// scope is the name under which spans and instruments are made.
const scope = "github.com/a2agen/a2agen/runtime/otel"

// Option changes an observer.
type Option func(*observer)

// Agent names the agent that is observed, or called, as its card does.
func Agent(name string) Option { return func(o *observer) { o.agent = name } }

// Public is for an agent that strangers call: the trace that a caller names is linked and not continued, so that callers neither
// choose what is sampled nor write into the traces of others.
func Public() Option { return func(o *observer) { o.public = true } }

// Callers has spans say who called (user.id). Without it they do not, since traces often go to other people's systems.
func Callers() Option { return func(o *observer) { o.callers = true } }

// TracerProvider makes spans in place of the global one of OpenTelemetry.
func TracerProvider(p trace.TracerProvider) Option { return func(o *observer) { o.traces = p } }

// MeterProvider takes measurements in place of the global one of OpenTelemetry.
func MeterProvider(p metric.MeterProvider) Option { return func(o *observer) { o.measures = p } }

// Observer is what server.WithObserver and client.WithObserver take. It goes to the global providers of OpenTelemetry,
// which may be set before or after.
func Observer(opts ...Option) observe.Observer {
	o := &observer{traces: api.GetTracerProvider(), measures: api.GetMeterProvider(), seen: seen{all: map[series]*labels{}}}
	for _, opt := range opts {
		opt(o)
	}
	o.tracer = o.traces.Tracer(scope)
	o.instruments = newInstruments(o.measures.Meter(scope))
	return o
}

type observer struct {
	agent           string
	public, callers bool
	traces          trace.TracerProvider
	measures        metric.MeterProvider

	tracer      trace.Tracer
	instruments [len(kinds)]instruments // by kind
	seen        seen
}

// kinds are what activities are to OpenTelemetry: their instruments' names and units, and the kinds of their spans.
var kinds = [...]struct {
	name, unit string
	span       trace.SpanKind
}{
	observe.Serve:   {"a2a.server.call", "call", trace.SpanKindServer},
	observe.Run:     {"a2a.run", "run", trace.SpanKindInternal},
	observe.Call:    {"a2a.client.call", "call", trace.SpanKindClient},
	observe.Deliver: {"a2a.delivery", "delivery", trace.SpanKindClient},
}

// kindOptions start spans of their kinds.
var kindOptions = func() (all [len(kinds)]trace.SpanStartOption) {
	for i, k := range kinds {
		all[i] = trace.WithSpanKind(k.span)
	}
	return all
}()

// running is what Begin keeps for End, in the context.
type running struct {
	span    trace.Span
	counted *labels // under which it is counted; nil: it is not
}

// keyOf is the key of an observer's own: another one's may be in the same context.
type keyOf struct{ *observer }

// Begin opens a span, and writes where it is to who is called.
func (o *observer) Begin(ctx context.Context, a *observe.Activity) context.Context {
	r := &running{counted: o.count(ctx, a)}
	ctx, r.span = o.start(ctx, a)
	if a.Carrier != nil && calls(a) {
		o.Inject(ctx, a.Carrier)
	}
	return context.WithValue(ctx, keyOf{o}, r)
}

// calls reports whether an activity is a request to somebody else.
func calls(a *observe.Activity) bool { return kinds[a.Kind].span == trace.SpanKindClient }

// start opens the span where it belongs: below the one at work, or else below the one that the activity's carrier has.
func (o *observer) start(ctx context.Context, a *observe.Activity) (context.Context, trace.Span) {
	opts := append(make([]trace.SpanStartOption, 0, 3), kindOptions[a.Kind], trace.WithTimestamp(a.Begun))
	live, kept := trace.SpanContextFromContext(ctx), extract(a.Carrier)
	switch stranger := o.public && a.Kind == observe.Serve; {
	case !kept.IsValid():
	case !live.IsValid() && !stranger:
		ctx = trace.ContextWithRemoteSpanContext(ctx, kept)
	case live.TraceID() != kept.TraceID(): // such as that of a follow-up and that in which its task began
		opts = append(opts, trace.WithLinks(trace.Link{SpanContext: kept}))
	}
	return o.tracer.Start(ctx, spanName(a), opts...)
}

// End closes the span that Begin opened.
func (o *observer) End(ctx context.Context, a *observe.Activity) {
	r, _ := ctx.Value(keyOf{o}).(*running)
	if r == nil {
		return
	}
	o.measure(ctx, a, r.counted)
	if r.span.IsRecording() {
		r.span.SetName(spanName(a))
		r.span.SetAttributes(o.attributes(a)...)
		if result := outcomeOf(a.Reason); result == failed || result == refused && calls(a) {
			r.span.SetStatus(codes.Error, "") // to a server it is no error what a caller did wrong
		}
	}
	r.span.End()
}
