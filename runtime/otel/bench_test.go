package otel_test

import (
	"testing"
	"time"

	"go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/otel"
)

// BenchmarkCall is what a call that comes in costs its agent, beside what a processor of the SDK does with the span.
func BenchmarkCall(b *testing.B) {
	c := newCollector()
	none := []otel.Option{otel.TracerProvider(tracenoop.NewTracerProvider()), otel.MeterProvider(noop.NewMeterProvider())}
	for name, o := range map[string]observe.Observer{
		"without an SDK": otel.Observer(otel.Agent("Weather")),
		"noop":           otel.Observer(none...),
		"metrics":        otel.Observer(otel.Agent("Weather"), none[0], otel.MeterProvider(c.meters)),
		"not sampled": otel.Observer(otel.Agent("Weather"), otel.TracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample()))),
			none[1]),
		"all": otel.Observer(otel.Agent("Weather"), otel.TracerProvider(sdktrace.NewTracerProvider()), otel.MeterProvider(c.meters)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a := observe.Activity{
					Kind: observe.Serve, Operation: "SendMessage", Binding: runtime.BindingJSONRPC, Version: "1.0", Begun: time.Now(), Carrier: from(incoming),
				}
				ctx := o.Begin(b.Context(), &a)
				a.Skill, a.Task, a.Context = "chat", "8a491d0a-7e5c-4300-979b-e10ec603b1bd", "4e64d3bf-3dbf-4840-9539-eceb94452818"
				o.End(ctx, &a)
			}
		})
	}
}
