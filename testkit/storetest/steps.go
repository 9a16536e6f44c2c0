package storetest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// What the differential test does to two stores: steps drawn from a seed. A step says nothing that depends on those
// before it, so that any of them can be left out: versions and epochs are those of the moment, less Stale.

type operation string

const (
	opCreate  operation = "create"
	opStatus  operation = "status"
	opChunk   operation = "chunk"
	opWhole   operation = "whole" // an artifact that replaces another
	opUnfit   operation = "unfit"
	opAgain   operation = "again" // the last creation or update of the task, with the same stamp
	opSetPush operation = "set push"
	opDelPush operation = "delete push"
	opDue     operation = "due"
	opSettle  operation = "settle"
	opWait    operation = "wait"
	opSweep   operation = "sweep"
	opReopen  operation = "reopen"
)

// step is one call, or a few that belong together. What is zero is not there.
type step struct {
	Op      operation     `json:"op"`
	Task    int           `json:"task"`
	State   runtime.State `json:"state,omitempty"`
	Size    int           `json:"size,omitempty"`    // bytes of text
	Handler bool          `json:"handler,omitempty"` // says it, else a client
	Done    bool          `json:"done,omitempty"`    // the handler's call is over
	Call    bool          `json:"call,omitempty"`    // a message for a handler
	More    int           `json:"more,omitempty"`    // events in the same transaction: chunks, and a status unless the first is one
	Stale   int64         `json:"stale,omitempty"`
	Saves   bool          `json:"saves,omitempty"`
	Push    int           `json:"push,omitempty"` // of each what there are some of, by number
	Repeat  int           `json:"repeat,omitempty"`
	Ticket  int           `json:"ticket,omitempty"`
	Redeem  int           `json:"redeem,omitempty"`
	Fails   bool          `json:"fails,omitempty"` // a delivery
	Dead    bool          `json:"dead,omitempty"`
	Wait    time.Duration `json:"wait,omitempty"`
}

// mode is a kind of random steps, with the limits that they meet. Steps of all kinds alike meet none of the corners.
type mode struct {
	name    string
	limits  memory.Limits
	sizes   []int
	states  []runtime.State
	weights map[operation]int
	calls   int // of a hundred steps, how many have to do with a call
	tickets int // of a hundred steps, how many bring a ticket, and about how many use one up
	beside  int // of a hundred steps, how many bring a configuration, a ticket, a repeat, or something else beside
}

const (
	differentTasks = 9 // of four owners
	stepsOfRun     = 60
)

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
		sizes: []int{0}, states: allStates, calls: 50, beside: 20, tickets: 20, weights: map[operation]int{
			opCreate: 6, opStatus: 8, opChunk: 3, opWhole: 1, opUnfit: 1, opAgain: 2, opWait: 2, opSweep: 1, opReopen: 1,
		},
	},
	{
		name: "bytes", limits: memory.Limits{Bytes: 250_000, TaskBytes: 50_000, OwnerBytes: 130_000},
		sizes: []int{0, 0, 10, 20_000, 20_000}, states: allStates, calls: 50, beside: 5, weights: map[operation]int{
			opCreate: 6, opStatus: 6, opChunk: 4, opWhole: 3, opAgain: 1, opReopen: 1,
		},
	},
	{
		name: "growing", limits: memory.Limits{OwnerBytes: 70_000, TaskBytes: 50_000, Bytes: 1_000_000},
		sizes: []int{0, 20_000, 20_000}, calls: 3,
		states: []runtime.State{runtime.StateInputRequired, runtime.StateInputRequired, runtime.StateAuthRequired},
		weights: map[operation]int{
			opCreate: 10, opStatus: 14, opChunk: 2, opReopen: 1,
		},
	},
	{
		name: "pushes", limits: memory.Limits{Pushes: 4, Ended: time.Hour, Parked: 2 * time.Hour},
		sizes: []int{0}, states: allStates, calls: 50, beside: 30, weights: map[operation]int{
			opCreate: 4, opStatus: 6, opChunk: 4, opAgain: 1, opSetPush: 4, opDelPush: 1, opDue: 3, opSettle: 4, opWait: 3, opSweep: 1,
			opReopen: 1,
		},
	},
	{
		name: "tickets", sizes: []int{0}, calls: 20, beside: 2, tickets: 40,
		states: []runtime.State{
			runtime.StateWorking, runtime.StateAuthRequired, runtime.StateAuthRequired, runtime.StateAuthRequired, runtime.StateCompleted,
		},
		weights: map[operation]int{
			opCreate: 8, opStatus: 14, opChunk: 2, opAgain: 1, opWait: 1, opReopen: 1,
		},
	},
}

