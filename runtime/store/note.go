package store

import "time"

// Note is data that handlers keep for a context, beside its tasks. Each owner has notes of its own for a context.
//
// Notes count among the bytes of their owner and of the store, and have a share of each, within which they make room for
// one another: over an eighth of the owner's limit, the owner's note that was written longest ago is dropped; over a
// quarter of the store's, one of the owner with the most bytes of notes. No note is dropped to make room for a task.
// A note that was not written for as long as a task waits for its client (Parked) is dropped by the next sweep.
type Note struct {
	Value   []byte // must not be changed; nil: there is no note
	Version int64  // another one with every change; 0: there is no note
}

// AnyVersion stands for any version of a note.
const AnyVersion = -1

// MaxNote limits a note, in bytes.
const MaxNote = 1 << 20

// NoteFrame is the size of a note without its value and the name of its context, in bytes.
const NoteFrame = 512

// NoteBytes is the size of a note, in bytes.
func NoteBytes(owner Owner, context string, value []byte) int {
	return NoteFrame + len(owner.Tenant) + len(context) + len(value)
}

// NotesOfOwner is the limit of an owner's notes, from the owner's limit in bytes.
func NotesOfOwner(bytes int64) int64 { return bytes / 8 }

// NotesOfAll is the limit of all notes, from the store's limit in bytes.
func NotesOfAll(bytes int64) int64 { return bytes / 4 }

// NextVersion is the version of a note after the last one: one that the note never had, even if it was dropped in
// between.
func NextVersion(last int64, now time.Time) int64 { return max(last+1, now.UnixNano()) }
