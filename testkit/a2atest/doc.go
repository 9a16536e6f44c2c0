// Package a2atest is for the tests of programs that are, or call, A2A agents. Programs do not link it.
//
// # An agent of your own
//
// [Serve] runs it in the process of its test, without a socket:
//
//	srv, err := agent.NewServer(skills.New(), a2atest.ServerOptions(t)...)
//	if err != nil {
//		t.Fatal(err)
//	}
//	a := a2atest.Serve(t, srv)
//	c, err := client.New(t.Context(), a.URL(), a.Options()...)
//
// # An agent that is called
//
// A fake stands in for it. The package that is generated beside each client has one, of the client's types: a real
// server with the real codecs of the protocol, whose skills answer what the test says:
//
//	func TestATripAvoidsTheRain(t *testing.T) {
//		f := weathertest.NewFake(t)
//		f.GetForecast.Fails("No sky today.").Once()             // the first call
//		f.GetForecast.Asks("Which Springfield?").Returns(sunny) // each one after it
//		trip, err := plan(t.Context(), f.Client(t))             // or f.URL() with f.HTTPClient()
//		if err != nil {
//			t.Fatal(err)
//		}
//		…
//		if got := f.GetForecast.Calls(); len(got) != 2 || got[0].Location != "Springfield" {
//			t.Errorf("the forecast was asked for %v", got)
//		}
//	}
//
// The test fails by a call that no answer was set for, by an answer that breaks its schema, and by one for a number of
// calls that did not come. [Fake.Samples] has skills answer made-up values instead. [Fake.Versions] and [Fake.Over] make
// an old peer of the fake, or one of another binding.
//
// # Time
//
// All of it works inside a bubble of testing/synctest, where an agent that takes half an hour answers at once:
//
//	synctest.Test(t, func(t *testing.T) {
//		f := weathertest.NewFake(t)
//		f.GetForecast.After(30 * time.Minute).Returns(sunny)
//		…
//	})
//
// Agents, fakes and clients must be made in the bubble that uses them.
//
// # Faults, recordings, the specification
//
// [Agent.Fault] breaks connections, loses answers and more, on the way to an agent or a fake: see package fault. Package
// record plays recorded answers of a real agent. Package conform holds an agent to the specification of A2A.
package a2atest
