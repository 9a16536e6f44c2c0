package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"strings"
	"sync"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/carddiff"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/output"
)

// RemoteOptions say how the cards of agents that run are compared with what a project has.
type RemoteOptions struct {
	Options
	AllowPrivate bool   // fetch from private addresses too
	Catalog      string // the catalog, a folder or a URL; "": that of the project
	// Deployed is the URL of the project's own agent; "": what agent.yaml says, if it says where the agent is.
	Deployed string
}

// RemoteCard is the card of an agent that runs, compared with what the project has.
type RemoteCard struct {
	// Client is the client of the agent, whose card the project keeps; "" is the project's own agent, whose card is
	// compared with the one that it would publish now.
	Client string `json:"client,omitempty"`
	URL    string `json:"url"` // or "catalog:NAME@VERSION" for a card of the catalog
	CardChanges
	// Problem is why the cards could not be compared; "" if they were.
	Problem string `json:"problem,omitempty"`

	seen *seenCard // nil: it could not be fetched, or is not to be trusted
}

// Title says whose card it is.
func (r *RemoteCard) Title() string {
	if r.Client == "" {
		return "this agent at " + r.URL
	}
	return "client " + r.Client + " of " + r.URL
}

// remoteFetches is how many cards are fetched at a time.
const remoteFetches = 4

// CheckRemote fetches the cards of the agents that the project has clients of, and that of its own agent where it is
// known where that is, and compares them: what would callers meet who go by the cards that the project keeps, and
// what those who go by the published one if the project were deployed? It writes nothing.
func CheckRemote(ctx context.Context, o RemoteOptions) ([]RemoteCard, error) {
	list, own, err := checkClients(ctx, o)
	if err != nil || own == "" {
		return list, err
	}
	return append(list, checkOwn(ctx, o, own)), nil // which opens the project: it can be open once at a time
}

// checkClients compares the cards of clients, and says where the project's own agent is; "" if that is not known.
func checkClients(ctx context.Context, o RemoteOptions) (list []RemoteCard, own string, err error) {
	p, err := openProject(o.Tool, o.Dir)
	if err != nil {
		return nil, "", err
	}
	defer p.Close()
	cfg, err := p.readConfig()
	if err != nil {
		return nil, "", err
	}
	own, err = p.deployed(o, cfg)
	return p.fetchClients(ctx, remoteClients(cfg), ClientOptions{Options: o.Options, Catalog: o.Catalog, AllowPrivate: o.AllowPrivate}), own, err
}

// readConfig reads a2agen.yaml.
func (p *project) readConfig() (*config.Config, error) {
	src, err := p.ReadFile(config.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	cfg, list := config.Read(config.File, src)
	if list.HasErrors() {
		return nil, &InvalidError{list}
	}
	return cfg, nil
}

// remoteClients are the clients whose cards were fetched from a URL or the catalog.
func remoteClients(cfg *config.Config) (list []config.Client) {
	for _, c := range cfg.Clients {
		if c.Source() != "" {
			list = append(list, c)
		}
	}
	return list
}

// fetchClients fetches the cards of clients, a few at a time, and compares them with those that are kept.
func (p *project) fetchClients(ctx context.Context, clients []config.Client, o ClientOptions) []RemoteCard {
	list := make([]RemoteCard, len(clients))
	free := make(chan struct{}, remoteFetches)
	var all sync.WaitGroup
	for i, c := range clients {
		list[i] = RemoteCard{Client: c.Name, URL: c.Source(), CardChanges: noChanges()}
		free <- struct{}{}
		all.Go(func() {
			if err := list[i].compare(ctx, p, c, o); err != nil {
				list[i].Problem = reasonOf(err)
			}
			<-free
		})
	}
	all.Wait()
	return list
}

// compare fetches the card of a client's agent, verifies it if the client does, and compares it with the one that is
// kept.
func (r *RemoteCard) compare(ctx context.Context, p *project, c config.Client, o ClientOptions) error {
	fetched, err := fetchCard(ctx, c.Target(), CatalogOptions{Dir: o.Dir, Where: o.Catalog, AllowPrivate: o.AllowPrivate})
	if err != nil {
		return err
	}
	imported, list := card.Import(fetched.from, fetched.src)
	if imported == nil || list.HasErrors() {
		return &InvalidError{list}
	}
	if r.seen, err = p.trustCard(ctx, o, &c, true, fetched.src, imported); err != nil {
		r.seen = nil
		return r.distrust(err)
	}
	now, err := readPublished(fetched.from, r.seen.card)
	if err != nil {
		return err
	}
	file, _ := c.Card()
	kept, err := p.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the card that the client was made from is not there: %s", file)
	}
	if err != nil {
		return err
	}
	old, err := readPublished(file, kept)
	if err != nil {
		return err
	}
	for _, side := range []publishedCard{old, now} {
		generator.State(c, side.Card, p.ReadFile) // what is wrong with the contract is for generating to say
	}
	r.CardChanges = compareCards(old, now)
	return nil
}

// noChanges are those of cards that were not compared.
func noChanges() CardChanges { return CardChanges{Findings: []carddiff.Finding{}} }

// reasonOf is an error in a line: of diagnostics the first one.
func reasonOf(err error) string {
	var invalid *InvalidError
	if errors.As(err, &invalid) && len(invalid.List) > 0 {
		return invalid.List[0].String()
	}
	return err.Error()
}

// distrust makes a finding of a card that is not what a trusted key signed, or that went back.
func (r *RemoteCard) distrust(err error) error {
	var untrusted *UntrustedError
	if !errors.As(err, &untrusted) {
		return err
	}
	r.Findings = []carddiff.Finding{{Effect: carddiff.Breaking, Kind: "card-not-trusted", Path: "signatures",
		Text: untrusted.Error(),
		Do:   "do not take the card over before who runs the agent says why; clients that verify it refuse it"}}
	return nil
}

// changed reports whether the card is another one than that which the client was made from, or was verified otherwise.
func (r *RemoteCard) changed(pin output.ClientPin) bool {
	v := r.seen.verified
	return pin.Digest != output.Digest(r.seen.card) || pin.URL != r.URL ||
		v != nil && (pin.Key != v.Thumbprint || pin.Form != v.Form)
}

// deployed returns where the project's agent runs, "" if nobody says.
func (p *project) deployed(o RemoteOptions, cfg *config.Config) (string, error) {
	src, err := p.ReadFile(cfg.Card)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil // a project of clients alone
	case err != nil:
		return "", err
	case o.Deployed != "":
		return o.Deployed, nil
	}
	c, _ := card.Import(cfg.Card, src)
	if c == nil {
		return "", nil // a check of the project reports what is wrong with it
	}
	for _, i := range c.Interfaces {
		if u, err := url.Parse(i.URL); err == nil && strings.HasPrefix(u.Scheme, "http") && u.Host != "" {
			return u.Scheme + "://" + u.Host, nil
		}
	}
	return "", nil
}

// checkOwn compares the card that the project's agent publishes with the one that it would publish now.
func checkOwn(ctx context.Context, o RemoteOptions, at string) RemoteCard {
	r := RemoteCard{URL: at, CardChanges: noChanges()}
	changes, err := DiffCards(ctx, DiffOptions{Options: o.Options, Old: at, New: cmp.Or(o.Dir, "."),
		AllowPrivate: o.AllowPrivate})
	if err != nil {
		r.Problem = reasonOf(err)
		return r
	}
	r.CardChanges = changes
	return r
}
