// Package fault makes the way to an agent fail on purpose, as a test says: requests that get lost, answers that break
// after the agent did the work, streams that end after three events.
//
// A [Fault] is a value: what goes wrong, with which requests, and how often. An [Injector] applies faults to all that
// passes it, as an [http.RoundTripper] of a client, as an [http.Handler] before an agent, or as a reverse proxy:
//
//	in, err := fault.New(7, fault.CutAfter(3).Times(2), fault.Delay(200*time.Millisecond).On("GetTask"))
//	http.DefaultClient.Transport = in.Wrap(http.DefaultTransport)
//
// Faults are stated in requests and events: it knows the operation that a request calls over JSON-RPC, HTTP+JSON and
// gRPC in each version of A2A, and where an event ends. Nothing is read whole: an answer passes as it comes, and of a
// request as much is read as it takes to find its operation, 1 MiB at most.
//
// What is random follows the seed: the same requests in the same order meet the same faults. Time is that of package
// time, so that inside testing/synctest a delay of an hour takes none.
package fault
