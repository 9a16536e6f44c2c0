package equivalence

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/otel"
	"github.com/a2agen/a2agen/runtime/server"
)

// reported is what an agent tells OpenTelemetry while callers show it their secrets.
type reported struct {
	spans    *tracetest.InMemoryExporter
	measures *metric.ManualReader
	mu       sync.Mutex
	secrets  map[string]bool
}

func newReported() *reported {
	r := &reported{spans: tracetest.NewInMemoryExporter(), measures: metric.NewManualReader(), secrets: map[string]bool{
		"key-of-": true, "password:of": true, "agent's": true, // the agent's own at the issuer
	}}
	for name := range persons {
		r.secrets[auth.HashKey("key-of-"+name)] = true
	}
	return r
}

// observer reports everything that there is, also who called.
func (r *reported) observer() server.Option {
	traces := trace.NewTracerProvider(trace.WithSyncer(r.spans))
	measures := metric.NewMeterProvider(metric.WithReader(r.measures))
	return server.WithObserver(otel.Observer(otel.Callers(), otel.TracerProvider(traces), otel.MeterProvider(measures)))
}

// show takes down what a caller is about to show. What is as short as a name is none that one could tell from it.
func (r *reported) show(c shown) {
	r.mu.Lock()
	defer r.mu.Unlock()
	keep := func(secret string) {
		if len(secret) > 8 {
			r.secrets[secret] = true
		}
	}
	for _, value := range c.header {
		_, bare, _ := strings.Cut(value, " ")
		keep(bare)
		keep(bare[strings.LastIndex(bare, ".")+1:]) // the signature of a token
	}
	keep(c.query)
	if c.certificate != nil {
		keep(base64.StdEncoding.EncodeToString(c.certificate.Leaf.Raw))
	}
}

// check holds spans and measurements to have nothing of that, and to be there.
func (r *reported) check(t *testing.T) {
	t.Helper()
	all, served := r.text(t)
	if served == 0 {
		t.Error("no call is reported")
	}
	for secret := range r.secrets {
		if i := strings.Index(all, secret); i >= 0 {
			t.Errorf("%q is reported: %s", secret, all[max(0, i-80):min(len(all), i+len(secret)+20)])
		}
	}
}

// text is all that is reported, and of how many calls.
func (r *reported) text(t *testing.T) (all string, served int) {
	t.Helper()
	var b strings.Builder
	add := func(list []attribute.KeyValue) {
		for _, kv := range list {
			b.WriteString(string(kv.Key) + "=" + kv.Value.String() + "\n")
		}
	}
	for _, s := range r.spans.GetSpans() {
		if s.SpanKind.String() == "server" {
			served++
		}
		fmt.Fprintln(&b, s.Name, s.Status.Description, s.SpanContext.TraceState(), s.Events, s.Resource)
		add(s.Attributes)
		for _, l := range s.Links {
			add(l.Attributes)
		}
	}
	var measured metricdata.ResourceMetrics
	if err := r.measures.Collect(t.Context(), &measured); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "%+v", measured)
	return b.String(), served
}
