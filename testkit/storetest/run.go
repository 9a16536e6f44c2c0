package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// side is a store in the middle of steps.
type side struct {
	*suite
	in      store.Store
	now     func() time.Time
	tasks   []string // of all steps
	made    made
	noted   map[store.Key]int64 // the last version of a context's note
	claimed [][]store.Delivery
	// next closes the store, which leaves some tasks, and opens it again, or opens it after a crash.
	next func(in store.Store, crash bool, left ...store.Key) store.Store
}

func (s *suite) side(in store.Store, now func() time.Time, tasks ...string) *side {
	return &side{suite: s, in: in, now: now, tasks: tasks, made: made{}, noted: map[store.Key]int64{}, next: s.successor}
}

// made are creations and updates by task, for those that are made again.
type made map[string][]func(store.Store) answer

// answer is what a store says to a step.
type answer struct {
	facts []string // in words
	task  string   // as JSON
	more  string   // when more is due: "never", "now" or "later". Stores may differ in that
	err   error
}

func (a answer) String() string {
	return strings.Join(append(slices.Clone(a.facts), a.task), ", ")
}

// stamps are those of steps.
type stamps struct {
	last uint64
	of   map[string]uint64 // of the last step of a task
}

func (n *stamps) next(s *step) uint64 {
	n.last++
	stamp := n.last
	switch {
	case s.Same:
		stamp = n.of[s.Task]
	case s.Unstamped:
		stamp = 0
	}
	n.of[s.Task] = stamp
	return stamp
}

// do makes a step.
func (d *side) do(s *step, stamp uint64) answer {
	k, in := keyOf(s.Task), d.in
	switch s.Op {
	case "create":
		n := d.creation(s, d.now(), stamp)
		return d.make(s.Task, func(in store.Store) answer { return d.snapshot(in.Create(ctx, k, n, &store.Full)) })
	case "status", "chunk", "whole", "unfit": // what is whole replaces an artifact
		h, _ := in.Head(ctx, k)
		u, expect := d.update(s, h, d.now(), stamp)
		return d.make(s.Task, func(in store.Store) answer { return d.snapshot(in.Apply(ctx, k, expect, u, &store.Full)) })
	case "again":
		made := d.made[s.Task]
		if _, err := in.Head(ctx, k); err == nil && s.Back < len(made) {
			return made[len(made)-1-s.Back](in)
		}
		return answer{}
	case "get":
		return d.snapshot(in.Get(ctx, k, store.Full))
	case "head":
		h, err := in.Head(ctx, k)
		return facts(err, h.State, fmt.Sprint("version ", h.Version), fmt.Sprint("epoch ", h.Epoch), fmt.Sprint("calls ", h.Calls),
			fmt.Sprint("done ", h.Done))
	case "events":
		return d.records(in.Events(ctx, k, int64(max(s.After, 1)), s.Size))
	case "list":
		return d.pages(k.Owner, s)
	case "left":
		return facts(nil, strings.Join(slices.Sorted(maps.Keys(d.heads())), " "))
	case "show":
		at, t, err := in.Ticket(ctx, hashOf(s.Ticket))
		return facts(err, at.Task, textOf(t.Request))
	case "set":
		return facts(in.SetPush(ctx, k, *s.push()))
	case "unset":
		return facts(in.DeletePush(ctx, k, fmt.Sprint("p", s.Push)))
	case "pushes":
		list, err := in.Pushes(ctx, k)
		a := facts(err)
		for _, p := range list {
			a.facts = append(a.facts, fmt.Sprint(p.ID, " ", p.Config.URL))
			d.checkPush(&p)
		}
		return a
	case "due":
		return d.due()
	case "settle":
		if s.Back >= len(d.claimed) || s.Push >= len(d.claimed[len(d.claimed)-1-s.Back]) {
			return facts(errNothing)
		}
		due := d.claimed[len(d.claimed)-1-s.Back][s.Push]
		return facts(in.Settle(ctx, due, s.outcome(due.Next)))
	case "note", "notes":
		return d.note(k.Owner, s)
	case "sweep":
		dropped, more, err := in.Sweep(ctx)
		for n := 0; more && err == nil; dropped += n {
			n, more, err = in.Sweep(ctx)
		}
		return facts(err, fmt.Sprint(dropped, " dropped"))
	case "claim":
		return d.claim(s)
	case "leave", "crash":
		var left []store.Key
		if s.Task != "" {
			left = append(left, k)
		}
		d.in, d.claimed = d.next(in, s.Op == "crash", left...), nil // claims end with their instance
		return answer{}
	case "wait":
		return answer{}
	}
	return facts(fmt.Errorf("%q is no step", s.Op))
}

