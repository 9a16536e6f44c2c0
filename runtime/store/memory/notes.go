package memory

import (
	"cmp"
	"container/list"
	"context"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// notes are those of all contexts.
type notes struct {
	noted     map[store.Key]*note // by owner and context
	noteBytes int
	mostNoted ranking[*account] // those with notes
}

// note is one note, in the list of its account.
type note struct {
	store.Note
	key     store.Key
	account *account
	at      time.Time
	bytes   int
	element *list.Element
}

// moreNoted is the order in which accounts lose notes when there are too many.
func moreNoted(a, b *account) bool { return a.noteBytes > b.noteBytes }

// oldest returns the note of the account that was written longest ago; nil: it has none.
func (a *account) oldestNote() *note {
	if e := a.notes.Front(); e != nil {
		return e.Value.(*note)
	}
	return nil
}

// Note implements [store.Store].
func (m *Store) Note(_ context.Context, owner store.Owner, context string) (store.Note, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.noted[store.Key{Owner: owner, Task: context}]; n != nil {
		return n.Note, nil
	}
	return store.Note{}, nil
}

// SetNote implements [store.Store].
func (m *Store) SetNote(_ context.Context, owner store.Owner, context string, value []byte, expect int64) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := store.Key{Owner: owner, Task: context}
	a := m.account(owner.Principal)
	old := cmp.Or(m.noted[key], &note{account: a})
	if expect != store.AnyVersion && expect != old.Version {
		return 0, store.ErrConflict
	}
	if value == nil {
		m.dropNote(old)
		return 0, nil
	}
	n := &note{key: key, account: a, at: m.clock(), bytes: store.NoteBytes(owner, context, value)}
	n.Note = store.Note{Value: value, Version: store.NextVersion(old.Version, n.at)}
	if err := m.roomForNote(n, old); err != nil {
		return 0, err
	}
	m.accounts[a.principal] = a // its last task or note may have made room
	m.noted[key] = n
	n.element = a.notes.PushBack(n)
	m.countNote(n, n.bytes)
	return n.Version, nil
}

// roomForNote makes room for a note and drops the one that it replaces, or says why there is no room.
func (x *index) roomForNote(n, old *note) error {
	a := n.account
	share, all := int(store.NotesOfOwner(a.Limit.Bytes)), int(store.NotesOfAll(int64(x.limits.Bytes)))
	if len(n.Value) > store.MaxNote || n.bytes > min(share, all) {
		return store.ErrTooLarge
	}
	var goes []*note
	has := a.noteBytes - old.bytes
	for e := a.notes.Front(); e != nil && has+n.bytes > share; e = e.Next() {
		if one := e.Value.(*note); one != old {
			goes, has = append(goes, one), has-one.bytes
		}
	}
	more := taskstate.Holding{Bytes: int64(has + n.bytes - a.noteBytes)}
	if !x.makeRoom(a, taskstate.Holding{}, more) {
		return store.ErrFull
	}
	for _, one := range append(goes, old) {
		x.dropNote(one)
	}
	for x.noteBytes+n.bytes > all {
		x.dropNote(x.mostNoted.items[0].oldestNote())
	}
	return nil
}

// dropNote drops a note, if it is there.
func (x *index) dropNote(n *note) {
	if n.element == nil {
		return
	}
	delete(x.noted, n.key)
	n.account.notes.Remove(n.element)
	n.element = nil
	x.countNote(n, -n.bytes)
}

// countNote counts the bytes of a note that came or went.
func (x *index) countNote(n *note, bytes int) {
	a := n.account
	a.noteBytes += bytes
	x.noteBytes += bytes
	x.mostNoted.move(a, a.notes.Len() > 0)
	x.add(a, taskstate.Holding{Bytes: int64(bytes)}, taskstate.Holding{})
}

// sweepNotes drops at most max notes that were written before a time, and returns how many.
func (x *index) sweepNotes(before time.Time, max int) (dropped int) {
	for _, a := range x.accounts {
		for n := a.oldestNote(); n != nil && dropped < max && n.at.Before(before); n = a.oldestNote() {
			x.dropNote(n)
			dropped++
		}
	}
	return dropped
}
