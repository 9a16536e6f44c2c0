package carddiff

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/generator/schemadiff"
)

// side is whose values a schema is about: callers send inputs and receive outputs.
type side struct {
	name string
	// loss are the words for values that fitted the old schema and do not fit the new one; gain for the others.
	loss, gain change
}

// change is what becomes of some values.
type change struct {
	effect Effect
	kind   string
	values string // said of values that are listed: `"b" is no longer accepted`
	do     string // where it is not known what decides
}

var (
	forInput = side{"input",
		change{Breaking, "input-narrowed", "no longer accepted",
			"read both schemas, and send only what fits the new one"},
		change{Compatible, "input-widened", "accepted, too", ""}}
	forOutput = side{"output",
		change{Compatible, "output-narrowed", "no longer in answers", ""},
		change{Breaking, "output-widened", "possible in answers now",
			"read both schemas, and be ready for what did not come before"}}
)

// schemas compares the schemas of an input or an output.
func (d *differ) schemas(path string, was, is json.RawMessage, s side) {
	switch {
	case bytes.Equal(was, is): // also where that could not be proven
		return
	case was == nil:
		d.add(Finding{Effect: Unknown, Kind: s.name + "-schema-added", Path: path,
			Text: "a schema says now what the " + s.name + " is: nothing did before",
			Do:   "see whether what you send and expect fits it"})
		return
	case is == nil:
		d.add(Finding{Effect: Unknown, Kind: s.name + "-schema-removed", Path: path,
			Text: "no schema says any more what the " + s.name + " is",
			Do:   "ask who runs the agent whether the old schema still holds"})
		return
	}
	was, is = comparable(was, is)
	lost, err := d.budget.Narrowed(was, is)
	gained, err2 := d.budget.Narrowed(is, was)
	if err != nil || err2 != nil {
		d.add(Finding{Effect: Unknown, Kind: s.name + "-not-compared", Path: path,
			Text: "the schemas cannot be compared: " + first(err, err2).Error(),
			Do:   "read both schemas"})
		return
	}
	for _, r := range lost {
		if s.loss.effect == Breaking || r.Undeclared || !said(r, gained) {
			d.lost(path, r, s)
		}
	}
	for _, r := range gained {
		if s.gain.effect == Breaking || r.Undeclared || !said(r, lost) {
			d.gained(path, r, s)
		}
	}
}

// said reports whether a change is also one for the worse, which says it.
func said(r schemadiff.Reason, worse []schemadiff.Reason) bool {
	return slices.ContainsFunc(worse, func(o schemadiff.Reason) bool {
		return o.Path == r.Path && (o.Keyword == r.Keyword || !o.Sure)
	})
}

func first(errs ...error) error {
	i := slices.IndexFunc(errs, func(err error) bool { return err != nil })
	return errs[i]
}

// comparable returns two schemas in the words of draft 2020-12, as they are enforced, where both can be compiled;
// else as they are.
func comparable(was, is json.RawMessage) (old, now json.RawMessage) {
	bundles := [2]json.RawMessage{was, is}
	for i, text := range bundles {
		roots, list := schema.Compile([]schema.Request{{File: "schema", JSON: text, Foreign: true}}, nil)
		if slices.ContainsFunc(list, func(p diag.Diagnostic) bool { return p.Severity == diag.Error }) {
			return was, is
		}
		bundles[i] = roots[0].Bundle
	}
	return bundles[0], bundles[1]
}

// lost reports values that fitted the old schema and do not fit the new one.
func (d *differ) lost(path string, r schemadiff.Reason, s side) {
	if r.Undeclared {
		d.add(Finding{Effect: Compatible, Kind: s.name + "-property-added", Path: at(path, r), Is: r.To,
			Text: "the property is new, and " + presence(s, "need not be given", "may be there") + " (" + r.To + ")"})
		return
	}
	d.reason(path, r, s, s.loss, r.From, r.To)
}

// gained reports values that did not fit the old schema and fit the new one.
func (d *differ) gained(path string, r schemadiff.Reason, s side) {
	if r.Undeclared || r.Keyword == "required" && r.From == "" {
		d.add(Finding{Effect: Breaking, Kind: s.name + "-property-removed", Path: at(path, r), Was: r.To,
			Text: "the property is gone",
			Do: presence(s, "leave it out: nobody reads it any more", "do without it") +
				"; code that uses it does not compile once the client is updated"})
		return
	}
	d.reason(path, r, s, s.gain, r.To, r.From)
}

// presence chooses words for inputs or outputs.
func presence(s side, input, output string) string {
	if s.name == "input" {
		return input
	}
	return output
}

// at is the path of a reason in the card.
func at(path string, r schemadiff.Reason) string {
	if r.Path == "" || r.Path[0] == '[' {
		return path + r.Path
	}
	return path + "." + r.Path
}

// reason reports one reason, with what the old and the new schema say.
func (d *differ) reason(path string, r schemadiff.Reason, s side, c change, was, is string) {
	f := Finding{Effect: c.effect, Kind: c.kind, Path: at(path, r), Was: was, Is: is,
		Text: r.Keyword + " was " + orNone(was) + ", is " + orNone(is)}
	switch r.Keyword {
	case "enum":
		f.Text = r.From + " " + isAre(r.From) + " " + c.values
	case "oneOf", "anyOf":
		f.Text = r.From + ": " + c.values
	case "required":
		f.Text = "was " + orNot(was) + ", is " + orNot(is)
	case "type":
		f.Text = "was " + was + ", is " + is
		if c.kind == "input-widened" {
			f.Text = r.From + " is " + c.values
		}
	case "$schema":
		f.Text = r.From
	case r.To: // one that is compared as a whole
		f.Text = `"` + r.Keyword + `" changed`
		if r.From == "" {
			f.Text = `"` + r.Keyword + `" is new`
		}
	case "additionalProperties":
		if r.Path != "" {
			f.Text = "the property is " + c.values
		}
	case "false":
		f.Text = r.From + " is " + c.values
	}
	if c.effect == Breaking {
		f.Do = remedy(s, r, is)
	}
	switch {
	case r.Sure:
		d.add(f)
	case c.effect == Breaking:
		f.Effect, f.Text, f.Do = Unknown, f.Text+": whether all values still fit could not be decided", c.do
		d.add(f)
	} // that something may be better is no news
}

func isAre(list string) string {
	if strings.Contains(list, ", ") {
		return "are"
	}
	return "is"
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func orNot(s string) string {
	if s == "" {
		return "not there"
	}
	return s
}

// remedy is what a caller does about a reason.
func remedy(s side, r schemadiff.Reason, is string) string {
	words := schema.Lookup(r.Keyword).Do
	if r.Keyword == "false" {
		words = [2]string{"leave it out", "handle it"}
	}
	if words[0] == "" {
		return presence(s, forInput.loss.do, forOutput.gain.do)
	}
	return strings.ReplaceAll(presence(s, words[0], words[1]), "%", is)
}
