package lower

import (
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/spec"
)

// prepared are the definitions of one call of [Protocol], each as lowering understands it.
type prepared struct {
	// hub is the definition that gives the types, with what only drafts have, and older are those behind it that have a table or numbers,
	// newest first.
	hub   *spec.Document
	older []*spec.Document
	// base is 1.0 when the hub is another definition, else nil.
	base   *spec.Document
	drafts []*draft
	extra  extras
}

// prepare completes the bundles among the definitions, and sets those aside that are in the shape of an older version: the
// first other one is the hub, and gets what is new in them.
func prepare(docs []*spec.Document) (*prepared, diag.List) {
	var problems diag.List
	base, err := baseFor(docs)
	if err != nil {
		problems.Errorf(diag.Pos{File: docs[0].Path}, "no-hub", "", "%v", err)
		return nil, problems
	}
	in := &prepared{extra: extras{types: map[string]bool{}, members: map[[2]string]bool{}}}
	var spoken []*spec.Document
	for _, doc := range docs {
		var list diag.List
		_, aligned, _ := alignmentOf(doc.Version)
		switch {
		case doc.Syntax == spec.Bundle:
			doc, list = complete(doc, base)
			spoken = append(spoken, doc)
		case doc.Syntax == spec.Schema && !aligned:
			var d *draft
			d, list = draftOf(doc, base)
			in.drafts = append(in.drafts, d)
		default:
			spoken = append(spoken, oneName(doc))
		}
		problems.Add(list...)
	}
	if len(spoken) == 0 || spoken[0].Syntax == spec.Schema {
		problems.Errorf(diag.Pos{File: docs[0].Path}, "old-hub", `list "1.0" too`, "version %s cannot be the newest one: the types are those of 1.0 or later", docs[0].Version)
	}
	if problems.HasErrors() {
		return nil, problems
	}
	in.hub, in.older = spoken[0], spoken[1:]
	if in.hub.Version != hubVersion {
		in.base = base
	}
	if len(in.drafts) > 0 {
		in.hub = clone(in.hub)
	}
	for _, d := range in.drafts {
		problems.Add(d.extend(in.hub, in.extra)...)
	}
	return in, problems
}

// baseFor returns 1.0 if the definitions need it: the one among them, or the one that ships.
func baseFor(docs []*spec.Document) (*spec.Document, error) {
	needed := docs[0].Version != hubVersion
	for _, doc := range docs {
		if doc.Version == hubVersion {
			return doc, nil
		}
		needed = needed || doc.Syntax != spec.Proto
	}
	if !needed {
		return nil, nil
	}
	return spec.Shipped(hubVersion)
}

// drafts adds the versions that are drafts of older ones. They stand behind all others: a request that names no version is
// never taken for one of theirs, and the card for everybody speaks of the others.
func (l *protocolLowering) drafts(p *ir.Protocol, in *prepared) {
	for _, d := range in.drafts {
		p.Versions = append(p.Versions, d.version(l, p.Versions[0]))
	}
}

// clone copies a document as deeply as drafts change it.
func clone(doc *spec.Document) *spec.Document {
	c := *doc
	c.Messages, c.Enums = nil, nil
	for _, m := range doc.Messages {
		m := *m
		m.Fields = append([]*spec.Field{}, m.Fields...)
		c.Messages = append(c.Messages, &m)
	}
	for _, e := range doc.Enums {
		e := *e
		e.Values = append([]*spec.EnumValue{}, e.Values...)
		c.Enums = append(c.Enums, &e)
	}
	return &c
}
