package relational

import (
	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Sums are what an account holds, or by how much that changes. Notes are bytes, which are among Bytes.
type Sums struct{ Tasks, Bytes, RestedTasks, RestedBytes, Pushes, Notes int64 }

// Plus and Minus add and subtract.
func (s Sums) Plus(o Sums) Sums {
	return Sums{
		s.Tasks + o.Tasks, s.Bytes + o.Bytes, s.RestedTasks + o.RestedTasks, s.RestedBytes + o.RestedBytes,
		s.Pushes + o.Pushes, s.Notes + o.Notes,
	}
}

func (s Sums) Minus(o Sums) Sums {
	return s.Plus(Sums{-o.Tasks, -o.Bytes, -o.RestedTasks, -o.RestedBytes, -o.Pushes, -o.Notes})
}

// Fields are where the columns tasks, bytes, restedtasks, restedbytes, pushes and notes are read to.
func (s *Sums) Fields() []any {
	return []any{&s.Tasks, &s.Bytes, &s.RestedTasks, &s.RestedBytes, &s.Pushes, &s.Notes}
}

// Account is what the rules know of an account with a limit.
func (s *Sums) Account(limit taskstate.Holding) taskstate.Account {
	return taskstate.Account{
		Held: taskstate.Holding{Tasks: s.Tasks, Bytes: s.Bytes}, Limit: limit,
		Rested: taskstate.Holding{Tasks: s.RestedTasks, Bytes: s.RestedBytes},
	}
}

// sumsOf is what an account holds for a task, but for its push configurations.
func sumsOf(m *stored.Meta) Sums {
	switch {
	case m.Version == 0:
		return Sums{}
	case m.Rest() == taskstate.Active:
		return Sums{Tasks: 1, Bytes: m.Charged}
	}
	return Sums{Tasks: 1, Bytes: m.Charged, RestedTasks: 1, RestedBytes: m.Charged}
}

// Delta is by how much a change moves the sums of an owner's account, and which room it needs.
type Delta struct {
	Owner Owner
	Task  int64 // that changes; 0: a new one, or none
	Sums
	States [16]int8 // tasks of the owner by state
	// More is what the account is to hold more, if room is Asked for it. Without it the change fails with [store.ErrFull], unless it
	// Must be made. Stays is the task that changes, if it rests: it does not go for its own sake.
	More, Stays taskstate.Holding
	Asked, Must bool
}

// Move counts a task that goes from one version to the next; a Version of 0 is a task that does not exist. It does not count push
// configurations.
func (d *Delta) Move(from, to *stored.Meta) {
	d.Sums = d.Plus(sumsOf(to)).Minus(sumsOf(from))
	if from.Version != 0 {
		d.States[from.Status&15]--
	}
	if to.Version != 0 {
		d.States[to.Status&15]++
	}
}
