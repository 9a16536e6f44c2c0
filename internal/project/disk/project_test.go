package disk

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/output"
)

// tree is the content of a folder by path.
type tree map[string]string

func owned(t tree) []output.File {
	var fs []output.File
	for name, data := range t {
		fs = append(fs, output.File{Path: name, Kind: output.Owned, Data: []byte(data)})
	}
	return fs
}

func writeTree(t *testing.T, dir string, files tree) {
	t.Helper()
	for name, data := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// readTree reads a folder, without the lock.
func readTree(t *testing.T, dir string) tree {
	t.Helper()
	got := tree{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == output.LockName {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		got[name] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func open(t *testing.T, dir string) *Project {
	t.Helper()
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	p.AllowHeaderless(noGo)
	return p
}

// noGo tells the files that have no header in these tests.
func noGo(name string) bool { return path.Ext(name) != ".go" && name != "README.md" }

// run generates files into dir as a process of its own would.
func run(dir string, files []output.File, force bool) (*Plan, error) {
	p, err := Open(dir)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	p.AllowHeaderless(noGo)
	pl, err := p.Plan(files, Lock{Tool: "devel"}, force)
	if err != nil {
		return nil, err
	}
	return pl, p.Apply(pl)
}

func mustRun(t *testing.T, dir string, files []output.File) *Plan {
	t.Helper()
	pl, err := run(dir, files, false)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

const gen = "// " + output.Header + "\n"

func TestApplyWritesWhatWasGenerated(t *testing.T) {
	dir := t.TempDir()
	want := tree{"a2a/types.gen.go": gen + "package a2a\n", "agent/server.gen.go": gen + "package agent\n"}
	mustRun(t, dir, owned(want))
	if diff := cmp.Diff(want, readTree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestSecondRunTouchesNothing(t *testing.T) {
	dir := t.TempDir()
	files := owned(tree{"a2a/types.gen.go": gen})
	mustRun(t, dir, files)
	old := filepath.Join(dir, "a2a/types.gen.go")
	stamp := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime().UnixNano()
	}
	before, lock := stamp(old), stamp(filepath.Join(dir, output.LockName))
	pl := mustRun(t, dir, files)
	if stamp(old) != before || stamp(filepath.Join(dir, output.LockName)) != lock {
		t.Error("a file with equal content was rewritten")
	}
	if pl.LockChanges() || len(pl.Drift()) > 0 {
		t.Errorf("plan of an unchanged project: %+v", pl)
	}
}

func TestStates(t *testing.T) {
	const name = "a2a/types.gen.go"
	tests := map[string]struct {
		edit func(t *testing.T, dir string)
		next tree
		want State
	}{
		"equal":               {nil, tree{name: gen + "1"}, Unchanged},
		"input changed":       {nil, tree{name: gen + "2"}, Outdated},
		"deleted by the user": {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, name)) }, tree{name: gen + "1"}, Missing},
		"edited by the user":  {func(t *testing.T, dir string) { writeTree(t, dir, tree{name: gen + "mine"}) }, tree{name: gen + "2"}, HandEdited},
		"checked out with CRLF line ends": {func(t *testing.T, dir string) {
			writeTree(t, dir, tree{name: strings.ReplaceAll(gen+"1", "\n", "\r\n")})
		}, tree{name: gen + "1"}, Unchanged},
		"CRLF line ends and a new input": {func(t *testing.T, dir string) {
			writeTree(t, dir, tree{name: strings.ReplaceAll(gen+"1", "\n", "\r\n")})
		}, tree{name: gen + "2"}, Outdated},
		"edited to what is generated now": {func(t *testing.T, dir string) { writeTree(t, dir, tree{name: gen + "2"}) }, tree{name: gen + "2"}, Unchanged},
		"no longer generated":             {nil, tree{}, Stale},
		"no longer generated, edited":     {func(t *testing.T, dir string) { writeTree(t, dir, tree{name: gen + "mine"}) }, tree{}, StaleEdited},
		"lock lost, lines added":          {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, output.LockName)) }, tree{name: gen + "1\n2"}, Outdated},
		"lock lost, a line goes":          {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, output.LockName)) }, tree{name: gen + "2"}, Doubtful},
		"lock lost, edited by the user": {func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, output.LockName))
			writeTree(t, dir, tree{name: gen + "1\nmine"})
		}, tree{name: gen + "1"}, Doubtful},
		"lock lost, conflict markers": {func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, output.LockName))
			writeTree(t, dir, tree{name: gen + "<<<<<<< HEAD\n1\n=======\n3\n>>>>>>> b\n"})
		}, tree{name: gen + "2"}, Outdated},
		"lock lost, somebody else's file": {func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, output.LockName))
			writeTree(t, dir, tree{name: "package a2a"})
		}, tree{name: gen + "2"}, Foreign},
		"lock lost, header far down a file": {func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, output.LockName))
			writeTree(t, dir, tree{name: strings.Repeat("\n", 300) + gen})
		}, tree{name: gen + "2"}, Foreign},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			mustRun(t, dir, owned(tree{name: gen + "1"}))
			if tt.edit != nil {
				tt.edit(t, dir)
			}
			pl, err := open(t, dir).Plan(owned(tt.next), Lock{Tool: "devel"}, false)
			if err != nil {
				t.Fatal(err)
			}
			if len(pl.Changes) != 1 || pl.Changes[0].State != tt.want {
				t.Errorf("changes %+v, want %s", pl.Changes, tt.want)
			}
		})
	}
}

