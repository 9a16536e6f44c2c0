package disk

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/generator/output"
)

func stub(name, data string) output.File {
	return output.File{Path: name, Kind: output.Scaffold, Data: []byte(data)}
}

func merged(name, data, base string) output.File {
	return output.File{Path: name, Kind: output.Merged, Data: []byte(data), Base: []byte(base)}
}

func TestBaseIsWhatTheToolWroteLast(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, []output.File{stub("main.go", "one"), {Path: "agent.yaml", Kind: output.Scaffold, Data: []byte("x"), NoBase: true}})
	writeTree(t, dir, tree{"main.go": "one mine"})
	mustRun(t, dir, []output.File{merged("main.go", "two mine", "two")})
	want := tree{"main.go": "two mine", basePath("main.go"): "two", "agent.yaml": "x"}
	if diff := cmp.Diff(want, readTree(t, dir)); diff != "" {
		t.Error(diff)
	}
	p := open(t, dir)
	if base, ok := p.Base("main.go"); !ok || string(base) != "two" {
		t.Errorf("base %q, %v", base, ok)
	}
	if _, ok := p.Base("agent.yaml"); ok || !p.Recorded("agent.yaml") {
		t.Error("agent.yaml has a base or is not recorded")
	}
}

func TestBaseThatSomebodyEditedIsNone(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, []output.File{stub("main.go", "one")})
	writeTree(t, dir, tree{basePath("main.go"): "mine"})
	if base, ok := open(t, dir).Base("main.go"); ok {
		t.Errorf("base %q", base)
	}
}

func TestBasesSurviveALostLock(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, []output.File{stub("main.go", "one"), stub("skills/a.go", "a")})
	os.Remove(filepath.Join(dir, output.LockName))
	mustRun(t, dir, nil)
	p := open(t, dir)
	if base, ok := p.Base("skills/a.go"); !ok || string(base) != "a" {
		t.Errorf("base %q, %v", base, ok)
	}
}

func TestFileThatTheUserDeletedIsForgotten(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, []output.File{stub("README.md", "read"), stub("skills/a.go", "a")})
	os.Remove(filepath.Join(dir, "README.md"))
	pl := mustRun(t, dir, nil)
	if pl.LockChanges() {
		t.Error("deleting an own file counts as drift")
	}
	for _, lost := range []bool{false, true} {
		if lost {
			os.Remove(filepath.Join(dir, output.LockName))
			mustRun(t, dir, nil)
		}
		if diff := cmp.Diff(tree{"skills/a.go": "a", basePath("README.md"): "read", basePath("skills/a.go"): "a"}, readTree(t, dir)); diff != "" {
			t.Error(diff)
		}
		p := open(t, dir)
		if p.Lock().Scaffold["README.md"] != output.Absent || !p.Recorded("README.md") {
			t.Errorf("lock lost %v: scaffold %v", lost, p.Lock().Scaffold)
		}
		p.Close()
	}
}

func TestMergeOfAFileThatChangedMeanwhileIsRefused(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, []output.File{stub("main.go", "one")})
	p := open(t, dir)
	pl, err := p.Plan([]output.File{merged("main.go", "two", "two")}, Lock{Tool: "devel"}, false)
	if err != nil {
		t.Fatal(err)
	}
	writeTree(t, dir, tree{"main.go": "saved by an editor"})
	if err := p.Apply(pl); err == nil || readTree(t, dir)["main.go"] != "saved by an editor" {
		t.Errorf("error %v, %v", err, readTree(t, dir))
	}
}

func TestKilledMergeIsWholeAndNeverTakenForDone(t *testing.T) {
	update := []output.File{merged("main.go", "two mine", "two"), stub("skills/new.go", "new")}
	for n := 0; ; n++ {
		dir := t.TempDir()
		mustRun(t, dir, []output.File{stub("main.go", "one")})
		writeTree(t, dir, tree{"main.go": "one mine"})
		if !runKilled(t, dir, update, n, true) {
			if n < 8 {
				t.Fatalf("a whole run has only %d changes", n)
			}
			return
		}
		got := readTree(t, dir)
		base := got[basePath("main.go")]
		if got["main.go"] != "one mine" && got["main.go"] != "two mine" || base != "one" && base != "two" {
			t.Fatalf("killed after %d changes: %v", n, got)
		}
		if base == "two" && got["main.go"] != "two mine" {
			t.Fatalf("killed after %d changes: the base says that main.go is merged, and it is not", n)
		}
		mustRun(t, dir, nil) // heals, whatever the next command is
		p := open(t, dir)
		if now, ok := p.Base("main.go"); !ok || string(now) != base {
			t.Errorf("killed after %d changes: base %q, %v after healing", n, now, ok)
		}
		if _, ok := p.Base("skills/new.go"); ok != (got["skills/new.go"] != "") {
			t.Errorf("killed after %d changes: new.go there %v, its base there %v", n, !ok, ok)
		}
		p.Close()
		mustRun(t, dir, update)
		want := tree{"main.go": "two mine", basePath("main.go"): "two", "skills/new.go": "new", basePath("skills/new.go"): "new"}
		if diff := cmp.Diff(want, readTree(t, dir)); diff != "" {
			t.Errorf("killed after %d changes: %s", n, diff)
		}
	}
}

