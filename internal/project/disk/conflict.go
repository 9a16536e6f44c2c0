package disk

import (
	"bytes"
	"maps"
)

// sides takes a text with the conflict markers of a merge apart: the text as one branch has it, and as the other.
// Without markers there is one text and false.
func sides(data []byte) (ours, theirs []byte, conflict bool) {
	const both, first, base, second = 0, 1, 2, 3
	at := both
	for line := range bytes.Lines(data) {
		switch mark := string(line[:min(len(line), 7)]); {
		case at == both && mark == "<<<<<<<":
			at, conflict = first, true
			continue
		case at == first && mark == "|||||||":
			at = base
			continue
		case (at == first || at == base) && mark == "=======":
			at = second
			continue
		case at == second && mark == ">>>>>>>":
			at = both
			continue
		}
		if at == both || at == first {
			ours = append(ours, line...)
		}
		if at == both || at == second {
			theirs = append(theirs, line...)
		}
	}
	return ours, theirs, conflict
}

// joined is the lock of a merge: what either branch wrote is the tool's, and what they pin differently stays as ours
// has it, since pins move only when somebody says so. The inputs are another's than either's.
func (l *Lock) joined(theirs *Lock) *Lock {
	j := l.clone()
	j.Inputs, j.theirs = nil, map[string]string{}
	for name, sum := range theirs.Files {
		if mine, ok := j.Files[name]; ok && mine != sum {
			j.theirs[name] = sum
		}
	}
	for _, m := range []struct{ ours, theirs map[string]string }{
		{j.Files, theirs.Files}, {j.Scaffold, theirs.Scaffold}, {j.Protocols, theirs.Protocols},
	} {
		add(m.ours, m.theirs)
	}
	add(j.Clients, theirs.Clients)
	return j
}

// add adds the entries that ours lacks.
func add[V any](ours, theirs map[string]V) {
	all := maps.Clone(theirs)
	maps.Copy(all, ours)
	maps.Copy(ours, all)
}
