package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/suggest"
)

// ClientUpdate says which clients get the cards that their agents have now. The rest is generated as by [Run].
type ClientUpdate struct {
	Options
	Names        []string // of the clients; none: all whose cards came from a URL or the catalog
	AllowPrivate bool     // fetch from private addresses too
	Catalog      string   // the catalog, a folder or a URL; "": that of the project
	Older        bool     // take over cards of older versions than those that are pinned
	// Show is called with what is different before anything is written. An error ends the update.
	Show func([]RemoteCard) error
}

// UpdateClients fetches the cards of clients, shows what is different, pins them, and generates the project. If one
// of them cannot be fetched, nothing is written.
func UpdateClients(ctx context.Context, o ClientUpdate) (Report, error) {
	p, err := openProject(o.Tool, o.Dir)
	if err != nil {
		return Report{}, err
	}
	defer p.Close()
	cfg, err := p.readConfig()
	if err != nil {
		return Report{}, err
	}
	clients, err := o.choose(cfg)
	if err != nil {
		return Report{}, err
	}
	cards := p.fetchClients(ctx, clients, ClientOptions{Options: o.Options, Catalog: o.Catalog, AllowPrivate: o.AllowPrivate,
		Trust: TrustOptions{Older: o.Older}})
	r := Report{Cards: cards}
	if err := o.Show(cards); err != nil {
		return r, err
	}
	over, pins := map[string][]byte{}, p.Lock().Clients
	p.remotes = map[string][]byte{}
	for i, c := range clients {
		switch {
		case cards[i].seen == nil && cards[i].Problem == "":
			err := fmt.Errorf("the card of client %s is not to be trusted; nothing was written", c.Name)
			return r, &UntrustedError{err}
		case cards[i].seen == nil:
			return r, errors.New("not all cards can be taken over; nothing was written")
		}
		if !cards[i].changed(pins[c.Name]) {
			continue
		}
		file, _ := c.Card()
		over[file], p.remotes[file] = cards[i].seen.card, cards[i].seen.card
		pins = without(pins, c.Name)
		p.Replace(file)
	}
	further, note, err := p.addRuntime()
	if err != nil {
		return r, err
	}
	out, list := p.generate(ctx, over, pins)
	for _, c := range cards {
		c.seen.remember(out.Clients, c.Client)
		list.Add(c.seen.notes...)
	}
	r, err = p.finish(ctx, o.Options, out, list, further, note)
	r.Cards = cards
	return r, err
}

// choose returns the clients that are named, or all whose cards came from a URL or the catalog.
func (o ClientUpdate) choose(cfg *config.Config) ([]config.Client, error) {
	all := remoteClients(cfg)
	if len(o.Names) == 0 {
		if len(all) == 0 {
			return nil, badArgument("no client in %s has a url or a name in the catalog: a2agen client URL adds one", config.File)
		}
		return all, nil
	}
	var known []string
	for _, c := range all {
		known = append(known, c.Name)
	}
	var list []config.Client
	for _, name := range o.Names {
		i := slices.Index(known, name)
		if i < 0 {
			hint := cmp.Or(suggest.Key(name, known), "a2agen client URL adds one")
			return nil, badArgument("no client %.40q with a url or a name in the catalog is in %s (%s)", name, config.File, hint)
		}
		if !slices.ContainsFunc(list, func(c config.Client) bool { return c.Name == name }) {
			list = append(list, all[i])
		}
	}
	return list, nil
}
