package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/output"
)

var errKilled = errors.New("killed")

// mortal is a disk whose process dies before its n-th change, or, for a write, in the middle of it. Whatever the dying
// process would try afterwards has no effect.
type mortal struct {
	folder
	mu   sync.Mutex // files are staged at the same time: the order is any
	left int        // changes it may still make
	half bool
}

func (m *mortal) die() bool { return m.count() < 0 }

// count takes one change off those that are left.
func (m *mortal) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left--
	return m.left
}

func (m *mortal) Create(name string, data []byte) error {
	if left := m.count(); left < 0 {
		if m.half && left == -1 {
			m.folder.Create(name, data[:len(data)/2])
		}
		return errKilled
	}
	return m.folder.Create(name, data)
}

func (m *mortal) MkdirAll(name string, perm fs.FileMode) error {
	if m.die() {
		return errKilled
	}
	return m.folder.MkdirAll(name, perm)
}

func (m *mortal) Rename(from, to string) error {
	if m.die() {
		return errKilled
	}
	return m.folder.Rename(from, to)
}

func (m *mortal) Remove(name string) error {
	if m.die() {
		return errKilled
	}
	return m.folder.Remove(name)
}

// runKilled is run by a process that dies after n changes. It reports whether it died.
func runKilled(t *testing.T, dir string, files []output.File, n int, half bool) bool {
	t.Helper()
	p := open(t, dir)
	defer p.Close()
	m := &mortal{folder: p.disk.(folder), left: n, half: half}
	p.disk = m
	pl, err := p.Plan(files, Lock{Tool: "devel"}, false)
	if err != nil {
		t.Fatal(err)
	}
	err = p.Apply(pl)
	if err != nil && !errors.Is(err, errKilled) {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, output.StagedName)); m.left < 0 && n > 0 && err != nil {
		t.Errorf("killed after %d changes, and nobody can tell: %v", n, err)
	}
	return m.left < 0
}

// Three generations of a project: files change, come and go.
var generations = [3]tree{
	{"a/x.gen.go": gen + "x1", "a/y.gen.go": gen + "y1", "gone/z.gen.go": gen + "z1", "plain.json": "{\"v\": 1}"},
	{"a/x.gen.go": gen + "x2", "a/y.gen.go": gen + "y1", "new/w.gen.go": gen + "w2", "plain.json": "{\"v\": 2}"},
	{"a/x.gen.go": gen + "x3", "new/w.gen.go": gen + "w3", "plain.json": "{\"v\": 3}", "new/v.gen.go": gen + "v3"},
}

const userFile = "skills/forecast.go"

func generation(i int) []output.File {
	return append(owned(generations[i]), output.File{Path: userFile, Kind: output.Scaffold, Data: []byte("stub")})
}

// checkWhole fails if a file has content that no generation gave it.
func checkWhole(t *testing.T, dir string) {
	t.Helper()
	for name, data := range readTree(t, dir) {
		if strings.HasSuffix(name, output.TempSuffix) || name == output.StagedName {
			continue
		}
		known := (name == userFile || name == basePath(userFile)) && data == "stub"
		for _, g := range generations {
			known = known || g[name] == data
		}
		if !known {
			t.Errorf("%s is not whole: %q", name, data)
		}
	}
}

func TestKilledAtAnyStepARerunHeals(t *testing.T) {
	for _, half := range []bool{false, true} {
		for after := range generations {
			t.Run(fmt.Sprintf("half=%v then generation %d", half, after), func(t *testing.T) {
				for n := 0; ; n++ {
					dir := t.TempDir()
					mustRun(t, dir, generation(0))
					if !runKilled(t, dir, generation(1), n, half) {
						if n < 10 {
							t.Fatalf("a whole run has only %d changes", n)
						}
						return
					}
					checkWhole(t, dir)
					mustRun(t, dir, generation(after))
					checkFinal(t, dir, after)
				}
			})
		}
	}
}

func TestKilledTwiceARerunHeals(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 7
	}
	for n := 0; ; n += step {
		last := true
		for m := 0; ; m += step {
			dir := t.TempDir()
			mustRun(t, dir, generation(0))
			if !runKilled(t, dir, generation(1), n, true) {
				break
			}
			last = false
			died := runKilled(t, dir, generation(2), m, true)
			checkWhole(t, dir)
			mustRun(t, dir, generation(0))
			checkFinal(t, dir, 0)
			if t.Failed() {
				t.Fatalf("killed at %d, then at %d", n, m)
			}
			if !died {
				break
			}
		}
		if last {
			return
		}
	}
}

func TestFirstRunKilledLeavesNothingThatBlocksTheNext(t *testing.T) {
	for n := 0; ; n++ {
		dir := t.TempDir()
		if !runKilled(t, dir, generation(0), n, true) {
			return
		}
		mustRun(t, dir, generation(1))
		checkFinal(t, dir, 1)
	}
}

func checkFinal(t *testing.T, dir string, g int) {
	t.Helper()
	want := tree{userFile: "stub", basePath(userFile): "stub"}
	for name, data := range generations[g] {
		want[name] = data
	}
	if diff := cmp.Diff(want, readTree(t, dir)); diff != "" {
		t.Error(diff)
	}
	p := open(t, dir)
	defer p.Close()
	if p.Interrupted() || len(p.Lock().Files) != len(generations[g]) || p.Lock().Scaffold[userFile] == "" {
		t.Errorf("lock after healing: interrupted %v, %+v", p.Interrupted(), p.Lock())
	}
}

// failing refuses one kind of change to one file, as a full disk or a read-only folder does; the process lives on.
type failing struct {
	folder
	name string
}

func (f failing) Create(name string, data []byte) error {
	if name == f.name {
		f.folder.Create(name, data[:len(data)/2])
		return errors.New("no space left on device")
	}
	return f.folder.Create(name, data)
}

func TestErrorBeforeTheFirstRenameLeavesNoTrace(t *testing.T) {
	for name := range generations[1] {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			mustRun(t, dir, generation(0))
			lock, _ := os.ReadFile(filepath.Join(dir, output.LockName))
			before := readTree(t, dir)
			p := open(t, dir)
			p.disk = failing{p.disk.(folder), tempName(name)}
			pl, err := p.Plan(generation(1), Lock{Tool: "devel"}, false)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Apply(pl); err == nil && name != "a/y.gen.go" { // y does not change
				t.Fatal("no error")
			} else if err == nil {
				return
			}
			if diff := cmp.Diff(before, readTree(t, dir)); diff != "" {
				t.Error(diff)
			}
			if _, err := os.Stat(filepath.Join(dir, "new")); !errors.Is(err, fs.ErrNotExist) {
				t.Error("a new folder is left")
			}
			if now, _ := os.ReadFile(filepath.Join(dir, output.LockName)); string(now) != string(lock) {
				t.Error("the lock changed")
			}
		})
	}
}

func TestRunsTakeTurns(t *testing.T) {
	dir := t.TempDir()
	first, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan error)
	go func() {
		_, err := run(dir, owned(tree{"b.gen.go": gen}), false)
		second <- err
	}()
	pl, err := first.Plan(owned(tree{"a.gen.go": gen}), Lock{Tool: "devel"}, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Apply(pl); err != nil {
		t.Fatal(err)
	}
	first.Close()
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree{"b.gen.go": gen}, readTree(t, dir)); diff != "" {
		t.Errorf("the second run did not see the first one's lock: %s", diff)
	}
}