func TestRefusedRunWritesNothing(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, owned(tree{"a.gen.go": gen + "1", "b.gen.go": gen + "1"}))
	writeTree(t, dir, tree{"a.gen.go": gen + "mine"})
	before := readTree(t, dir)

	_, err := run(dir, owned(tree{"a.gen.go": gen + "2", "b.gen.go": gen + "2"}), false)
	var refused *RefusedError
	if !errors.As(err, &refused) || len(refused.Files) != 1 || refused.Files[0].Path != "a.gen.go" {
		t.Fatalf("error %v, want a refusal that names a.gen.go", err)
	}
	if !strings.Contains(err.Error(), "--force") {
		t.Errorf("%q does not name the remedy", err)
	}
	if diff := cmp.Diff(before, readTree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestForceOverwritesAndDeletesEditedFiles(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, owned(tree{"a.gen.go": gen + "1", "b.gen.go": gen + "1"}))
	writeTree(t, dir, tree{"a.gen.go": "mine", "b.gen.go": "mine"})
	if _, err := run(dir, owned(tree{"a.gen.go": gen + "2"}), true); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tree{"a.gen.go": gen + "2"}, readTree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestStaleFilesGoWithTheirEmptyFolders(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, owned(tree{"client/deep/x.gen.go": gen, "keep/y.gen.go": gen}))
	writeTree(t, dir, tree{"keep/mine.go": "package keep"})
	mustRun(t, dir, nil)
	if diff := cmp.Diff(tree{"keep/mine.go": "package keep"}, readTree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "client")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("empty folder is left: %v", err)
	}
}

func TestEditedStaleFileIsReportedUntilItIsGone(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, owned(tree{"a.gen.go": gen}))
	writeTree(t, dir, tree{"a.gen.go": "mine"})
	for range 2 {
		if left := mustRun(t, dir, nil).Left(); len(left) != 1 || left[0].Path != "a.gen.go" {
			t.Fatalf("left %+v", left)
		}
	}
	if got := readTree(t, dir)["a.gen.go"]; got != "mine" {
		t.Errorf("user's text became %q", got)
	}
	os.Remove(filepath.Join(dir, "a.gen.go"))
	if left := mustRun(t, dir, nil).Left(); len(left) != 0 {
		t.Errorf("left %+v", left)
	}
}

