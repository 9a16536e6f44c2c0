package lower

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/spec"
)

// gaps lists what the table does not say of either definition, and what it says of things that neither has. It is empty
// for a table that is total in both directions.
func (a *alignment) gaps(old, hub *spec.Document) []string {
	g := &gapFinder{alignment: a, old: old, hub: hub}
	g.operations()
	g.olds()
	g.hubs()
	for _, t := range a.types {
		g.names(t)
	}
	slices.Sort(g.list)
	return slices.Compact(g.list)
}

type gapFinder struct {
	*alignment
	old, hub *spec.Document
	list     []string
}

func (g *gapFinder) say(format string, args ...any) {
	g.list = append(g.list, fmt.Sprintf(format, args...))
}

func (g *gapFinder) operations() {
	var rpcs, hubs []string
	for _, o := range g.alignment.operations {
		rpcs, hubs = append(rpcs, o.rpc), append(hubs, o.hub)
	}
	for _, o := range g.old.Operations {
		if name := cmp.Or(o.RPC, o.Name); !slices.Contains(rpcs, name) {
			g.say("old operation %s", name)
		}
	}
	for _, o := range g.hub.Operations {
		if !slices.Contains(hubs, o.Name) {
			g.say("hub operation %s", o.Name)
		}
	}
}

// whole reports whether a name of the old definition is spoken for without its members.
func (g *gapFinder) whole(name string) bool {
	return slices.Contains(g.envelopes, name) || slices.Contains(g.open, name) ||
		slices.ContainsFunc(g.types, func(t *alignedType) bool { return slices.Contains(t.olds, name) })
}

// olds finds what is not said of the old definition.
func (g *gapFinder) olds() {
	for _, m := range g.old.Messages {
		if g.whole(m.Name) {
			continue
		}
		said := false
		for _, t := range g.types {
			if t.kind != "message" || t.old != m.Name {
				continue
			}
			said = true
			for _, f := range m.Fields {
				if !hasLine(t, f.JSON, false) {
					g.say("old field %s.%s (as %s)", m.Name, f.JSON, t.hub)
				}
			}
		}
		if !said {
			g.say("old message %s", m.Name)
		}
	}
	for _, e := range g.old.Enums {
		t := g.message(e.Name, "")
		switch {
		case g.whole(e.Name):
		case t == nil:
			g.say("old enum %s", e.Name)
		default:
			for _, v := range e.Values {
				if !hasLine(t, v.Name, false) {
					g.say("old value %s of %s", v.Name, e.Name)
				}
			}
		}
	}
	for _, c := range g.old.Choices {
		t := g.message(c.Name, "")
		switch {
		case g.whole(c.Name):
		case t == nil:
			g.say("old choice %s", c.Name)
		default:
			for _, typ := range c.Types {
				if !hasLine(t, typ.Name, false) {
					g.say("old alternative %s of %s", typ.Name, c.Name)
				}
			}
		}
	}
}

func hasLine(t *alignedType, name string, absent bool) bool {
	return slices.ContainsFunc(t.lines, func(l *alignedLine) bool { return l.name == name && (l.class == "absent") == absent })
}

// hubs finds what is not said of the hub.
func (g *gapFinder) hubs() {
	for _, m := range g.hub.Messages {
		said := false
		for _, t := range g.types {
			said = said || t.hub == m.Name
		}
		if !said {
			g.say("hub message %s", m.Name)
			continue
		}
		for _, f := range m.Fields {
			if !g.hasField(m.Name, f) {
				g.say("hub field %s.%s", m.Name, f.Name)
			}
		}
	}
	for _, e := range g.hub.Enums {
		for _, v := range e.Values {
			if !slices.ContainsFunc(g.types, func(t *alignedType) bool {
				return t.hub == e.Name && slices.ContainsFunc(t.lines, func(l *alignedLine) bool {
					return l.target == v.Name || l.class == "absent" && l.name == v.Name
				})
			}) {
				g.say("hub value %s", v.Name)
			}
		}
	}
}

// hasField reports whether a hub field is spoken for: by a line of one of its message's tables, by a line of a message
// around it, or because the whole message is.
func (g *gapFinder) hasField(msg string, f *spec.Field) bool {
	for _, t := range g.types {
		if t.hub == msg && (t.kind == "absent" || t.kind == "type" || t.kind == "covered" || t.kind == "bare" && t.arg == f.Name) {
			return true
		}
		for _, l := range t.lines {
			switch {
			case t.hub == msg && (l.target == f.Name || l.class == "pair" && l.arg == f.Name || l.class == "same" && l.name == f.JSON || l.class == "absent" && l.name == f.Name || strings.HasPrefix(l.target, f.Name+".")):
				return true
			case g.reaches(t.hub, l.target, msg, f.Name):
				return true
			}
		}
	}
	return false
}

// reaches reports whether a path "a.b" in message from ends at field name of message msg.
func (g *gapFinder) reaches(from, path, msg, name string) bool {
	m := messageOf(g.hub, from)
	if m == nil {
		return false
	}
	for _, f := range m.Fields {
		if path == f.Name+"."+name && f.Type.Name == msg {
			return true
		}
	}
	return false
}

// names finds lines about things that do not exist.
func (g *gapFinder) names(t *alignedType) {
	hub, old := messageOf(g.hub, t.hub), messageOf(g.old, t.old)
	if hub == nil && t.kind != "enum" {
		g.say("no hub message %s", t.hub)
		return
	}
	if t.kind == "message" && old == nil && t.old != "-" && t.old[0] != '~' {
		g.say("no old message %s", t.old)
	}
	for _, l := range t.lines {
		switch {
		case t.kind == "enum":
		case l.class == "absent":
			if memberOf(hub, l.name) == nil {
				g.say("no hub field %s.%s", t.hub, l.name)
			}
		case t.kind == "message" && old != nil && !l.informal && memberCalled(old, l.name) == nil:
			g.say("no old field %s.%s", t.old, l.name)
		case l.class == "same":
			if !slices.ContainsFunc(hub.Fields, func(f *spec.Field) bool { return f.JSON == l.name }) {
				g.say("%s.%s is not called the same in %s", t.old, l.name, t.hub)
			}
		}
	}
}
