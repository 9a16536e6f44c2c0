package storetest

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/seeds"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// The differential test makes the same random steps on the store that is tested and on one in memory, and compares all that
// can be seen of them, also after they were opened again. Whatever the steps are, each of the stores also keeps what it has
// acknowledged, changes nothing when it refuses, lets no task go that has work, and counts what is there. Where bytes are
// limited a [model] of the rules says what has room.
//
// What fails is printed with its seed and the fewest steps that fail in the same way, as rows of a [script]. Package seeds
// says how to run other seeds, and for longer.

const (
	seedsOfMode        = 8
	seedsOfModeDurable = 3 // each opens stores, and each step is a write
	stepsOfRun         = 60
	mostEnds           = 3 // of instances
)

// randomTasks are those of the random steps: of four owners.
var randomTasks = []string{"acme1", "acme2", "ann1", "ann2", "ann3", "bob1", "bob2", "t1", "t2"}

// mode is a kind of random steps, with the limits that they meet. Steps of all kinds alike meet none of the corners.
type mode struct {
	name    string
	limits  memory.Limits
	sizes   []int
	states  []runtime.State
	ops     string // each as often as its share
	calls   int    // of a hundred steps, how many have to do with a call
	tickets int    // of a hundred steps, how many bring a ticket, and about how many use one up
	beside  int    // of a hundred steps, how many bring a configuration, and as many a message that may be sent again
	saves   int    // of a hundred steps, how many bring private state
}

var allStates = []runtime.State{
	runtime.StateWorking, runtime.StateWorking, runtime.StateInputRequired, runtime.StateAuthRequired, runtime.StateCompleted,
	runtime.StateFailed,
}

// Sizes are so large that what a task needs beside its content, which each store knows for itself, hardly ever decides,
// and so small that a file needs no second copy of a task. What artifacts bring is counted late, by each store at its
// time: they bring little.
var modes = []mode{
	{
		name: "counts", limits: memory.Limits{Tasks: 7, OwnerTasks: 3, Pushes: 3, Ended: time.Hour, Parked: 2 * time.Hour},
		sizes: []int{0}, states: allStates, calls: 50, beside: 20, saves: 20, tickets: 20,
		ops: "12 create 16 status 6 chunk 2 whole 2 unfit 4 again 4 wait 2 sweep 1 leave 1 crash 3 claim",
	},
	{
		name: "bytes", limits: memory.Limits{Bytes: 250_000, TaskBytes: 50_000, OwnerBytes: 130_000},
		sizes: []int{0, 0, 10, 20_000, 20_000}, states: allStates, calls: 50, saves: 10,
		ops: "12 create 12 status 8 chunk 6 whole 2 again 1 leave 1 crash 2 claim",
	},
	{
		name: "growing", limits: memory.Limits{OwnerBytes: 70_000, TaskBytes: 50_000, Bytes: 1_000_000},
		sizes: []int{0, 20_000, 20_000}, calls: 3,
		states: []runtime.State{runtime.StateInputRequired, runtime.StateInputRequired, runtime.StateAuthRequired},
		ops:    "20 create 28 status 4 chunk 1 leave 1 crash",
	},
	{
		name: "pushes", limits: memory.Limits{Pushes: 4, Ended: time.Hour, Parked: 2 * time.Hour},
		sizes: []int{0}, states: allStates, calls: 50, beside: 30, saves: 30,
		ops: "8 create 12 status 8 chunk 2 again 8 set 2 unset 6 due 8 settle 6 wait 2 sweep 1 leave 1 crash 2 claim",
	},
	{
		name: "tickets", sizes: []int{0}, calls: 20, beside: 2, tickets: 40,
		states: []runtime.State{
			runtime.StateWorking, runtime.StateAuthRequired, runtime.StateAuthRequired, runtime.StateAuthRequired, runtime.StateCompleted,
		},
		ops: "16 create 28 status 4 chunk 4 again 2 wait 1 leave 1 crash 2 claim",
	},
}

