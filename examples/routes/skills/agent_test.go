package skills

import (
	"net/http/httptest"
	"testing"

	"example.com/routes/agent"
	"example.com/routes/client"
)

// newServer runs the agent in this process until the test ends.
func newServer(t *testing.T) *httptest.Server {
	t.Helper()
	srv, err := agent.NewServer(New())
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(srv)
	t.Cleanup(ts.Close)
	return ts
}

// newClient calls an agent that runs in this process.
func newClient(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(t.Context(), newServer(t).URL)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
