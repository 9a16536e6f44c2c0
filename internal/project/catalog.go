package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/internal/catalog"
	"github.com/a2agen/a2agen/internal/project/remote"
	"github.com/a2agen/a2agen/runtime/signedcard"
)

// catalogWithin is how long a command may take with a catalog.
const catalogWithin = 2 * time.Minute

// CatalogOptions say which catalog is meant.
type CatalogOptions struct {
	Dir string // the project
	// Where is the catalog, a folder or a URL; "": what a2agen.yaml says, else .a2agen/catalog in the project.
	Where        string
	AllowPrivate bool // read from private addresses too
}

// catalogAt returns where the catalog is.
func catalogAt(dir, where string) (string, error) {
	if where != "" {
		return where, nil
	}
	src, err := os.ReadFile(filepath.Join(dir, config.File))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	cfg, list := config.Read(config.File, src)
	if list.HasErrors() {
		return "", &InvalidError{list}
	}
	if catalog.IsURL(cfg.Catalog) {
		return cfg.Catalog, nil
	}
	return filepath.Join(dir, filepath.FromSlash(cmp.Or(cfg.Catalog, catalog.DefaultDir))), nil
}

func (o CatalogOptions) remote() remote.Options { return remote.Options{AllowPrivate: o.AllowPrivate} }

// open opens the catalog to read it.
func (o CatalogOptions) open(ctx context.Context) (*catalog.Catalog, error) {
	where, err := catalogAt(o.Dir, o.Where)
	if err != nil {
		return nil, err
	}
	return catalog.Open(ctx, where, o.remote())
}

// folder returns the folder of the catalog, to change it.
func (o CatalogOptions) folder() (string, error) {
	where, err := catalogAt(o.Dir, o.Where)
	if err == nil && catalog.IsURL(where) {
		err = badArgument("the catalog %s is read only over HTTP: "+
			"change the folder that its server publishes, with --catalog FOLDER", where)
	}
	return where, err
}

// ListCatalog returns where the catalog is and all its cards, by their names, the newest of each first.
func ListCatalog(ctx context.Context, o CatalogOptions) (string, []catalog.Entry, error) {
	c, err := o.open(ctx)
	if err != nil {
		return "", nil, err
	}
	return c.Where, c.Index.All(), nil
}

// FindOptions say what is looked for in a catalog.
type FindOptions struct {
	CatalogOptions
	Query        catalog.Query
	Gives, Takes string // files with JSON Schemas, for the query; "": none
}

// FindInCatalog returns the cards that match. With an error that is no [ArgumentError] there may be some all the same.
func FindInCatalog(ctx context.Context, o FindOptions) (list []catalog.Match, err error) {
	ctx, cancel := context.WithTimeout(ctx, catalogWithin)
	defer cancel()
	if o.Query.Gives, err = readSchema(o.Gives); err != nil {
		return nil, err
	}
	if o.Query.Takes, err = readSchema(o.Takes); err != nil {
		return nil, err
	}
	c, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	return c.Search(ctx, o.Query)
}

// readSchema reads a schema in JSON or YAML; nil if no file is named.
func readSchema(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	text, err := readLimited(file)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	src := card.JSON(file, text)
	if src == nil {
		return nil, badArgument("%s is neither JSON nor YAML", file)
	}
	if err := catalog.CheckSchema(src); err != nil {
		return nil, badArgument("%s is no JSON Schema: %w", file, err)
	}
	return src, nil
}

// AddToCatalogOptions say which cards are added.
type AddToCatalogOptions struct {
	CatalogOptions
	Targets []string // agents' URLs, their cards' URLs, files, and lists of agents in the form of an AI Catalog
	Name    string   // of the only card
	Replace bool     // take over a card that has the name and version of another
	Keys    string   // file with a JSON Web Key Set, by which cards are verified; "": none
	URLs    []string // of key sets
	Strict  bool
}

// CatalogAddition is what became of a card, or of a target that gave none.
type CatalogAddition struct {
	From string `json:"from"`
	*catalog.Addition
	Problem string `json:"problem,omitempty"`
	// Untrusted says that the problem is the card's signature.
	Untrusted bool `json:"untrusted,omitempty"`
}