// steps draws those of a run.
func (m *mode) steps(r *rand.Rand, ends func(op string) bool) []step {
	var ops []string
	for words := strings.Fields(m.ops); len(words) > 0; words = words[2:] {
		var n int
		_, _ = fmt.Sscan(words[0], &n)
		if op := words[1]; op != "leave" && op != "crash" || ends(op) {
			ops = append(ops, slices.Repeat([]string{op}, n)...)
		}
	}
	list := make([]step, stepsOfRun)
	left := mostEnds
	for i := range list {
		list[i] = m.step(r, ops[r.IntN(len(ops))])
		if list[i].Op == "leave" || list[i].Op == "crash" {
			if left--; left < 0 {
				list[i] = step{Op: "wait"}
			}
		}
	}
	return list
}

func (m *mode) step(r *rand.Rand, op string) step {
	s := step{Op: op, words: words{Wait: []time.Duration{0, time.Millisecond}[r.IntN(2)]}}
	percent := func(n int) bool { return r.IntN(100) < n }
	number := func(n int) int {
		if percent(n) {
			return 1 + r.IntN(3)
		}
		return 0
	}
	switch op {
	case "create", "status", "chunk", "whole", "unfit":
		s.Size, s.State = m.sizes[r.IntN(len(m.sizes))], m.states[r.IntN(len(m.states))]
		fallthrough
	case "again", "set", "unset":
		s.Task = randomTasks[r.IntN(len(randomTasks))]
	}
	switch op {
	case "create":
		s.Call, s.Push, s.Repeat, s.Saves = percent(m.calls), number(m.beside), number(m.beside), percent(m.saves)
		if percent(25) {
			s.More, s.Done = 1+r.IntN(3), percent(50)
		}
	case "status", "chunk", "whole", "unfit":
		if op != "status" {
			s.Size, s.Name = min(s.Size, 10)+1, r.IntN(2)
		}
		s.Kind, s.Push, s.Repeat, s.Saves, s.Ticket = r.IntN(3), number(m.beside), number(m.beside), percent(m.saves), number(m.tickets)
		if percent(16) {
			s.More = 1 + r.IntN(3)
		}
		switch r.IntN(30) {
		case 0:
			s.Stale = 1
		case 1:
			s.Other = -1
		case 2:
			s.At = -time.Hour
		}
		if s.Handler = percent(m.calls); s.Handler {
			s.Done = percent(50)
		} else {
			s.Call = percent(m.calls) && !(op == "status" && s.State.Terminal()) // else it is unfit
		}
		if s.Ticket == 0 || percent(25) {
			s.Redeem = number(m.tickets)
		} else if percent(50) {
			s.Good = 30 * time.Minute
		}
	case "again":
		s.Back = max(0, r.IntN(18)-9)
	case "set", "unset":
		s.Push, s.Max = 1+r.IntN(3), 2
	case "settle":
		s.Push, s.Fails, s.Dead, s.Later, s.Travels = r.IntN(4), percent(33), percent(10), percent(10), percent(25)
	case "wait":
		s.Wait = []time.Duration{time.Second, time.Minute, 40 * time.Minute, 3 * time.Hour}[r.IntN(4)]
	}
	return s
}

func differential(s *suite) {
	if s.OpenAt == nil {
		s.Skip("the store has no clock to be set")
	}
	count := uint64(seedsOfMode)
	if s.Durable {
		count = seedsOfModeDurable
	}
	ends := func(op string) bool {
		return op == "leave" && s.Leave != nil || op == "crash" && s.Heir != nil && s.Leave != nil
	}
	for i := range modes {
		m := &modes[i]
		s.T.Run(m.name, func(t *testing.T) {
			begin, runs, steps, short := time.Now(), 0, 0, 0
			run := func(t *testing.T, seed uint64) {
				list := m.steps(rand.New(rand.NewPCG(seed, uint64(i))), ends)
				n, err := s.compare(t, m, list)
				if err != nil && n >= 0 {
					fewest, last := s.fewest(t, m, list, err)
					t.Fatalf("seed %d: %v\nwith the fewest steps: %v\n%s", seed, err, last, fewest)
				}
				if runs, steps = runs+1, steps+max(n, ^n); n < 0 {
					short++
				}
			}
			next, stop := iter.Pull(seeds.Of(t, count))
			defer stop()
			// Instances that crashed are closed at the end of their test.
			for more := true; more && !t.Failed(); {
				t.Run("runs", func(t *testing.T) {
					for range 30 {
						var seed uint64
						if seed, more = next(); !more {
							return
						}
						run(t, seed)
					}
				})
			}
			t.Logf("%d runs of %d steps in %s; %d ended at a known difference", runs, steps, time.Since(begin).Round(time.Millisecond), short)
			if short > 2+runs/10 {
				t.Errorf("too many runs of %d ended at a known difference: %d", runs, short)
			}
		})
	}
}

