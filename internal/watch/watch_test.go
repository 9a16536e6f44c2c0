package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
)

// TestEventsOfABurstAreOneChange has a clock of its own: a change counts when files were quiet for long enough.
func TestEventsOfABurstAreOneChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := string(filepath.Separator) + "p"
		at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
		w := &Watcher{root: root, events: &fsnotify.Watcher{Events: make(chan fsnotify.Event)}, own: map[string][]byte{}}
		w.files = map[string]bool{at("agent.yaml"): true, at("schemas/in.json"): true}
		w.folders = map[string]Matcher{at("skills"): func(base string) bool { return strings.HasSuffix(base, ".go") }}
		start := time.Now()
		go func() {
			for _, e := range []fsnotify.Event{
				{Name: at("agent.yaml"), Op: fsnotify.Write}, {Name: at("schemas"), Op: fsnotify.Create}, {Name: at("schemas/in.json"), Op: fsnotify.Rename},
				{Name: at("skills/a.go"), Op: fsnotify.Write}, {Name: at("skills"), Op: fsnotify.Create},
				{Name: at("agent.yaml"), Op: fsnotify.Chmod}, {Name: at("skills/a.txt"), Op: fsnotify.Create},
				{Name: at("skills/more/a.go"), Op: fsnotify.Create},
			} {
				w.events.Events <- e
				time.Sleep(Quiet / 4)
			}
		}()
		if done, err := w.Wait(t.Context()); done || err != nil {
			t.Fatal(done, err)
		}
		if got, want := time.Since(start), 4*Quiet/4+Quiet; got != want {
			t.Errorf("the change counted after %v, want %v: the last three events are about nothing that is watched", got, want)
		}
		close(w.events.Events)
	})
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestAChangeIsNoticedInBothWays: by events and by looking, in a folder that comes later, by a file that goes; and what
// the program itself wrote is none.
func TestAChangeIsNoticedInBothWays(t *testing.T) {
	for name, poll := range map[string]time.Duration{"events": 0, "polling": 5 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
			write(t, at("a.txt"), "1")
			w, err := New(root, poll)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = w.Close() }()
			w.Files(at("a.txt"), at("later/b.txt"))
			w.Folder(at("code"), func(base string) bool { return base != "no.go" })
			change := func(what string, do func()) {
				t.Helper()
				do()
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				if done, err := w.Wait(ctx); done || err != nil {
					t.Fatalf("%s: %v, %v", what, done, err)
				}
				w.Files(at("later/b.txt"))
				w.Folder(at("code"), w.folders[at("code")])
			}
			change("a file", func() { write(t, at("a.txt"), "22") })
			change("a folder that comes", func() { write(t, at("later/b.txt"), "1") })
			change("a file of a folder", func() { write(t, at("code/c.go"), "1") })
			change("a file that goes", func() { _ = os.Remove(at("a.txt")) })

			write(t, at("code/own.go"), "own")
			w.Wrote(at("code/own.go"))
			write(t, at("code/no.go"), "1")
			ctx, cancel := context.WithTimeout(t.Context(), 2*Quiet)
			defer cancel()
			if done, err := w.Wait(ctx); !done || err != nil {
				t.Errorf("what is no change was taken for one: %v, %v", done, err)
			}
			change("what the program wrote, edited", func() { write(t, at("code/own.go"), "edited") })
		})
	}
}

func TestNoFolderIsAnError(t *testing.T) {
	if _, err := New(filepath.Join(t.TempDir(), "none"), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
