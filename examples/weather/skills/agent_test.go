package skills

import (
	"testing"

	"github.com/a2agen/a2agen/testkit/a2atest"
	"github.com/a2agen/a2agen/testkit/conform"

	"example.com/weather/agent"
	"example.com/weather/client"
)

// serve runs the agent in this process, without a socket, until the test ends. Every call is the tester's: what the card
// demands of callers is not asked here.
func serve(t *testing.T) *a2atest.Agent {
	t.Helper()
	srv, err := agent.NewServer(New(), a2atest.ServerOptions(t)...)
	if err != nil {
		t.Fatal(err)
	}
	return a2atest.Serve(t, srv)
}

// newClient returns a client of the agent that serve runs.
func newClient(t *testing.T) *client.Client {
	t.Helper()
	a := serve(t)
	c, err := client.New(t.Context(), a.URL(), a.Options()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestAgent_keepsTheProtocol holds the agent to the specification of A2A, over every binding and version of its card.
func TestAgent_keepsTheProtocol(t *testing.T) {
	a := serve(t)
	conform.Test(t, a.URL(), conform.WithDial(a.Dial))
}
