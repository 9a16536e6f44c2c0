package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
