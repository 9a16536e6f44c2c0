package store

import "time"

// Note is what handlers keep for a context, beside its tasks. Every owner has notes of his own, whatever contexts others
// name.
//
// Notes count among the bytes of their owner and of the store, and have a share of each, by which they make room among
// themselves: over an eighth of what an owner may hold, the owner's note goes that was written longest ago; over a
// quarter of the store, that of the owner with the most bytes of notes. A task never makes room for itself by a note.
// A note that was not written for as long as a task waits for its client (Parked) is dropped by the next sweep.
type Note struct {
	Value   []byte // not changed any more; nil: there is none
	Version int64  // another one with every change; 0: there is none
}

// AnyVersion stands for whatever version a note has.
const AnyVersion = -1

// MaxNote is how many bytes a note has at most.
const MaxNote = 1 << 20

// NoteFrame is what a note takes beside its value and the name of its context, in bytes.
const NoteFrame = 512

// NoteBytes is for how many bytes a note counts.
func NoteBytes(owner Owner, context string, value []byte) int {
	return NoteFrame + len(owner.Tenant) + len(context) + len(value)
}

// NotesOfOwner and NotesOfAll are how many bytes notes may have, of what an owner and all owners may hold.
func NotesOfOwner(bytes int64) int64 { return bytes / 8 }

// NotesOfAll is NotesOfOwner for all owners together.
func NotesOfAll(bytes int64) int64 { return bytes / 4 }

// NextVersion is the version of a note after another one. It is one that the note never had, also if it was dropped in
// between.
func NextVersion(last int64, now time.Time) int64 { return max(last+1, now.UnixNano()) }
