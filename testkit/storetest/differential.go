package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/seeds"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// The differential test makes the same random steps on the store that is tested, on one in memory and on a model of the
// rules, and compares all that can be seen of them, also after they were opened again. Whatever the steps are, each of
// the stores also keeps what it has acknowledged, changes nothing when it refuses, lets no task go that has work, and
// counts what is there.
//
// What fails is printed with its seed and the fewest steps that fail in the same way. Package seeds says how to run
// other seeds, and for longer.

const (
	seedsOfMode        = 8
	seedsOfModeDurable = 3 // each opens stores, and each step is a write
	mostReopens        = 4
)

func differential(s *suite) {
	if s.OpenAt == nil {
		s.Skip("the store has no clock to be set")
	}
	count := uint64(seedsOfMode)
	if s.Durable {
		count = seedsOfModeDurable
	}
	for i := range modes {
		m := &modes[i]
		s.T.Run(m.name, func(t *testing.T) {
			begin, runs, steps, short := time.Now(), 0, 0, 0
			for seed := range seeds.Of(t, count) {
				list := m.steps(rand.New(rand.NewPCG(seed, uint64(i))), s.Leave != nil)
				n, err := s.compare(t, m, list)
				if err != nil && n >= 0 {
					fewest, last := s.fewest(t, m, list, err)
					t.Fatalf("seed %d: %v\nwith the fewest steps: %v\n%s", seed, err, last, joined(fewest))
				}
				if runs, steps = runs+1, steps+max(n, ^n); n < 0 {
					short++
				}
			}
			t.Logf("%d runs of %d steps in %s; %d ended at a known difference", runs, steps, time.Since(begin).Round(time.Millisecond), short)
			if short > 2+runs/10 {
				t.Errorf("too many runs of %d ended at a known difference: %d", runs, short)
			}
		})
	}
}

func joined(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintln(&b, " ", s)
	}
	return b.String()
}

// fewest leaves out steps, and parts of them, for as long as it fails.
func (s *suite) fewest(t *testing.T, m *mode, steps []step, err error) ([]step, error) {
	fails := func(list []step) bool {
		n, now := s.compare(t, m, list)
		if now != nil && n >= 0 {
			err = now
			return true
		}
		return false
	}
	end := time.Now().Add(time.Minute)
	for size := len(steps) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(steps) && time.Now().Before(end); {
			if less := slices.Delete(slices.Clone(steps), i, i+size); fails(less) {
				steps = less
			} else {
				i++
			}
		}
	}
	for i := range steps {
		for _, less := range []func(*step){
			func(s *step) { s.Saves = false }, func(s *step) { s.Push = 0 }, func(s *step) { s.Repeat = 0 }, func(s *step) { s.Ticket = 0 },
			func(s *step) { s.Call = false }, func(s *step) { s.Handler, s.Done = false, false }, func(s *step) { s.Stale = 0 },
			func(s *step) { s.Size = 0 }, func(s *step) { s.More = 0 },
		} {
			tried := slices.Clone(steps)
			if less(&tried[i]); tried[i] != steps[i] && time.Now().Before(end) && fails(tried) {
				steps = tried
			}
		}
	}
	return steps, err
}

// side is one of the two stores.
type side struct {
	name    string
	in      store.Store
	heads   [differentTasks]string
	known   [differentTasks]*store.Head
	claimed []store.Delivery
	last    [differentTasks]func() (store.Snapshot, error)
}

// pair are the two stores in the middle of a run.
type pair struct {
	*suite
	mode      *mode
	now       time.Time
	sides     [2]*side
	model     *model
	instances []store.Store // of the memory, for when the other is opened again
	stamp     uint64
}

// errKnown ends a run at a difference that is known. What was done by then is all right.
var errKnown = errors.New("a known difference")

