package otel_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/otel"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

// of observes an agent.
func (c *collector) of(agent string) server.Option {
	return server.WithObserver(c.observer(otel.Agent(agent)))
}

// to observes a client of the agent.
func (c *collector) to(agent string) client.Option {
	return client.WithObserver(c.observer(otel.Agent(agent)))
}

// relay is a skill that asks another agent.
func relay(c *client.Client) handler {
	return func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
		if err := t.Progress("Asking."); err != nil {
			return nil, err
		}
		r, err := chat.Call(ctx, c, client.Say(t.Text()))
		if err != nil {
			return nil, err
		}
		return []byte(r.Text()), nil
	}
}

func echo(_ context.Context, t *server.Task, _ any) ([]byte, error) {
	return []byte("echo " + t.Text()), nil
}

// below holds a span to have the other one above it, and returns it.
func below(t *testing.T, c *collector, above, span tracetest.SpanStub) tracetest.SpanStub {
	t.Helper()
	if span.Parent.SpanID() != above.SpanContext.SpanID() || span.SpanContext.TraceID() != above.SpanContext.TraceID() {
		t.Fatalf("%s %q is not below %s %q\n%s", span.SpanKind, span.Name, above.SpanKind, above.Name, c.tree())
	}
	return span
}

// TestOneTraceFromEndToEnd: client, agent, the agent that it asks, and the webhook are in one trace, over every binding and in
// every version.
func TestOneTraceFromEndToEnd(t *testing.T) {
	for _, w := range ways() {
		for _, streaming := range []bool{false, true} {
			name, op := w.binding+"/"+w.version, "SendMessage"
			if streaming {
				name, op = name+"/stream", "SendStreamingMessage"
			}
			t.Run(name, func(t *testing.T) {
				c, hook := newCollector(), newHook(t)
				far := dial(t, w, host(t, w, echo, c.of("far")), c.to("far"))
				near := dial(t, w, host(t, w, relay(far), c.of("near")), c.to("near"))
				ctx, root := c.traces.Tracer("").Start(t.Context(), "root")
				say(t, ctx, near, streaming, client.WithPush(hook.URL, "token"))
				root.End()
				spans := c.wait(t, "internal root", "client "+op+" near", "server "+op+" near", "internal run chat near",
					"client SendStreamingMessage far", "server SendStreamingMessage far", "internal run chat far", "client deliver near")
				call := below(t, c, spans["internal root"][0], spans["client "+op+" near"][0])
				serve := below(t, c, call, spans["server "+op+" near"][0])
				run := below(t, c, serve, spans["internal run chat near"][0])
				onward := below(t, c, run, spans["client SendStreamingMessage far"][0])
				below(t, c, below(t, c, onward, spans["server SendStreamingMessage far"][0]), spans["internal run chat far"][0])
				if told(serve.Attributes)["a2a.protocol.version"] != w.version || told(serve.Attributes)["a2a.binding"] != w.binding {
					t.Errorf("the call is %v", told(serve.Attributes))
				}
				if got := told(run.Attributes); got["a2a.task.id"] == "" || got["a2a.task.id"] != told(serve.Attributes)["a2a.task.id"] || got["a2a.task.state"] != "completed" {
					t.Errorf("the run is of %v, its call of %v", got, told(serve.Attributes))
				}
				delivered(t, c, "near", serve, hook)
			})
		}
	}
}

