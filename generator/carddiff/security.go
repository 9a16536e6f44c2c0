package carddiff

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/a2agen/a2agen/generator/yamlx"
)

// scheme is a security scheme as callers see it: what is written about it, by path, without what people read.
type scheme map[string]string

// schemesOf are the security schemes of a card.
func schemesOf(root *yaml.Node) map[string]scheme {
	all := map[string]scheme{}
	for k, v := range yamlx.Pairs(get(root, "securitySchemes")) {
		s := scheme{}
		s.fill("", v)
		all[k.Value] = s
	}
	return all
}

// fill adds what is below a path. Which scopes an issuer knows is not asked of callers.
func (s scheme) fill(path string, n *yaml.Node) {
	s[path] = ""
	for k, v := range yamlx.Pairs(n) {
		switch at := strings.TrimPrefix(path+"."+k.Value, "."); {
		case k.Value == "description" || k.Value == "scopes" || k.Value == "bearerFormat":
		case v.Kind == yaml.MappingNode:
			s.fill(at, v)
		default:
			s[at] = strings.ToLower(strings.Trim(string(yamlx.JSON(v)), `"`))
			if k.Value != "scheme" { // whose case does not matter
				s[at] = strings.Trim(string(yamlx.JSON(v)), `"`)
			}
		}
	}
}

// alternative is a list of schemes with scopes that are demanded together.
type alternative map[string][]string

// alternatives are those of a card or a skill; one that demands nothing if it demands nothing.
func alternatives(n *yaml.Node) (list []alternative) {
	for _, r := range yamlx.Items(yamlx.Get(n, "securityRequirements")) {
		a := alternative{}
		for k, v := range yamlx.Pairs(yamlx.Get(r, "schemes")) {
			a[k.Value] = yamlx.Texts(yamlx.Get(v, "list"))
		}
		list = append(list, a)
	}
	if list == nil {
		list = []alternative{{}}
	}
	return list
}

// within reports whether the credentials of b include those of a.
func (a alternative) within(b alternative) bool {
	for name, scopes := range a {
		have, ok := b[name]
		if !ok || len(missing(scopes, have)) > 0 {
			return false
		}
	}
	return true
}

func (a alternative) String() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(a)) {
		text := name
		if len(a[name]) > 0 {
			text += " with " + strings.Join(a[name], " ")
		}
		parts = append(parts, text)
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, " and ")
}

func inWords(list []alternative) string {
	var parts []string
	for _, a := range list {
		parts = append(parts, a.String())
	}
	return strings.Join(parts, " or ")
}

// security compares what callers must bring.
func (d *differ) security() {
	old, now := schemesOf(d.old.Root), schemesOf(d.new.Root)
	renamed := d.renamed(old, now)
	needed := map[string]bool{}
	for _, n := range append([]*yaml.Node{d.old.Root}, yamlx.Items(get(d.old.Root, "skills"))...) {
		for _, a := range alternatives(n) {
			for name := range a {
				needed[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if is := now[name]; is != nil && !maps.Equal(old[name], is) {
			d.schemeChanged(name, old[name], is, needed[name])
		}
	}
	d.demands("securityRequirements", alternatives(d.old.Root), alternatives(d.new.Root), renamed)
	for _, s := range d.old.Skills {
		if n := d.newNodes[s.ID]; n != nil {
			d.demands("skills."+s.ID+".securityRequirements", alternatives(d.oldNodes[s.ID]), alternatives(n), renamed)
		}
	}
}

// renamed finds schemes that are the same under another name, old names by new ones.
func (d *differ) renamed(old, now map[string]scheme) map[string]string {
	renamed := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if old[name] != nil {
			continue
		}
		for _, was := range slices.Sorted(maps.Keys(old)) {
			if now[was] == nil && maps.Equal(old[was], now[name]) {
				renamed[name] = was
				d.add(Finding{Effect: Compatible, Kind: "scheme-renamed", Path: "securitySchemes." + name,
					Was: was, Is: name,
					Text: "the security scheme " + shown(was) + " is called " + shown(name),
					Do:   "once the client is updated, its option and its environment variable have the new name, too"})
				break
			}
		}
	}
	return renamed
}

// schemeChanged reports what is different in a scheme.
func (d *differ) schemeChanged(name string, was, is scheme, needed bool) {
	all := maps.Clone(was)
	maps.Copy(all, is)
	for _, at := range slices.Sorted(maps.Keys(all)) {
		if was[at] == is[at] && (was[at] != "" || at == "") {
			continue
		}
		if _, inner := firstBelow(all, at); inner {
			continue // what is below says it
		}
		f := Finding{Effect: Compatible, Kind: "scheme-changed", Path: "securitySchemes." + name + "." + at,
			Was: was[at], Is: is[at],
			Text: "was " + shown(was[at]) + ", is " + shown(is[at])}
		if needed {
			f.Effect, f.Do = Breaking, "bring the credential as the card demands now"
		}
		if needed && strings.HasSuffix(at, "Url") {
			f.Do = "make sure that the new address is your issuer's before a secret goes there"
		}
		d.add(f)
	}
}

// firstBelow returns a path below another one.
func firstBelow(all scheme, at string) (string, bool) {
	for _, p := range slices.Sorted(maps.Keys(all)) {
		if at == "" && p != "" || strings.HasPrefix(p, at+".") {
			return p, true
		}
	}
	return "", false
}

// demands compares what is demanded at a place: one of several alternatives.
func (d *differ) demands(path string, old, now []alternative, renamed map[string]string) {
	same := make([]alternative, len(now)) // now, by the old names of schemes
	for i, a := range now {
		same[i] = alternative{}
		for name, scopes := range a {
			if was := renamed[name]; was != "" {
				name = was
			}
			same[i][name] = scopes
		}
	}
	for _, o := range old {
		if slices.ContainsFunc(same, func(n alternative) bool { return n.within(o) }) {
			continue
		}
		d.add(Finding{Effect: Breaking, Kind: "auth-tightened", Path: path, Was: inWords(old), Is: inWords(now),
			Text: "who brings " + o.String() + " is refused: the agent demands " + inWords(now),
			Do:   "bring " + inWords(now)})
	}
	for i, n := range same {
		if !slices.ContainsFunc(old, func(o alternative) bool { return o.within(n) }) {
			d.add(Finding{Effect: Compatible, Kind: "auth-loosened", Path: path, Was: inWords(old), Is: inWords(now),
				Text: "it is enough to bring " + now[i].String()})
		}
	}
}
