package skills

import (
	"net/http"
	"net/http/httptest"
	"testing"

	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"

	"example.com/planner/agent"
	"example.com/planner/client"
)

// newServer runs the agent in this process until the test ends. Every call is the tester's: what the card demands of callers
// is not asked here.
func newServer(t *testing.T) *httptest.Server {
	t.Helper()
	srv, err := agent.NewServer(New(), server.InMemory(), server.WithProxyIdentity(tester))
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(srv)
	t.Cleanup(ts.Close)
	return ts
}

// newClient calls an agent that runs in this process, without credentials.
func newClient(t *testing.T) *client.Client {
	t.Helper()
	c, err := client.New(t.Context(), newServer(t).URL, rpc.SendAnyway())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tester is who calls the agent in tests.
func tester(*http.Request) (string, error) { return "tester", nil }