// fewest leaves out steps, and words of them, for as long as it fails.
func (s *suite) fewest(t *testing.T, m *mode, steps []step, err error) (rows string, last error) {
	end := time.Now().Add(time.Minute)
	fails := func(list []step) bool {
		if time.Now().After(end) {
			return false
		}
		n, now := s.compare(t, m, list)
		if now != nil && n >= 0 {
			err = now
			return true
		}
		return false
	}
	for size := len(steps) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(steps); {
			if less := slices.Delete(slices.Clone(steps), i, i+size); fails(less) {
				steps = less
			} else {
				i++
			}
		}
	}
	for i := range steps {
		for word := range reflect.TypeFor[words]().NumField() {
			tried := slices.Clone(steps)
			reflect.ValueOf(&tried[i].words).Elem().Field(word).SetZero()
			if tried[i] != steps[i] && fails(tried) {
				steps = tried
			}
		}
	}
	for _, s := range steps {
		rows += fmt.Sprintln("	", s)
	}
	return rows, err
}

// pair are the two stores in the middle of a run.
type pair struct {
	*suite
	mode  *mode
	now   time.Time
	stamp stamps
	sides [2]*side // the memory, and the store that is tested
	heads [2]map[string]store.Head
	model *model // nil: the mode limits no bytes
}

// errKnown ends a run at a difference that is known. What was done by then is all right.
var errKnown = errors.New("a known difference")

// compare makes steps on both stores, and returns how many were made, and what is wrong; with a known difference, at
// which the run ends, it returns the complement of how many.
func (s *suite) compare(t *testing.T, m *mode, steps []step) (n int, err error) {
	p := &pair{suite: &suite{T: t, Harness: s.Harness}, mode: m, now: start, stamp: stamps{of: map[string]uint64{}}}
	if m.limits.Bytes > 0 {
		p.model = newModel(m.limits)
	}
	clock := func() time.Time { return p.now }
	p.sides[0] = p.reference(m.limits, clock, randomTasks...)
	p.sides[1] = p.side(s.OpenAt(t, m.limits, clock), clock, randomTasks...)
	defer func() { err = errors.Join(err, p.sides[1].in.Close()) }()
	for i := range steps {
		p.now = p.now.Add(steps[i].Wait)
		if err := p.step(&steps[i]); err == errKnown {
			return ^i, nil
		} else if err != nil {
			return i, fmt.Errorf("step %d, %s: %w", i, steps[i], err)
		}
		if steps[i].Op == "leave" || steps[i].Op == "crash" {
			p.now = p.now.Add(2 * time.Hour) // claims of deliveries are over, in whatever store
		}
	}
	if err := p.counts(1); err != nil {
		return len(steps), err
	}
	for _, s := range sight(randomTasks, m.limits.TaskBytes == 0) { // a full task gives up its log in memory
		if err := differ(&s, p.sides[0].do(&s, 0), p.sides[1].do(&s, 0)); err != nil {
			return len(steps), err
		}
	}
	return len(steps), nil
}

// reference is a store in memory, of an instance before others.
func (s *suite) reference(l memory.Limits, clock func() time.Time, tasks ...string) *side {
	shared := memory.NewAt(l, clock)
	var instances []store.Store
	for range mostEnds + 1 {
		instances = append(instances, shared.Instance(1_000_000*time.Hour))
	}
	d := s.side(instances[0], clock, tasks...)
	d.next = func(in store.Store, crash bool, left ...store.Key) store.Store {
		if crash {
			for _, task := range tasks {
				left = append(left, keyOf(task))
			}
		}
		_ = in.Close(left...)
		instances = instances[1:]
		return instances[0]
	}
	return d
}