// compare makes steps on both stores, and returns how many were made, and what is wrong; with a known difference, at
// which the run ends, it returns the complement of how many.
func (s *suite) compare(t *testing.T, m *mode, steps []step) (n int, err error) {
	p := &pair{suite: &suite{T: t, Harness: s.Harness}, mode: m, now: start, model: newModel(m.limits)}
	clock := func() time.Time { return p.now }
	shared := memory.NewAt(m.limits, clock)
	for range mostReopens + 1 {
		p.instances = append(p.instances, shared.Instance(1_000_000*time.Hour))
	}
	p.sides = [2]*side{{name: "memory", in: p.instances[0]}, {name: "the store", in: s.OpenAt(t, m.limits, clock)}}
	defer func() { err = errors.Join(err, p.sides[1].in.Close()) }()
	for i := range steps {
		p.now = p.now.Add(time.Millisecond + steps[i].Wait)
		if err := p.step(&steps[i]); err == errKnown {
			return ^i, nil
		} else if err != nil {
			return i, fmt.Errorf("step %d, %s: %w", i, steps[i], err)
		}
	}
	return len(steps), p.whole()
}

// step makes one on both.
func (p *pair) step(s *step) error {
	p.stamp++
	before := [2][differentTasks]*store.Head{p.sides[0].known, p.sides[1].known}
	if s.Op == opReopen {
		if err := p.reopen(); err != nil {
			return err
		}
	}
	var said [2]string
	var errs [2]error
	for i, side := range p.sides {
		said[i], errs[i] = p.do(side, s)
		if err := p.look(side); err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
		if err := p.sound(side, s, before[i], said[i] != "", errs[i]); err != nil {
			return fmt.Errorf("%s: %w", side.name, err)
		}
	}
	want, wantErr := p.model.do(p, s)
	for i, side := range p.sides {
		err := p.model.agrees(side, s, want, wantErr, said[i], errs[i])
		if err != nil && i == 1 && p.mode.limits.Bytes > 0 && p.room(errs[i], wantErr) {
			return errKnown
		} else if err != nil {
			return err
		}
	}
	if said[0] != said[1] {
		return fmt.Errorf("the answers differ:\n  memory:    %s\n  the store: %s", said[0], said[1])
	}
	if p.sides[0].heads != p.sides[1].heads {
		return fmt.Errorf("the tasks differ:\n  memory:    %s\n  the store: %s", p.sides[0].heads, p.sides[1].heads)
	}
	return nil
}

// room reports whether the store differs from the rules in what has room. It may, in bytes: each store knows what it keeps
// of a task beside its content, and how late it charges the account for what a handler appends.
func (p *pair) room(is, want error) bool {
	if errors.Is(is, store.ErrFull) != errors.Is(want, store.ErrFull) {
		return true
	}
	for i, head := range p.model.heads() {
		if (head == "") != (p.sides[1].known[i] == nil) {
			return true
		}
	}
	return false
}

// look notes what is known of all tasks.
func (p *pair) look(side *side) error {
	for i := range differentTasks {
		h, err := side.in.Head(ctx, (&step{Task: i}).key())
		switch {
		case errors.Is(err, store.ErrNotFound):
			side.heads[i], side.known[i] = "", nil
		case err != nil:
			return err
		default:
			side.heads[i], side.known[i] = fmt.Sprintf("%+v", h), &h
		}
	}
	return nil
}

// sound holds a store to what is true of every one.
func (p *pair) sound(side *side, s *step, before [differentTasks]*store.Head, answered bool, err error) error {
	writes := slices.Contains([]operation{opCreate, opStatus, opChunk, opWhole, opUnfit, opAgain}, s.Op)
	gone := 0
	for i, was := range before {
		is := side.known[i]
		switch {
		case was != nil && is == nil:
			gone++
			if was.Calls > was.Done || !was.State.Terminal() && !was.State.Interrupted() {
				return fmt.Errorf("task %d is gone, which had work: %+v", i, *was)
			}
			if !writes && s.Op != opSweep {
				return fmt.Errorf("task %d is gone", i)
			}
		case err != nil && writes && (was == nil) != (is == nil), err != nil && writes && was != nil && *was != *is:
			return fmt.Errorf("a refused update (%w) changed task %d from %+v to %+v", err, i, was, is)
		}
	}
	switch {
	case err != nil && writes && gone > 0:
		return fmt.Errorf("for a refused update (%w) went %d tasks", err, gone)
	case err == nil && writes && answered && side.known[s.Task] == nil:
		return errors.New("an acknowledged update is lost: its task is gone")
	}
	if gone > 0 || s.Op == opReopen {
		return p.counts(side)
	}
	return nil
}