func say(t *testing.T, ctx context.Context, c *client.Client, streaming bool, opts ...client.CallOption) {
	t.Helper()
	if !streaming {
		if r, err := chat.Call(ctx, c, client.Say("hello"), opts...); err != nil || r.Text() != "echo hello" {
			t.Fatal(r, err)
		}
		return
	}
	for _, err := range chat.Stream(ctx, c, client.Say("hello"), opts...) {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// delivered holds every delivery to the trace of its task, and the webhook to have been told of its own one.
func delivered(t *testing.T, c *collector, agent string, task tracetest.SpanStub, h *hook) {
	t.Helper()
	for _, d := range c.wait(t, "client deliver "+agent)["client deliver "+agent] {
		if d.SpanContext.TraceID() != task.SpanContext.TraceID() || d.Parent.SpanID() != task.SpanContext.SpanID() {
			t.Errorf("the delivery is elsewhere:\n%s", c.tree())
		}
		own := "00-" + d.SpanContext.TraceID().String() + "-" + d.SpanContext.SpanID().String() + "-01"
		if !slices.Contains(h.told(), own) {
			t.Errorf("the webhook was told %q, not %q", h.told(), own)
		}
		if told(d.Attributes)["server.address"] != "127.0.0.1" || !strings.HasSuffix(h.URL, ":"+told(d.Attributes)["server.port"]) {
			t.Errorf("it went to %v", told(d.Attributes))
		}
	}
}

// TestAFollowUpIsLinkedToItsTask: who answers the next day does so in another trace, from which one gets to the first.
func TestAFollowUpIsLinkedToItsTask(t *testing.T) {
	c, w := newCollector(), way{runtime.BindingJSONRPC, "1.0"}
	agent := dial(t, w, host(t, w, func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		if t.Resumed() {
			return []byte("for " + t.Text()), nil
		}
		return nil, t.Ask("For which day?")
	}, c.of("near")), c.to("near"))
	var ask *client.InputRequiredError
	if _, err := chat.Call(t.Context(), agent, client.Say("book")); !errors.As(err, &ask) {
		t.Fatal(err)
	}
	first := c.wait(t, "server SendMessage near", "internal run chat near", "client SendMessage near")["server SendMessage near"][0]
	c.spans.Reset()
	if _, err := chat.Answer(t.Context(), agent, ask, runtime.Text("Monday")); err != nil {
		t.Fatal(err)
	}
	spans := c.wait(t, "server SendMessage near", "internal run chat near")
	run := below(t, c, spans["server SendMessage near"][0], spans["internal run chat near"][0])
	if run.SpanContext.TraceID() == first.SpanContext.TraceID() {
		t.Error("two calls that nobody put together are one trace")
	}
	if len(run.Links) != 1 || run.Links[0].SpanContext.SpanID() != first.SpanContext.SpanID() {
		t.Errorf("it is linked to %v\n%s", run.Links, c.tree())
	}
}

// TestWhatRunsAfterARestartBelongsToTheTrace: the trace is in the store.
func TestWhatRunsAfterARestartBelongsToTheTrace(t *testing.T) {
	c, w, began := newCollector(), way{runtime.BindingJSONRPC, "1.0"}, make(chan struct{})
	file := filepath.Join(t.TempDir(), "tasks.db")
	open := func() server.Option {
		s, err := sqlite.OpenStore(file, "agent", a2a.Protocol())
		if err != nil {
			t.Fatal(err)
		}
		return server.WithStore(s)
	}
	hook := newHook(t)
	url, stop := serve(t, w, func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
		if err := t.Progress("Looking."); err != nil {
			return nil, err
		}
		close(began)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}, open(), c.of("first"))
	agent := dial(t, w, url, c.to("first"))
	r, err := chat.Call(t.Context(), agent, client.Say("hello"), client.ReturnImmediately(), client.WithPush(hook.URL, "token"))
	var pending *client.PendingError
	if !errors.As(err, &pending) {
		t.Fatal(r, err)
	}
	<-began
	stop()
	first := c.wait(t, "server SendMessage first", "internal run chat first")
	serve := first["server SendMessage first"][0]
	if got := told(below(t, c, serve, first["internal run chat first"][0]).Attributes)["a2a.attempt"]; got != "1" {
		t.Errorf("attempt %s", got)
	}
	c.spans.Reset()
	host(t, w, echo, open(), c.of("second"))
	spans := c.wait(t, "internal run chat second", "client deliver second")
	if got := told(below(t, c, serve, spans["internal run chat second"][0]).Attributes); got["a2a.task.state"] != "completed" {
		t.Errorf("the run is %v", got)
	}
	delivered(t, c, "second", serve, hook)
}

// TestAnOpenStreamIsCounted as such, until it ends.
func TestAnOpenStreamIsCounted(t *testing.T) {
	c, w, goOn := newCollector(), way{runtime.BindingJSONRPC, "1.0"}, make(chan struct{})
	agent := dial(t, w, host(t, w, func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		if err := t.Progress("Looking."); err != nil {
			return nil, err
		}
		<-goOn
		return []byte("dry"), nil
	}, c.of("near")), c.to("near"))
	streams := func() [3]int64 {
		return [3]int64{
			c.series(t, "")["a2a.server.call.active a2a.stream=true gen_ai.agent.name=near"],
			c.series(t, "")["a2a.client.call.active a2a.stream=true gen_ai.agent.name=near"],
			c.series(t, "")["a2a.run.active a2a.skill.id=chat gen_ai.agent.name=near"],
		}
	}
	for e, err := range chat.Stream(t.Context(), agent, client.Say("hello")) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Progress == "Looking." {
			if got := streams(); got != [3]int64{1, 1, 1} {
				t.Errorf("while it is open: %v", got)
			}
			close(goOn)
		}
	}
	c.wait(t, "server SendStreamingMessage near", "client SendStreamingMessage near", "internal run chat near")
	if got := streams(); got != [3]int64{} {
		t.Errorf("afterwards: %v", got)
	}
	for _, of := range []string{"server", "client"} {
		series := "a2a." + of + ".call.duration a2a.binding=JSONRPC a2a.operation=SendStreamingMessage a2a.outcome=ok gen_ai.agent.name=near"
		if got := c.series(t, "a2a."+of+".call.duration"); got[series] != 1 {
			t.Errorf("%v", got)
		}
	}
}
