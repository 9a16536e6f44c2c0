package spread

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
)

// Movable is a database from which owners are moved, or to which.
type Movable interface {
	Ledger
	transfer.Target
	Name() string
	// Step makes a step of a move: from a number to a greater one. What replicas know of the account is read anew then. A step that
	// was made is made again.
	Step(ctx context.Context, principal string, from, to int64) error
	// Quiet reports whether no handler and no delivery is at work for the account.
	Quiet(ctx context.Context, principal string) (bool, error)
	// Arrive makes the account of a principal that is not here yet, and returns its steps, whatever they are.
	Arrive(ctx context.Context, principal string) (steps int64, err error)
	// Clear drops all that an account has which is elsewhere. What remains says so.
	Clear(ctx context.Context, principal string) error
	// Wake wakes those who watch tasks of the account.
	Wake(ctx context.Context, principal string) error
	// SetList puts a list of places in the place of another.
	SetList(ctx context.Context, from, to string) error
}

// Mover moves owners between databases whose replicas go on meanwhile.
type Mover struct {
	Places []Movable
	Drain  time.Duration // how long handlers at work may take to end; then others begin their calls again
	Told   func(Moved)   // is called after each owner
}

// Moved is an owner that was moved.
type Moved struct {
	Principal, From, To string
	Sum                 transfer.Sum
}

// Move moves a principal to the place of a name, whatever hashing finds. It finishes a move that was ended in the middle, and takes back
// one to another place.
func (m *Mover) Move(ctx context.Context, principal, to string) error {
	target := m.named(to)
	if target == nil {
		return fmt.Errorf("there is no database %s: there are %s", to, strings.Join(m.names(), ", "))
	}
	source, steps, err := m.source(ctx, principal, target)
	if err != nil {
		return err
	}
	list, err := m.list(ctx)
	if err != nil {
		return err
	}
	// Where hashing finds it, it is known to be away: nobody makes it there.
	if first := m.named(First(strings.TrimSuffix(list, unsettled), principal)); first != nil && first != target && first != source {
		if _, err := first.Arrive(ctx, principal); err != nil {
			return err
		}
	}
	if source == target {
		return m.settle(ctx, target, principal, steps)
	}
	sum, err := m.carry(ctx, source, target, principal, steps)
	if err != nil {
		return fmt.Errorf("move %q from %s to %s: %w", principal, source.Name(), target.Name(), err)
	}
	if m.Told != nil {
		m.Told(Moved{principal, source.Name(), target.Name(), sum})
	}
	return nil
}

func (m *Mover) names() (list []string) {
	for _, p := range m.Places {
		list = append(list, p.Name())
	}
	return list
}

func (m *Mover) named(name string) Movable {
	for _, p := range m.Places {
		if p.Name() == name {
			return p
		}
	}
	return nil
}

// source finds the place that has a principal. When none has it, a move was ended between two steps: what is there is the same in all
// that have anything.
func (m *Mover) source(ctx context.Context, principal string, target Movable) (of Movable, steps int64, err error) {
	for _, p := range m.Places {
		stand, err := p.Find(ctx, principal)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", p.Name(), err)
		}
		if stand.here() {
			return p, stand.Steps, nil
		}
		if !stand.Known {
			continue
		}
		some, err := hasAny(ctx, p, principal)
		if err != nil {
			return nil, 0, fmt.Errorf("%s: %w", p.Name(), err)
		}
		if of == nil || some && p != target {
			of, steps = p, stand.Steps
		}
	}
	if of == nil {
		err = fmt.Errorf("no database has the caller %q", principal)
	}
	return of, steps, err
}

// hasAny reports whether a place has anything of a principal.
func hasAny(ctx context.Context, p Movable, principal string) (bool, error) {
	tasks, err := p.Tasks(ctx, principal, nil, 1)
	if err != nil || len(tasks) > 0 {
		return true, err
	}
	notes, err := p.Notes(ctx, principal, nil, 1)
	if err != nil || len(notes) > 0 {
		return true, err
	}
	repeats, err := p.Repeats(ctx, principal)
	return len(repeats) > 0, err
}