// counts asks the store that is tested whether it counts what is there.
func (p *pair) counts(side *side) error {
	if p.Wrong == nil || side != p.sides[1] {
		return nil
	}
	wrong, err := p.Wrong(side.in)
	if err == nil && len(wrong) > 0 {
		err = errors.New(strings.Join(wrong, "; "))
	}
	return err
}

// do makes a step on one store, and returns what it says.
func (p *pair) do(side *side, s *step) (string, error) {
	k, now, stamp := s.key(), p.now, p.stamp
	switch s.Op {
	case opCreate:
		view := &store.Full
		n := p.creation(s, now, stamp)
		side.last[s.Task] = func() (store.Snapshot, error) { return side.in.Create(ctx, k, n, view) }
		return p.says(side.last[s.Task]())
	case opStatus, opChunk, opWhole, opUnfit:
		var h store.Head
		if is := side.known[s.Task]; is != nil {
			h = *is
		}
		u, expect := p.update(s, h, now, stamp)
		side.last[s.Task] = func() (store.Snapshot, error) { return side.in.Apply(ctx, k, expect, u, &store.Full) }
		return p.says(side.last[s.Task]())
	case opAgain:
		if again := side.last[s.Task]; again != nil && side.known[s.Task] != nil {
			return p.says(again())
		}
	case opSetPush:
		return said(side.in.SetPush(ctx, k, *s.push()))
	case opDelPush:
		return said(side.in.DeletePush(ctx, k, fmt.Sprint("p", s.Push)))
	case opDue:
		return p.dues(side)
	case opSettle:
		return p.settles(side, s)
	case opSweep:
		for more := true; more; {
			var err error
			if _, more, err = side.in.Sweep(ctx); err != nil {
				return "", err
			}
		}
	case opReopen:
		return p.claims(side)
	}
	return "", nil
}

// said is an error as stores agree on it.
func said(err error) (string, error) {
	var again *store.Repeated
	if errors.As(err, &again) {
		return fmt.Sprintf("%+v", *again), err
	}
	for _, is := range []error{store.ErrNotFound, store.ErrExists, store.ErrConflict, store.ErrEnded, store.ErrFull, store.ErrTooLarge,
		store.ErrUnfit, store.ErrLost, store.ErrTicket, store.ErrPushes} {
		if errors.Is(err, is) {
			return is.Error(), err
		}
	}
	if err != nil {
		return "an error of its own: " + err.Error(), err
	}
	return "", nil
}

// says is the answer to an update.
func (p *pair) says(snap store.Snapshot, err error) (string, error) {
	if err != nil {
		return said(err)
	}
	return fmt.Sprintf("version %d, epoch %d, pushed %t, %s%s, %s", snap.Version, snap.Epoch, snap.Pushed, of(snap.Private),
		began(snap.Run), p.json(snap.Task)), nil
}

func of(p store.Private) string {
	return fmt.Sprintf("input %q, saved %q, asked %t", p.Input, p.Saved, p.Asked)
}

func began(c *store.Call) string {
	if c == nil {
		return ""
	}
	return fmt.Sprintf(", begins call %d, attempt %d, made %d, %s %s", c.N, c.Attempt, c.Made, c.Input, textOf(c.Request))
}

