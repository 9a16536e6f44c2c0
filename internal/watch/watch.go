// Package watch waits until files have changed: by events of the file system, or where there are none (containers,
// network drives) by looking at the files again and again.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Quiet is how long files must be quiet before a change counts: an editor saves in several steps, and git checks out
// many files.
const Quiet = 100 * time.Millisecond

// Watcher waits for changes of the files that it was told of. It watches folders, because editors replace the files
// that they save. It is for one goroutine.
type Watcher struct {
	root    string
	events  *fsnotify.Watcher // nil: it polls
	poll    time.Duration
	files   map[string]bool
	folders map[string]Matcher
	own     map[string][]byte // what the program itself wrote
	seen    map[string]stamp  // when polling
}

// Matcher reports whether the file of a name, without its folder, belongs to what is watched.
type Matcher func(base string) bool

// New watches below root, which must be there. With poll, if it is not 0, files are looked at so often, in place of
// events.
func New(root string, poll time.Duration) (*Watcher, error) {
	w := &Watcher{root: root, poll: poll, files: map[string]bool{}, folders: map[string]Matcher{}, own: map[string][]byte{}, seen: map[string]stamp{}}
	if _, err := os.Stat(root); err != nil {
		return nil, err
	}
	if poll > 0 {
		return w, nil
	}
	var err error
	if w.events, err = fsnotify.NewWatcher(); err != nil {
		return nil, fmt.Errorf("watch %s: %w", root, err)
	}
	if err := w.events.Add(root); err != nil {
		_ = w.events.Close()
		return nil, fmt.Errorf("watch %s: %w", root, err)
	}
	return w, nil
}

// Close ends the watch.
func (w *Watcher) Close() error {
	if w.events == nil {
		return nil
	}
	return w.events.Close()
}

// Files adds files, with absolute names, which need not be there yet. grown reports that a folder is watched now that
// was not before: nobody noticed what changed there until now.
func (w *Watcher) Files(names ...string) (grown bool) {
	for _, name := range names {
		if w.files[name] {
			continue
		}
		w.files[name] = true
		if info, err := os.Stat(name); err == nil {
			w.seen[name] = stampOf(info)
		}
		grown = w.above(name) || grown
	}
	return w.back() || grown
}

// Folder adds the files of a folder, without those of folders in it, that match.
func (w *Watcher) Folder(dir string, match Matcher) (grown bool) {
	if w.folders[dir] == nil {
		w.folders[dir] = match
		w.eachIn(dir, match, func(name string, s stamp) { w.seen[name] = s })
	}
	return w.above(filepath.Join(dir, "x"))
}

// ChangedSince reports whether a file that is watched was written after a time, and not by the program itself: what
// changed before it was watched, nobody noticed.
func (w *Watcher) ChangedSince(t time.Time) bool {
	for name, s := range w.stamps() {
		if s.at.After(t) && !w.unchanged(name) {
			return true
		}
	}
	return false
}

// back watches folders again that had gone, and came back.
func (w *Watcher) back() (grown bool) {
	for name := range w.files {
		grown = w.above(name) || grown
	}
	return grown
}

// above watches the folders above a file, up to the root, and reports whether one is new.
func (w *Watcher) above(name string) (grown bool) {
	if w.events == nil {
		return false
	}
	watched := w.events.WatchList()
	for dir := filepath.Dir(name); ; dir = filepath.Dir(dir) {
		// A folder that is not there is announced by the one above.
		if !slices.Contains(watched, dir) && w.events.Add(dir) == nil {
			grown = true
		}
		if !strings.HasPrefix(dir, w.root+string(filepath.Separator)) {
			return grown
		}
	}
}

// Wrote tells which files the program itself has written: they are no change as long as they stay so.
func (w *Watcher) Wrote(names ...string) {
	for _, name := range names {
		w.own[name] = contents(name)
	}
}

// contents returns what is in a file; nil if it cannot be read.
func contents(name string) []byte {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	return append([]byte{}, b...)
}

// Wait returns when files have changed since the last call, or since they were added, and then were quiet. done reports
// that the context ended.
func (w *Watcher) Wait(ctx context.Context) (done bool, err error) {
	if w.events == nil {
		return w.look(ctx), nil
	}
	var quiet <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return true, nil
		case <-quiet:
			return false, nil
		case e, ok := <-w.events.Events:
			if !ok {
				return true, nil
			}
			if w.concerns(e) {
				quiet = time.After(Quiet)
			}
		case err, ok := <-w.events.Errors:
			if !ok {
				return true, nil
			}
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return false, fmt.Errorf("watch: %w", err)
			}
			quiet = time.After(Quiet)
		}
	}
}

// concerns reports whether an event is about a watched file, or about a folder above one.
func (w *Watcher) concerns(e fsnotify.Event) bool {
	if e.Op == fsnotify.Chmod {
		return false // indexers and backups do that
	}
	if w.watches(e.Name) {
		return !w.unchanged(e.Name)
	}
	below := e.Name + string(filepath.Separator)
	for name := range w.files {
		if strings.HasPrefix(name, below) {
			return true
		}
	}
	for dir := range w.folders {
		if dir == e.Name || strings.HasPrefix(dir, below) {
			return true
		}
	}
	return false
}

// watches reports whether a file is watched.
func (w *Watcher) watches(name string) bool {
	if w.files[name] {
		return true
	}
	match := w.folders[filepath.Dir(name)]
	return match != nil && match(filepath.Base(name))
}

// unchanged reports whether a file is as the program itself wrote it.
func (w *Watcher) unchanged(name string) bool {
	wrote, ok := w.own[name]
	if !ok {
		return false
	}
	is := contents(name)
	same := (is == nil) == (wrote == nil) && string(is) == string(wrote)
	if !same {
		delete(w.own, name)
	}
	return same
}

// stamp tells two versions of a file apart.
type stamp struct {
	size int64
	at   time.Time
}

// look is Wait without events.
func (w *Watcher) look(ctx context.Context) (done bool) {
	for changed := false; ; {
		every := w.poll
		if changed {
			every = min(every, Quiet)
		}
		select {
		case <-ctx.Done():
			return true
		case <-time.After(every):
		}
		now := w.stamps()
		again := w.differ(now)
		w.seen = now
		if changed && !again {
			return false
		}
		changed = changed || again
	}
}

// differ reports whether a watched file is not as it was seen.
func (w *Watcher) differ(now map[string]stamp) bool {
	for name, s := range now {
		if old, ok := w.seen[name]; (!ok || old != s) && !w.unchanged(name) {
			return true
		}
	}
	for name := range w.seen {
		if _, ok := now[name]; !ok && !w.unchanged(name) {
			return true
		}
	}
	return false
}

// stamps looks at all watched files that are there.
func (w *Watcher) stamps() map[string]stamp {
	found := map[string]stamp{}
	for name := range w.files {
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			found[name] = stampOf(info)
		}
	}
	for dir, match := range w.folders {
		w.eachIn(dir, match, func(name string, s stamp) { found[name] = s })
	}
	return found
}

// eachIn looks at the files of a folder that match. One that is not there has none.
func (w *Watcher) eachIn(dir string, match Matcher, do func(name string, s stamp)) {
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() || !match(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil {
			do(filepath.Join(dir, e.Name()), stampOf(info))
		}
	}
}

func stampOf(info fs.FileInfo) stamp { return stamp{info.Size(), info.ModTime()} }
