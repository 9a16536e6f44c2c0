package lower

import (
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/spec"
)

// oneName returns doc with operations that JSON-RPC can tell apart, which knows no services: of those with one name that of the
// service that sends messages keeps it, or else the first; the others get their service in front, "Admin.GetTask".
func oneName(doc *spec.Document) *spec.Document {
	taken := map[string]string{} // the service that has a name
	for _, o := range doc.Operations {
		if service := serviceOf(o); taken[o.Name] == "" || service == mainService(doc) {
			taken[o.Name] = service
		}
	}
	foreign := func(o *spec.Operation) bool { return taken[o.Name] != serviceOf(o) }
	if !slices.ContainsFunc(doc.Operations, foreign) {
		return doc
	}
	c := *doc
	c.Operations = slices.Clone(doc.Operations)
	for i, o := range c.Operations {
		if foreign(o) {
			renamed := *o
			service := serviceOf(o)
			renamed.Name = service[strings.LastIndexByte(service, '.')+1:] + "." + o.Name
			c.Operations[i] = &renamed
		}
	}
	return &c
}

// mainService is the service that sends messages; "" if there is none.
func mainService(doc *spec.Document) string {
	for _, o := range doc.Operations {
		if o.Name == "SendMessage" {
			return serviceOf(o)
		}
	}
	return ""
}

// serviceOf returns the service of an operation: "lf.a2a.v1.A2AService".
func serviceOf(o *spec.Operation) string {
	service, _, _ := strings.Cut(strings.TrimPrefix(o.GRPC, "/"), "/")
	return service
}

// missingRoles warns of operations of 1.0 with a role that the definition does not have, above all of one that was
// only renamed: clients would be told that it is not supported.
func (l *protocolLowering) missingRoles() {
	if l.base == nil {
		return
	}
	for _, was := range l.base.Operations {
		if operationOf(l.doc, was.Name) != nil || roleOf(was.Name) == ir.RoleOther {
			continue
		}
		if now := l.renamed(was); now != nil {
			l.problems.Warnf(now.Pos, "renamed-operation", "name it "+was.Name, "operation %s takes and answers what %s of %s does, but the runtime knows only that name: "+
				"version %s answers %s with UnsupportedOperation", now.Name, was.Name, l.base.Version, l.doc.Version, was.Name)
			continue
		}
		l.problems.Warnf(diag.Pos{File: l.doc.Path}, "missing-operation", "declare it as "+l.base.Version+" does", "the definition has no operation %s: version %s answers it with UnsupportedOperation", was.Name, l.doc.Version)
	}
}

// renamed returns the operation of no role that takes and answers what was does, if there is one.
func (l *protocolLowering) renamed(was *spec.Operation) *spec.Operation {
	for _, o := range l.doc.Operations {
		if roleOf(o.Name) == ir.RoleOther && o.Request.Kind == spec.MessageOf && sameType(o.Request, was.Request) && sameType(o.Response, was.Response) && o.Stream == was.Stream {
			return o
		}
	}
	return nil
}
