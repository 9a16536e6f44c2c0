package skills

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/testkit/a2atest"
	"github.com/a2agen/a2agen/testkit/conform"

	"example.com/assistant/agent"
	"example.com/assistant/client"
	"example.com/assistant/client/weather/weathertest"
)

// world is the assistant in this process, a scripted model and a fake of the weather agent.
type world struct {
	model   *endpoint
	weather *weathertest.Fake
	agent   *Agent
	waited  []time.Duration // between tries of a request
}

func newWorld(t *testing.T, answers ...http.HandlerFunc) *world {
	t.Helper()
	w := &world{model: newEndpoint(t, answers...), weather: weathertest.NewFake(t)}
	w.agent = w.newAgent(t)
	return w
}

// newAgent makes the agent, as a process does when it starts.
func (w *world) newAgent(t *testing.T) *Agent {
	t.Helper()
	env := map[string]string{"MODEL_URL": w.model.url, "MODEL_NAME": "tiny", "MODEL_KEY": "secret"}
	m := ModelOf(func(name string) string { return env[name] })
	m.HTTP = &http.Client{Transport: &http.Transport{}}
	t.Cleanup(m.HTTP.CloseIdleConnections)
	m.wait = func(_ context.Context, d time.Duration) error {
		w.waited = append(w.waited, d)
		return nil
	}
	a := New(m)
	a.Weather = w.weather.Client(t)
	return a
}

// assistant serves the assistant until the test ends, and returns a client of it.
func (w *world) assistant(t *testing.T) *client.Client {
	t.Helper()
	c, _ := w.serve(t, w.agent)
	return c
}

// serve is assistant with options of the server, and a way to stop it before the test ends.
func (w *world) serve(t *testing.T, a *Agent, opts ...server.Option) (c *client.Client, stop func()) {
	t.Helper()
	srv, err := agent.NewServer(a, a2atest.ServerOptions(t, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.UseOwn(srv); err != nil {
		t.Fatal(err)
	}
	served := a2atest.Serve(t, srv)
	c, err = client.New(t.Context(), served.URL(), served.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c, func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAgent_keepsTheProtocol holds the agent to the specification of A2A. The model says hello to everything.
func TestAgent_keepsTheProtocol(t *testing.T) {
	w := newWorld(t)
	w.model.otherwise = says("Hello.")
	w.weather.Samples()
	srv, err := agent.NewServer(w.agent, a2atest.ServerOptions(t)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.agent.UseOwn(srv); err != nil {
		t.Fatal(err)
	}
	a := a2atest.Serve(t, srv)
	conform.Test(t, a.URL(), conform.WithDial(a.Dial))
}
