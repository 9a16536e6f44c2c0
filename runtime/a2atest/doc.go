// Package a2atest is for the tests of programs that are, or call, A2A agents. Programs do not link it.
//
// [Serve] runs an agent in the process of its test, without a socket:
//
//	srv, err := agent.NewServer(skills.New(), a2atest.ServerOptions(t)...)
//	if err != nil {
//		t.Fatal(err)
//	}
//	a := a2atest.Serve(t, srv)
//	c, err := client.New(t.Context(), a.URL(), a.Options()...)
//
// A fake stands in for an agent that a program calls. The package that is generated beside each client has one, of the
// client's types. It is a real server with the real codecs of the protocol; its skills answer what the test says:
//
//	f := weathertest.NewFake(t)
//	f.GetForecast.Asks("Which Springfield?").Returns(sunny) // for each call
//	f.GetForecast.Fails("No sky today.").Once()             // but the first
//	c := f.Client(t)                                        // a typed client; f.URL() for anything else
//	…
//	if got := f.GetForecast.Calls(); len(got) != 2 || got[0].Location != "Paris" {
//		t.Errorf("the forecast was asked for %v", got)
//	}
//
// A call that no answer was set for fails the test, as does an answer that breaks its schema, and one for a number of
// calls that did not come.
//
// All of it works inside a bubble of testing/synctest, where an agent that takes half an hour
// (f.GetForecast.After(30*time.Minute)) answers at once. Make agents, fakes and clients in the bubble that uses them.
package a2atest