func (p *pair) dues(side *side) (string, error) {
	due, _, err := side.in.Due(ctx, 100, time.Hour)
	slices.SortFunc(due, func(a, b store.Delivery) int {
		return strings.Compare(a.Key.Task+a.Push.ID, b.Key.Task+b.Push.ID)
	})
	side.claimed = due
	var b strings.Builder
	for _, d := range due {
		fmt.Fprintf(&b, "%s %s from %d to %d, attempt %d since %d; ", d.Key.Task, d.Push.ID, d.Next, d.Until, d.Attempt, max(d.Since.UnixNano(), 0))
	}
	return b.String(), err
}

// settles settles one of those that were claimed last.
func (p *pair) settles(side *side, s *step) (string, error) {
	if s.Push >= len(side.claimed) {
		return "", nil
	}
	d := side.claimed[s.Push]
	return said(side.in.Settle(ctx, d, s.outcome(d.Next)))
}

// reopen closes both, and opens them again: on the side of the memory goes on another instance.
func (p *pair) reopen() error {
	p.now = p.now.Add(2 * time.Hour) // all claims of deliveries are over, in both
	a, b := p.sides[0], p.sides[1]
	if err := errors.Join(a.in.Close(), b.in.Close()); err != nil {
		return err
	}
	p.instances = p.instances[1:]
	a.in, b.in = p.instances[0], p.Leave(p.T, b.in)
	for _, side := range p.sides {
		side.claimed, side.last = nil, [differentTasks]func() (store.Snapshot, error){}
	}
	return nil
}

// claims takes over what was given back.
func (p *pair) claims(side *side) (string, error) {
	runs, err := side.in.Claim(ctx, []string{"skill"}, 100)
	list := make([]string, len(runs))
	for i, r := range runs {
		list[i] = fmt.Sprintf("%s version %d, epoch %d, %s%s", r.Key.Task, r.Version, r.Epoch, of(r.Private), began(r.Call))
	}
	slices.Sort(list)
	return strings.Join(list, "; "), err
}

// whole compares all that there is.
func (p *pair) whole() error {
	if err := p.counts(p.sides[1]); err != nil {
		return err
	}
	for i := range differentTasks {
		k := (&step{Task: i}).key()
		if p.sides[0].known[i] == nil {
			continue
		}
		var all [2]string
		for j, side := range p.sides {
			var err error
			if all[j], err = p.page(side.in, k); err != nil {
				return fmt.Errorf("%s: task %d: %w", side.name, i, err)
			}
		}
		if all[0] != all[1] {
			return fmt.Errorf("task %d differs:\n  memory:    %s\n  the store: %s", i, all[0], all[1])
		}
	}
	return nil
}

// page is all that there is of a task and its owner.
func (p *pair) page(in store.Store, k store.Key) (string, error) {
	snap, err := in.Get(ctx, k, store.Full)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprint(&b, snap.Version, snap.Epoch, snap.Pushed, of(snap.Private), p.json(snap.Task))
	records, err := in.Events(ctx, k, 1, 0)
	if err != nil && !errors.Is(err, store.ErrTrimmed) { // a full task gives up its log in memory
		return "", err
	}
	if p.mode.limits.TaskBytes > 0 {
		records = nil
	}
	for _, r := range records {
		e, err := r.Event()
		if err != nil {
			return "", err
		}
		fmt.Fprint(&b, " ", r.Seq, r.Kind, p.json(e))
	}
	list, err := in.Pushes(ctx, k)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(&b, " %+v", list)
	for n := 1; n <= 3; n++ {
		at, _, err := in.Ticket(ctx, word(n))
		fmt.Fprint(&b, " ", at, err)
	}
	for _, state := range append([]runtime.State{runtime.StateUnspecified}, allStates...) {
		q := store.Query{Size: 2, State: state, View: store.View{History: new(int)}}
		for more := true; more; more = q.Token != "" {
			page, err := in.List(ctx, k.Owner, q)
			if err != nil {
				return "", err
			}
			fmt.Fprint(&b, " ", page.Total, ids(page.Tasks))
			q.Token = page.Next
		}
	}
	return b.String(), nil
}
