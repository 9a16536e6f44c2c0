package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/a2agen/a2agen/internal/test/gotool"
)

// newChangedStory is a project with a skill that was added to the card and not generated yet.
func newChangedStory(t *testing.T) *story {
	t.Helper()
	s := newStory(t)
	s.write("agent.yaml", storyCard+alertsSkill)
	s.commit()
	return s
}

// newToolStory is such a project whose go.mod names a2agen as its tool, as users of "go tool" have it. Where a test changes
// how modules are found, it takes the built program instead: the go command would compile the tool anew, for a minute.
func newToolStory(t *testing.T) *story {
	t.Helper()
	gotool.Long(t) // each compiles the tool as a module of somebody else's
	s := newStory(t)
	s.must("go", "get", "-tool", "github.com/a2agen/a2agen/cmd/a2agen")
	compileTool.Do(func() { s.must("go", "tool", "a2agen", "version") })
	s.write("agent.yaml", storyCard+alertsSkill)
	s.commit()
	return s
}

// compileTool has the first of these stories compile the tool, and the others, which run beside it, wait for that.
var compileTool sync.Once

// set sets variables of the environment.
func (s *story) set(vars ...string) { s.env = append(s.env, vars...) }

// generatesWith runs a command that is to generate the stub of the added skill, and wants the result to build and no file
// of the user's, go.mod and go.sum included, to change.
func (s *story) generatesWith(name string, args ...string) {
	s.t.Helper()
	s.changesOnly(func() string { s.must(name, args...); return "" }, "skills/alerts.go", "skills/alerts_test.go")
	s.must("go", "vet", "./...")
	if status, _ := s.must("git", "status", "--porcelain"); status != "" {
		s.t.Errorf("building changed %s", status)
	}
}

func TestGenerateWorksWithVendoredModules(t *testing.T) {
	s := newChangedStory(t)
	s.must("go", "mod", "vendor")
	// A git worktree's link to its repository comes along, and would make git take the folder for a submodule.
	os.Remove(filepath.Join(s.dir, "vendor/github.com/a2agen/a2agen/.git"))
	s.set("GOFLAGS=" + gotool.Flags + " -mod=vendor")
	s.generatesWith("a2agen", "generate")
}

func TestGenerateWorksInAWorkspace(t *testing.T) {
	s := newChangedStory(t)
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(filepath.Dir(s.dir), "go.work")
	if err := os.WriteFile(work, []byte("go 1.26.0\n\nuse (\n\t./weather\n\t"+repo+"\n)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s.set("GOWORK=" + work)
	s.generatesWith("a2agen", "generate")
}

func TestGenerateWorksWithAReplacement(t *testing.T) {
	s := newChangedStory(t)
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(repo, filepath.Join(filepath.Dir(s.dir), "fork")); err != nil {
		t.Fatal(err)
	}
	s.must("go", "mod", "edit", "-replace", "github.com/a2agen/a2agen=../fork")
	s.generatesWith("a2agen", "generate")
	s.holds("go.mod", "=> ../fork")
}

func TestGenerateWorksFromGoGenerate(t *testing.T) {
	s := newToolStory(t)
	s.edit("main.go", "package main\n", "package main\n\n//go:generate go tool a2agen generate\n")
	s.generatesWith("go", "generate", "./...")
}

func TestGenerateWorksWithModMod(t *testing.T) {
	s := newToolStory(t)
	s.set("GOFLAGS=" + gotool.Flags + " -mod=mod")
	s.generatesWith("go", "tool", "a2agen", "generate")
}

// TestGenerateWorksOffline takes the network away: where the system lets it, all of it, and everywhere every proxy.
func TestGenerateWorksOffline(t *testing.T) {
	s := newToolStory(t)
	s.set("GOPROXY=off", "HTTP_PROXY=http://127.0.0.1:1", "HTTPS_PROXY=http://127.0.0.1:1", "ALL_PROXY=http://127.0.0.1:1")
	if exec.Command("unshare", "-rn", "true").Run() == nil {
		s.generatesWith("unshare", "-rn", "go", "tool", "a2agen", "generate")
		return
	}
	s.generatesWith("go", "tool", "a2agen", "generate")
}

// TestGenerateWorksWithAReadOnlyGOPATH has a GOPATH that not even root can write to.
func TestGenerateWorksWithAReadOnlyGOPATH(t *testing.T) {
	s := newToolStory(t)
	s.set("GOPATH=" + os.DevNull + "/gopath")
	s.generatesWith("go", "tool", "a2agen", "generate")
}

// TestOutputIsTheSameEverywhere runs the program itself in two folders, as two users, in two time zones, on one processor
// and on eight.
func TestOutputIsTheSameEverywhere(t *testing.T) {
	s := newStory(t)
	s.write("agent.yaml", storyCard+alertsSkill)
	s.must("a2agen", "generate")
	other := *s
	other.dir = filepath.Join(t.TempDir(), "elsewhere", "deep", "another name")
	if err := os.MkdirAll(other.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "agent.yaml", "a2agen.yaml", "skills/agent.go"} {
		other.write(name, s.read(name))
	}
	home := t.TempDir()
	for _, env := range [][]string{
		{"GOMAXPROCS=1", "HOME=" + home, "XDG_CACHE_HOME=", "USER=zoë", "LOGNAME=zoë", "TZ=Pacific/Kiritimati", "LANG=tr_TR.UTF-8"},
		{"GOMAXPROCS=8", "HOME=/nowhere", "XDG_CACHE_HOME=", "USER=", "TZ=America/New_York", "LC_ALL=C", "TMPDIR=/nowhere"},
	} {
		os.RemoveAll(filepath.Join(other.dir, "agent"))
		os.Remove(filepath.Join(other.dir, "a2agen.lock"))
		run := other
		run.env = append(append([]string{}, s.env...), env...)
		run.must("a2agen", "generate")
		files := run.lock().Files
		if len(files) < 10 {
			t.Fatalf("only %d files", len(files))
		}
		for name := range files {
			if run.read(name) != s.read(name) {
				t.Errorf("with %v %s differs", env, name)
			}
		}
		a, b := pins(run.read("a2agen.lock")), pins(s.read("a2agen.lock"))
		if a != b {
			t.Errorf("with %v the lock says\n%s\nand not\n%s", env, a, b)
		}
	}
}

// pins is a lock without its record of the user's files.
func pins(lock string) string {
	before, _, _ := strings.Cut(lock, "\nscaffold:")
	return strings.TrimSpace(before)
}
