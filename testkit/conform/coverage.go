package conform

import (
	"slices"
	"strconv"
	"strings"
)

// unchecked says of the requirements that no check is for why not.
var unchecked = []struct{ numbers, why string }{
	{"R23 R50 R53 R54 R59 R63 R71 R74 R90 R106 R117 R125 R141 R142 R143 R148 R149 R200 R245 R249 R302 R306", "a rule for clients"},
	{"R80 R81 R82 R83 R194", "a rule for receivers of push notifications"},
	{"R193", "the webhook of the suite is on the machine of the agent, whose author has to allow it"},
	{"R85 R192", "it shows after ten seconds and more: a run does not wait for that"},
	{"R41 R202 R225 R229 R234", "inside of the agent: nothing of it is on the wire"},
	{"R56 R189", "documentation"},
	{"R86", "a rule for authors of extensions"},
	{"R37 R40 R64 R65 R75 R76 R77 R113 R301", "up to what the agent's work means, which only its author knows"},
	{"R32 R33", "it needs a caller with credentials of less scope"},
	{"R219 R220 R230 R231", "it needs load, or what is larger than an agent should take"},
}

// Requirement is a requirement of docs/internals/requirements.md with what is done about it.
type Requirement struct {
	Number string   `json:"number"`           // "R24"
	Checks []string `json:"checks,omitempty"` // those that hold an agent to it
	Why    string   `json:"why,omitempty"`    // why there is none
}

// Coverage returns all requirements in the order of their numbers, those of 0.3 behind those of 1.0. Traps, where documents or peers
// disagree, are among them where a check is about one.
func Coverage() []Requirement {
	by := map[string]*Requirement{}
	at := func(number string) *Requirement {
		if by[number] == nil {
			by[number] = &Requirement{Number: number}
		}
		return by[number]
	}
	for _, c := range checks() {
		for _, number := range c.Requirements {
			r := at(number)
			r.Checks = append(r.Checks, c.ID)
		}
	}
	for _, u := range unchecked {
		for _, number := range strings.Fields(u.numbers) {
			at(number).Why = u.why
		}
	}
	all := make([]Requirement, 0, len(by))
	for _, r := range by {
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b Requirement) int { return order(a.Number) - order(b.Number) })
	return all
}

// order is the place of a number: R, then Q, then T.
func order(number string) int {
	n, _ := strconv.Atoi(number[1:])
	return strings.IndexByte("RQT", number[0])*1000 + n
}
