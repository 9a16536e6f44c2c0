package broken

import (
	"testing"

	"github.com/a2agen/a2agen/testkit/a2atest"
	"github.com/a2agen/a2agen/testkit/conform"
)

// TestAnAgentInTheProcessIsTriedOverGRPC: without a socket, as users' tests do.
func TestAnAgentInTheProcessIsTriedOverGRPC(t *testing.T) {
	agent := a2atest.Serve(t, newServer(t, "agent.test:443"))
	report, err := conform.Run(t.Context(), conform.Config{URL: agent.URL(), Dial: agent.Dial, Contract: contract})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Outcome == conform.Failed {
			t.Error(r)
		}
	}
	for _, i := range report.Interfaces {
		if i.NotTried != "" {
			t.Errorf("%s is not tried: %s", i, i.NotTried)
		}
	}
}