// steps draws those of a run.
func (m *mode) steps(r *rand.Rand, reopens bool) []step {
	var ops []operation
	for _, op := range []operation{opCreate, opStatus, opChunk, opWhole, opUnfit, opAgain, opSetPush, opDelPush, opDue, opSettle,
		opWait, opSweep, opReopen} {
		if op == opReopen && !reopens {
			continue
		}
		for range m.weights[op] {
			ops = append(ops, op)
		}
	}
	list := make([]step, stepsOfRun)
	left := mostReopens
	for i := range list {
		list[i] = m.step(r, ops[r.IntN(len(ops))])
		if list[i].Op == opReopen {
			if left--; left < 0 {
				list[i] = step{Op: opWait}
			}
		}
	}
	return list
}

func (m *mode) step(r *rand.Rand, op operation) step {
	s := step{Op: op, Task: r.IntN(differentTasks), Size: m.sizes[r.IntN(len(m.sizes))]}
	some := func() bool { return r.IntN(100) < m.beside }
	number := func() int {
		if !some() {
			return 0
		}
		return 1 + r.IntN(3)
	}
	ticket := func() int {
		if r.IntN(100) < m.tickets {
			return 1 + r.IntN(3)
		}
		return 0
	}
	switch op {
	case opCreate:
		s.Call, s.Push, s.Repeat, s.Saves = r.IntN(100) < m.calls, number(), number(), some()
		if r.IntN(4) == 0 {
			s.More, s.State, s.Done = 1+r.IntN(3), m.states[r.IntN(len(m.states))], r.IntN(2) == 0
		}
	case opStatus, opChunk, opWhole:
		if op != opStatus {
			s.Size = min(s.Size, 10)
		}
		s.State = m.states[r.IntN(len(m.states))]
		s.Push, s.Repeat, s.Saves = number(), number(), some()
		s.Ticket = ticket()
		if r.IntN(6) == 0 {
			s.More = 1 + r.IntN(3)
		}
		if r.IntN(20) == 0 {
			s.Stale = 1
		}
		if s.Handler = r.IntN(100) < m.calls; s.Handler {
			s.Done = r.IntN(2) == 0
		} else {
			s.Call = r.IntN(100) < m.calls && !(op == opStatus && s.State.Terminal()) // else it is unfit
		}
		if s.Ticket == 0 || r.IntN(4) == 0 {
			s.Redeem = ticket()
		}
	case opSetPush, opDelPush:
		s.Push = 1 + r.IntN(3)
	case opSettle:
		s.Push, s.Fails, s.Dead = r.IntN(4), r.IntN(3) == 0, r.IntN(6) == 0
	case opWait:
		s.Wait = []time.Duration{time.Second, time.Minute, 40 * time.Minute, 3 * time.Hour}[r.IntN(4)]
	}
	return s
}

func (s step) String() string {
	b, _ := json.Marshal(s)
	return string(b)
}

// key is that of a step's task.
func (s *step) key() store.Key {
	ann, acme, bob := store.Owner{Principal: "ann"}, store.Owner{Tenant: "acme", Principal: "ann"}, store.Owner{Principal: "bob"}
	owners := [differentTasks]store.Owner{ann, ann, ann, acme, acme, bob, bob, {}, {}}
	return store.Key{Owner: owners[s.Task], Task: fmt.Sprint("t", s.Task)}
}

