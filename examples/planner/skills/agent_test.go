package skills

import (
	"testing"

	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/testkit/a2atest"
	"github.com/a2agen/a2agen/testkit/conform"

	"example.com/planner/agent"
	"example.com/planner/client"
	"example.com/planner/client/routes/routestest"
	"example.com/planner/client/weather/weathertest"
)

// world is the planner in this process, and fakes of the agents that it calls.
type world struct {
	weather *weathertest.Fake
	routes  *routestest.Fake
	agent   *Agent
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{weather: weathertest.NewFake(t), routes: routestest.NewFake(t), agent: New()}
	w.agent.Weather, w.agent.Routes = w.weather.Client(t), w.routes.Client(t)
	return w
}

// planner serves the planner until the test ends, and returns a client of it.
func (w *world) planner(t *testing.T) *client.Client {
	t.Helper()
	c, _ := w.serve(t)
	return c
}

// serve is planner with options of the server, and a way to stop it before the test ends.
func (w *world) serve(t *testing.T, opts ...server.Option) (planner *client.Client, stop func()) {
	t.Helper()
	srv, err := agent.NewServer(w.agent, a2atest.ServerOptions(t, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	a := a2atest.Serve(t, srv)
	c, err := client.New(t.Context(), a.URL(), a.Options()...)
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

// TestAgent_keepsTheProtocol holds the agent to the specification of A2A. The agents that it calls answer samples.
func TestAgent_keepsTheProtocol(t *testing.T) {
	w := newWorld(t)
	w.weather.Samples()
	w.routes.Samples()
	srv, err := agent.NewServer(w.agent, a2atest.ServerOptions(t)...)
	if err != nil {
		t.Fatal(err)
	}
	a := a2atest.Serve(t, srv)
	conform.Test(t, a.URL(), conform.WithDial(a.Dial))
}
