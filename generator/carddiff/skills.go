package carddiff

import (
	"encoding/json"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/schema"
	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// skills compares the skills, by their ids.
func (d *differ) skills() {
	old, now := byID(d.old), byID(d.new)
	var added []*card.Skill
	for _, s := range d.new.Skills {
		if old[s.ID] == nil {
			added = append(added, s)
		}
	}
	successors, taken := newSuccessors(added), map[string]bool{}
	for _, s := range d.old.Skills {
		if n := now[s.ID]; n != nil {
			d.skill(s, n)
			continue
		}
		successor := successors.of(s)
		d.gone(s, successor)
		if successor != nil {
			taken[successor.ID] = true
		}
	}
	for _, s := range added {
		if !taken[s.ID] {
			d.add(Finding{Effect: Compatible, Kind: "skill-added", Path: "skills." + s.ID, Text: "the skill is new"})
		}
	}
}

func byID(c *card.Card) map[string]*card.Skill {
	m := map[string]*card.Skill{}
	for _, s := range c.Skills {
		m[s.ID] = s
	}
	return m
}

// successors finds what old skills seem to have become among new ones.
type successors struct {
	ids    []string
	byID   map[string]*card.Skill
	byName map[string]*card.Skill
	bySame map[string]*card.Skill // by their contracts
}

func newSuccessors(added []*card.Skill) *successors {
	f := &successors{byID: map[string]*card.Skill{}, byName: map[string]*card.Skill{}, bySame: map[string]*card.Skill{}}
	for _, s := range added {
		f.ids = append(f.ids, s.ID)
		f.byID[s.ID], f.byName[s.Name], f.bySame[contract(s)] = s, s, s
	}
	return f
}

func contract(s *card.Skill) string {
	return string(s.Published.Input) + " " + string(s.Published.Output)
}

// maxNear is how many ids are compared letter by letter with that of a skill that is gone.
const maxNear = 50

// of returns the new skill that an old one seems to have become; nil if there is none.
func (f *successors) of(s *card.Skill) *card.Skill {
	if n := f.byName[s.Name]; n != nil {
		return n
	}
	if n := f.bySame[contract(s)]; n != nil && s.Published.Input != nil {
		return n
	}
	if len(f.ids) > maxNear {
		return nil
	}
	return f.byID[suggest.Nearest(s.ID, f.ids)]
}

// gone reports a skill that is not there any more.
func (d *differ) gone(s, successor *card.Skill) {
	f := Finding{Effect: Breaking, Kind: "skill-removed", Path: "skills." + s.ID, Was: s.ID,
		Text: "the skill is gone", Do: "stop calling it"}
	switch {
	case successor != nil:
		f.Kind, f.Is = "skill-renamed", successor.ID
		f.Text = "the skill is gone; " + shown(successor.ID) + " seems to be what became of it"
		f.Do = "call " + shown(successor.ID) + " instead, once you have seen that it does the same"
	case yamlx.IsTrue(get(d.new.Root, "capabilities", "extendedAgentCard")):
		f.Do = "ask for the extended card with your credentials: it may list the skill; else stop calling it"
	}
	d.add(f)
}

// skill compares a skill that both cards have.
func (d *differ) skill(old, now *card.Skill) {
	path := "skills." + old.ID
	d.schemas(path+".input", known(old.Published.Input, old.Input), known(now.Published.Input, now.Input), forInput)
	d.schemas(path+".output", known(old.Published.Output, old.Output), known(now.Published.Output, now.Output),
		forOutput)
	if d.ownModes(old.ID, "inputModes") {
		d.inputModes(path+".inputModes", old.InputModes, now.InputModes)
	}
	if d.ownModes(old.ID, "outputModes") {
		d.outputModes(path+".outputModes", old.OutputModes, now.OutputModes)
	}
	d.text(path+".name", old.Name, now.Name)
	d.text(path+".description", old.Description, now.Description)
	d.list(path+".tags", old.Tags, now.Tags)
	d.list(path+".examples", old.Examples, now.Examples)
}

// known is the schema that a card publishes, else the one that its user states.
func known(published json.RawMessage, stated *schema.Root) json.RawMessage {
	if published == nil && stated != nil {
		return stated.Bundle
	}
	return published
}

// list compares a list for people.
func (d *differ) list(path string, was, is []string) {
	if !slices.Equal(was, is) {
		d.add(Finding{Effect: Cosmetic, Kind: "text-changed", Path: path,
			Was: strings.Join(was, ", "), Is: strings.Join(is, ", "),
			Text: "was " + shown(strings.Join(was, ", ")) + ", is " + shown(strings.Join(is, ", "))})
	}
}

// ownModes reports whether a skill names modes itself, in one of the cards.
func (d *differ) ownModes(id, key string) bool {
	return len(yamlx.Items(yamlx.Get(d.oldNodes[id], key)))+len(yamlx.Items(yamlx.Get(d.newNodes[id], key))) > 0
}

// modes compares the media types of all skills that name none.
func (d *differ) modes() {
	const in, out = "defaultInputModes", "defaultOutputModes"
	d.inputModes(in, modesOf(d.old.Root, in), modesOf(d.new.Root, in))
	d.outputModes(out, modesOf(d.old.Root, out), modesOf(d.new.Root, out))
}

func modesOf(root *yaml.Node, key string) []string {
	if list := yamlx.Texts(yamlx.Get(root, key)); len(list) > 0 {
		return list
	}
	return card.DefaultModes()
}

func (d *differ) inputModes(path string, was, is []string) {
	for _, mode := range was {
		if !accepts(is, mode) {
			d.add(Finding{Effect: Breaking, Kind: "input-mode-removed", Path: path, Was: mode,
				Text: mode + " is no longer accepted",
				Do:   "send " + strings.Join(is, " or ")})
		}
	}
	d.modesAdded(path, "input-mode-added", "is accepted, too", was, is)
}

func (d *differ) outputModes(path string, was, is []string) {
	for _, mode := range was {
		if !accepts(is, mode) {
			d.add(Finding{Effect: Breaking, Kind: "output-mode-removed", Path: path, Was: mode,
				Text: "answers are no longer in " + mode,
				Do:   "accept " + strings.Join(is, " or ")})
		}
	}
	d.modesAdded(path, "output-mode-added", "may be in answers to callers who do not say what they accept", was, is)
}

func (d *differ) modesAdded(path, kind, text string, was, is []string) {
	for _, mode := range is {
		if !accepts(was, mode) {
			d.add(Finding{Effect: Compatible, Kind: kind, Path: path, Is: mode, Text: mode + " " + text})
		}
	}
}

// accepts reports whether a media type is one of a list, in which text/* stands for several.
func accepts(list []string, mode string) bool {
	return slices.ContainsFunc(list, func(m string) bool {
		family, any := strings.CutSuffix(m, "*")
		within := family == "*/" || strings.HasPrefix(strings.ToLower(mode), strings.ToLower(family))
		return strings.EqualFold(m, mode) || any && within
	})
}