// make makes a creation or an update, and notes it.
func (d *side) make(task string, made func(store.Store) answer) answer {
	d.made[task] = append(d.made[task], made)
	return made(d.in)
}

// names are those of the errors that a step may have.
var names = []struct {
	err  error
	name string
}{
	{store.ErrNotFound, "not found"}, {store.ErrExists, "exists"}, {store.ErrConflict, "conflict"}, {store.ErrEnded, "ended"},
	{store.ErrFull, "full"}, {store.ErrTooLarge, "too large"}, {store.ErrUnfit, "unfit"}, {store.ErrLost, "lost"},
	{store.ErrTicket, "no ticket"}, {store.ErrPushes, "too many"}, {store.ErrTrimmed, "trimmed"},
	{errNothing, "nothing"},
}

// errNothing: a step settles what was not claimed.
var errNothing = errors.New("nothing was claimed")

// facts is an answer of values, or of an error.
func facts(err error, values ...any) (a answer) {
	if a.err = err; err == nil {
		for _, v := range values {
			a.facts = append(a.facts, fmt.Sprint(v))
		}
		return a
	}
	var again *store.Repeated
	if errors.As(err, &again) {
		a.facts = []string{"repeated " + again.Task, fmt.Sprint("call ", again.Call), map[bool]string{true: "same", false: "other"}[again.Same]}
	}
	for _, known := range names {
		if errors.Is(err, known.err) {
			a.facts = []string{known.name}
		}
	}
	if store.Unsure(err) && err != errNothing { // whoever gets it believes that it may have been done
		a.facts = []string{"unsure: " + err.Error()}
	}
	return a
}

// snapshot is an answer to whoever creates, changes or reads a task.
func (d *side) snapshot(snap store.Snapshot, err error) answer {
	if err != nil {
		return facts(err)
	}
	d.number(snap.Task, snap.Version)
	info, p := snap.Task.TaskInfo(), snap.Private
	a := facts(nil, fmt.Sprint("version ", snap.Version), fmt.Sprint("epoch ", snap.Epoch), info.State, fmt.Sprint("history ", info.History),
		fmt.Sprint("artifacts ", info.Artifacts), map[bool]string{true: "pushed", false: "not pushed"}[snap.Pushed],
		strings.TrimSpace("input "+string(p.Input)), strings.TrimSpace("saved "+string(p.Saved)))
	a.facts, a.task = append(a.facts, began("begins", snap.Run)...), d.json(snap.Task)
	return a
}

// began says which call is to begin.
func began(what string, c *store.Call) []string {
	if c == nil {
		return []string{what + " none"}
	}
	said := textOf(c.Request)
	if quoted := fmt.Sprintf("%q", said); string(c.Input) != quoted || string(c.Value) != quoted {
		said = fmt.Sprintf("%q, %s, %s", said, c.Input, c.Value)
	}
	return []string{fmt.Sprint(what, " ", c.N), fmt.Sprint("attempt ", c.Attempt), fmt.Sprint("made ", c.Made), said}
}

// textOf is the text of a request's message.
func textOf(r *runtime.SendRequest) string {
	if r == nil || r.Message == nil || len(r.Message.Contents()) == 0 {
		return ""
	}
	return r.Message.Contents()[0].Text
}

func (d *side) records(list []*store.Record, err error) answer {
	a := facts(err, fmt.Sprint(len(list), " events"))
	for _, r := range list {
		what := map[bool]string{true: "status", false: "artifact"}[r.Kind == runtime.EventStatus]
		if r.State != runtime.StateUnspecified {
			what += " " + r.State.String()
		}
		a.facts = append(a.facts, fmt.Sprint(r.Seq, " ", what))
		e, err := r.Event()
		if err != nil {
			return facts(err)
		}
		if b := r.Encoded(0); b != nil && string(b) != d.json(e) {
			d.Errorf("event %d is kept as %s", r.Seq, b)
		}
		d.number(e, r.Seq)
		a.task += d.json(e)
	}
	return a
}

