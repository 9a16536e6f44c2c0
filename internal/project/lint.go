package project

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/internal/project/disk"
	"github.com/a2agen/a2agen/internal/project/remote"
)

// LintOptions say which card to check.
type LintOptions struct {
	Dir          string // the project with the card, if there is no target
	Target       string // an agent's URL, its card's URL, or a file: a project's card, or one that was published
	AllowPrivate bool   // fetch from private addresses too
}

// Lint reports what callers with the official SDKs cannot do with a card. Mistakes in the card itself are errors.
func Lint(ctx context.Context, o LintOptions) (diag.List, error) {
	if o.Target == "" {
		list, _, err := lintProject(o.Dir, "")
		return list, err
	}
	if dir, name := filepath.Split(o.Target); filepath.Ext(name) != ".json" {
		if list, is, err := lintProject(cmp.Or(dir, "."), name); is {
			return list, err
		}
	}
	src, info, err := remote.Fetch(ctx, o.Target, remote.Options{AllowPrivate: o.AllowPrivate})
	if err != nil {
		return nil, err
	}
	c, list := card.Import(cmp.Or(info.URL, info.File), src)
	if c == nil || list.HasErrors() {
		return list, nil
	}
	return c.Lint(c.Published()), nil // what was converted does not matter here
}

// lintProject checks the card of the project in a folder, which has this name; "" is any. is reports whether there is
// one.
func lintProject(dir, name string) (list diag.List, is bool, err error) {
	p, err := disk.Open(dir)
	if err != nil {
		return nil, false, err
	}
	defer p.Close()
	settings, err := p.ReadFile(config.File)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, true, err
	}
	cfg, list := config.Read(config.File, settings)
	if name != "" && name != cfg.Card {
		return nil, false, nil
	}
	src, err := p.ReadFile(cfg.Card)
	if errors.Is(err, fs.ErrNotExist) && name == "" && len(cfg.Clients) > 0 {
		kept, _ := cfg.Clients[0].Card()
		return nil, true, badArgument(`there are only clients of other agents here: name one of their cards, "a2agen card lint %s"`, kept)
	}
	if errors.Is(err, fs.ErrNotExist) && name == "" {
		return nil, true, badArgument("there is no %s in %s: name a card by its file or URL, or the folder of a project with -C", cfg.Card, dir)
	}
	if err != nil {
		return nil, true, err
	}
	c, problems := card.Read(cfg.Card, src, p.ReadFile)
	if list.Add(problems...); c == nil || list.HasErrors() {
		return list, true, nil
	}
	return append(list, c.Lint(card.Served{Versions: cfg.Versions(), Lists: cfg.RequirementLists})...), true, nil
}
