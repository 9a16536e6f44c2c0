//go:build linux

package wintest

import (
	"bufio"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestWindows makes an agent with the command for Windows, changes it as people do there, and talks to it.
func TestWindows(t *testing.T) {
	w := newWindows(t)
	a2agen := build(t, "../../..", "./cmd/a2agen", "a2agen.exe")
	dir := filepath.Join(w.home, "weather")
	do := func(t *testing.T, args ...string) string {
		t.Helper()
		return run(t, w.command(append([]string{a2agen}, args...)...))
	}

	t.Run("init writes a project that is up to date", func(t *testing.T) {
		do(t, "init", w.path("weather"), "--skill", "forecast", "--store", "sqlite")
		do(t, "check", "-C", w.path("weather"))
		if out := do(t, "generate", "-C", "weather"); !strings.Contains(out, "up to date") && !strings.Contains(out, "unchanged") {
			t.Errorf("generate says %q", out)
		}
	})

	t.Run("files with CRLF stay as they are, and mean the same", func(t *testing.T) {
		before := files(t, dir)
		for name, text := range before {
			if !strings.Contains(text, "DO NOT EDIT") && !strings.HasPrefix(name, "third_party/") && name != "a2agen.lock" {
				write(t, filepath.Join(dir, name), strings.ReplaceAll(text, "\n", "\r\n"))
			}
		}
		with := files(t, dir)
		do(t, "generate", "-C", "weather")
		do(t, "check", "-C", "weather")
		same(t, with, files(t, dir))
		for name, text := range before {
			write(t, filepath.Join(dir, name), text)
		}
	})

	t.Run("generate heals what was killed while it was written", func(t *testing.T) {
		want := files(t, dir)
		r := rand.New(rand.NewPCG(1, 1))
		for n := range 12 {
			for name := range want {
				if strings.HasPrefix(name, "agent/") || strings.HasPrefix(name, "a2a/") {
					write(t, filepath.Join(dir, name), "")
				}
			}
			cmd := w.command(a2agen, "generate", "--force", "-C", "weather")
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			killed := time.AfterFunc(time.Duration(r.IntN(600))*time.Millisecond, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			killed.Stop()
			for name, text := range files(t, dir) {
				if was, ok := want[name]; ok && text != was && text != "" {
					t.Errorf("%d: %s has a part of what is generated", n, name)
				}
			}
		}
		do(t, "generate", "--force", "-C", "weather")
		do(t, "check", "-C", "weather")
		same(t, want, files(t, dir))
	})

	t.Run("the agent answers, is killed, and has its tasks still", func(t *testing.T) {
		agent := build(t, dir, ".", "weather.exe")
		url, kill := start(t, w, dir, agent)
		do(t, "call", url, "--skill", "forecast", `{"text": "Rome"}`)
		do(t, "client", url, "--allow-private-network", "-C", w.path("caller"), "--module", "example.com/caller", "--name", "weather")
		do(t, "check", "-C", "caller")
		tasks := do(t, "tasks", "list", "-C", "weather")
		if !strings.Contains(tasks, "completed") {
			t.Errorf("the tasks are %s", tasks)
		}
		kill()
		_, kill = start(t, w, dir, agent)
		defer kill()
		if again := do(t, "tasks", "list", "-C", "weather"); again != tasks {
			t.Errorf("the tasks were %sand are %s", tasks, again)
		}
	})
}

// start starts an agent in a folder and returns where it listens.
func start(t *testing.T, w *windows, dir, agent string) (url string, kill func()) {
	t.Helper()
	cmd := w.command(agent, "-addr", "127.0.0.1:0")
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if url = address.FindString(lines.Text()); url != "" {
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return url, kill
		}
	}
	kill()
	t.Fatal("the agent did not start")
	return "", nil
}

// address is where an agent says that it listens.
var address = regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+`)

// files are those of a folder by their names, with /.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func same(t *testing.T, want, got map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s changed:\n%q", name, got[name])
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is new", name)
		}
	}
}
