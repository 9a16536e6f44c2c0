package generator

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/emit"
	"github.com/a2agen/a2agen/generator/ir"
	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/generator/names"
	"github.com/a2agen/a2agen/generator/output"
	"github.com/a2agen/a2agen/generator/scaffold"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// remoteClient is a client of another agent, ready to be emitted.
type remoteClient struct {
	config.Client
	card  []byte // as it came, or as JSON where it is YAML
	about string // what the card says that the agent does
	keys  []byte // by which the card is verified, for the client to embed; nil: there are none
	agent *ir.Agent
	pin   output.ClientPin
	reach Reach
}

// readClients reads the kept cards of other agents; there is no network here. A kept card that is not the pinned one is
// refused: generating never moves a pin.
func (g *generation) readClients(cfg *config.Config) (clients []remoteClient, list diag.List) {
	list = sameVariables(cfg.Clients)
	for _, c := range cfg.Clients {
		r, problems := g.readClient(cfg, c)
		list.Add(problems...)
		if r == nil {
			continue
		}
		if r.agent != nil {
			r.agent.Calls = ir.Calls{
				Links:  lower.ClientPackages(append(cfg.BindingsOf(c), r.reach.Binding)),
				Prefer: c.Bindings, Telemetry: cfg.Telemetry == config.TelemetryOTel, Verify: cardKeys(c.Verify),
				Credentials: credentials(r.agent.Card), Environment: c.Name,
			}
			names.ClientOptions(r.agent)
			if r.reach.Version != "" {
				r.agent.Calls.Reach = r.reach.String()
			}
		}
		clients = append(clients, *r)
	}
	return clients, list
}

// sameVariables refuses clients whose names are the same in environment variables: each would get the other one's credentials.
func sameVariables(clients []config.Client) (list diag.List) {
	seen := map[string]config.Client{}
	for _, c := range clients {
		variable := rpc.EnvURL(c.Name)
		first, known := seen[variable]
		if !known {
			seen[variable] = c
		} else if first.Name != c.Name { // two of one name are refused as such
			list.Add(diag.Diagnostic{
				Code: "duplicate", Severity: diag.Error, Pos: c.Pos, Hint: "rename one of them",
				Message: fmt.Sprintf("the clients %q and %q have the same environment variables (%s, …)", first.Name, c.Name, variable),
				Related: []diag.Related{{Pos: first.Pos, Message: "first here"}},
			})
		}
	}
	return list
}

// remotes are the agents that handlers call, by the names of their clients: those that these can call by themselves.
func remotes(clients []remoteClient, module string) (list []*ir.Remote) {
	for _, c := range clients {
		if c.agent != nil && c.reach.Version != "" {
			r := &ir.Remote{Client: c.Name, Agent: c.agent.Name, Import: path.Join(module, c.Out), URL: c.URL}
			if len(c.agent.Skills) > 0 {
				r.Fake = path.Join(module, fakeOf(c.Client))
			}
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *ir.Remote) int { return cmp.Compare(a.Client, b.Client) })
	return list
}

func (g *generation) readClient(cfg *config.Config, c config.Client) (*remoteClient, diag.List) {
	var list diag.List
	file, kept := c.Card()
	fetch := "a2agen client " + c.Target() + " --name " + c.Name
	if strings.HasPrefix(c.URL, "http://") {
		fetch += " --allow-private-network"
	}
	src, err := g.open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		list.Errorf(c.Pos, "no-card", "run "+fetch, "the card of client %q is not there: %s", c.Name, file)
		return nil, list
	case err != nil:
		list.Errorf(c.Pos, "unreadable", "", "the card of client %q cannot be read: %s: %v", c.Name, file, reason(err))
		return nil, list
	}
	pin := output.ClientPin{URL: c.Source(), Out: c.Out, Card: file, Digest: output.Digest(src)}
	old, known := g.Pins[c.Name]
	if known && kept && old.Card == file && old.Digest != pin.Digest {
		list.Errorf(diag.Pos{File: file}, "pin", "run "+fetch+" to take over a changed card",
			"the card is not the one that is pinned in %s", output.LockName)
		return nil, list
	}
	if known && c.Source() != "" && old.URL != c.Source() {
		list.Errorf(c.Pos, "pin", "run "+fetch+" to take over the card there, or restore what a2agen.yaml said",
			"the card of client %q is not the one that a2agen.yaml names: it was taken from %s", c.Name, cmp.Or(old.URL, "a file"))
		return nil, list
	}
	imported, list := card.Import(file, src)
	if imported == nil || list.HasErrors() {
		return nil, list
	}
	if c.Verify != nil {
		list = slices.DeleteFunc(list, func(d diag.Diagnostic) bool { return d.Code == card.SignaturesLeftOut })
	}
	stated := State(c, imported, g.open)
	agent, problems := lower.Agent(imported, nil)
	list.Add(problems...)
	way, problems := reach(cfg, c, imported)
	list.Add(problems...)
	if known && old.Digest == pin.Digest && !list.HasErrors() {
		list = nil // somebody else's card: its author does not read this, and its user did when it came
	}
	list.Add(stated...)
	pin.Version = imported.Version
	if known && old.Digest == pin.Digest {
		pin.Key, pin.Form = old.Key, old.Form
	}
	if known && c.Verify != nil && pin.Key == "" {
		list.Warnf(c.Verify.Pos, "not-verified", "run "+fetch, "the card of client %q was not verified when the client was made from it", c.Name)
	}
	r := &remoteClient{Client: c, agent: agent, pin: pin, reach: way, card: src, about: imported.Description}
	if !json.Valid(src) {
		r.card = card.JSON(file, src)
	}
	r.keys, problems = g.readKeys(c)
	return r, append(list, problems...)
}

