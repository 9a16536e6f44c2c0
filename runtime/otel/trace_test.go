package otel_test

import (
	"context"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/a2agen/a2agen/runtime/internal/observing"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/otel"
)

const (
	traceID  = "4bf92f3577b34da6a3ce929d0e0e4736"
	spanID   = "00f067aa0ba902b7"
	incoming = "00-" + traceID + "-" + spanID + "-01"
)

// from is a carrier with what a peer sent or a task keeps.
func from(parent string) *observing.Trace { return &observing.Trace{Parent: parent, State: "vendor=1"} }

func TestASpanStandsWhereItBelongs(t *testing.T) {
	c := newCollector()
	o := c.observer()
	live, parent := c.traces.Tracer("").Start(t.Context(), "somebody's")
	now := parent.SpanContext()
	for name, tt := range map[string]struct {
		opts           []otel.Option
		ctx            context.Context
		kind           observe.Kind
		carrier        observe.Carrier
		parent, linked string // span ids
	}{
		"below the caller's":                           {nil, t.Context(), observe.Serve, from(incoming), spanID, ""},
		"below the program's own, with a link":         {nil, live, observe.Serve, from(incoming), now.SpanID().String(), spanID},
		"a trace of its own":                           {nil, t.Context(), observe.Serve, from(""), "", ""},
		"a trace of its own, as what came is none":     {nil, t.Context(), observe.Serve, from("00-" + strings.Repeat("0", 32) + "-" + spanID + "-01"), "", ""},
		"a stranger's is linked":                       {[]otel.Option{otel.Public()}, t.Context(), observe.Serve, from(incoming), "", spanID},
		"a stranger's task goes on in its trace":       {[]otel.Option{otel.Public()}, t.Context(), observe.Run, from(incoming), spanID, ""},
		"a run below its call":                         {nil, live, observe.Run, from("00-" + now.TraceID().String() + "-" + spanID + "-01"), now.SpanID().String(), ""},
		"a follow-up's run below its call, and linked": {nil, live, observe.Run, from(incoming), now.SpanID().String(), spanID},
		"a run after a crash below what is kept":       {nil, t.Context(), observe.Run, from(incoming), spanID, ""},
		"a delivery below what is kept":                {nil, t.Context(), observe.Deliver, from(incoming), spanID, ""},
		"a call of a handler":                          {nil, live, observe.Call, from(""), now.SpanID().String(), ""},
		"a call of somebody who has no carrier":        {nil, live, observe.Call, nil, now.SpanID().String(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.spans.Reset()
			o := o
			if tt.opts != nil {
				o = c.observer(tt.opts...)
			}
			happen(tt.ctx, o, observe.Activity{Kind: tt.kind, Carrier: tt.carrier}, nil)
			span, linked := c.only(t), ""
			for _, l := range span.Links {
				linked += l.SpanContext.SpanID().String()
			}
			above := ""
			if span.Parent.IsValid() {
				above = span.Parent.SpanID().String()
			}
			if above != tt.parent || linked != tt.linked {
				t.Errorf("it is below %q with links to %q", above, linked)
			}
			if above == spanID && span.SpanContext.TraceState().String() != "vendor=1" {
				t.Errorf("its state is %q", span.SpanContext.TraceState())
			}
		})
	}
}

// TestWhoIsCalledLearnsTheTrace, and who calls does not get one back.
func TestWhoIsCalledLearnsTheTrace(t *testing.T) {
	for kind, sent := range map[observe.Kind]bool{observe.Serve: false, observe.Run: false, observe.Call: true, observe.Deliver: true} {
		c := newCollector()
		carrier := from(incoming)
		happen(t.Context(), c.observer(), observe.Activity{Kind: kind, Carrier: carrier}, nil)
		own := "00-" + traceID + "-" + c.only(t).SpanContext.SpanID().String() + "-01"
		if sent && carrier.Parent != own || !sent && carrier.Parent != incoming {
			t.Errorf("%v has the carrier say %q", kind, carrier.Parent)
		}
	}
}

// TestWithoutAnSDKTheTraceGoesOn: an agent that reports nothing does not break the trace of those around it.
func TestWithoutAnSDKTheTraceGoesOn(t *testing.T) {
	for name, o := range map[string]observe.Observer{"global": otel.Observer(), "noop": otel.Observer(otel.TracerProvider(noop.NewTracerProvider()))} {
		serve := &observe.Activity{Kind: observe.Serve, Carrier: from(incoming)}
		ctx := o.Begin(t.Context(), serve)
		var kept, sent observing.Trace
		o.(observe.Injector).Inject(ctx, &kept)
		happen(ctx, o, observe.Activity{Kind: observe.Call, Carrier: &sent}, nil)
		o.End(ctx, serve)
		if kept != *from(incoming) || sent != *from(incoming) {
			t.Errorf("%s: kept %v, sent %v", name, kept, sent)
		}
	}
}

// TestObserversEndTheirOwnSpans: of two that report to different places, and of activities within another.
func TestObserversEndTheirOwnSpans(t *testing.T) {
	one, other := newCollector(), newCollector()
	var both observing.Group = observing.Together([]observe.Observer{one.observer(), other.observer()}, func(p any) { t.Error(p) })
	serve, run := &observe.Activity{Kind: observe.Serve, Operation: "SendMessage"}, &observe.Activity{Kind: observe.Run, Skill: "forecast"}
	ctx := both.Begin(t.Context(), serve)
	inner := both.Begin(ctx, run)
	both.End(ctx, serve) // it does not wait for the run
	both.End(inner, run)
	for _, c := range []*collector{one, other} {
		spans := c.spans.GetSpans()
		if len(spans) != 2 || spans[0].Name != "SendMessage" || spans[1].Name != "run forecast" {
			t.Errorf("spans %v", spans)
		}
	}
	one.observer().End(t.Context(), serve) // it did not begin
}

// TestASpanIsTheContextsOfWhatFollows, so that what a handler does by itself with OpenTelemetry stands below its run.
func TestASpanIsTheContextsOfWhatFollows(t *testing.T) {
	c := newCollector()
	ctx := happen(t.Context(), c.observer(), observe.Activity{Kind: observe.Run}, nil)
	if got := trace.SpanContextFromContext(ctx); got.SpanID() != c.only(t).SpanContext.SpanID() {
		t.Errorf("the handler's context has the span %s", got.SpanID())
	}
}
