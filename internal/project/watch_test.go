package project

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/internal/watch"
)

// watched runs Watch on a folder and gives its rounds.
type watched struct {
	t      *testing.T
	dir    string
	rounds chan watchedRound
}

type watchedRound struct {
	Report
	err error
}

func watchFolder(t *testing.T, dir string) *watched {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	w := &watched{t: t, dir: dir, rounds: make(chan watchedRound, 100)}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		ended <- Watch(ctx, Options{Tool: Tool{Version: "v1.2.3"}, Dir: dir}, func(r Report, err error) { w.rounds <- watchedRound{r, err} })
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("ended with %v", err)
		}
		goleak.VerifyNone(t)
	})
	return w
}

func (w *watched) write(name, text string) {
	w.t.Helper()
	full := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// round waits for the next one.
func (w *watched) round() watchedRound { return <-w.rounds }

// until waits for a round of a kind: what a test does in one go may be two saves on a slow machine.
func (w *watched) until(want func(watchedRound) bool) {
	w.t.Helper()
	for !want(w.round()) {
	}
}

func generated(r watchedRound) bool { return r.err == nil && len(r.Written) > 0 }

// silent fails if there is a round.
func (w *watched) silent() {
	w.t.Helper()
	select {
	case r := <-w.rounds:
		w.t.Errorf("a round for nothing: %+v", r)
	case <-time.After(4 * watch.Quiet):
	}
}

const watchedCard = "name: w\ndescription: W.\nversion: \"1\"\nskills:\n  - {id: a, name: A, description: A., tags: [a], input: schemas/in.json}\n"

func schemaOf(field string) string {
	return `{"type": "object", "properties": {"` + field + `": {"type": "string"}}}`
}

func newWatched(t *testing.T) *watched {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/w\n\nrequire github.com/a2agen/a2agen v1.0.0\n", "agent.yaml": watchedCard, "schemas/in.json": schemaOf("x")} {
		(&watched{t: t, dir: dir}).write(name, text)
	}
	w := watchFolder(t, dir)
	if r := w.round(); r.err != nil || len(r.Written) == 0 {
		t.Fatalf("first round: %+v", r)
	}
	return w
}

func TestWatchGeneratesAfterASave(t *testing.T) {
	w := newWatched(t)
	w.silent() // its own writes are no reason
	w.write("schemas/in.json", schemaOf("y"))
	w.until(generated)
	w.write("README.md", "no input")
	w.silent()
}

func TestWatchSurvivesABrokenSave(t *testing.T) {
	w := newWatched(t)
	broken := func(r watchedRound) bool { return errors.As(r.err, new(*InvalidError)) }
	w.write("agent.yaml", "name: [")
	w.until(broken)
	w.write("schemas/in.json", schemaOf("y")) // still an input, though the broken card does not name it
	w.until(broken)
	w.write("agent.yaml", watchedCard)
	w.until(generated)
}

func TestWatchFollowsFilesThatAreReplacedAndFoldersThatComeBack(t *testing.T) {
	w := newWatched(t)
	w.write("agent.yaml.tmp", watchedCard+"documentationUrl: https://example.com\n")
	if err := os.Rename(filepath.Join(w.dir, "agent.yaml.tmp"), filepath.Join(w.dir, "agent.yaml")); err != nil {
		t.Fatal(err)
	}
	w.until(generated)
	if err := os.Rename(filepath.Join(w.dir, "schemas"), filepath.Join(t.TempDir(), "gone")); err != nil {
		t.Fatal(err)
	}
	w.until(func(r watchedRound) bool { return r.err != nil })
	w.write("schemas/in.json", schemaOf("z"))
	w.until(generated)
	w.write("schemas/in.json", schemaOf("zz"))
	w.until(generated)
}

func TestWatchOfNoFolderIsAnError(t *testing.T) {
	err := Watch(t.Context(), Options{Dir: filepath.Join(t.TempDir(), "none")}, func(Report, error) { t.Error("a round") })
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
