package memory

import (
	"cmp"
	"container/heap"
	"container/list"
	"context"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// notes are those of a [Store]. The lock of the index guards them.
type notes struct {
	ledger *ledger
	byKey  map[noteKey]*note
	bytes  int
	most   mostNotes
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
		m.notes.drop(old)
		return 0, nil
	}
	n := &note{key: key, account: m.ledger.account(owner.Principal), at: m.clock(), bytes: store.NoteBytes(owner, context, value)}
	n.Note = store.Note{Value: value, Version: store.NextVersion(old.Version, n.at)}
	if err := m.roomForNote(n, old); err != nil {
		return 0, err
	}
	m.notes.add(n)
	return n.Version, nil
}

// roomForNote makes room for a note and drops the one that it replaces, or says why there is no room.
func (x *index) roomForNote(n, old *note) error {
	share, all := int(store.NotesOfOwner(n.account.Limit.Bytes)), int(store.NotesOfAll(int64(x.limits.Bytes)))
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
	if more := has + n.bytes - n.account.noted.bytes; more > 0 && !x.makeRoom(n.account, nil, taskstate.Holding{Bytes: int64(more)}) {
		return store.ErrFull
	}
	x.notes.drop(old)
	for _, one := range goes {
		x.notes.drop(one)
	}
	for x.notes.bytes+n.bytes > all {
		x.notes.drop(x.notes.most[0].noted.list.Front().Value.(*note))
	}
	return nil
}

func (ns *notes) add(n *note) {
	if ns.byKey == nil {
		ns.byKey = map[noteKey]*note{}
	}
	a := n.account
	ns.ledger.accounts[a.principal] = a // its last task may have made room
	ns.byKey[n.key] = n
	n.element = a.noted.list.PushBack(n)
	ns.weigh(n, n.bytes)
}

// drop drops a note, if it is there.
func (ns *notes) drop(n *note) {
	if n.element == nil {
		return
	}
	delete(ns.byKey, n.key)
	n.account.noted.list.Remove(n.element)
	n.element = nil
	ns.weigh(n, -n.bytes)
}

// weigh counts a note that came or went.
func (ns *notes) weigh(n *note, bytes int) {
	a := n.account
	a.noted.bytes += bytes
	ns.bytes += bytes
	switch index, some := a.noted.index-1, a.noted.list.Len() > 0; {
	case index < 0:
		heap.Push(&ns.most, a)
	case some:
		heap.Fix(&ns.most, index)
	default:
		heap.Remove(&ns.most, index)
	}
	ns.ledger.add(a, taskstate.Holding{Bytes: int64(bytes)}, taskstate.Holding{})
}

// sweep drops at most max notes that were written before a time, and returns how many.
func (ns *notes) sweep(before time.Time, max int) (dropped int) {
	for _, a := range ns.ledger.accounts {
		for e := a.noted.list.Front(); e != nil && dropped < max && e.Value.(*note).at.Before(before); dropped++ {
			next := e.Next()
			ns.drop(e.Value.(*note))
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
