package spec

import (
	"fmt"
	"slices"

	"github.com/a2agen/a2agen/generator/diag"
)

// Effect says what a change does to a program that stays as it is while its peers move on.
type Effect string

// The effects.
const (
	Compatible Effect = "compatible"
	Breaking   Effect = "breaking"
)

// Change is one difference between two definitions. Example: "field Task.sessionId was removed".
type Change struct {
	Kind    string `json:"kind"`    // what happened, in kebab case: "field-removed"
	Subject string `json:"subject"` // what it happened to: "Task.sessionId"
	Text    string `json:"text"`    // both in words
	// Server is the effect on a server of the old definition that meets clients of the new one, Client that on a client of
	// the old definition that meets servers of the new one.
	Server Effect `json:"server"`
	Client Effect `json:"client"`
	// Pos is where the new definition has it, of what was removed where the old one had it.
	Pos diag.Pos `json:"pos"`
}

// Breaking reports whether the change breaks servers or clients.
func (c Change) Breaking() bool { return c.Server == Breaking || c.Client == Breaking }

// Diff returns what is different in the new definition, for those who exchange messages: order, comments and the names of
// types do not matter, and a type is followed through its renaming. What the syntax of one side cannot say is not compared;
// a bundle, for example, knows of no required fields. Changes come in the order of the old definition, first operations,
// then types; what was added comes behind.
//
// Readers are taken to ignore members they do not know, and to fail on values they do not know: enum values, union
// members, alternatives. An operation that was added breaks nobody: a server without it answers that there is none.
func Diff(old, new *Document) []Change {
	d := &differ{old: old, new: new, match: matchTypes(old, new), fromOld: directions(old), fromNew: directions(new)}
	d.packages()
	d.operations()
	d.envelope()
	d.messages()
	d.enums()
	d.choices()
	d.errors()
	return d.changes
}

// differ compares two documents.
type differ struct {
	old, new         *Document
	match            match
	fromOld, fromNew map[string]direction // by type
	changes          []Change
}

// direction says who writes values of a type.
type direction struct{ byClient, byServer bool }

func (d direction) or(e direction) direction {
	return direction{d.byClient || e.byClient, d.byServer || e.byServer}
}

// impact says whether a change breaks a program of the old definition when it reads what is written by the new one, and
// when the new one reads what it writes.
type impact struct{ reading, writing bool }

var (
	harmless = impact{}
	anyUse   = impact{reading: true, writing: true}
	reading  = impact{reading: true}
	writing  = impact{writing: true}
)

// typeChange adds a change of a type whose values go the given ways.
func (d *differ) typeChange(dir direction, i impact, pos diag.Pos, kind, subject, format string, args ...any) {
	d.change(
		i.reading && dir.byClient || i.writing && dir.byServer,
		i.reading && dir.byServer || i.writing && dir.byClient,
		pos, kind, subject, format, args...)
}

func (d *differ) change(server, client bool, pos diag.Pos, kind, subject, format string, args ...any) {
	effect := map[bool]Effect{false: Compatible, true: Breaking}
	d.changes = append(d.changes, Change{
		Kind: kind, Subject: subject, Text: fmt.Sprintf(format, args...), Server: effect[server], Client: effect[client], Pos: pos,
	})
}

// both reports whether both sides are written in one of the given syntaxes.
func (d *differ) both(syntaxes ...Syntax) bool {
	return slices.Contains(syntaxes, d.old.Syntax) && slices.Contains(syntaxes, d.new.Syntax)
}

// deprecated reports whether something has become deprecated, which bundles do not say.
func (d *differ) deprecated(was, is bool) bool { return !was && is && d.both(Proto, Schema) }

func (d *differ) packages() {
	if d.both(Proto) && d.old.Package != d.new.Package {
		d.change(true, true, diag.Pos{File: d.new.Path}, "package-changed", d.new.Package,
			"package %s is now %s: all gRPC methods have another path", orNone(d.old.Package), orNone(d.new.Package))
	}
}

func (d *differ) errors() {
	if !d.both(Schema) {
		return
	}
	now := map[string]*ErrorCode{}
	for _, e := range d.new.Errors {
		now[e.Name] = e
	}
	for _, e := range d.old.Errors {
		n := now[e.Name]
		delete(now, e.Name)
		switch {
		case n == nil:
			d.change(false, false, e.Pos, "error-removed", e.Name, "error %s (%d) was removed", e.Name, e.Code)
		case n.Code != e.Code:
			d.change(true, true, n.Pos, "error-code-changed", e.Name, "error %s has code %d instead of %d", e.Name, n.Code, e.Code)
		case n.Message != e.Message:
			d.change(false, false, n.Pos, "error-text-changed", e.Name, "error %s says %q instead of %q", e.Name, n.Message, e.Message)
		}
	}
	for _, e := range d.new.Errors {
		if now[e.Name] != nil {
			d.change(false, false, e.Pos, "error-added", e.Name, "error %s (%d) was added", e.Name, e.Code)
		}
	}
}

func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
