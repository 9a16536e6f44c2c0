package conform

import "fmt"

var agentChecks = []*Check{
	{ID: "agent.same-task", Requirements: []string{"R88", "Q9"}, Section: "1.0 §5.1; 0.3 §3.4.1", Level: Must, Scope: OnAgent,
		Sentence: "A task that was made over one interface is the same over all others.", Needs: "more than one interface", run: agentSameTask},
}

// tryTogether runs what is about all interfaces.
func (r *runner) tryTogether() {
	p := &probe{runner: r}
	for _, c := range agentChecks {
		if c.chosen(r.config.Only) {
			r.runCheck(c, "agent", p)
		}
	}
}

func agentSameTask(t *trial) {
	var from *probe
	compared := 0
	for _, p := range t.probes {
		switch {
		case p.done == nil || p.dead != "":
		case from == nil || from.Tenant != p.Tenant:
			from = p
		default:
			other := &trial{probe: p, check: t.check, result: t.result}
			other.sameAs(*from.done, fmt.Sprint(from.Interface))
			compared++
		}
	}
	if compared == 0 {
		t.skip("there are no two interfaces over which a task could be made")
	}
}

// sameAs reads a task of another interface.
func (t *trial) sameAs(e event, where string) {
	x := t.get(e.task(), nil)
	got := t.taken(x)
	t.want(got.state() == e.state(), x, "over %s the task is %s, over %s %s", t.Interface, got.state(), where, e.state())
	t.want(words(got.artifacts()...) == words(e.artifacts()...), x, "over %s the task has other artifacts than over %s", t.Interface, where)
	a, b := got.artifacts(), e.artifacts()
	if t.version() != "0.1" && e.d.version() != "0.1" && len(a) == len(b) { // artifacts of 0.1 have no ids
		for i := range a {
			t.want(text(a[i], "artifactId") == text(b[i], "artifactId"), x, "over %s an artifact has another id than over %s", t.Interface, where)
		}
	}
}
