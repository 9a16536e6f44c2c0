package memory

import (
	"cmp"
	"container/heap"
	"container/list"
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// notes are those of a [Store]. The lock of the index guards them.
type notes struct {
	byKey map[noteKey]*note
	bytes int
	most  mostNotes
}

type noteKey struct {
	owner   store.Owner
	context string
}

// note is one note, in the list of its account.
type note struct {
	store.Note
	key     noteKey
	account *account
	at      time.Time
	bytes   int
	element *list.Element
}

// noted are the notes of an account, the one that was written longest ago first.
type noted struct {
	list  list.List
	bytes int
	index int // in the heap, from 1; 0: there are none
}

// Note implements [store.Store].
func (m *Store) Note(_ context.Context, owner store.Owner, context string) (store.Note, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n := m.notes.byKey[noteKey{owner, context}]; n != nil {
		return n.Note, nil
	}
	return store.Note{}, nil
}

// SetNote implements [store.Store].
func (m *Store) SetNote(_ context.Context, owner store.Owner, context string, value []byte, expect int64) (int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := noteKey{owner, context}
	old := cmp.Or(m.notes.byKey[key], &note{})
	if expect != store.AnyVersion && expect != old.Version {
		return 0, store.ErrConflict
	}
	if value == nil {
		m.dropNote(old)
		return 0, nil
	}
	n := &note{key: key, account: m.account(owner.Principal), at: m.clock(), bytes: store.NoteBytes(owner, context, value)}
	n.Note = store.Note{Value: value, Version: store.NextVersion(old.Version, n.at)}
	if err := m.roomForNote(n, old); err != nil {
		return 0, err
	}
	m.addNote(n)
	return n.Version, nil
}

// roomForNote makes room for a note and drops the one that it replaces, or says why there is no room.
func (m *Store) roomForNote(n, old *note) error {
	share, all := int(store.NotesOfOwner(n.account.Limit.Bytes)), int(store.NotesOfAll(int64(m.limits.Bytes)))
	if len(n.Value) > store.MaxNote || n.bytes > min(share, all) {
		return store.ErrTooLarge
	}
	var goes []*note
	has := n.account.noted.bytes - old.bytes
	for e := n.account.noted.list.Front(); e != nil && has+n.bytes > share; e = e.Next() {
		if one := e.Value.(*note); one != old {
			goes, has = append(goes, one), has-one.bytes
		}
	}
	if more := has + n.bytes - n.account.noted.bytes; more > 0 && !m.makeRoom(n.account, nil, taskstate.Holding{Bytes: int64(more)}) {
		return store.ErrFull
	}
	m.dropNote(old)
	for _, one := range goes {
		m.dropNote(one)
	}
	for m.notes.bytes+n.bytes > all {
		m.dropNote(m.notes.most[0].noted.list.Front().Value.(*note))
	}
	return nil
}

func (m *Store) addNote(n *note) {
	if m.notes.byKey == nil {
		m.notes.byKey = map[noteKey]*note{}
	}
	a := n.account
	m.accounts[a.principal] = a // its last task may have made room
	m.notes.byKey[n.key] = n
	n.element = a.noted.list.PushBack(n)
	m.weighNotes(n, n.bytes)
}

// dropNote drops a note, if it is there.
func (m *Store) dropNote(n *note) {
	if n.element == nil {
		return
	}
	delete(m.notes.byKey, n.key)
	n.account.noted.list.Remove(n.element)
	n.element = nil
	m.weighNotes(n, -n.bytes)
}

// weighNotes counts a note that came or went.
func (m *Store) weighNotes(n *note, bytes int) {
	a := n.account
	a.noted.bytes += bytes
	m.notes.bytes += bytes
	switch index, some := a.noted.index-1, a.noted.list.Len() > 0; {
	case index < 0:
		heap.Push(&m.notes.most, a)
	case some:
		heap.Fix(&m.notes.most, index)
	default:
		heap.Remove(&m.notes.most, index)
	}
	m.add(a, taskstate.Holding{Bytes: int64(bytes)}, taskstate.Holding{})
}

// sweepNotes drops at most max notes that were written before a time, and returns how many.
func (m *Store) sweepNotes(before time.Time, max int) (dropped int) {
	for _, a := range m.accounts {
		for e := a.noted.list.Front(); e != nil && dropped < max && e.Value.(*note).at.Before(before); dropped++ {
			next := e.Next()
			m.dropNote(e.Value.(*note))
			e = next
		}
	}
	return dropped
}

// mostNotes is a heap of the accounts with notes, the one with most bytes of them at its top.
type mostNotes []*account

// The methods of [heap.Interface].

func (h mostNotes) Len() int           { return len(h) }
func (h mostNotes) Less(i, j int) bool { return h[i].noted.bytes > h[j].noted.bytes }

func (h mostNotes) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].noted.index, h[j].noted.index = i+1, j+1
}

func (h *mostNotes) Push(x any) {
	a := x.(*account)
	*h = append(*h, a)
	a.noted.index = len(*h)
}

func (h *mostNotes) Pop() any {
	last := len(*h) - 1
	a := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	a.noted.index = 0
	return a
}