func TestScaffoldIsWrittenOnce(t *testing.T) {
	dir := t.TempDir()
	file := func(s string) []output.File {
		return []output.File{{Path: "main.go", Kind: output.Scaffold, Data: []byte(s)}}
	}
	mustRun(t, dir, file("first"))
	writeTree(t, dir, tree{"main.go": "the user's"})
	mustRun(t, dir, file("second"))
	mustRun(t, dir, nil)
	if diff := cmp.Diff(tree{"main.go": "the user's", basePath("main.go"): "first"}, readTree(t, dir)); diff != "" {
		t.Error(diff)
	}
	if got := open(t, dir).Lock().Scaffold["main.go"]; got != output.Digest([]byte("first")) {
		t.Errorf("recorded base %s, want the digest as first written", got)
	}
}

func TestPathsThatAreRefused(t *testing.T) {
	for _, name := range []string{
		"", ".", "..", "../x", "a/../../x", "/etc/passwd", "a//b", "./a", "a/", "a\\b", "C:x", "a\x00b", "a\nb",
		output.LockName, output.StagedName, ".x" + output.TempSuffix, ".git", ".git/hooks/pre-commit",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := run(dir, []output.File{{Path: name}}, true); err == nil {
				t.Errorf("path %q was accepted", name)
			}
			if got := readTree(t, dir); len(got) > 0 {
				t.Errorf("wrote %v", got)
			}
		})
	}
}

func TestPathsThatDifferInCaseAreRefused(t *testing.T) {
	_, err := run(t.TempDir(), owned(tree{"a2a/x.go": "", "a2a/X.go": ""}), false)
	if err == nil || !strings.Contains(err.Error(), "case-insensitive") {
		t.Errorf("error %v", err)
	}
}