func (s *step) push() *store.Push {
	if s.Push == 0 {
		return nil
	}
	p := config(fmt.Sprint("p", s.Push))
	p.Max = 2
	return &p
}

func (s *step) repeat() *store.Repeat {
	if s.Repeat == 0 {
		return nil
	}
	return &store.Repeat{Key: fmt.Sprint("k", s.Repeat), Digest: [32]byte{byte(s.Task)}, For: time.Hour}
}

func word(n int) [32]byte { return sha256.Sum256(fmt.Append(nil, "w", n)) }

// creation is the new task of a step.
func (t *suite) creation(s *step, now time.Time, stamp uint64) store.New {
	id, context := s.key().Task, fmt.Sprint("c", s.Task%2)
	task := t.Protocol.NewTask(id, context, now)
	m := t.message("m-"+id, strings.Repeat("x", s.Size))
	m.Bind(context, id)
	task.AddMessage(m)
	n := store.New{
		Task: task, Private: store.Private{Skill: "skill"}, Size: store.SizeOfMessage(m, m.Contents()), Stamp: stamp,
		Push: s.push(), Repeat: s.repeat(),
	}
	if s.Saves {
		n.Private.Input = []byte(`{"a":1}`)
	}
	if s.Call {
		n.Call = t.call("first of " + id)
	}
	n.Then, n.Done = t.more(s, now), s.Done && s.Call
	return n
}

// more are the events that come with the first one, or with a new task.
func (t *suite) more(s *step, now time.Time) (then []store.Change) {
	id, context := s.key().Task, fmt.Sprint("c", s.Task%2)
	for i := range s.More {
		c := store.Change{Event: t.Protocol.NewArtifact(id, context, runtime.ArtifactData{ID: fmt.Sprint("a", i%2), Parts: text("more"), Append: true})}
		if i == s.More-1 && s.Op != opStatus {
			c.Event = t.Protocol.NewStatus(id, context, s.State, nil, now)
			c.Messages = []runtime.Message{t.message("of "+id, "well")}
		}
		then = append(then, c)
	}
	return then
}

// outcome is what a delivery comes to.
func (s *step) outcome(next int64) store.Outcome {
	switch {
	case s.Dead:
		return store.Outcome{Dead: "dead"}
	case s.Fails:
		return store.Outcome{Again: time.Minute}
	}
	return store.Outcome{Sent: next}
}

// update is the update of a step, and the version that it expects, for a task of which a head is known.
func (t *suite) update(s *step, h store.Head, now time.Time, stamp uint64) (u store.Update, expect int64) {
	id, context := s.key().Task, fmt.Sprint("c", s.Task%2)
	u = store.Update{Stamp: stamp, Push: s.push(), Repeat: s.repeat()}
	switch s.Op {
	case opStatus:
		u.Event = t.Protocol.NewStatus(id, context, s.State, nil, now)
		if s.Size > 0 {
			u.Messages = []runtime.Message{t.message("m", strings.Repeat("y", s.Size))}
		}
	case opUnfit:
		u.Event = t.Protocol.NewStatus("other", context, runtime.StateWorking, nil, now)
	default:
		data := runtime.ArtifactData{ID: "a", Parts: text(strings.Repeat("z", s.Size+1)), Append: s.Op == opChunk}
		u.Event = t.Protocol.NewArtifact(id, context, data)
	}
	u.Then = t.more(s, now)
	if s.Saves {
		saved := fmt.Appendf(nil, "saved at %d", stamp)
		u.Saved = &saved
	}
	if s.Call {
		u.Call = t.call(fmt.Sprint("call of ", stamp))
	}
	if s.Ticket != 0 {
		c := t.call("of a ticket")
		u.Ticket = &store.Ticket{Hash: word(s.Ticket), For: time.Hour, Request: c.Request}
	}
	if s.Redeem != 0 {
		hash := word(s.Redeem)
		u.Redeem = &hash
	}
	if !s.Handler {
		return u, h.Version - s.Stale
	}
	if u.Epoch = h.Epoch - s.Stale; s.Done {
		u.Done = h.Done + 1
	}
	return u, 0
}
