package conform

import "testing"

// Test holds the agent at a URL to the specification of A2A, in whatever language it is written, over every binding and version that its card lists.
// What the specification demands and the agent does not do fails the test, with what was sent and what came; what it recommends is logged.
// It needs nothing of the agent but a skill that answers a text: see [Contract] for more. An agent of a2atest.Serve is reached by [WithDial]:
//
//	conform.Test(t, a.URL(), conform.WithDial(a.Dial))
func Test(t testing.TB, url string, opts ...Option) {
	t.Helper()
	c := Config{URL: url}
	for _, o := range opts {
		o(&c)
	}
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatalf("conform: %v", err)
	}
	for _, x := range r.Results {
		switch {
		case x.Outcome == Failed && x.Level == Must:
			t.Errorf("conform: %s", x)
		case x.Outcome == Failed:
			t.Logf("conform: %s", x)
		}
	}
	for _, i := range r.Interfaces {
		if i.NotTried != "" {
			t.Logf("conform: %s is not tried: %s", i, i.NotTried)
		}
	}
	if !r.Tried() {
		t.Errorf("conform: nothing of the agent at %s could be tried", url)
	}
}
