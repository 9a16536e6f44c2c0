package check

import "slices"

// Written decides which known properties are written, given those that have a value. Absent and null are one in Go: a
// property without a value is written as null where the rules about keys demand it, and left out elsewhere. It changes
// present. Others and has are as in [Reader.Keys].
func (k *Keys) Written(present []bool, others int, has func(string) bool) []bool {
	w := writing{k, present, has}
	w.dependents()
	for i := range k.Groups {
		w.group(k.Groups[:i+1])
	}
	count := others
	for _, p := range w.present {
		if p {
			count++
		}
	}
	for _, free := range []bool{true, false} { // first those that no other rule is about
		for i, null := range k.Nulls {
			if count < k.Min && null && !w.present[i] && (k.free(k.Names[i]) || !free) {
				w.present[i] = true
				count++
			}
		}
	}
	w.dependents()
	return w.present
}

// free reports whether no rule about other properties names a property.
func (k *Keys) free(name string) bool {
	return !slices.ContainsFunc(k.Dependents, func(d Dependent) bool { return d.If == name }) &&
		!slices.ContainsFunc(k.Groups, func(g Group) bool {
			return slices.ContainsFunc(g.Sets, func(set []string) bool { return slices.Contains(set, name) })
		})
}

// writing is an object with the known properties that are written so far.
type writing struct {
	*Keys
	present []bool
	has     func(string) bool // of other properties; nil: there are none
}

// dependents adds what properties that are there demand.
func (w *writing) dependents() {
	for changed := true; changed; {
		changed = false
		for _, d := range w.Dependents {
			if w.there(d.If) && w.add(d.Then) {
				changed = true
			}
		}
	}
}

// group completes a set of the last of groups, if none is whole, so that no group before it is broken.
func (w *writing) group(groups []Group) {
	last := groups[len(groups)-1]
	if w.whole(last) > 0 {
		return
	}
	for _, set := range last.Sets {
		with := writing{w.Keys, slices.Clone(w.present), w.has}
		with.add(set)
		with.dependents()
		kept := !slices.ContainsFunc(with.Dependents, func(d Dependent) bool { return with.there(d.If) && !with.all(d.Then) })
		for _, g := range groups {
			n := with.whole(g)
			kept = kept && n > 0 && (n == 1 || !g.One)
		}
		if kept {
			w.present = with.present
			return
		}
	}
}

// add makes null what of names can be, and reports whether there was one.
func (w *writing) add(names []string) (changed bool) {
	for _, name := range names {
		if i := slices.Index(w.Names, name); i >= 0 && w.Nulls[i] && !w.present[i] {
			w.present[i], changed = true, true
		}
	}
	return changed
}

// whole counts the sets of a group that are there as a whole.
func (w *writing) whole(g Group) (n int) {
	for _, set := range g.Sets {
		if w.all(set) {
			n++
		}
	}
	return n
}

func (w *writing) all(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !w.there(name) })
}

func (w *writing) there(name string) bool {
	if i := slices.Index(w.Names, name); i >= 0 {
		return w.present[i]
	}
	return w.has != nil && w.has(name)
}