// sight are the steps that show all that there is of tasks.
func sight(tasks []string, events bool) (list []step) {
	for _, task := range tasks {
		list = append(list, step{Op: "get", Task: task}, step{Op: "pushes", Task: task})
		if events {
			list = append(list, step{Op: "events", Task: task})
		}
		if strings.HasSuffix(task, "1") {
			for _, state := range append([]runtime.State{runtime.StateUnspecified}, allStates[1:]...) {
				list = append(list, step{Op: "list", Task: task, State: state, words: words{Size: 2}})
			}
		}
	}
	for n := 1; n <= 3; n++ {
		list = append(list, step{Op: "show", words: words{Ticket: n}})
	}
	return list
}

// differ says how the answers of the stores differ.
func differ(s *step, a, b answer) error {
	if a.String() != b.String() {
		return fmt.Errorf("%s: the answers differ:\n  memory:    %s\n  the store: %s", s, a, b)
	}
	return nil
}

// step makes one on both.
func (p *pair) step(s *step) error {
	stamp := p.stamp.next(s)
	var answers [2]answer
	for i, d := range p.sides {
		before := p.heads[i]
		answers[i] = d.do(s, stamp)
		p.heads[i] = d.heads()
		if err := p.sound(i, s, before, answers[i]); err != nil {
			return fmt.Errorf("%s: %w", []string{"the memory", "the store"}[i], err)
		}
	}
	if p.model != nil {
		want, heads := facts(p.model.do(p, s, stamp)), p.model.heads()
		if is := answers[0]; !maps.Equal(heads, p.heads[0]) || (want.err != nil || is.err != nil) && want.String() != is.String() {
			return fmt.Errorf("the memory says %s, and has %+v\nthe rules %s, and have %+v", is, p.heads[0], want, heads)
		}
		if p.room(answers) {
			return errKnown
		}
	}
	if !maps.Equal(p.heads[0], p.heads[1]) {
		return fmt.Errorf("the tasks differ:\n  memory:    %+v\n  the store: %+v", p.heads[0], p.heads[1])
	}
	return differ(s, answers[0], answers[1])
}

// room reports whether the stores differ in what has room. They may, in bytes: each knows what it keeps of a task beside its
// content, and how late it charges the account for what a handler appends.
func (p *pair) room(answers [2]answer) bool {
	has := func(i int) []string { return slices.Sorted(maps.Keys(p.heads[i])) }
	return errors.Is(answers[0].err, store.ErrFull) != errors.Is(answers[1].err, store.ErrFull) || !slices.Equal(has(0), has(1))
}

// heads are those of all tasks.
func (d *side) heads() map[string]store.Head {
	heads := map[string]store.Head{}
	for _, task := range d.tasks {
		switch h, err := d.in.Head(ctx, keyOf(task)); {
		case err == nil:
			heads[task] = h
		case !errors.Is(err, store.ErrNotFound):
			d.Error(err)
		}
	}
	return heads
}

// sound holds a store to what is true of every one.
func (p *pair) sound(i int, s *step, before map[string]store.Head, a answer) error {
	writes, after, gone := slices.Contains([]string{"create", "status", "chunk", "whole", "unfit", "again"}, s.Op), p.heads[i], false
	if a.err != nil && writes && !maps.Equal(before, after) {
		return fmt.Errorf("a refused update (%w) changed tasks from %+v to %+v", a.err, before, after)
	}
	for task, was := range before {
		if _, is := after[task]; is {
			continue
		}
		gone = true
		if was.Calls > was.Done || !was.State.Terminal() && !was.State.Interrupted() {
			return fmt.Errorf("task %s is gone, which had work: %+v", task, was)
		}
		if !writes && s.Op != "sweep" {
			return fmt.Errorf("task %s is gone", task)
		}
	}
	if _, is := after[s.Task]; a.err == nil && writes && a.task != "" && !is {
		return errors.New("an acknowledged update is lost: its task is gone")
	}
	if gone || s.Op == "leave" || s.Op == "crash" {
		return p.counts(i)
	}
	return nil
}

// counts asks the store that is tested whether it counts what is there.
func (p *pair) counts(i int) error {
	if p.Wrong == nil || i == 0 {
		return nil
	}
	wrong, err := p.Wrong(p.sides[1].in)
	if len(wrong) > 0 {
		err = errors.New(strings.Join(wrong, "; "))
	}
	return err
}
