package main

// fault is what a peer does wrong, or has not. Empty members stand for all.
type fault struct {
	peer, direction, version, binding, check string
	why                                      string
}

// faults are those of the peers as agents of our client, and as clients of our agent.
var faults = []fault{
	{"a2a-go 2.4.0", ourCalls, "1.0", "", "ended task",
		"it answers InvalidParams, where A2A 1.0 §3.1.1 has UnsupportedOperation"},
	{"a2a-go 2.4.0", ourCalls, "0.3", rpcBinding, "push delete",
		"its empty list of configurations is null"},
	{"a2a-sdk 0.3.26 (Python)", ourCalls, "0.3", "", "subscribe",
		"it ends the subscription to a task that is canceled without the events of that"},
}

// excuses says whether the fault is that of a check.
func (f *fault) excuses(r *row, check string) bool {
	is := func(want, got string) bool { return want == "" || want == got }
	return is(f.peer, r.peer) && is(f.direction, r.direction) && is(f.version, r.spoken.version) &&
		is(f.binding, r.spoken.binding) && is(f.check, check)
}