// settle ends what is left of a move: the account is to be in this place alone.
func (m *Mover) settle(ctx context.Context, in Movable, principal string, steps int64) error {
	if err := in.Step(ctx, principal, steps, next(steps, Here)); err != nil {
		return err
	}
	for _, p := range m.Places {
		if p == in {
			continue
		}
		stand, err := p.Find(ctx, principal)
		if err == nil && stand.Known {
			err = errors.Join(p.Wake(ctx, principal), p.Clear(ctx, principal))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	return nil
}

// next is the number of the step, from that of another on, after which the account is where that says.
func next(steps, where int64) int64 {
	for steps%4 != where {
		steps++
	}
	return steps
}

// carry takes an account from one place to another.
func (m *Mover) carry(ctx context.Context, source, target Movable, principal string, steps int64) (sum transfer.Sum, err error) {
	arrived, err := target.Arrive(ctx, principal)
	if err != nil {
		return sum, err
	}
	if steps%4 != Away {
		if steps, err = m.shut(ctx, source, principal, steps); err == nil {
			sum, err = transfer.Account(ctx, source, target, principal, func(transfer.Sum) {})
		}
		if err != nil { // it goes on where it is
			late := context.WithoutCancel(ctx)
			return sum, errors.Join(err, source.Step(late, principal, steps, next(steps, Here)))
		}
		if err := source.Step(ctx, principal, steps, next(steps, Away)); err != nil {
			return sum, err
		}
	} else if sum, err = transfer.Account(ctx, source, target, principal, func(transfer.Sum) {}); err != nil {
		return sum, err
	}
	return sum, m.settle(ctx, target, principal, arrived)
}

// shut waits for handlers at work, and closes the account.
func (m *Mover) shut(ctx context.Context, source Movable, principal string, steps int64) (int64, error) {
	if steps%4 == Here {
		if err := source.Step(ctx, principal, steps, steps+1); err != nil {
			return steps, err
		}
		steps++
	}
	end := time.Now().Add(m.Drain)
	for time.Now().Before(end) {
		quiet, err := source.Quiet(ctx, principal)
		if err != nil {
			return steps, err
		}
		if quiet {
			break
		}
		select {
		case <-ctx.Done():
			return steps, context.Cause(ctx)
		case <-time.After(lookQuiet):
		}
	}
	closed := next(steps, Closed)
	return closed, source.Step(ctx, principal, steps, closed)
}

// lookQuiet is how long it takes until it is looked again whether handlers have ended.
const lookQuiet = 50 * time.Millisecond

// list is the list that the databases agree on.
func (m *Mover) list(ctx context.Context) (list string, err error) {
	for _, p := range m.Places {
		stand, err := p.Find(ctx, "")
		if err != nil {
			return "", fmt.Errorf("%s: %w", p.Name(), err)
		}
		if stand.List != "" && (list == "" || strings.HasSuffix(stand.List, unsettled)) {
			list = stand.List
		}
	}
	if list == "" {
		list, err = ListOf(m.names())
	}
	return list, err
}

// MoveAll has the databases know that these are all there are, and moves each principal to where hashing finds it.
func (m *Mover) MoveAll(ctx context.Context) (moved int, err error) {
	list, err := ListOf(m.names())
	if err != nil {
		return 0, err
	}
	if err := m.setLists(ctx, list+unsettled); err != nil {
		return 0, err
	}
	for _, p := range m.Places {
		err := transfer.EachAccount(ctx, p, func(principal string) error {
			to := First(list, principal)
			if to == p.Name() {
				return nil
			}
			moved++
			return m.Move(ctx, principal, to)
		})
		if err != nil {
			return moved, err
		}
	}
	return moved, m.setLists(ctx, list)
}

// setLists has all databases know a list.
func (m *Mover) setLists(ctx context.Context, list string) error {
	for _, p := range m.Places {
		stand, err := p.Find(ctx, "")
		if err == nil && stand.List != list {
			if names := strings.Fields(strings.TrimSuffix(stand.List, unsettled)); !subset(names, m.names()) {
				err = fmt.Errorf("it is one of several databases (%s): name all of them", stand.List)
			} else {
				err = p.SetList(ctx, stand.List, list)
			}
		}
		if err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	return nil
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(all, name) })
}