// pages walks through the pages of a list.
func (d *side) pages(owner store.Owner, s *step) answer {
	q := store.Query{Size: cmp.Or(s.Size, 100), State: s.State, View: store.View{History: new(int)}}
	a, all := answer{}, []string{}
	for {
		page, err := d.in.List(ctx, owner, q)
		if err != nil {
			return facts(err)
		}
		all = append(all, ids(page.Tasks)...)
		if q.Token = page.Next; q.Token == "" {
			a.facts = []string{fmt.Sprint("total ", page.Total), strings.Join(all, " ")}
			return a
		}
	}
}

// due claims what is due for an hour.
func (d *side) due() answer {
	due, next, err := d.in.Due(ctx, 100, time.Hour)
	slices.SortFunc(due, func(a, b store.Delivery) int {
		return strings.Compare(a.Key.Task+a.Push.ID, b.Key.Task+b.Push.ID)
	})
	d.claimed = append(d.claimed, due)
	if err != nil {
		return facts(err)
	}
	a := facts(nil, fmt.Sprint(len(due), " due"))
	for _, one := range due {
		fact := fmt.Sprint(one.Key.Task, " ", one.Push.ID, " from ", one.Next)
		if one.Until != 0 {
			fact += fmt.Sprint(" to ", one.Until)
		}
		if one.Attempt != 0 {
			fact += fmt.Sprint(" attempt ", one.Attempt)
		}
		a.facts = append(a.facts, fact)
		if !one.Since.IsZero() {
			a.facts = append(a.facts, fmt.Sprint("failed after ", one.Since.Sub(start)))
		}
		d.checkPush(&one.Push)
	}
	a.more = []string{"never", "now", "later"}[1+cmp.Compare(next, 0)]
	return a
}

// checkPush checks that a configuration is as it was given, but for its URL.
func (d *side) checkPush(p *store.Push) {
	want := config(p.ID)
	want.Tasks, want.Config.URL = p.ID == "p2", p.Config.URL
	d.same("a configuration", p, want)
}

func (d *side) claim(s *step) answer {
	runs, err := d.in.Claim(ctx, []string{skill(s.Skill)}, cmp.Or(s.Size, 100))
	slices.SortFunc(runs, func(a, b store.Run) int { return strings.Compare(a.Key.Task, b.Key.Task) })
	a := facts(err, fmt.Sprint(len(runs), " claimed"))
	for _, r := range runs {
		said := append(began("call", r.Call), fmt.Sprint("epoch ", r.Epoch), fmt.Sprint("version ", r.Version))
		for _, fact := range said {
			a.facts = append(a.facts, r.Key.Task+" "+fact)
		}
		d.number(r.Task, r.Version)
		a.task += d.json(r.Task)
	}
	return a
}

// note writes the owner's note of a context, or removes it if it has no size, or says which there are.
func (d *side) note(owner store.Owner, s *step) answer {
	context := fmt.Sprint("c", s.Name)
	k := store.Key{Owner: owner, Task: context}
	old, err := d.in.Note(ctx, owner, context)
	if s.Op == "note" {
		expect, value := old.Version-int64(s.Stale), []byte(nil)
		if s.Size > 0 {
			value = slices.Repeat([]byte("n"), s.Size)
		}
		if s.Any {
			expect = store.AnyVersion
		}
		version, err := d.in.SetNote(ctx, owner, context, value, expect)
		if again := value != nil && version <= d.noted[k] || value == nil && version != 0; err == nil && again {
			err = fmt.Errorf("version %d comes after %d", version, d.noted[k])
		}
		d.noted[k] = max(d.noted[k], version)
		return facts(err)
	}
	all := ""
	for i := 0; i < 10 && err == nil; i++ {
		if old, err = d.in.Note(ctx, owner, fmt.Sprint("c", i)); len(old.Value) > 0 {
			all += fmt.Sprint(" ", i, ":", len(old.Value))
		}
	}
	return facts(err, strings.TrimSpace(all))
}
