package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/internal/test/gotool"
)

// TestKilledProcessLeavesWholeFiles kills the program itself, at ever later moments of writing. That
// every single step is safe is shown in package output; this is about the process.
func TestKilledProcessLeavesWholeFiles(t *testing.T) {
	s := newStory(t)
	before := s.files()
	s.write("agent.yaml", storyCard+alertsSkill)
	s.must("a2agen", "generate")
	after := s.files()
	interrupted := 0
	moments := 6
	if gotool.IsLong() {
		moments = 24
	}
	for i := range moments {
		s.must("git", "checkout", "-q", ".")
		s.must("git", "clean", "-qfd")
		s.write("agent.yaml", storyCard+alertsSkill)
		cmd := exec.Command(filepath.Join(s.bin(), "a2agen"), "generate")
		cmd.Dir, cmd.Env = s.dir, s.env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		s.awaitStaged(ended)
		time.Sleep(time.Duration(i) * 960 / time.Duration(moments) * time.Microsecond)
		cmd.Process.Kill()
		<-ended
		for name, data := range s.files() {
			if strings.HasSuffix(name, ".a2agen-tmp") || name == "a2agen.lock.new" {
				continue
			}
			if data != before[name] && data != after[name] {
				t.Errorf("killed in moment %d, %s is not whole", i, name)
			}
		}
		if _, err := os.Stat(filepath.Join(s.dir, "a2agen.lock.new")); err == nil {
			interrupted++
			if out, _, err := s.run("a2agen", "check", "--no-build"); err == nil || !strings.Contains(out, "a run was interrupted") {
				t.Errorf("check says %q", out)
			}
		}
		s.must("a2agen", "generate")
		s.must("a2agen", "check", "--no-build")
		for name, data := range after {
			if name != "a2agen.lock" && s.read(name) != data {
				t.Errorf("killed in moment %d, %s is not healed", i, name)
			}
		}
	}
	t.Logf("%d of %d runs were killed while they wrote", interrupted, moments)
}

// TestKilledMakingOfAClientIsFinishedByTheNext, and nothing of the user's is lost.
func TestKilledMakingOfAClientIsFinishedByTheNext(t *testing.T) {
	whole := clientFolder(t)
	command := []string{"client", "card.json", "--module", "example.com/travel"}
	whole.must("a2agen", command...)
	after := whole.files()
	interrupted := 0
	for i := range 6 {
		s := clientFolder(t)
		cmd := exec.Command(filepath.Join(s.bin(), "a2agen"), command...)
		cmd.Dir, cmd.Env = s.dir, s.env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		s.awaitStaged(ended)
		time.Sleep(time.Duration(i) * 400 * time.Microsecond)
		cmd.Process.Kill()
		<-ended
		if _, err := os.Stat(filepath.Join(s.dir, "a2agen.lock.new")); err == nil {
			interrupted++
		}
		s.must("a2agen", command...)
		if diff := cmp.Diff(after, s.files()); diff != "" {
			t.Errorf("killed in moment %d, the next run leaves another module (- whole, + this):\n%s", i, diff)
		}
	}
	t.Logf("%d of 6 runs were killed while they wrote", interrupted)
}

// clientFolder is a folder with a card and a file of the user's.
func clientFolder(t *testing.T) *story {
	s := &story{t: t, dir: t.TempDir(), env: storyEnv(t)}
	s.write("card.json", `{"name": "Travel", "description": "Travels.", "version": "1", "capabilities": {},
		"supportedInterfaces": [{"url": "https://travel.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
		"defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
		"skills": [{"id": "talk", "name": "Talk", "description": "Talks.", "tags": ["t"]}]}`)
	s.write(".gitattributes", "*.mine\n")
	return s
}

// awaitStaged waits until a run begins to write, or ends.
func (s *story) awaitStaged(ended chan error) {
	for {
		if _, err := os.Stat(filepath.Join(s.dir, "a2agen.lock.new")); err == nil {
			return
		}
		select {
		case err := <-ended:
			ended <- err
			return
		default:
			time.Sleep(20 * time.Microsecond)
		}
	}
}

// files are all files of the project but git's.
func (s *story) files() map[string]string {
	s.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(s.dir, path)
		files[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return files
}
