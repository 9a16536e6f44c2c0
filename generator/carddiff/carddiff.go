// Package carddiff says what a card's changes do to those who call its agent: what breaks, what does not, and what a
// caller has to do. Cards may be of different versions of A2A.
package carddiff

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/schemadiff"
	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/runtime"
)

// Effect is what a change does to callers who go by the old card.
type Effect string

// The effects.
const (
	Breaking   Effect = "breaking"   // some calls that worked will not, or an answer may be one that they do not expect
	Unknown    Effect = "unknown"    // it could not be decided
	Compatible Effect = "compatible" // callers need not do anything
	Cosmetic   Effect = "cosmetic"   // it concerns people only
)

// effects are all effects, the worst first.
var effects = []Effect{Breaking, Unknown, Compatible, Cosmetic}

// Finding is one change.
type Finding struct {
	Effect Effect `json:"effect"`
	Kind   string `json:"kind"` // what happened, in kebab case: "input-narrowed"
	// Path is where, in the words of A2A 1.0, skills by their ids: "skills.forecast.input.days".
	Path string `json:"path"`
	Text string `json:"text"` // what happened, in words
	Was  string `json:"was,omitempty"`
	Is   string `json:"is,omitempty"`
	Do   string `json:"do,omitempty"` // what a caller has to do
}

// Published is a card as somebody publishes it.
type Published struct {
	Card    *card.Card
	signers []signer
}

// Read reads a card of any version. It is nil if there are errors in the list; what was converted is not in it.
func Read(file string, src []byte) (*Published, diag.List) {
	imported, list := card.Import(file, src)
	list = slices.DeleteFunc(list, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	if imported == nil || list.HasErrors() {
		return nil, list
	}
	raw, _ := yamlx.Parse(file, src)
	return &Published{imported, signersOf(raw)}, nil
}

// Diff returns what is different in the new card, the worst first. It never calls compatible what it did not compare.
// Interfaces of one card that do not say at which host they are, as a project does not know its own, are at that of
// the other one.
func Diff(old, new *Published) []Finding {
	old.settle(new)
	new.settle(old)
	d := &differ{old: old.Card, new: new.Card, oldNodes: skillNodes(old.Card), newNodes: skillNodes(new.Card)}
	d.interfaces()
	d.capabilities()
	d.security()
	d.signers(old.signers, new.signers)
	d.modes()
	d.skills()
	d.about()
	slices.SortStableFunc(d.findings, func(a, b Finding) int {
		return cmp.Compare(slices.Index(effects, a.Effect), slices.Index(effects, b.Effect))
	})
	return d.findings
}

// settle gives interfaces without a host that of another card.
func (p *Published) settle(other *Published) {
	i := slices.IndexFunc(other.Card.Interfaces, func(i runtime.Interface) bool {
		return strings.Contains(i.URL, "://")
	})
	if i < 0 {
		return
	}
	base, err := url.Parse(other.Card.Interfaces[i].URL)
	if err != nil {
		return
	}
	for i := range p.Card.Interfaces {
		if u := &p.Card.Interfaces[i].URL; strings.HasPrefix(*u, "/") {
			*u = base.Scheme + "://" + base.Host + *u
		}
	}
}

// differ compares two cards.
type differ struct {
	old, new           *card.Card
	oldNodes, newNodes map[string]*yaml.Node // the skills in the trees of the cards, by id
	findings           []Finding
	budget             schemadiff.Budget // for the schemas of all skills
}

// skillNodes are the skills in the tree of a card, by id.
func skillNodes(c *card.Card) map[string]*yaml.Node {
	m := map[string]*yaml.Node{}
	for _, n := range yamlx.Items(get(c.Root, "skills")) {
		m[yamlx.Text(yamlx.Get(n, "id"))] = n
	}
	return m
}

// add adds a finding, without what terminals would obey.
func (d *differ) add(f Finding) {
	for _, s := range []*string{&f.Path, &f.Text, &f.Was, &f.Is, &f.Do} {
		*s = clean(*s)
	}
	d.findings = append(d.findings, f)
}

// get returns what is at a path of a card of 1.0.
func get(n *yaml.Node, path ...string) *yaml.Node {
	for _, key := range path {
		n = yamlx.Get(n, key)
	}
	return n
}

// about compares what people read.
func (d *differ) about() {
	texts := func(c *card.Card) [][2]string {
		return [][2]string{
			{"name", c.Name}, {"description", c.Description}, {"version", c.Version},
			{"provider.organization", yamlx.Text(get(c.Root, "provider", "organization"))},
			{"provider.url", yamlx.Text(get(c.Root, "provider", "url"))},
			{"documentationUrl", yamlx.Text(get(c.Root, "documentationUrl"))},
			{"iconUrl", yamlx.Text(get(c.Root, "iconUrl"))},
		}
	}
	now := texts(d.new)
	for i, was := range texts(d.old) {
		d.text(was[0], was[1], now[i][1])
	}
}

// text compares a text for people.
func (d *differ) text(path, was, is string) {
	if was == is {
		return
	}
	d.add(Finding{Effect: Cosmetic, Kind: "text-changed", Path: path, Was: was, Is: is,
		Text: "was " + shown(was) + ", is " + shown(is)})
}

// missing are the elements of a list that another one does not have.
func missing(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}

// shown is a text of a card in a sentence.
func shown(s string) string {
	if s == "" {
		return "not given"
	}
	if rs := []rune(s); len(rs) > 60 {
		s = string(rs[:59]) + "…"
	}
	return `"` + strings.Join(strings.Fields(s), " ") + `"`
}
