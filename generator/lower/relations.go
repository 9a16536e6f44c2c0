package lower

import (
	"slices"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/spec"
)

// Relations reports how the definitions relate to the one that gives the types, which itself is left out. Versions with a
// table are reported against 1.0, whose names the table has; what became of those, the report of 1.0 says.
func Relations(docs []*spec.Document) ([]*Alignment, diag.List) {
	in, problems := prepare(docs)
	if problems.HasErrors() {
		return nil, problems
	}
	var all []*Alignment
	for _, doc := range in.older {
		table, ok, err := alignmentOf(doc.Version)
		switch {
		case err != nil:
			problems.Errorf(diag.Pos{File: doc.Path}, "unaligned-version", "", "%v", err)
		case ok:
			all = append(all, table.report(doc.Version, hubVersion))
		default:
			all = append(all, numberedReport(doc, in.hub))
		}
	}
	for _, d := range in.drafts {
		all = append(all, d.table.report(d.doc.Version, in.hub.Version))
	}
	return all, problems
}

// numberedReport compares a definition with the hub as [protocolLowering.numberedVersion] does: by names, and by numbers
// where names changed.
func numberedReport(old, hub *spec.Document) *Alignment {
	r := newReport(old.Version, hub.Version)
	l := &protocolLowering{messages: map[string]*spec.Message{}}
	for _, m := range hub.Messages {
		l.messages[m.Name] = m
	}
	r.numberedOperations(old, hub)
	for _, m := range old.Messages {
		r.numberedMessage(l, m)
	}
	for _, m := range hub.Messages {
		if messageOf(old, m.Name) == nil {
			r.add("absent", "", m.Name, "drop")
		}
	}
	for _, e := range old.Enums {
		r.numberedEnum(e, enumOf(hub, e.Name))
	}
	for _, e := range hub.Enums {
		if enumOf(old, e.Name) == nil {
			r.add("absent", "", e.Name, "drop")
		}
	}
	return r.Alignment
}

func (r *report) numberedOperations(old, hub *spec.Document) {
	in := func(doc *spec.Document, o *spec.Operation) bool {
		return slices.ContainsFunc(doc.Operations, func(other *spec.Operation) bool { return other.Name == o.Name })
	}
	for _, o := range old.Operations {
		if in(hub, o) {
			r.add("same", o.Name, o.Name, "")
		} else {
			r.add("absent", o.Name, "", "error")
		}
	}
	for _, o := range hub.Operations {
		if !in(old, o) {
			r.add("absent", "", o.Name, "error")
		}
	}
}

func (r *report) numberedMessage(l *protocolLowering, m *spec.Message) {
	hub := l.messages[m.Name]
	if hub == nil {
		r.add("absent", m.Name, "", "drop")
		return
	}
	r.add("same", m.Name, m.Name, "")
	taken := map[*spec.Field]bool{}
	for _, f := range m.Fields {
		g := l.counterpart(m.Name, f, m)
		if g == nil {
			r.add("absent", m.Name+"."+f.Name, "", "drop")
			continue
		}
		taken[g] = true
		r.add(named(f.Name, g.Name), m.Name+"."+f.Name, m.Name+"."+g.Name, "")
	}
	for _, g := range hub.Fields {
		if !taken[g] {
			r.add("absent", "", m.Name+"."+g.Name, "drop")
		}
	}
}

func (r *report) numberedEnum(e, hub *spec.Enum) {
	if hub == nil {
		r.add("absent", e.Name, "", "drop")
		return
	}
	r.add("same", e.Name, e.Name, "")
	taken := map[*spec.EnumValue]bool{}
	for _, v := range e.Values {
		g := enumValue(hub, v.Name)
		if g == nil {
			if i := slices.IndexFunc(hub.Values, func(g *spec.EnumValue) bool { return g.Number == v.Number && enumValue(e, g.Name) == nil }); i >= 0 {
				g = hub.Values[i]
			}
		}
		if g == nil {
			r.add("absent", e.Name+"."+v.Name, "", "drop")
			continue
		}
		taken[g] = true
		r.add(named(v.Name, g.Name), e.Name+"."+v.Name, e.Name+"."+g.Name, "")
	}
	for _, g := range hub.Values {
		if !taken[g] {
			r.add("absent", "", e.Name+"."+g.Name, "drop")
		}
	}
}
