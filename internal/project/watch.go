package project

import (
	"context"
	"path/filepath"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/internal/watch"
)

// Watch runs [Run] now and whenever an input has changed, until the context ends, which is no error. It calls round
// after each run; one that fails does not end the watch.
func Watch(ctx context.Context, o Options, round func(Report, error)) error {
	root, err := filepath.Abs(o.Dir)
	if err != nil {
		return err
	}
	w, err := watch.New(root, 0)
	if err != nil {
		return err
	}
	defer w.Close()
	w.Files(Report{}.Inputs(root)...)
	for quiet := false; ; {
		r, err := Run(ctx, o)
		if ctx.Err() != nil {
			return nil
		}
		if !quiet || !r.Fresh {
			round(r, err)
		}
		if quiet = w.Files(r.Inputs(root)...); quiet {
			continue // what changed in a folder before it was watched, nobody noticed
		}
		if done, err := w.Wait(ctx); done || err != nil {
			return err
		}
	}
}

// Inputs returns the files that a run in a folder read or looked for, with absolute names if root is one. A run that
// failed early does not know all of them: those of the one before count, too.
func (r Report) Inputs(root string) []string {
	var names []string
	for _, name := range append([]string{"go.mod", config.File, config.Default().Card}, r.inputs...) {
		names = append(names, filepath.Join(root, filepath.FromSlash(name)))
	}
	return names
}
