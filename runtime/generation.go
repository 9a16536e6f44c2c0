package runtime

// The generation of a task is the number of its latest event: 1 when the task is made, and one more with each event. It is
// the version of the task in the store, whatever protocol its clients speak; those of the draft of 1.1 see it. What else
// the draft says of it: package engine waits for one (GetTask), package run compares it with the one that a message
// names, and package client notices events that are missing.

// Numbered is a task, or an update of one, that has a field for its generation.
type Numbered interface {
	Event
	// WithGeneration returns a copy with that generation. All else is shared.
	WithGeneration(n int64) Event
}

// WithGeneration returns an event with its generation, as a copy if its protocol has generations: others may read the
// event itself.
func WithGeneration[E Event](e E, n int64) E {
	if x, ok := any(e).(Numbered); ok {
		return x.WithGeneration(n).(E)
	}
	return e
}
