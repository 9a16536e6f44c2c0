package otel

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/a2agen/a2agen/runtime/observe"
)

// w3c is the one form in which agents hand on a trace (W3C Trace Context).
var w3c propagation.TraceContext

// carrier is an activity's carrier as OpenTelemetry has it.
type carrier struct{ observe.Carrier }

// Keys is what other forms than ours ask for.
func (carrier) Keys() []string { return w3c.Fields() }

// extract reads the trace context that a carrier has; nil has none.
func extract(c observe.Carrier) trace.SpanContext {
	if c == nil {
		return trace.SpanContext{}
	}
	return trace.SpanContextFromContext(w3c.Extract(context.Background(), carrier{c}))
}

// Inject writes the trace context of ctx. With it the observer is an [observe.Injector].
func (o *observer) Inject(ctx context.Context, c observe.Carrier) { w3c.Inject(ctx, carrier{c}) }
