package lower

import (
	"slices"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/spec"
)

// earlierRelease reports which shipped version to list instead of doc, a proto that lacks what the runtime needs, where doc is a
// release before 1.0 or a candidate for it: they have the package of the older versions that ship.
func (l *protocolLowering) earlierRelease(doc *spec.Document) {
	if doc.Syntax != spec.Proto || doc.Package == "" || !l.problems.HasErrors() {
		return
	}
	versions := protosUpTo(hubVersion)
	if !slices.ContainsFunc(versions[1:], func(v *spec.Document) bool { return v.Package == doc.Package }) {
		return
	}
	nearest := slices.MinFunc(versions, func(a, b *spec.Document) int { return len(spec.Diff(a, doc)) - len(spec.Diff(b, doc)) }).Version
	l.problems.Errorf(diag.Pos{File: doc.Path}, "earlier-release", `list "`+nearest+`" instead, which ships with a2agen`,
		"the definition is an earlier state of the protocol, nearest to %s: the types are those of %s or later", nearest, hubVersion)
}

// protosUpTo returns the shipped protos of a version and of those before it, newest first.
func protosUpTo(version string) []*spec.Document {
	var docs []*spec.Document
	versions := spec.Versions()
	for _, v := range versions[slices.Index(versions, version):] {
		if doc, err := spec.ShippedProto(v); err == nil && doc != nil {
			docs = append(docs, doc)
		}
	}
	return docs
}