func TestApplyingTheDiffComesToTheSameAsTheRun(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not here")
	}
	before := []output.File{stub("main.go", "one\nlast line without end"), stub("README.md", "read\n")}
	before = append(before, owned(tree{"a/x.gen.go": gen + "x1\n", "gone/z.gen.go": gen + "z1\n", "empty.txt": ""})...)
	after := []output.File{merged("main.go", "one\nmine\nand an end\n", "two"), stub("skills/new.go", "new\n")}
	after = append(after, owned(tree{"a/x.gen.go": gen + "x2", "new/w.gen.go": gen + "w\n", "empty.txt": "no more\n"})...)
	plain, patched := t.TempDir(), t.TempDir()
	for _, dir := range []string{plain, patched} {
		mustRun(t, dir, before)
		os.Remove(filepath.Join(dir, "README.md"))
	}
	p := open(t, patched)
	pl, err := p.Plan(after, Lock{Tool: "devel"}, false)
	if err != nil {
		t.Fatal(err)
	}
	patch := filepath.Join(t.TempDir(), "patch")
	if err := os.WriteFile(patch, pl.Diff(), 0o644); err != nil {
		t.Fatal(err)
	}
	p.Close()
	cmd := exec.Command("git", "apply", patch)
	cmd.Dir = patched
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, pl.Diff())
	}
	mustRun(t, plain, after)
	if diff := cmp.Diff(readTree(t, plain), readTree(t, patched)); diff != "" {
		t.Error(diff)
	}
	if pl := mustRun(t, patched, after); pl.relock || pl.Diff() != nil {
		t.Errorf("the diff left something to do:\n%s", pl.Diff())
	}
}

// A handler that is there tells the next run that its skill needs no stubs, so its test must have come before it.
func TestTheTestOfAHandlerIsWrittenBeforeTheHandler(t *testing.T) {
	p := open(t, t.TempDir())
	pl, err := p.Plan([]output.File{
		{Path: "skills/alerts.go", Kind: output.Scaffold, Data: []byte("package skills\n")},
		{Path: "skills/alerts_test.go", Kind: output.Scaffold, Data: []byte("package skills\n")},
	}, Lock{}, false)
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, c := range pl.writes() {
		order = append(order, c.Path)
	}
	want := []string{basePath("skills/alerts_test.go"), "skills/alerts_test.go", basePath("skills/alerts.go"), "skills/alerts.go"}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order of writing (-want +got):\n%s", diff)
	}
}

func TestADroppedFileGoesWithItsBaseUnlessSomebodyEditedIt(t *testing.T) {
	dir := t.TempDir()
	mustRun(t, dir, []output.File{stub("skills/a.go", "a"), stub("skills/b.go", "b")})
	writeTree(t, dir, tree{"skills/b.go": "b mine"})
	p := open(t, dir)
	if got := p.Untouched("skills"); !cmp.Equal(got, []string{"skills/a.go"}) {
		t.Errorf("untouched: %v", got)
	}
	p.Close()
	dropped := []output.File{{Path: "skills/a.go", Kind: output.Dropped}, {Path: "skills/b.go", Kind: output.Dropped}, {Path: "skills/c.go", Kind: output.Dropped}}
	for range 2 {
		mustRun(t, dir, dropped)
		if diff := cmp.Diff(tree{"skills/b.go": "b mine", basePath("skills/b.go"): "b"}, readTree(t, dir)); diff != "" {
			t.Error(diff)
		}
	}
	p = open(t, dir)
	defer p.Close()
	if p.Recorded("skills/a.go") {
		t.Error("a dropped file is still recorded")
	}
}