// AddToCatalog adds cards to a catalog. A card that cannot be added has a problem, and others are added all the same.
func AddToCatalog(ctx context.Context, o AddToCatalogOptions) ([]CatalogAddition, error) {
	ctx, cancel := context.WithTimeout(ctx, catalogWithin)
	defer cancel()
	if o.Name != "" && (len(o.Targets) != 1 || !catalog.IsName(o.Name)) {
		return nil, badArgument("--name %.80q: a name is for one card, of a-z, 0-9, and . _ - between them", o.Name)
	}
	dir, err := o.folder()
	if err != nil {
		return nil, err
	}
	verify, done, err := verifierOf(VerifyOptions{Keys: o.Keys, URLs: o.URLs, Strict: o.Strict,
		AllowPrivate: o.AllowPrivate})
	if err != nil {
		return nil, err
	}
	defer done()
	a := &adder{AddToCatalogOptions: o, dir: dir, verify: verify}
	for _, target := range o.Targets {
		a.target(ctx, target)
	}
	return a.list, nil
}

// adder adds cards one after another.
type adder struct {
	AddToCatalogOptions
	dir    string
	verify signature
	list   []CatalogAddition
}

// target adds what is at a URL or in a file: a card, or all cards of a list.
func (a *adder) target(ctx context.Context, target string) {
	src, info, err := remote.Fetch(ctx, target, a.remote())
	if err != nil {
		a.problem(target, err)
		return
	}
	from := cmp.Or(info.URL, info.File)
	list, is, err := catalog.ReadList(from, src)
	switch {
	case err != nil:
		a.problem(target, err)
	case !is:
		n := catalog.New{Card: src, From: from, Name: a.Name}
		if info.URL != "" {
			n.URL = target
		}
		a.add(ctx, n)
	case a.Name != "":
		a.problem(target, badArgument("--name is for one card, and this is a list"))
	default:
		a.listed(ctx, target, list)
	}
}

// listed adds the cards of a list.
func (a *adder) listed(ctx context.Context, target string, list catalog.List) {
	if len(list.Agents) == 0 {
		a.problem(target, fmt.Errorf("the list has no agent cards (%d entries are something else)", list.Others))
	}
	for _, agent := range list.Agents {
		n := catalog.New{Card: agent.Card, From: target + " (" + agent.ID + ")", URL: agent.URL}
		if agent.URL != "" {
			src, _, err := remote.Fetch(ctx, agent.URL, a.remote())
			if err != nil {
				a.problem(agent.URL, err)
				continue
			}
			n.Card, n.From = src, agent.URL
		}
		a.add(ctx, n)
	}
}

// add verifies a card, if that is asked for, and adds it.
func (a *adder) add(ctx context.Context, n catalog.New) {
	if a.verify != nil {
		var err error
		if n.SignedBy, err = a.verify(ctx, n.Card); err != nil {
			a.problem(n.From, err)
			return
		}
	}
	done, err := catalog.Add(a.dir, n, a.Replace)
	if err != nil {
		a.problem(n.From, err)
		return
	}
	a.list = append(a.list, CatalogAddition{From: n.From, Addition: &done})
}

func (a *adder) problem(from string, err error) {
	var untrusted *UntrustedError
	a.list = append(a.list, CatalogAddition{From: from, Problem: err.Error(), Untrusted: errors.As(err, &untrusted)})
}

// signature verifies the signatures of a card.
type signature func(ctx context.Context, card []byte) (*catalog.Signer, error)

// verifierOf makes what verifies cards with the keys that a command names; nil if it names none. done ends its
// connections.
func verifierOf(o VerifyOptions) (verify signature, done func(), err error) {
	if o.Keys == "" && len(o.URLs) == 0 {
		if o.Strict {
			return nil, nil, badArgument("--strict says how a card is verified: name keys by --jwks")
		}
		return nil, func() {}, nil
	}
	v, client, err := o.verifier()
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, card []byte) (*catalog.Signer, error) {
		verified, err := trusted(v.Verify(ctx, card))
		if err != nil {
			return nil, err
		}
		return &catalog.Signer{Key: verified.Thumbprint, Form: verified.Form}, nil
	}, client.CloseIdleConnections, nil
}

