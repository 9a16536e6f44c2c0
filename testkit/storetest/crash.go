package storetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// what a process does that ends before its n-th write, and what the next one does.
const (
	beforeCrash = `
		create t1 call repeat=1 push=1
		create ann1 call done more=3 completed
		status t1 auth-required size=9 ticket=1
		chunk t1 handler size=70000
		status t1 working redeem=1 call
		status t1 working handler done
		due
		settle push=0
		chunk t1 handler done more=2 completed`
	afterCrash = `
		create t2 repeat=1
		claim
		status t1 working handler done
		status t1 completed handler
		events ann1
		get ann1
		get t1
		events t1
		pushes t1
		show ticket=1
		list ann1 completed
		list t1
		list t1 completed`
)

// crashes: at whichever write the process ends, what was acknowledged is there, and nothing is half there: the store goes on as one
// in memory that has made the acknowledged steps, or one more.
func crashes(s *suite) {
	if s.Crash == nil {
		s.Skip("the store leaves nothing")
	}
	if testing.Short() {
		s.Skip("a process for each write")
	}
	read := func(script string) (list []step) {
		for row := range s.rows(script) {
			list = append(list, row)
		}
		return list
	}
	steps, then := read(beforeCrash), read(afterCrash)
	tasks := []string{"ann1", "t1", "t2"}
	goesOn := func(d *side) (all string) {
		for i := range then {
			all += then[i].String() + " -> " + d.do(&then[i], uint64(1000+i)).String() + "\n"
		}
		return all
	}
	clock := func() time.Time { return start }
	afterSteps := make([]string, 0, len(steps)+1) // how a store goes on that has made so many steps
	for n := range cap(afterSteps) {
		now := start
		of := s.reference(memory.Limits{}, func() time.Time { return now }, tasks...)
		for i := range steps[:n] {
			of.do(&steps[i], uint64(1+i))
		}
		of.in, now = of.next(of.in, true), now.Add(time.Second)
		of.now = clock
		afterSteps = append(afterSteps, goesOn(of))
	}
	for n := 1; ; n++ {
		d := s.side(nil, clock, tasks...)
		acknowledged := 0
		left, crashed := s.Crash(s.T, n, func(in store.Store) {
			for d.in = in; acknowledged < len(steps) && d.do(&steps[acknowledged], uint64(1+acknowledged)).err == nil; {
				acknowledged++
			}
		})
		d.in = left
		want := afterSteps[acknowledged:min(acknowledged+2, len(afterSteps))]
		if got := goesOn(d); !slices.Contains(want, got) {
			s.Errorf("before write %d were acknowledged %d steps, and then it is\n%s\nand not\n%s", n, acknowledged, got, strings.Join(want, "or\n"))
		}
		if err := left.Close(); err != nil {
			s.Error(err)
		}
		if s.Failed() || !crashed {
			s.Logf("%d crashes", n-1)
			return
		}
	}
}
