package authtest

import (
	"slices"
	"strings"

	"github.com/a2agen/a2agen/runtime/auth"
)

// way is one way into a skill: an alternative of what the agent requires, with one of what the skill requires.
type way struct {
	skill   string
	hidden  bool     // the skill is in the extended card alone
	schemes []string // that are shown
	agent   []auth.Requirement
	onTop   []auth.Requirement // of the skill
}

// String names the way in a test's name.
func (w way) String() string { return strings.Join(w.schemes, " and ") + " for " + w.skill }

// waysInto returns the ways into each skill that has requirements or is hidden, and into one of the other skills. A
// way without credentials is left out.
func waysInto(d *auth.Demands, public, hidden []string) (ways []way) {
	plain := false
	for i, id := range slices.Concat(public, hidden) {
		w := way{skill: id, hidden: i >= len(public), agent: d.Agent, onTop: d.Skills[id]}
		if len(w.onTop) == 0 && !w.hidden {
			if plain {
				continue
			}
			plain = true
		}
		for _, schemes := range combined(alternatives(d), w.onTop) {
			w.schemes = schemes
			ways = append(ways, w)
		}
	}
	return ways
}

// alternatives returns what the agent requires. If that is nothing, each scheme alone identifies a caller.
func alternatives(d *auth.Demands) []auth.Requirement {
	all := slices.DeleteFunc(slices.Clone(d.Agent), func(r auth.Requirement) bool { return len(r) == 0 })
	if len(all) > 0 {
		return all
	}
	for _, s := range d.Schemes {
		all = append(all, auth.Requirement{{Scheme: s.Name}})
	}
	return all
}

// combined returns the schemes of each pair of alternatives.
func combined(agent, skill []auth.Requirement) (all [][]string) {
	if len(skill) == 0 {
		skill = []auth.Requirement{nil}
	}
	for _, a := range agent {
		for _, s := range skill {
			var schemes []string
			for _, n := range slices.Concat(a, s) {
				if !slices.Contains(schemes, n.Scheme) {
					schemes = append(schemes, n.Scheme)
				}
			}
			if !slices.ContainsFunc(all, func(have []string) bool { return slices.Equal(have, schemes) }) {
				all = append(all, schemes)
			}
		}
	}
	return all
}

// verdict is the result of a request.
type verdict string

// The verdicts.
const (
	letIn           verdict = "let in"
	unauthenticated verdict = "refused as unauthenticated"
	denied          verdict = "refused for a missing scope or tenant"
)

// judge returns the verdict for valid credentials of some schemes with some scopes.
func judge(rs []auth.Requirement, schemes, scopes []string) verdict {
	best := unauthenticated
	if len(rs) == 0 {
		return letIn
	}
	for _, r := range rs {
		if slices.ContainsFunc(r, func(n auth.Need) bool { return !slices.Contains(schemes, n.Scheme) }) {
			continue
		}
		if !slices.ContainsFunc(r, func(n auth.Need) bool { return !subset(n.Scopes, scopes) }) {
			return letIn
		}
		best = denied
	}
	return best
}

func subset(of, all []string) bool {
	return !slices.ContainsFunc(of, func(s string) bool { return !slices.Contains(all, s) })
}

// scopesOf returns all scopes that requirements name.
func scopesOf(rs ...auth.Requirement) (scopes []string) {
	for _, r := range rs {
		for _, n := range r {
			for _, s := range n.Scopes {
				if !slices.Contains(scopes, s) {
					scopes = append(scopes, s)
				}
			}
		}
	}
	return scopes
}