// verifier makes the verifier of a command, and the client by which it fetches keys, whose idle connections the caller
// closes.
func (o VerifyOptions) verifier() (*signedcard.Verifier, *http.Client, error) {
	c := signedcard.Config{URLs: o.URLs, Strict: o.Strict, HTTP: remote.Client(remote.Options{AllowPrivate: o.AllowPrivate})}
	if o.Keys != "" {
		var err error
		if c.Keys, err = readLimited(o.Keys); err != nil {
			return nil, nil, fmt.Errorf("read the keys: %w", err)
		}
	}
	v, err := signedcard.NewVerifier(c)
	return v, c.HTTP, err
}

// RemoveFromCatalog takes a card out of the catalog, NAME@VERSION, or all versions of NAME.
func RemoveFromCatalog(o CatalogOptions, name string) ([]catalog.Entry, error) {
	ref, err := catalog.ParseRef(name)
	if err != nil {
		return nil, badArgument("%w", err)
	}
	dir, err := o.folder()
	if err != nil {
		return nil, err
	}
	return catalog.Remove(dir, ref)
}

// VerifyCatalogOptions say what is verified.
type VerifyCatalogOptions struct {
	CatalogOptions
	Name   string // NAME or NAME@VERSION; "" is all
	Keys   string // file with a JSON Web Key Set; "": none
	URLs   []string
	Strict bool
	Live   bool // compare with what agents publish now
}

// VerifyCatalog says of cards whether they are as they were added, signed by a trusted key, and still what their agents
// publish.
func VerifyCatalog(ctx context.Context, o VerifyCatalogOptions) ([]catalog.Verdict, error) {
	ctx, cancel := context.WithTimeout(ctx, catalogWithin)
	defer cancel()
	v := catalog.VerifyOptions{Live: o.Live, Remote: o.remote()}
	if o.Name != "" {
		ref, err := catalog.ParseRef(o.Name)
		if err != nil {
			return nil, badArgument("%w", err)
		}
		v.Ref = ref
	}
	verify, done, err := verifierOf(VerifyOptions{Keys: o.Keys, URLs: o.URLs, Strict: o.Strict,
		AllowPrivate: o.AllowPrivate})
	if err != nil {
		return nil, err
	}
	defer done()
	v.Signature = verify
	c, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	return c.Verify(ctx, v)
}

// fetchedCard is a card that was fetched for a client.
type fetchedCard struct {
	src  []byte
	from string // what messages call it
	ref  string // what a catalog calls it; "": it is of none
}

// fetchCard reads a card: that of an agent's URL, of a card's URL, of a file, or NAME[@VERSION] of a catalog.
func fetchCard(ctx context.Context, target string, o CatalogOptions) (fetchedCard, error) {
	if isCatalogName(target) {
		return fromCatalog(ctx, target, o)
	}
	src, info, err := remote.Fetch(ctx, target, o.remote())
	return fetchedCard{src: src, from: cmp.Or(info.URL, info.File)}, err
}

// isCatalogName reports whether a target can only be the name of a card in a catalog: a file of this name is one.
func isCatalogName(target string) bool {
	if strings.ContainsAny(target, `/\:`) {
		return false
	}
	if _, err := os.Stat(target); err == nil {
		return false
	}
	_, err := catalog.ParseRef(target)
	return err == nil
}

// fromCatalog reads a card of the catalog.
func fromCatalog(ctx context.Context, name string, o CatalogOptions) (fetchedCard, error) {
	ctx, cancel := context.WithTimeout(ctx, catalogWithin)
	defer cancel()
	c, err := o.open(ctx)
	if errors.Is(err, fs.ErrNotExist) && !strings.Contains(name, "@") {
		return fetchedCard{}, fmt.Errorf("%s is no file, and %w; for an agent on the network write https://%s", name, err, name)
	}
	if err != nil {
		return fetchedCard{}, err
	}
	ref, err := catalog.ParseRef(name)
	if err != nil {
		return fetchedCard{}, badArgument("%w", err)
	}
	e, err := c.Find(ref)
	if err != nil {
		return fetchedCard{}, err
	}
	src, err := c.Card(ctx, e)
	return fetchedCard{src: src, from: e.Ref().String() + " of the catalog", ref: name}, err
}
