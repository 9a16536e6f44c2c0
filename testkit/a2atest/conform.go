package a2atest

import (
	"testing"

	"github.com/a2agen/a2agen/testkit/conform"
)

// Conform holds the agent to the specification, over every binding and version of its card: see [Conform].
func (a *Agent) Conform(t testing.TB, opts ...conform.Option) {
	t.Helper()
	Conform(t, a.URL(), append([]conform.Option{conform.WithDial(a.Dial)}, opts...)...)
}

// Conform holds the agent at a URL to the specification of A2A, whatever it is written in, over every binding and version that its card lists.
// What the specification demands and the agent does not do fails the test, with what was sent and what came; what it recommends is logged.
// It needs nothing of the agent but a skill that answers a text: see [conform.Contract] for more.
func Conform(t testing.TB, url string, opts ...conform.Option) {
	t.Helper()
	c := conform.Config{URL: url}
	for _, o := range opts {
		o(&c)
	}
	r, err := conform.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("a2atest: %v", err)
	}
	for _, x := range r.Results {
		switch {
		case x.Outcome == conform.Failed && x.Level == conform.Must:
			t.Errorf("a2atest: %s", x)
		case x.Outcome == conform.Failed:
			t.Logf("a2atest: %s", x)
		}
	}
	for _, i := range r.Interfaces {
		if i.NotTried != "" {
			t.Logf("a2atest: %s is not tried: %s", i, i.NotTried)
		}
	}
	if !r.Tried() {
		t.Errorf("a2atest: nothing of the agent at %s could be tried", url)
	}
}
