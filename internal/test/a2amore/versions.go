package a2amore

import (
	"slices"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
)

// AllVersions returns the protocol of all versions in all encodings, where 1.0 has the made-up operations too.
func AllVersions() *runtime.Protocol {
	p, more := a2awires.Protocol(), Protocol().Versions
	own := more[len(more)-1]
	i := slices.IndexFunc(p.Versions, func(v *runtime.Version) bool { return v.Name == own.Name })
	v := *p.Versions[i]
	v.Table = withOwn(v.Table, own.Table)
	v.Wires = slices.Clone(v.Wires)
	for i, w := range v.Wires {
		for _, o := range own.Wires {
			if o.Encoding == w.Encoding {
				more := *w
				more.Table, more.Descriptor = withOwn(w.Table, o.Table), o.Descriptor
				v.Wires[i] = &more
			}
		}
	}
	p.Versions = slices.Clone(p.Versions)
	p.Versions[i] = &v
	return p
}

// withOwn returns a table with the operations of another that no version has.
func withOwn(t, own runtime.Table) runtime.Table {
	t.Operations = slices.Clone(t.Operations)
	for _, op := range own.Operations {
		if op.Role == runtime.RoleOther {
			t.Operations = append(t.Operations, op)
		}
	}
	return t
}
