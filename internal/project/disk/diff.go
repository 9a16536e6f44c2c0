package disk

import (
	"bytes"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/a2agen/a2agen/generator/output"
)

// Diff is the plan as a unified diff with paths a/… and b/…, sorted by path: everything that [Project.Apply] would
// write or delete, the lock included, so that "git apply" of it comes to the same. nil when nothing would change.
func (pl *Plan) Diff() []byte {
	cs := append(pl.writes(), pl.deletes()...)
	if pl.relock {
		cs = append(cs, Change{Path: output.LockName, old: pl.oldLock, data: pl.next.Bytes()})
	}
	slices.SortFunc(cs, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	var b bytes.Buffer
	for _, c := range cs {
		from, to := "a/"+c.Path, "b/"+c.Path
		if c.old == nil {
			from = "/dev/null"
		}
		if c.data == nil {
			to = "/dev/null"
		}
		b.Write(diff.Diff(from, c.old, to, c.data))
	}
	return b.Bytes()
}
