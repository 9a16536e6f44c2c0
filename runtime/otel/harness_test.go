package otel_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// way is how an agent is called.
type way struct{ binding, version string }

// ways are all that there are.
func ways() (all []way) {
	for _, row := range runtime.Bindings {
		binding := row.Name
		for _, v := range a2a.Protocol().Versions {
			if v.Over(binding) != nil {
				all = append(all, way{binding, v.Name})
			}
		}
	}
	return all
}

// cardOf is a card whose one interface is at url.
func cardOf(t *testing.T, w way, url string) runtime.Card {
	t.Helper()
	card, err := a2a.Protocol().DecodeCard([]byte(`{"name":"Weather","description":"d","version":"1",
		"supportedInterfaces":[{"url":"` + url + `","protocolBinding":"` + w.binding + `","protocolVersion":"` + w.version + `"}],
		"capabilities":{"streaming":true,"pushNotifications":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"skills":[{"id":"chat","name":"Chat","description":"d","tags":["chat"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	return card
}

// handler is that of a skill without schemas.
type handler func(ctx context.Context, t *server.Task, in any) ([]byte, error)

// host serves an agent of the skill "chat" that is called in that way, and returns its URL.
func host(t *testing.T, w way, run handler, opts ...server.Option) string {
	t.Helper()
	url, stop := serve(t, w, run, opts...)
	t.Cleanup(stop)
	return url
}

// serve is host with a function that ends it.
func serve(t *testing.T, w way, run handler, opts ...server.Option) (url string, stop func()) {
	t.Helper()
	skill := server.Skill{ID: "chat", Name: "chat", Run: run, OnCrash: server.CrashRetry}
	opts = append([]server.Option{
		server.WithLogger(slog.New(slog.DiscardHandler)), grpcserver.Serve(), webhooks.Send(), server.WithPushTargets("127.0.0.1"),
	}, opts...)
	s, err := server.New(server.Config{Protocol: a2a.Protocol(), Card: cardOf(t, w, "/rpc"), Skills: []server.Skill{skill}}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	return "http://" + ln.Addr().String() + "/rpc", func() {
		err := s.Close()
		cancel()
		if err := errors.Join(err, <-served); err != nil {
			t.Errorf("end the server: %v", err)
		}
	}
}

// dial makes a client that calls the agent at url in that way.
func dial(t *testing.T, w way, url string, opts ...client.Option) *client.Client {
	t.Helper()
	c, err := client.FromCard(a2a.Protocol(), cardOf(t, w, url), append([]client.Option{client.Use(grpcclient.Binding())}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// chat is the skill that all agents have.
var chat = client.Skill[[]runtime.Part, *client.Result]{ID: "chat", In: client.PlainInput, Out: client.PlainOutput}

// hook is a webhook that keeps what it is told of traces.
type hook struct {
	*httptest.Server
	mu      sync.Mutex
	parents []string
}

func newHook(t *testing.T) *hook {
	h := &hook{}
	h.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.parents = append(h.parents, r.Header.Get("Traceparent"))
	}))
	t.Cleanup(h.Close)
	return h
}

func (h *hook) told() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.parents)
}

// wait returns the spans by kind, name and agent, when there is one of each of these.
func (c *collector) wait(t *testing.T, names ...string) map[string][]tracetest.SpanStub {
	t.Helper()
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		found := map[string][]tracetest.SpanStub{}
		for _, s := range c.spans.GetSpans() {
			key := strings.TrimSpace(s.SpanKind.String() + " " + s.Name + " " + told(s.Attributes)["gen_ai.agent.name"])
			found[key] = append(found[key], s)
		}
		lacking := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return len(found[n]) > 0 })
		if len(lacking) == 0 {
			return found
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("no %s among\n%s", strings.Join(lacking, ", "), c.tree())
		}
	}
}

// tree shows the spans, for those who look for one.
func (c *collector) tree() string {
	var b strings.Builder
	for _, s := range c.spans.GetSpans() {
		b.WriteString(s.SpanContext.TraceID().String()[:6] + " " + s.Parent.SpanID().String() + " > " + s.SpanContext.SpanID().String() + " " + s.SpanKind.String() + " " + s.Name + "\n")
	}
	return b.String()
}
