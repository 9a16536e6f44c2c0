package otel_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/otel"
)

// collector is an SDK that keeps what it is told.
type collector struct {
	spans  *tracetest.InMemoryExporter
	traces *sdktrace.TracerProvider
	reader *sdkmetric.ManualReader
	meters *sdkmetric.MeterProvider
}

func newCollector() *collector {
	c := &collector{spans: tracetest.NewInMemoryExporter(), reader: sdkmetric.NewManualReader()}
	c.traces = sdktrace.NewTracerProvider(sdktrace.WithSyncer(c.spans))
	c.meters = sdkmetric.NewMeterProvider(sdkmetric.WithReader(c.reader))
	return c
}

// observer is one that tells the collector.
func (c *collector) observer(opts ...otel.Option) observe.Observer {
	return otel.Observer(append(opts, otel.TracerProvider(c.traces), otel.MeterProvider(c.meters))...)
}

// only is the one span that there is.
func (c *collector) only(t *testing.T) tracetest.SpanStub {
	t.Helper()
	spans := c.spans.GetSpans()
	if len(spans) != 1 {
		t.Fatalf("%d spans: %v", len(spans), spans)
	}
	return spans[0]
}

// told are the attributes of a span as text.
func told(list []attribute.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range list {
		m[string(kv.Key)] = kv.Value.String()
	}
	return m
}

// series are the measurements of an instrument: what was counted, by the attributes.
func (c *collector) series(t *testing.T, name string) map[string]int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := c.reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					found[m.Name+" "+text(p.Attributes)] = int64(p.Count)
				}
			case metricdata.Sum[int64]:
				for _, p := range data.DataPoints {
					found[m.Name+" "+text(p.Attributes)] = p.Value
				}
			}
		}
	}
	maps.DeleteFunc(found, func(series string, _ int64) bool { return !strings.HasPrefix(series, name) })
	return found
}

