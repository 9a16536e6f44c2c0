package transfer

import (
	"context"
	"errors"
	"fmt"
)

// Whole is a store that is copied as a whole, or into which one is.
type Whole interface {
	Source
	Name() string // of the store, for people; without a password
	// Unused says who uses the store: it is not copied then.
	Unused(ctx context.Context) error
}

// Empty is a store that can be filled. No agent opens it between Fill and Filled.
type Empty interface {
	Whole
	Target
	// Ready says why the store cannot be filled from the one of that name: it has tasks that do not come from there.
	Ready(ctx context.Context, from string) error
	// Fill marks the store, which is ready, as being filled.
	Fill(ctx context.Context, from string) error
	Filled(ctx context.Context) error
}

// ErrTasks is why a store cannot be filled that an agent has worked on, or that was filled before.
var ErrTasks = errors.New("has tasks of its own")

// Progress is how far a copy is.
type Progress struct {
	Accounts int64 // that are copied as a whole
	Sum
	Before bool // a copy before had finished: nothing was copied, and both sides are the same
}

// Copy copies a store into an empty one, or goes on with such a copy. One that has finished is compared again.
func Copy(ctx context.Context, from Whole, to Empty, told func(Progress)) (Progress, error) {
	var all Progress
	err := check(ctx, from, to)
	if errors.Is(err, ErrTasks) {
		if done, same, failed := compare(ctx, from, to, told); failed != nil || same {
			return done, failed
		}
	}
	if err != nil {
		return all, err
	}
	if err := to.Fill(ctx, from.Name()); err != nil {
		return all, fmt.Errorf("mark %s: %w", to.Name(), err)
	}
	known := map[string]bool{}
	err = eachAccount(ctx, from, func(principal string) error {
		running := all
		sum, err := account(ctx, from, to, principal, func(more Sum) {
			running.Add(&more)
			told(running)
		})
		if err != nil {
			return err
		}
		known[principal] = true
		all.Add(&sum)
		all.Accounts++
		return nil
	})
	if err == nil {
		err = dropOthers(ctx, to, known)
	}
	if err == nil {
		err = from.Unused(ctx) // all the time, as far as can be seen
	}
	if err != nil {
		return all, err
	}
	return all, to.Filled(ctx)
}

// DryCopy says what Copy would copy, or why it cannot. to is nil for a store that is not there yet.
func DryCopy(ctx context.Context, from Whole, to Empty, told func(Progress)) (Progress, error) {
	if to != nil {
		err := check(ctx, from, to)
		if errors.Is(err, ErrTasks) {
			if done, same, failed := compare(ctx, from, to, told); failed != nil || same {
				return done, failed
			}
		}
		if err != nil {
			return Progress{}, err
		}
	}
	return Survey(ctx, from, told)
}

// errDiffers ends a comparison.
var errDiffers = errors.New("it differs")

// compare reports whether two stores have the same, and what that is. It ends at the first account in which they differ.
func compare(ctx context.Context, from, to Source, told func(Progress)) (all Progress, same bool, err error) {
	known := map[string]bool{}
	err = eachAccount(ctx, from, func(principal string) error {
		sum, err := count(ctx, from, principal)
		if err != nil {
			return err
		}
		there, err := count(ctx, to, principal)
		if err == nil && there != sum {
			err = errDiffers
		}
		known[principal] = true
		all.Add(&sum)
		all.Accounts++
		told(all)
		return err
	})
	if err == nil {
		err = eachAccount(ctx, to, func(principal string) error {
			if sum, err := count(ctx, to, principal); err != nil || known[principal] || sum == (Sum{}) {
				return err
			}
			return errDiffers
		})
	}
	if errors.Is(err, errDiffers) {
		return all, false, nil
	}
	all.Before = err == nil
	return all, err == nil, err
}

// check says why a store cannot be copied into another.
func check(ctx context.Context, from Whole, to Empty) error {
	if from.Name() == to.Name() {
		return fmt.Errorf("%s cannot be copied into itself", from.Name())
	}
	if err := from.Unused(ctx); err != nil {
		return err
	}
	return to.Ready(ctx, from.Name())
}

// dropOthers drops what an earlier run has copied of accounts that the source no longer has: an agent worked on it since.
func dropOthers(ctx context.Context, to Target, known map[string]bool) error {
	return eachAccount(ctx, to, func(principal string) error {
		if known[principal] {
			return nil
		}
		_, err := account(ctx, nothing{}, to, principal, func(Sum) {})
		return err
	})
}

// nothing is an empty source.
type nothing struct{}

func (nothing) Accounts(context.Context, int64, int) ([]Owner, error)      { return nil, nil }
func (nothing) Tasks(context.Context, string, *Key, int64) ([]Task, error) { return nil, nil }
func (nothing) Notes(context.Context, string, *Key, int) ([]Note, error)   { return nil, nil }
func (nothing) Repeats(context.Context, string) ([]Repeat, error)          { return nil, nil }

// Survey counts what a store has.
func Survey(ctx context.Context, of Source, told func(Progress)) (all Progress, err error) {
	err = eachAccount(ctx, of, func(principal string) error {
		sum, err := count(ctx, of, principal)
		all.Add(&sum)
		all.Accounts++
		told(all)
		return err
	})
	return all, err
}

// eachAccount calls do with the principal of each account.
func eachAccount(ctx context.Context, of Source, do func(principal string) error) error {
	const page = 1000
	for last := int64(0); ; {
		list, err := of.Accounts(ctx, last, page)
		if err != nil {
			return fmt.Errorf("read accounts: %w", err)
		}
		for _, one := range list {
			if err := do(one.Principal); err != nil {
				return err
			}
			last = one.N
		}
		if len(list) < page {
			return nil
		}
	}
}
