package generator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/spec"
)

// A client of another agent speaks what that agent's card offers, independent of the project's own agent: the protocol package
// gets the versions and encodings, and the client the bindings, that it takes.

// Reach is how a client of another agent calls it.
type Reach struct {
	Client  string `json:"client"`
	Version string `json:"version"` // of the protocol; "" when the client cannot call the agent by itself
	Binding string `json:"binding"`
	// Added: a2agen.yaml does not list the version, so that the protocol package has it for clients alone.
	Added bool `json:"added,omitempty"`
	// OAuth: the card has schemes whose tokens the client gets by OAuth 2.
	OAuth bool `json:"oauth,omitempty"`
	// Field is that of the type that handlers embed, with the client: "Weather"; "" where there is none.
	Field string `json:"field,omitempty"`
	// reads is a version with which the card is read, where no other one reads its shape.
	reads string
}

// String says it in words: "over JSONRPC, in version 0.3 of the protocol".
func (r Reach) String() string {
	return "over " + r.Binding + ", in version " + r.Version + " of the protocol"
}

// reach finds the interface of a card that its client calls: one that the project speaks anyway, else of those that it can
// speak one that links no module, in the newest version.
func reach(cfg *config.Config, c config.Client, remote *card.Card) (r Reach, list diag.List) {
	r.Client, r.OAuth = c.Name, getsTokens(remote.Schemes())
	offered := remote.Interfaces
	at := slices.IndexFunc(offered, func(i runtime.Interface) bool { return spoken(cfg, c, i) })
	if at < 0 {
		usable := slices.DeleteFunc(slices.Clone(offered), func(i runtime.Interface) bool { return !speakable(cfg, c, i) })
		slices.SortStableFunc(usable, func(a, b runtime.Interface) int {
			return cmp.Or(cmp.Compare(weight(a.Binding), weight(b.Binding)), cmp.Compare(age(cfg, a.Version), age(cfg, b.Version)))
		})
		if len(usable) == 0 {
			list.Add(unreached(c, remote, offered))
			return r, list
		}
		offered, at = usable, 0
	}
	r.Version, r.Binding = offered[at].Version, offered[at].Binding
	r.Added = !slices.Contains(cfg.Versions(), r.Version)
	if r.Version >= hub && remote.Origin < hub && cfg.Versions()[len(cfg.Protocol)-1] >= hub {
		r.reads = remote.Origin
	}
	if r.Added && cfg.ProtocolImport != "" {
		list.Errorf(c.Pos, "no-version", fmt.Sprintf("list %q under protocol where that package is generated, and here; or leave out protocol_import", r.Version),
			"client %q needs version %s of the protocol, which the package of protocol_import does not have", c.Name, r.Version)
	}
	return r, list
}

// Reaches say how the clients of a2agen.yaml call their agents, by the cards that open reads; those without a card are left out.
func Reaches(cfg *config.Config, open func(string) ([]byte, error)) (list []Reach) {
	for _, c := range cfg.Clients {
		file, _ := c.Card()
		src, err := open(file)
		if err != nil {
			continue
		}
		if remote, problems := card.Import(file, src); remote != nil && !problems.HasErrors() {
			r, _ := reach(cfg, c, remote)
			list = append(list, r)
		}
	}
	return list
}

// CalledOver returns the bindings over which clients call their agents.
func CalledOver(list []Reach) (bindings []string) {
	for _, r := range list {
		bindings = append(bindings, r.Binding)
	}
	return bindings
}

// hub is the version whose types the protocol package has when a2agen.yaml names no other that could give them.
var hub = spec.Default

// spoken reports whether the client speaks an interface with what a2agen.yaml says.
func spoken(cfg *config.Config, c config.Client, i runtime.Interface) bool {
	if !slices.Contains(cfg.Versions(), i.Version) || !speakable(cfg, c, i) {
		return false
	}
	b := runtime.BindingNamed(i.Binding)
	if b == nil || b.Encoding == "" {
		return true
	}
	if b.Client != "" {
		return slices.Contains(cfg.BindingsOf(c), b.Name)
	}
	e := ir.Encoding(b.Encoding)
	return !slices.Contains(lower.WithWire(e), i.Version) || slices.Contains(encodings(cfg), e)
}

// speakable reports whether a client can be generated that speaks an interface, over one of the bindings that a2agen.yaml names for it.
func speakable(cfg *config.Config, c config.Client, i runtime.Interface) bool {
	if len(c.Bindings) > 0 && !slices.Contains(c.Bindings, i.Binding) {
		return false
	}
	if slices.Contains(spec.Versions(), i.Version) {
		return slices.Contains(lower.ShippedBindings(i.Version), i.Binding)
	}
	return slices.Contains(cfg.Versions(), i.Version) && slices.Contains(config.Bindings(), i.Binding)
}

// weight puts the bindings that every client has before the one that links a module.
func weight(binding string) int {
	if b := runtime.BindingNamed(binding); b != nil && b.Client != "" {
		return 1
	}
	return 0
}

// age is the place of a version, newest first.
func age(cfg *config.Config, version string) int {
	return slices.Index(cfg.With(spec.Versions(), nil).Versions(), version)
}

// unreached says that the client cannot call the agent. A binding of the user's own may.
func unreached(c config.Client, remote *card.Card, offered []runtime.Interface) diag.Diagnostic {
	file, _ := c.Card()
	d := diag.Diagnostic{Code: "no-interface", Severity: diag.Error, Pos: diag.Pos{File: file}}
	var names []string
	for _, i := range offered {
		names = append(names, fmt.Sprintf("%s in version %q", i.Binding, i.Version))
		if !slices.Contains(config.Bindings(), i.Binding) && slices.Contains(spec.Versions(), i.Version) {
			d.Severity, d.Hint = diag.Warning, "give the client an rpc.Binding of yours for it, with rpc.Use"
		}
	}
	switch {
	case len(offered) == 0:
		d.Message = fmt.Sprintf("the card of %q does not say where the agent is, so that no client can call it", remote.Name)
		return d
	case d.Severity == diag.Error && len(c.Bindings) > 0:
		d.Hint = "leave out the bindings of the client, or name one of these"
	case d.Severity == diag.Error:
		d.Hint = "the versions are " + quoted(spec.Versions()) + "; a definition of another one can be listed under protocol in " + config.File
	}
	d.Message = fmt.Sprintf("client %q cannot call the agent, which offers %s", c.Name, strings.Join(names, ", "))
	return d
}

// packaged is the configuration of the protocol package: what a2agen.yaml says, the version that gives the types, and what the
// clients of other agents need beside it.
func packaged(cfg *config.Config, clients []remoteClient) *config.Config {
	var versions, encodings []string
	if !cfg.HasOwnDefinition() && !slices.ContainsFunc(spec.Hubs(), func(v string) bool { return slices.Contains(cfg.Versions(), v) }) {
		versions = append(versions, hub)
	}
	for _, c := range clients {
		for _, v := range []string{c.reach.Version, c.reach.reads} {
			if v != "" {
				versions = append(versions, v)
			}
		}
		for _, e := range lower.EncodingsOf([]string{c.reach.Binding}) {
			if e != ir.ProtoJSON || slices.Contains(lower.WithWire(e), c.reach.Version) {
				encodings = append(encodings, string(e))
			}
		}
	}
	return cfg.With(versions, encodings)
}
