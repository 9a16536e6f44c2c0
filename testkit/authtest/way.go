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
	agent := slices.DeleteFunc(slices.Clone(d.Agent), func(r auth.Requirement) bool { return len(r) == 0 })
	if len(agent) == 0 { // each scheme alone identifies a caller
		for _, s := range d.Schemes {
			agent = append(agent, auth.Requirement{{Scheme: s.Name}})
		}
	}
	plain := false
	for i, id := range slices.Concat(public, hidden) {
		w := way{skill: id, hidden: i >= len(public), agent: d.Agent, onTop: d.Skills[id]}
		if len(w.onTop) == 0 && !w.hidden {
			if plain {
				continue
			}
			plain = true
		}
		onTop := w.onTop
		if len(onTop) == 0 {
			onTop = []auth.Requirement{nil}
		}
		first := len(ways)
		for _, a := range agent {
			for _, s := range onTop {
				w.schemes = nil
				for _, n := range slices.Concat(a, s) {
					if !slices.Contains(w.schemes, n.Scheme) {
						w.schemes = append(w.schemes, n.Scheme)
					}
				}
				same := func(have way) bool { return slices.Equal(have.schemes, w.schemes) }
				if !slices.ContainsFunc(ways[first:], same) {
					ways = append(ways, w)
				}
			}
		}
	}
	return ways
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
