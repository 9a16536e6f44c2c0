package project

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/a2agen/a2agen/generator/config"
)

// debounce is how long inputs must be quiet before a round begins: an editor saves in several steps, and git checks out
// many files.
const debounce = 100 * time.Millisecond

// Watch runs [Run] now and whenever an input has changed, until the context ends, which is no error. It calls round
// after each run; one that fails does not end the watch. It watches folders, because editors replace the files that
// they save.
func Watch(ctx context.Context, o Options, round func(Report, error)) error {
	w, err := newWatcher(o.Dir)
	if err != nil {
		return err
	}
	defer w.Close()
	for quiet := false; ; {
		r, err := Run(ctx, o)
		if ctx.Err() != nil {
			return nil
		}
		if !quiet || !r.Fresh {
			round(r, err)
		}
		if quiet = w.follow(r.inputs); quiet {
			continue // what changed in a folder before it was watched, nobody noticed
		}
		if done, err := w.wait(ctx); done || err != nil {
			return err
		}
	}
}

// watcher watches the folders of the inputs.
type watcher struct {
	*fsnotify.Watcher
	root   string
	inputs []string // slash-separated, relative to root
}

func newWatcher(dir string) (*watcher, error) {
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(root); err != nil {
		return nil, err
	}
	fw, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	w := &watcher{Watcher: fw, root: root}
	if err := fw.Add(root); err != nil {
		fw.Close()
		return nil, fmt.Errorf("watch %s: %w", dir, err)
	}
	w.follow(nil)
	return w, nil
}

// follow adds the inputs of a run, and reports whether it watches a new folder. A run that failed early does not know
// all its inputs, so none is removed.
func (w *watcher) follow(inputs []string) (grown bool) {
	w.inputs = append(w.inputs, "go.mod", config.File, config.Default().Card)
	w.inputs = append(w.inputs, inputs...)
	slices.Sort(w.inputs)
	w.inputs = slices.Compact(w.inputs)
	watched := w.WatchList()
	for _, name := range w.inputs {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			full := filepath.Join(w.root, filepath.FromSlash(dir))
			if slices.Contains(watched, full) || w.Add(full) != nil {
				continue // a folder that is not there is announced by the one above
			}
			watched, grown = append(watched, full), true
		}
	}
	return grown
}

// wait returns when inputs have changed and then were quiet. done reports that the context ended.
func (w *watcher) wait(ctx context.Context) (done bool, err error) {
	var quiet <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return true, nil
		case <-quiet:
			return false, nil
		case e, ok := <-w.Events:
			if !ok {
				return true, nil
			}
			if w.concerns(e) {
				quiet = time.After(debounce)
			}
		case err, ok := <-w.Errors:
			if !ok {
				return true, nil
			}
			if err != fsnotify.ErrEventOverflow {
				return false, fmt.Errorf("watch: %w", err)
			}
			quiet = time.After(debounce)
		}
	}
}

// concerns reports whether an event is about an input, or about a folder above one.
func (w *watcher) concerns(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false // indexers and backups do that
	}
	rel, err := filepath.Rel(w.root, e.Name)
	if err != nil {
		return false
	}
	name := filepath.ToSlash(rel)
	return slices.ContainsFunc(w.inputs, func(in string) bool { return in == name || strings.HasPrefix(in, name+"/") })
}