func text(set attribute.Set) string {
	var parts []string
	for k, v := range told(set.ToSlice()) {
		parts = append(parts, k+"="+v)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// happen is an activity from its begin to its end, of which more is known then.
func happen(ctx context.Context, o observe.Observer, a observe.Activity, more func(*observe.Activity)) context.Context {
	a.Begun = time.Now()
	ctx = o.Begin(ctx, &a)
	if more != nil {
		more(&a)
	}
	o.End(ctx, &a)
	return ctx
}

func TestASpanSaysWhatHappened(t *testing.T) {
	caller := &runtime.Caller{ID: "ann", Issuer: "https://idp.example", Scheme: "idp", Claims: runtime.Caller{}.Claims}
	for name, tt := range map[string]struct {
		begin observe.Activity
		more  func(*observe.Activity)
		span  string
		kind  trace.SpanKind
		want  string
	}{
		"a call over JSON-RPC": {
			observe.Activity{Kind: observe.Serve, Binding: runtime.BindingJSONRPC},
			func(a *observe.Activity) {
				a.Operation, a.Version, a.Skill, a.Task, a.Context = "SendMessage", "1.0", "forecast", "t1", "c1"
				a.Caller, a.Tenant = caller, "acme"
			},
			"SendMessage", trace.SpanKindServer,
			"a2a.binding=JSONRPC a2a.operation=SendMessage a2a.protocol.version=1.0 a2a.security_scheme=idp a2a.skill.id=forecast a2a.task.id=t1 a2a.tenant=acme " +
				"gen_ai.agent.name=Weather gen_ai.conversation.id=c1 rpc.method=SendMessage rpc.system.name=jsonrpc",
		},
		"a stream over gRPC": {
			observe.Activity{Kind: observe.Serve, Binding: runtime.BindingGRPC, Operation: "SubscribeToTask", Stream: true}, nil,
			"SubscribeToTask", trace.SpanKindServer,
			"a2a.binding=GRPC a2a.operation=SubscribeToTask a2a.stream=true gen_ai.agent.name=Weather rpc.method=SubscribeToTask rpc.system.name=grpc",
		},
		"a call that names no operation": {
			observe.Activity{Kind: observe.Serve, Binding: runtime.BindingHTTP}, func(a *observe.Activity) { a.Reason = "METHOD_NOT_FOUND" },
			"a2a.server.call", trace.SpanKindServer, "a2a.binding=HTTP+JSON error.type=METHOD_NOT_FOUND gen_ai.agent.name=Weather",
		},
		"a run": {
			observe.Activity{Kind: observe.Run, Skill: "forecast", Task: "t1", Attempt: 2}, func(a *observe.Activity) { a.State = runtime.StateCompleted },
			"run forecast", trace.SpanKindInternal, "a2a.attempt=2 a2a.skill.id=forecast a2a.task.id=t1 a2a.task.state=completed gen_ai.agent.name=Weather",
		},
		"a call to another agent": {
			observe.Activity{Kind: observe.Call, Operation: "GetTask", Binding: runtime.BindingHTTP, Peer: "[::1]:8080"}, nil,
			"GetTask", trace.SpanKindClient, "a2a.binding=HTTP+JSON a2a.operation=GetTask gen_ai.agent.name=Weather server.address=::1 server.port=8080",
		},
		"a delivery": {
			observe.Activity{Kind: observe.Deliver, Task: "t1", Attempt: 1, Peer: "hooks.example"}, func(a *observe.Activity) { a.Reason = observe.ReasonAway },
			"deliver", trace.SpanKindClient, "a2a.attempt=1 a2a.task.id=t1 error.type=UNAVAILABLE gen_ai.agent.name=Weather server.address=hooks.example",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCollector()
			happen(t.Context(), c.observer(otel.Agent("Weather")), tt.begin, tt.more)
			span := c.only(t)
			if span.Name != tt.span || span.SpanKind != tt.kind {
				t.Errorf("span %q of kind %v", span.Name, span.SpanKind)
			}
			if got := text(attribute.NewSet(span.Attributes...)); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestWhoCalledIsInSpansOnlyWhereThatIsWanted(t *testing.T) {
	a := observe.Activity{Kind: observe.Serve, Caller: &runtime.Caller{ID: "ann", Scheme: "key"}}
	for want, opts := range map[string][]otel.Option{"": nil, a.Caller.Principal(): {otel.Callers()}} {
		c := newCollector()
		happen(t.Context(), c.observer(opts...), a, nil)
		if got := told(c.only(t).Attributes)["user.id"]; got != want {
			t.Errorf("user.id %q, want %q", got, want)
		}
	}
}

func TestTextOfPeersIsCutShort(t *testing.T) {
	c := newCollector()
	happen(t.Context(), c.observer(), observe.Activity{Kind: observe.Serve, Context: strings.Repeat("ü", 10_000) + "\xff"}, nil)
	if got := told(c.only(t).Attributes)["gen_ai.conversation.id"]; got != strings.Repeat("ü", 128) {
		t.Errorf("%d bytes: %.40q", len(got), got)
	}
}

func TestAServerIsNotToBlameForWhatItsCallersDoWrong(t *testing.T) {
	for _, tt := range []struct {
		reason           string
		outcome          string
		server, outgoing codes.Code
	}{
		{"", "ok", codes.Unset, codes.Unset},
		{"TASK_NOT_FOUND", "refused", codes.Unset, codes.Error},
		{"UNAUTHENTICATED", "refused", codes.Unset, codes.Error},
		{observe.ReasonBusy, "refused", codes.Unset, codes.Error},
		{observe.ReasonCanceled, "canceled", codes.Unset, codes.Unset},
		{"INTERNAL_ERROR", "failed", codes.Error, codes.Error},
		{"INVALID_AGENT_RESPONSE", "failed", codes.Error, codes.Error},
		{observe.ReasonTimeout, "failed", codes.Error, codes.Error},
	} {
		for kind, want := range map[observe.Kind]codes.Code{observe.Serve: tt.server, observe.Run: tt.server, observe.Call: tt.outgoing, observe.Deliver: tt.outgoing} {
			c := newCollector()
			happen(t.Context(), c.observer(), observe.Activity{Kind: kind, Reason: tt.reason}, nil)
			if status := c.only(t).Status; status.Code != want || status.Description != "" {
				t.Errorf("%v that ended %q has the status %v", kind, tt.reason, status)
			}
			for series := range c.series(t, "a2a."+names[kind]+".duration") {
				if !strings.Contains(series, "a2a.outcome="+tt.outcome) || !strings.Contains(series+" ", "error.type="+tt.reason+" ") && tt.reason != "" {
					t.Errorf("%v that ended %q is measured as %s", kind, tt.reason, series)
				}
			}
		}
	}
}

// names are those of the instruments.
var names = map[observe.Kind]string{observe.Serve: "server.call", observe.Run: "run", observe.Call: "client.call", observe.Deliver: "delivery"}

// TestEveryReasonHasAnOutcome: a new reason is a failure until somebody says what it is; those that are failures stand here.
func TestEveryReasonHasAnOutcome(t *testing.T) {
	failures := []string{
		"INTERNAL_ERROR", "INVALID_AGENT_RESPONSE", observe.ReasonTimeout, observe.ReasonAway, observe.ReasonFailed, observe.ReasonUnknown,
	}
	for _, reason := range observe.Reasons() {
		c := newCollector()
		happen(t.Context(), c.observer(), observe.Activity{Kind: observe.Serve, Reason: reason}, nil)
		for series := range c.series(t, "a2a.server.call.duration") {
			if strings.Contains(series, "a2a.outcome=failed") != slices.Contains(failures, reason) {
				t.Error(series)
			}
		}
	}
}

func TestMeasurementsHaveNothingThatAPeerChooses(t *testing.T) {
	c := newCollector()
	o := c.observer(otel.Agent("Weather"))
	for i := range 3 {
		id := fmt.Sprint(i)
		happen(t.Context(), o, observe.Activity{
			Kind: observe.Serve, Operation: "SendMessage", Binding: runtime.BindingJSONRPC, Version: id, Skill: "forecast", Task: id, Context: id, Tenant: id,
			Caller: &runtime.Caller{ID: id, Scheme: "key"},
		}, nil)
		happen(t.Context(), o, observe.Activity{Kind: observe.Run, Skill: "forecast", Task: id, Context: id, State: runtime.StateFailed, Reason: observe.ReasonFailed}, nil)
		happen(t.Context(), o, observe.Activity{Kind: observe.Deliver, Task: id, Peer: id, Attempt: i + 1}, nil)
	}
	want := map[string]int64{
		"a2a.server.call.duration a2a.binding=JSONRPC a2a.operation=SendMessage a2a.outcome=ok gen_ai.agent.name=Weather":             3,
		"a2a.server.call.active gen_ai.agent.name=Weather":                                                                            0,
		"a2a.run.duration a2a.outcome=failed a2a.skill.id=forecast a2a.task.state=failed error.type=FAILED gen_ai.agent.name=Weather": 3,
		"a2a.run.active a2a.skill.id=forecast gen_ai.agent.name=Weather":                                                              0,
		"a2a.delivery.duration a2a.outcome=ok gen_ai.agent.name=Weather":                                                              3,
		"a2a.delivery.active gen_ai.agent.name=Weather":                                                                               0,
	}
	if got := c.series(t, ""); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestWhatIsActiveIsCounted(t *testing.T) {
	c := newCollector()
	o := c.observer()
	a := &observe.Activity{Kind: observe.Serve, Stream: true}
	ctx := o.Begin(t.Context(), a)
	if got := c.series(t, "a2a.server.call.active"); got["a2a.server.call.active a2a.stream=true"] != 1 {
		t.Error(got)
	}
	a.Stream, a.Operation = false, "SendStreamingMessage" // it was counted as what it was
	o.End(ctx, a)
	if got := c.series(t, "a2a.server.call.active"); len(got) != 1 || got["a2a.server.call.active a2a.stream=true"] != 0 {
		t.Error(got)
	}
}

// TestThePageNamesEverything: docs/observe.md has every attribute and every instrument.
func TestThePageNamesEverything(t *testing.T) {
	page, err := os.ReadFile("../../docs/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile("attributes.go")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range regexp.MustCompile(`attribute\.Key\("([^"]+)"\)`).FindAllStringSubmatch(string(src), -1) {
		all = append(all, m[1])
	}
	for _, name := range names {
		all = append(all, "a2a."+name+".duration", "a2a."+name+".active")
	}
	for _, name := range all {
		if !strings.Contains(string(page), "`"+name+"`") {
			t.Errorf("the page has no %s", name)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
