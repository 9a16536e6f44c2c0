package equivalence

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/runtime"
)

// company are speakers that talk to one agent as one caller.
type company struct {
	t       *testing.T
	p       *runtime.Protocol
	members []*session
}

// gather makes a session for each speaker that can speak of another one's task: those of 0.1 only know their own.
func gather(ctx context.Context, t *testing.T, a *agent) *company {
	c := &company{t: t, p: a2amore.AllVersions()}
	me := newID()
	for _, sp := range speakers(c.p) {
		if sp.version.Rules.ClientIDs {
			continue
		}
		s, err := newSession(ctx, c.p.Versions[0], sp, a, me)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(s.end)
		c.members = append(c.members, s)
	}
	return c
}

// all has every member do a step.
func (c *company) all(line string) {
	c.t.Helper()
	for _, s := range c.members {
		s.next(c.t, line)
	}
}

// agree compares what all members heard with what the first one did, as far as they can say it.
func (c *company) agree() {
	c.t.Helper()
	for _, s := range c.members {
		want, err := lines(c.p.Versions[0], c.members[0].heard, nil,
			func(h heard) (heard, error) { return s.speaker.sayable(c.p, h) }, classes101.plain)
		if err != nil {
			c.t.Fatal(err)
		}
		have, err := lines(c.p.Versions[0], s.heard, nil, same, classes101.plain)
		if err != nil {
			c.t.Fatal(err)
		}
		if diff := cmp.Diff(want, have); diff != "" {
			c.t.Errorf("%s (-wanted +heard):\n%s", s.speaker, diff)
		}
	}
}

// next does a step that must succeed.
func (s *session) next(t *testing.T, line string) {
	t.Helper()
	s.step++
	if err := s.do(line); err != nil {
		t.Fatalf("%s: %s: %v", s.speaker, line, err)
	}
}

// TestOneTaskIsTheSameOverAllBindings: whoever makes a task, all follow it and hear the same (R66, R67, R68, R69).
func TestOneTaskIsTheSameOverAllBindings(t *testing.T) {
	a := startAgent(t, "")
	for i := range gather(t.Context(), t, a).members {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		c := gather(ctx, t, a)
		maker := c.members[i]
		t.Run(maker.speaker.String(), func(t *testing.T) {
			c.t = t
			maker.next(t, `s = stream "wait $me"`)
			maker.next(t, "s next 2")
			maker.heard = nil
			for _, s := range c.members {
				s.seen = seen{tasks: slices.Clone(maker.seen.tasks)}
			}
			maker.next(t, "s close")
			c.all(`s = subscribe {"id":"$task"}`)
			c.all("s next 1")
			maker.next(t, "release")
			c.all("s rest")
			c.all(`get {"id":"$task"}`)
			for _, s := range c.members { // their steps are not counted alike
				for j := range s.heard {
					s.heard[j].step = 0
				}
			}
			c.agree()
		})
		cancel()
	}
}

// TestOneOfAllCancels: of those who cancel a task at the same moment, one hears that it is canceled, and the others that it
// cannot be.
func TestOneOfAllCancels(t *testing.T) {
	a := startAgent(t, "")
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		c := gather(ctx, t, a)
		c.members[0].next(t, `send "wait $me" {"configuration":{"returnImmediately":true}}`)
		c.members[0].heard = nil
		var at sync.WaitGroup
		for _, s := range c.members {
			s.seen = seen{tasks: slices.Clone(c.members[0].seen.tasks)}
			at.Go(func() {
				if err := s.do(`cancel {"id":"$task"}`); err != nil {
					t.Error(err)
				}
			})
		}
		at.Wait()
		canceled := 0
		for _, s := range c.members {
			switch h := s.heard[0]; {
			case h.fault == nil:
				canceled++
				if task, ok := h.value.(runtime.Task); !ok || task.TaskInfo().State != runtime.StateCanceled {
					t.Errorf("%s: the answer is %v", s.speaker, h.value)
				}
			case h.fault.Code != runtime.ErrTaskNotCancelable.Code:
				t.Errorf("%s: %v", s.speaker, h.fault)
			}
		}
		if canceled != 1 {
			t.Errorf("%d heard that they had canceled the task", canceled)
		}
		cancel()
	}
}

// TestABusyAgentSaysSoAlike: with its one place for handlers taken, and its one place for streams (R40, R219).
func TestABusyAgentSaysSoAlike(t *testing.T) {
	c := gather(t.Context(), t, startAgent(t, "busy"))
	first := c.members[0]
	first.next(t, `w = stream "wait $me"`)
	first.next(t, "w next 2")
	first.heard = nil
	for _, s := range c.members {
		s.seen = seen{tasks: slices.Clone(first.seen.tasks)}
		s.step = 0
		s.next(t, `send "hello"`)
		s.next(t, `subscribe {"id":"$task"}`)
		for i, h := range s.heard {
			if h.fault == nil || h.fault.Code != runtime.ErrInternal.Code || h.fault.class.http != 0 && h.fault.class.http != 503 {
				t.Errorf("%s: %d: %+v", s.speaker, i, h.fault)
			}
		}
	}
	c.agree()
	first.next(t, "release")
	first.next(t, "w rest")
}

// TestAMessageComesAgainOverAnotherBinding: it is known by its key over whatever binding it comes.
func TestAMessageComesAgainOverAnotherBinding(t *testing.T) {
	c := gather(t.Context(), t, startAgent(t, ""))
	for _, s := range c.members {
		s.next(t, "param Idempotency-Key: again")
		s.next(t, `send "book" {"message":{"messageId":"m"}}`)
		if got, want := s.seen.tasks, c.members[0].seen.tasks; !slices.Equal(got, want) {
			t.Errorf("%s: the task is %v, not %v: %+v", s.speaker, got, want, s.heard)
		}
	}
	c.agree()
}