// readKeys reads the file with the keys of a client; nil if it has none.
func (g *generation) readKeys(c config.Client) (keys []byte, list diag.List) {
	if c.Verify == nil || c.Verify.Keys == "" {
		return nil, nil
	}
	if c.Verify.Keys == path.Join(c.Out, config.KeptKeys) {
		list.Errorf(c.Verify.Pos, "no-keys", "put them elsewhere, such as "+c.Name+"-keys.json", "the keys of client %q cannot be in %s, where a2agen writes the copy that the client embeds", c.Name, c.Verify.Keys)
		return nil, list
	}
	keys, err := g.open(c.Verify.Keys)
	if err != nil {
		list.Errorf(c.Verify.Pos, "no-keys", "put the JSON Web Key Set of the agent's publisher there", "the keys of client %q cannot be read: %s: %v", c.Name, c.Verify.Keys, reason(err))
	}
	return keys, list
}

// cardKeys are the keys as emitted code has them.
func cardKeys(v *config.Verify) *ir.CardKeys {
	if v == nil {
		return nil
	}
	keys := &ir.CardKeys{URLs: v.URLs, Strict: v.Strict}
	if v.Keys != "" {
		keys.File = config.KeptKeys
	}
	return keys
}

// pins are what the lock says of the clients.
func pins(clients []remoteClient) map[string]output.ClientPin {
	m := map[string]output.ClientPin{}
	for _, c := range clients {
		m[c.Name] = c.pin
	}
	return m
}

// reaches say how the clients call their agents, and how handlers get at them.
func reaches(clients []remoteClient, agent *ir.Agent) (list []Reach) {
	for _, c := range clients {
		r := c.reach
		if agent != nil {
			i := slices.IndexFunc(agent.Remotes, func(remote *ir.Remote) bool { return remote.Client == c.Name })
			if i >= 0 {
				r.Field = agent.Remotes[i].Go
			}
		}
		list = append(list, r)
	}
	return list
}

// emitRemote emits one client, with the card that it embeds: a kept card, or a copy of the user's.
func (g *generation) emitRemote(p *ir.Protocol, c remoteClient, paths emit.Paths) ([]output.File, error) {
	paths.Client, paths.Agent, paths.Card = path.Join(g.Module, c.Out), "", config.KeptCard
	files, err := emit.RemoteClient(p, c.agent, paths, c.Out)
	if err != nil {
		return nil, err
	}
	paths.Fake = path.Join(g.Module, fakeOf(c.Client))
	fake, err := emit.Fake(p, c.agent, paths, fakeOf(c.Client), samples(c.agent))
	if err != nil {
		return nil, err
	}
	example, err := scaffold.Example(c.shown(g.Module))
	files = append(files, fake...)
	files = append(files, example, output.File{Path: path.Join(c.Out, config.KeptCard), Data: c.card})
	if c.keys != nil {
		files = append(files, output.File{Path: path.Join(c.Out, config.KeptKeys), Data: c.keys})
	}
	return files, err
}

// shown is the client as files show it that call it.
func (c remoteClient) shown(module string) scaffold.Client {
	return scaffold.Client{
		Client: c.Client, Agent: c.agent, Description: c.about, Module: module, Fake: fakeOf(c.Client),
		Version: c.reach.Version, Binding: c.reach.Binding,
	}
}

func shown(clients []remoteClient, module string) (list []scaffold.Client) {
	for _, c := range clients {
		list = append(list, c.shown(module))
	}
	return list
}
