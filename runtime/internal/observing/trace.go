package observing

import (
	"strings"

	"github.com/a2agen/a2agen/runtime/observe"
)

// Longest values that are kept and sent, in bytes: what W3C asks everybody to pass on, and room for what a later
// version appends to a traceparent. Longer ones are dropped as if they were not there.
const (
	maxParent = 128
	maxState  = 512
)

// Trace is a trace context on its own, as it is kept with a task: a [observe.Carrier].
type Trace struct{ Parent, State string }

// Get returns what was set.
func (t *Trace) Get(key string) string {
	switch key {
	case observe.TraceParent:
		return t.Parent
	case observe.TraceState:
		return t.State
	}
	return ""
}

// Set takes the names of W3C, and values that are short and of one line.
func (t *Trace) Set(key, value string) {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return
	}
	switch {
	case key == observe.TraceParent && len(value) <= maxParent:
		t.Parent = value
	case key == observe.TraceState && len(value) <= maxState:
		t.State = value
	}
}

// Fixed returns a carrier of the trace context to which nothing can be set.
func (t *Trace) Fixed() observe.Carrier { return fixed{t} }

type fixed struct{ t *Trace }

func (f fixed) Get(key string) string { return f.t.Get(key) }
func (fixed) Set(string, string)      {}

// String is one line for each value; "" without a parent, without which a state is nothing.
func (t *Trace) String() string {
	if t.Parent == "" || t.State == "" {
		return t.Parent
	}
	return t.Parent + "\n" + t.State
}

// ReadTrace reads what String has written.
func ReadTrace(text string) *Trace {
	var t Trace
	t.Parent, t.State, _ = strings.Cut(text, "\n")
	return &t
}
