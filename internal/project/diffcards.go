package project

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/carddiff"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/internal/project/disk"
	"github.com/a2agen/a2agen/internal/project/remote"
)

// DiffOptions say which cards to compare: each the URL of an agent or its card, a file, the folder of a project, or
// the name of a client whose card the project keeps.
type DiffOptions struct {
	Options
	Old, New     string
	AllowPrivate bool // fetch from private addresses too
}

// CardChanges is what is different between two cards.
type CardChanges struct {
	Old      ComparedCard       `json:"old"`
	New      ComparedCard       `json:"new"`
	Findings []carddiff.Finding `json:"findings"`
}

// ComparedCard is one of two cards that were compared.
type ComparedCard struct {
	From     string `json:"from"` // where it was read
	Name     string `json:"name"`
	Version  string `json:"version"`  // of the agent
	Protocol string `json:"protocol"` // the version of A2A that the card is written in
}

// DiffCards compares two cards. What is wrong with one of them is an *[InvalidError].
func DiffCards(ctx context.Context, o DiffOptions) (CardChanges, error) {
	old, err := o.read(ctx, o.Old)
	if err != nil {
		return CardChanges{}, err
	}
	now, err := o.read(ctx, o.New)
	if err != nil {
		return CardChanges{}, err
	}
	for _, side := range []publishedCard{old, now} {
		if side.client != nil { // what is wrong with the contract is for generating to say
			generator.State(*side.client, old.Card, o.open)
			generator.State(*side.client, now.Card, o.open)
		}
	}
	return compareCards(old, now), nil
}

// open reads a file of the project.
func (o DiffOptions) open(name string) ([]byte, error) {
	p, err := disk.Open(o.Dir)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.ReadFile(name)
}

// publishedCard is a card, and where it was read.
type publishedCard struct {
	*carddiff.Published
	from   string
	client *config.Client // for which the project keeps it; its user may state what the card does not say
}

func compareCards(old, now publishedCard) CardChanges {
	findings := carddiff.Diff(old.Published, now.Published)
	return CardChanges{old.describe(), now.describe(), append([]carddiff.Finding{}, findings...)} // never null
}

func (c publishedCard) describe() ComparedCard {
	return ComparedCard{From: c.from, Name: c.Card.Name, Version: c.Card.Version, Protocol: c.Card.Origin}
}

// read reads a card that is named on the command line.
func (o DiffOptions) read(ctx context.Context, target string) (publishedCard, error) {
	info, err := os.Stat(target)
	switch {
	case strings.Contains(target, "://"):
	case err == nil && info.IsDir():
		return ownCard(ctx, Options{Tool: o.Tool, Dir: target})
	case errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(target, `/\.`):
		if c, is, err := o.keptCard(target); is || err != nil {
			return c, err
		}
	}
	src, where, err := remote.Fetch(ctx, target, remote.Options{AllowPrivate: o.AllowPrivate})
	if err != nil {
		return publishedCard{}, err
	}
	return readPublished(cmp.Or(where.URL, where.File), src)
}

// readPublished reads a card that is published as it is.
func readPublished(from string, src []byte) (publishedCard, error) {
	c, list := carddiff.Read(from, src)
	if c == nil {
		return publishedCard{}, &InvalidError{list}
	}
	return publishedCard{Published: c, from: from}, nil
}

// keptCard reads the card that the project keeps of a client; is is false if no client has the name.
func (o DiffOptions) keptCard(name string) (c publishedCard, is bool, err error) {
	p, err := disk.Open(o.Dir)
	if err != nil {
		return c, false, err
	}
	defer p.Close()
	settings, err := p.ReadFile(config.File)
	if err != nil {
		return c, false, nil // the target is a file that is not there, or so it will be said
	}
	cfg, list := config.Read(config.File, settings)
	i := slices.IndexFunc(cfg.Clients, func(k config.Client) bool { return k.Name == name })
	if i < 0 {
		return c, false, nil
	}
	if list.HasErrors() {
		return c, true, &InvalidError{list}
	}
	file, _ := cfg.Clients[i].Card()
	src, err := p.ReadFile(file)
	if err != nil {
		return c, true, fmt.Errorf("read the card of client %s: %w", name, err)
	}
	c, err = readPublished(filepath.Join(o.Dir, filepath.FromSlash(file)), src)
	c.client = &cfg.Clients[i]
	return c, true, err
}

// ownCard is the card that the agent of a project publishes.
func ownCard(ctx context.Context, o Options) (publishedCard, error) {
	out, list, err := Inspect(ctx, o)
	switch {
	case err != nil:
		return publishedCard{}, err
	case list.HasErrors():
		return publishedCard{}, &InvalidError{slices.DeleteFunc(list,
			func(d diag.Diagnostic) bool { return d.Severity != diag.Error })}
	case out.Model == nil || out.Model.Agent == nil:
		return publishedCard{}, fmt.Errorf("the project in %s has no agent card", o.Dir)
	}
	return readPublished(filepath.Join(o.Dir, out.Config.Card), []byte(out.Model.Agent.Card))
}
