package equivalence

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/runtime"
)

// scenario is what every speaker asks of an agent.
type scenario struct {
	name   string
	agent  string // which of the agents
	script string
}

// tally counts what became of scenarios.
type tally struct{ equal, sayable, silent, lawful, different int }

func (t tally) String() string {
	return fmt.Sprintf("%d equal, %d equal in what the version can say, %d that it has no words to ask for, %d lawfully different, %d different",
		t.equal, t.sayable, t.silent, t.lawful, t.different)
}

// TestEverySpeakerGetsEqualAnswers plays all scenarios with every speaker (R72, R88, R91, R155, R160, R162, R165, R166, R170,
// Q6, Q9, T2, T9, T57). With -v it says how many answers are equal.
func TestEverySpeakerGetsEqualAnswers(t *testing.T) {
	p := a2amore.AllVersions()
	running := map[string]*agent{}
	all := speakers(p)
	counts := make([]tally, len(all))
	for _, sc := range scenarios {
		if running[sc.agent] == nil {
			running[sc.agent] = startAgent(t, sc.agent)
		}
		c := comparison{p: p, scenario: sc, agent: running[sc.agent], first: all[0]}
		if !t.Run(sc.name, c.refer) {
			continue
		}
		for i, sp := range all {
			t.Run(sc.name+"/"+sp.String(), func(t *testing.T) { c.compare(t, sp, &counts[i]) })
		}
	}
	for i, sp := range all {
		t.Logf("%s: %s", sp, counts[i])
	}
}

// comparison compares what speakers hear in one scenario.
type comparison struct {
	p        *runtime.Protocol
	scenario scenario
	agent    *agent
	first    *speaker
	want     []heard // of the first speaker
}

// classes is the table of a speaker's errors.
func (c *comparison) classes(sp *speaker) classTable { return classesOf(sp, c.scenario.agent) }

// hear plays the scenario.
func (c *comparison) hear(t *testing.T, sp *speaker) []heard {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	s, err := play(ctx, c.p.Versions[0], sp, c.agent, c.scenario.script)
	if err != nil {
		t.Fatal(err)
	}
	return s.heard
}

// refer hears what others have to hear.
func (c *comparison) refer(t *testing.T) {
	c.want = c.hear(t, c.first)
	if testing.Verbose() {
		list, err := lines(c.p.Versions[0], c.want, nil, same, c.classes(c.first).detailed)
		t.Logf("%s (%v)", strings.Join(list, "\n"), err)
	}
}

func same(h heard) (heard, error) { return h, nil }

// unsaid are the steps for which a speaker had no words.
func unsaid(all []heard) map[int]bool {
	steps := map[int]bool{}
	for _, h := range all {
		if h.text == errNoWord.Error() {
			steps[h.step] = true
		}
	}
	return steps
}

// compare holds a speaker to what the first one heard.
func (c *comparison) compare(t *testing.T, sp *speaker, n *tally) {
	got := c.hear(t, sp)
	skip, none := unsaid(got), unsaid(c.want)
	hub, heardAs, wantedAs := c.p.Versions[0], c.classes(sp).detailed, c.classes(c.first).detailed
	if sp.version.Rules.PlainErrors {
		heardAs, wantedAs = c.classes(sp).plain, c.classes(c.first).plain
	}
	have, err := lines(hub, got, skip, same, heardAs)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := lines(hub, c.want, none, same, c.classes(c.first).detailed)
	if err != nil {
		t.Fatal(err)
	}
	said, err := lines(hub, c.want, skip, func(h heard) (heard, error) { return sp.sayable(c.p, h) }, wantedAs)
	if err != nil {
		said = []string{"what the version cannot write: " + err.Error()}
	}
	diff, reason := cmp.Diff(said, have), lawful(sp, c.scenario.name)
	switch {
	case len(have) == 0 && len(skip) > 0:
		n.silent++
	case diff == "" && reason != "":
		t.Errorf("is no different after all: %s", reason)
	case slices.Equal(exact, have):
		n.equal++
	case diff == "":
		n.sayable++
	case reason != "":
		n.lawful++
	default:
		n.different++
		t.Errorf("(-wanted +heard):\n%s", diff)
	}
}
