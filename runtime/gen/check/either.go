package check

import (
	"math"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/wire"
)

// trial is what came of reading one value by the alternatives of one union. It is kept for as long as the document is
// read: unions within unions would otherwise read what is innermost once for every combination.
type trial struct {
	value   any
	list    []check.Violation
	ignored int
}

// trialKey is a place in the source and the union that is tried there.
type trialKey struct {
	at    *byte
	union string
}

// Either reads the next value by each of the alternatives in turn and returns what fits it: of several the one that
// ignores the fewest members, the first of equals. With one, no other may fit. union identifies the alternatives.
func Either[U any](r *Reader, union string, one bool, check func(*Checker, U), alternatives ...func(*Reader) U) (value U) {
	raw := r.in.Raw()
	if r.in.Err() != nil {
		return value
	}
	if r.trials == nil {
		r.trials = map[trialKey]trial{}
	}
	key := trialKey{&raw[0], union}
	t, known := r.trials[key]
	if !known {
		t = try(r, raw, one, check, alternatives)
		r.trials[key] = t
	}
	value, _ = t.value.(U)
	r.ignored += t.ignored
	if len(t.list) > 0 {
		r.list = append(r.list, t.list[:min(len(t.list), MaxViolations-min(len(r.list), MaxViolations))]...)
		r.unread = append(r.unread, r.pointer())
	}
	return value
}

// try reads raw by each of the alternatives.
func try[U any](r *Reader, raw []byte, one bool, check func(*Checker, U), alternatives []func(*Reader) U) trial {
	best, fits := trial{}, 0
	for i, read := range alternatives {
		sub := Reader{trials: r.trials}
		sub.path = slices.Clip(r.path)
		sub.in.Reset(raw)
		v := read(&sub)
		t := trial{value: v, ignored: sub.ignored}
		if err := sub.in.Done(); err != nil {
			sub.Failf("%v", err)
		} else if len(sub.list) == 0 {
			sub.decoded = true
			check(&sub.Checker, v)
		}
		t.list = sub.list
		if len(t.list) == 0 {
			fits++
		}
		if i == 0 || t.better(best) {
			best = t
		}
	}
	switch {
	case fits > 1 && one:
		c := Checker{path: r.path}
		c.Failf("must fit only one of %d alternatives, not %d of them", len(alternatives), fits)
		return trial{list: c.list}
	case fits == 0:
		c := Checker{path: r.path}
		c.Failf("must fit one of %d alternatives; what follows is of the nearest", len(alternatives))
		return trial{list: append(c.list, best.list...)}
	}
	return best
}

// better reports whether t fits better than what was tried before it: what is wrong is deeper inside, or less.
func (t trial) better(o trial) bool {
	switch {
	case len(t.list) == 0 || len(o.list) == 0:
		return len(t.list) == 0 && (len(o.list) > 0 || t.ignored < o.ignored)
	case t.depth() != o.depth():
		return t.depth() > o.depth()
	}
	return len(t.list) < len(o.list)
}

// depth is that of the outermost violation.
func (t trial) depth() int {
	least := math.MaxInt
	for _, v := range t.list {
		least = min(least, strings.Count(v.Pointer, "/"))
	}
	return least
}

// Alone checks that v, a case of a union of which a value may fit only one case, fits no other. What was just read has been
// checked so already.
func Alone[U any](c *Checker, v U, write func([]byte, U) []byte, read func(*Reader) U) {
	if c.decoded || len(c.list) > 0 {
		return
	}
	r := Reader{}
	r.in.Reset(write(nil, v))
	read(&r)
	if len(r.list) > 0 {
		c.Failf("fits more than one of the alternatives, or none: %s", r.list[0].Message)
	}
}

// Listed checks that v is one of the JSON values; text lists them for the message.
func (c *Checker) Listed(v wire.Value, text string, values ...string) {
	if len(v) == 0 {
		return // not set: reported before
	}
	got := string(canonical(nil, v))
	if !slices.ContainsFunc(values, func(want string) bool { return string(canonical(nil, wire.Value(want))) == got }) {
		c.Failf("must be %s", text)
	}
}

// Place checks the element of a list whose place has a type of its own.
func Place[E, T any](c *Checker, e E, write func([]byte, E) []byte, read func(*Reader) T, check func(*Checker, T)) {
	if len(c.list) > 0 {
		return // what is not valid cannot be written
	}
	var r Reader
	r.path = slices.Clip(c.path)
	r.in.Reset(write(nil, e))
	v := read(&r)
	if len(r.list) == 0 {
		r.decoded = true
		check(&r.Checker, v)
	}
	c.list = append(c.list, r.list...)
}