func TestSymbolicLinksDoNotLeadOutside(t *testing.T) {
	outside := t.TempDir()
	writeTree(t, outside, tree{"x.gen.go": gen + "outside"})
	for name, link := range map[string]struct{ from, to string }{
		"folder":                 {"a2a", outside},
		"file":                   {"a2a/x.gen.go", filepath.Join(outside, "x.gen.go")},
		"temporary file":         {"a2a/.x.gen.go" + output.TempSuffix, filepath.Join(outside, "x.gen.go")},
		"staged lock":            {output.StagedName, filepath.Join(outside, "x.gen.go")},
		"temporary lock":         {"." + output.LockName + output.TempSuffix, filepath.Join(outside, "x.gen.go")},
		"lock":                   {output.LockName, filepath.Join(outside, "x.gen.go")},
		"folder, relative climb": {"a2a", "../" + filepath.Base(outside)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(filepath.Dir(outside), "in", name)
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(link.from)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(link.to, filepath.Join(dir, link.from)); err != nil {
				t.Skip("no symbolic links here")
			}
			run(dir, owned(tree{"a2a/x.gen.go": gen + "inside"}), true) // may fail or replace the link
			if diff := cmp.Diff(tree{"x.gen.go": gen + "outside"}, readTree(t, outside)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestHostileLockIsRefused(t *testing.T) {
	for name, lock := range map[string]string{
		"a file outside":       "lock: 1\ntool: x\nfiles:\n  ../secret: sha256:00\n",
		"a scaffold outside":   "lock: 1\ntool: x\nscaffold:\n  /etc/passwd: sha256:00\n",
		"a client outside":     "lock: 1\ntool: x\nclients:\n  c: {out: ../c, card: c.json, digest: x}\n",
		"a later format":       "lock: 99\ntool: x\n",
		"half a merge":         "lock: 1\nfiles:\n<<<<<<< HEAD\n  ../a: x\n=======\n  b: x\n>>>>>>> b\n",
		"the other half":       "lock: 1\nfiles:\n<<<<<<< HEAD\n  a: x\n=======\n  ../b: x\n>>>>>>> b\n",
		"a list":               "- 1\n",
		"an alias bomb":        "lock: 1\na: &a [x,x,x]\nb: &b [*a,*a]\nfiles: *b\n",
		"an empty file":        "",
		"one path given twice": "lock: 1\ntool: x\nfiles:\n  a: x\n  a: y\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			writeTree(t, dir, tree{output.LockName: lock})
			p, err := Open(dir)
			if err == nil {
				p.Close()
				t.Fatal("lock was accepted")
			}
			if !strings.Contains(err.Error(), output.LockName) {
				t.Errorf("%q does not name the file", err)
			}
		})
	}
}

func TestReadOnlyFolderIsAnErrorAndStaysAsItIs(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := t.TempDir()
	os.Chmod(dir, 0o555)
	defer os.Chmod(dir, 0o755)
	if _, err := run(dir, owned(tree{"a.gen.go": gen}), false); err == nil {
		t.Error("no error")
	}
}

func TestFileInTheWayOfAFolder(t *testing.T) {
	dir := t.TempDir()
	writeTree(t, dir, tree{"a2a": "mine"})
	_, err := run(dir, owned(tree{"a2a/x.gen.go": gen}), true)
	if err == nil || !strings.Contains(err.Error(), "a2a is a file") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(tree{"a2a": "mine"}, readTree(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestFresh(t *testing.T) {
	setup := func(t *testing.T) string {
		dir := t.TempDir()
		writeTree(t, dir, tree{"agent.yaml": "name: x"})
		p := open(t, dir)
		next := Lock{Tool: "v1.0.0", Module: "m", Inputs: map[string]string{"agent.yaml": output.Digest([]byte("name: x")), "a2agen.yaml": output.Absent}}
		pl, err := p.Plan(owned(tree{"a.gen.go": gen}), next, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Apply(pl); err != nil {
			t.Fatal(err)
		}
		p.Close()
		return dir
	}
	tests := map[string]struct {
		edit   tree
		tool   string
		module string
		want   bool
	}{
		"nothing changed":         {nil, "v1.0.0", "m", true},
		"an input changed":        {tree{"agent.yaml": "name: y"}, "v1.0.0", "m", false},
		"an absent input appears": {tree{"a2agen.yaml": ""}, "v1.0.0", "m", false},
		"an owned file changed":   {tree{"a.gen.go": "mine"}, "v1.0.0", "m", false},
		"the tool changed":        {nil, "v1.0.1", "m", false},
		"the module changed":      {nil, "v1.0.0", "n", false},
		"a run was interrupted":   {tree{output.StagedName: "lock: 1\n"}, "v1.0.0", "m", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := setup(t)
			writeTree(t, dir, tt.edit)
			if got := open(t, dir).Fresh(tt.tool, tt.module); got != tt.want {
				t.Errorf("Fresh = %v", got)
			}
		})
	}
}

func TestLockThatListsTheUsersFilesDoesNoHarm(t *testing.T) {
	mine := tree{"main.go": "package main\n", "agent.yaml": "name: x\n", "notes/README.md": "mine\n"}
	dir := t.TempDir()
	writeTree(t, dir, mine)
	lock := Lock{Tool: "devel", Files: map[string]string{}}
	for name, data := range mine {
		lock.Files[name] = output.Digest([]byte(data))
	}
	for _, force := range []bool{false, true} {
		writeTree(t, dir, tree{output.LockName: string(lock.Bytes())})
		p := open(t, dir)
		p.AllowHeaderless(func(name string) bool { return name == "agent.yaml" })
		pl, err := p.Plan(nil, Lock{Tool: "devel", Inputs: map[string]string{"agent.yaml": output.Digest([]byte("name: x\n"))}}, force)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Apply(pl); err != nil {
			t.Fatal(err)
		}
		p.Close()
		if diff := cmp.Diff(mine, readTree(t, dir)); diff != "" {
			t.Errorf("force %v: %s", force, diff)
		}
		if len(pl.Left()) > 0 {
			t.Errorf("somebody is told to delete %+v", pl.Left())
		}
	}
	writeTree(t, dir, tree{output.LockName: string(lock.Bytes())})
	if _, err := run(dir, owned(tree{"main.go": gen + "package main\n"}), false); err == nil {
		t.Error("a file without a header was overwritten because the lock lists it")
	}
}
