package transfer

import (
	"context"
	"fmt"
)

const (
	pageBytes = 4 << 20 // of tasks that are read, and written, at once
	pageNotes = 16      // of at most 1 MiB each
)

// account copies what a principal has, and returns what that is on both sides, which is the same: what differs in the end is an error.
// What an earlier copy has left in the target stays as far as it is what the source has; the rest is dropped. told is called with what
// was just copied or found.
func account(ctx context.Context, from Source, to Target, principal string, told func(Sum)) (Sum, error) {
	sum, err := copyTasks(ctx, from, to, principal, told)
	if err != nil {
		return sum, err
	}
	rest, err := copyRest(ctx, from, to, principal)
	if err != nil {
		return sum, err
	}
	told(rest)
	sum.Add(&rest)
	there, err := count(ctx, to, principal)
	if err != nil {
		return sum, fmt.Errorf("compare both sides: %w", err)
	}
	if there != sum {
		return sum, fmt.Errorf("the copy of the tasks of %q is not what the source has: %s, and the source has %s",
			principal, there.words(), sum.words())
	}
	return sum, nil
}

func (s *Sum) words() string {
	return fmt.Sprintf("%d tasks with %d events, %d open messages, %d push configurations, %d tickets, %d notes, %d keys (digest %x)",
		s.Tasks, s.Events, s.Calls, s.Pushes, s.Tickets, s.Notes, s.Repeats, s.Digest[:8])
}

// pages reads the tasks of an account one after the other.
type pages struct {
	of        Source
	principal string
	page      []Task
	last      *Key // of the last one that was taken
}

// next returns the next task with its sum; nil at the end.
func (p *pages) next(ctx context.Context) (t *Task, s Sum, err error) {
	if len(p.page) == 0 {
		if p.page, err = p.of.Tasks(ctx, p.principal, p.last, pageBytes); err != nil || len(p.page) == 0 {
			return nil, s, err
		}
	}
	t, p.page = &p.page[0], p.page[1:]
	key := t.key()
	p.last = &key
	s, err = t.sumOf()
	return t, s, err
}

// merge is the copy of the tasks of an account.
type merge struct {
	to        Target
	principal string
	told      func(Sum)

	sum   Sum // of what both sides have
	batch []Task
	drop  []int64
	more  Sum // of the batch, and of what was found since the last one
}

// copyTasks goes through both sides in the order of keys: what they both have stays, what the target alone has, or has otherwise, is
// dropped, and the rest is copied.
func copyTasks(ctx context.Context, from Source, to Target, principal string, told func(Sum)) (Sum, error) {
	m := &merge{to: to, principal: principal, told: told}
	source, target := &pages{of: from, principal: principal}, &pages{of: to, principal: principal}
	there, had, err := target.next(ctx)
	for err == nil {
		var t *Task
		var s Sum
		if t, s, err = source.next(ctx); err != nil {
			return m.sum, fmt.Errorf("read tasks of %q: %w", principal, err)
		}
		for err == nil && there != nil && (t == nil || there.key().Compare(t.key()) < 0) {
			m.drop = append(m.drop, there.N)
			if err = m.putIf(ctx, pageBytes); err == nil {
				there, had, err = target.next(ctx)
			}
		}
		if err != nil {
			break
		}
		if t == nil {
			return m.sum, m.putIf(ctx, 0)
		}
		same := false
		if there != nil && there.key() == t.key() {
			if same = s == had; !same {
				m.drop = append(m.drop, there.N)
			}
			there, had, err = target.next(ctx)
		}
		if m.more.Add(&s); !same {
			m.batch = append(m.batch, *t)
		}
		if err == nil {
			err = m.putIf(ctx, pageBytes)
		}
	}
	return m.sum, fmt.Errorf("write tasks of %q: %w", principal, err)
}

// mostDropped is how many tasks are dropped at once.
const mostDropped = 256

// putIf writes what there is to be written if that has some bytes.
func (m *merge) putIf(ctx context.Context, bytes int64) error {
	if m.more.Bytes < bytes && len(m.drop) < mostDropped {
		return nil
	}
	if len(m.batch)+len(m.drop) > 0 {
		if err := m.to.Put(ctx, m.principal, m.drop, m.batch); err != nil {
			return err
		}
	}
	m.told(m.more)
	m.sum.Add(&m.more)
	m.batch, m.drop, m.more = nil, nil, Sum{}
	return nil
}

// copyRest copies notes and repeats, which are few beside the tasks, anew.
func copyRest(ctx context.Context, from Source, to Target, principal string) (sum Sum, err error) {
	if err := to.DropRest(ctx, principal); err != nil {
		return sum, fmt.Errorf("drop notes of %q: %w", principal, err)
	}
	return eachRest(ctx, from, principal, func(notes []Note) error { return to.PutNotes(ctx, principal, notes) },
		func(list []Repeat) error { return to.PutRepeats(ctx, principal, list) })
}

// eachRest adds up notes and repeats, and calls what is there for each of them.
func eachRest(ctx context.Context, from Source, principal string, notes func([]Note) error, repeats func([]Repeat) error) (sum Sum, err error) {
	for last := (*Key)(nil); ; {
		page, err := from.Notes(ctx, principal, last, pageNotes)
		if err != nil || len(page) == 0 {
			if err != nil {
				return sum, fmt.Errorf("read notes of %q: %w", principal, err)
			}
			break
		}
		for i := range page {
			one := Sum{Notes: 1}
			if one.Digest, err = digest("note", principal, &page[i]); err != nil {
				return sum, err
			}
			sum.Add(&one)
		}
		if err := notes(page); err != nil {
			return sum, fmt.Errorf("write notes of %q: %w", principal, err)
		}
		key := page[len(page)-1].key()
		last = &key
	}
	list, err := from.Repeats(ctx, principal)
	if err != nil {
		return sum, fmt.Errorf("read keys of messages of %q: %w", principal, err)
	}
	for i := range list {
		one := Sum{Repeats: 1}
		if one.Digest, err = digest("repeat", principal, &list[i]); err != nil {
			return sum, err
		}
		sum.Add(&one)
	}
	if len(list) == 0 {
		return sum, nil
	}
	return sum, repeats(list)
}

// count adds up what a principal has.
func count(ctx context.Context, of Source, principal string) (sum Sum, err error) {
	all := &pages{of: of, principal: principal}
	for {
		t, s, err := all.next(ctx)
		if err != nil {
			return sum, fmt.Errorf("read tasks of %q: %w", principal, err)
		}
		if t == nil {
			break
		}
		sum.Add(&s)
	}
	rest, err := eachRest(ctx, of, principal, func([]Note) error { return nil }, func([]Repeat) error { return nil })
	sum.Add(&rest)
	return sum, err
}
