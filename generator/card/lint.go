package card

import (
	"fmt"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/yamlx"
)

// Served says how a card is served.
type Served struct {
	Versions []string // of the protocol, newest first
	Lists    bool     // its requirements are as a2a-go reads them
}

// Published returns how an imported card is served.
func (c *Card) Published() (s Served) {
	s.Lists = c.Origin != "1.0" || c.lists
	for _, i := range yamlx.Items(yamlx.Get(c.Root, "supportedInterfaces")) {
		if v := yamlx.Text(yamlx.Get(i, "protocolVersion")); !slices.Contains(s.Versions, v) {
			s.Versions = append(s.Versions, v)
		}
	}
	return s
}

// Lint reports what callers with the official SDKs cannot do with the card, one warning for each requirement and SDK.
func (c *Card) Lint(served Served) (list diag.List) {
	l := linter{schemes: map[string]Scheme{}}
	for _, s := range c.Schemes() {
		l.schemes[s.Name] = s
	}
	demands := c.Demands()
	if !served.Lists && slices.Contains(served.Versions, "1.0") {
		l.form(demands)
	}
	var own Demand
	if len(demands) > 0 && demands[0].Skill == "" {
		own, demands = demands[0], demands[1:]
	}
	l.byHand(own)
	for _, client := range sdks {
		name, brought := client.in(served.Versions), l.brought(client, own)
		switch {
		case name == "":
		case len(own.Alternatives) > 0 && len(brought) == 0:
			why := make([]string, len(own.Alternatives))
			for i, names := range own.Alternatives {
				why[i] = l.reason(client, names)
			}
			l.cannot(own.Pos, name, strings.Join(slices.Compact(why), "; "))
		case client.ownAlone:
			l.skills(name, demands, brought)
		}
	}
	l.list.Sort()
	return l.list
}

type linter struct {
	schemes map[string]Scheme
	list    diag.List
}

func (l *linter) cannot(pos diag.Pos, client, why string) {
	l.list.Warnf(pos, "not-met", "add an alternative with one credential: an API key in a header, or HTTP Bearer",
		"callers with %s cannot meet this: %s", client, why)
}

// form reports what a2a-go cannot read at all.
func (l *linter) form(demands []Demand) {
	i := slices.IndexFunc(demands, func(d Demand) bool {
		return slices.ContainsFunc(d.Alternatives, func(names []string) bool { return len(names) > 0 })
	})
	if i >= 0 {
		l.list.Warnf(demands[i].Pos, "not-read",
			`"cards: {requirements: list}" in a2agen.yaml serves the form that it reads; `+
				"the SDKs for Python and JavaScript read that, too",
			"callers with %s cannot read the card: it fails on security requirements as A2A 1.0 has them", goOfOne)
	}
}

// byHand reports what no SDK does by itself, if all alternatives need it.
func (l *linter) byHand(own Demand) {
	all := func(needs func(Scheme) bool) bool {
		return len(own.Alternatives) > 0 && !slices.ContainsFunc(own.Alternatives, func(names []string) bool {
			return !slices.ContainsFunc(names, func(name string) bool { return needs(l.schemes[name]) })
		})
	}
	if all(func(s Scheme) bool { return s.Kind == MutualTLS }) {
		l.list.Warnf(own.Pos, "certificate-by-hand",
			"callers give theirs an HTTP client with it: tell them, or add an alternative",
			"none of the official SDKs brings a client certificate by itself")
	}
	if all(Scheme.issued) {
		l.list.Warnf(own.Pos, "token-by-hand",
			"callers get one themselves and hand it over: tell them how, or add an alternative",
			"none of the official SDKs gets a token from its issuer")
	}
}

// issued reports whether the scheme's credential is a token of an issuer.
func (s Scheme) issued() bool { return s.Kind == OAuth2 || s.Kind == OpenIDConnect }

// brought returns the alternatives of a demand that a client satisfies.
func (l *linter) brought(client sdk, d Demand) (met [][]string) {
	for _, names := range d.Alternatives {
		if l.reason(client, names) == "" {
			met = append(met, names)
		}
	}
	return met
}

// reason says why a client cannot satisfy an alternative; "" if it can.
func (l *linter) reason(client sdk, names []string) string {
	var credentials []string
	for _, name := range names {
		s := l.schemes[name]
		if s.Kind == MutualTLS {
			continue
		}
		if instead := client.instead(s); instead != "" {
			return fmt.Sprintf("for %q it sends %s", name, instead)
		}
		credentials = append(credentials, fmt.Sprintf("%q", name))
	}
	if len(credentials) > 1 {
		return "of " + strings.Join(credentials, " and ") + " it sends only one"
	}
	return ""
}

// skills reports what skills require and a client does not send for the requirements of the card itself.
func (l *linter) skills(client string, demands []Demand, brought [][]string) {
	for _, d := range demands {
		if slices.ContainsFunc(d.Alternatives, func(names []string) bool { return l.within(names, brought) }) {
			continue
		}
		l.list.Warnf(d.Pos, "not-met",
			`demand the same of the card itself; with an empty alternative, "- {}", others may bring nothing`,
			"callers with %s cannot meet this: it sends what the card itself demands, and does not look at skills",
			client)
	}
}

// within reports whether one of the alternatives that are sent includes this one.
func (l *linter) within(names []string, brought [][]string) bool {
	has := func(own []string) bool {
		return !slices.ContainsFunc(names, func(name string) bool {
			return l.schemes[name].Kind != MutualTLS && !slices.Contains(own, name)
		})
	}
	return has(nil) || slices.ContainsFunc(brought, has)
}
