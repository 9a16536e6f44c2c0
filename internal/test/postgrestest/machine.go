package postgrestest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/a2agen/a2agen/internal/test/gotool"
)

// password is that of the superuser of all clusters of this test binary: other users of the machine can reach the port.
var password = rand.Text()

// Binaries is the folder of PostgreSQL's programs: A2A_POSTGRES_BIN, the newest of Debian's, or that of the postgres on PATH; "": there is none.
var Binaries = sync.OnceValue(func() string {
	if dir := os.Getenv("A2A_POSTGRES_BIN"); dir != "" || !canStart {
		return dir
	}
	newest, found := 0, ""
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	for _, path := range dirs {
		dir := filepath.Dir(path)
		if v, err := strconv.Atoi(filepath.Base(filepath.Dir(dir))); err == nil && v > newest {
			newest, found = v, dir
		}
	}
	if found != "" {
		return found
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path)
	}
	return ""
})

// needBinaries skips a test that nobody has asked for, or that has no server: all tests on a server take minutes. A benchmark is asked for.
func needBinaries(t testing.TB) {
	t.Helper()
	if _, ok := t.(*testing.B); !ok && !gotool.IsLong() && os.Getenv(Variable) == "" {
		t.Skip("needs a PostgreSQL server: set A2A_LONG=1, as .ci/run does")
	}
	if Binaries() == "" {
		t.Skip(none)
	}
}

// atEnd ends what was started when the pipe from the test binary is closed, which is when that has ended in whatever way.
const atEnd = `read -r _
for f in "$1"/*/pid; do [ ! -e "$f" ] || kill -QUIT "$(cat "$f")"; done
for f in "$1"/*/pid; do
	[ -e "$f" ] || continue
	n=0
	while [ $n -lt 100 ] && kill -0 "$(cat "$f")"; do n=$((n+1)); sleep 0.1; done
done
rm -rf "$1"
`

// alive keeps the end of a pipe that the system closes when this process ends.
var alive []*os.File

// folder is where this test binary has its clusters. A process of its own removes it when the binary has ended.
var folder = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "a2a-postgres-")
	if err != nil {
		return "", err
	}
	if err := own(dir); err != nil {
		return "", err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer r.Close()
	watch := exec.Command("/bin/sh", "-c", atEnd, "sh", dir)
	watch.Stdin = r
	asOwner(watch)
	if err := watch.Start(); err != nil {
		return "", fmt.Errorf("starting what ends the servers: %w", err)
	}
	alive = append(alive, w)
	return dir, nil
})

// Companion starts a program that belongs to a test's servers, such as a pooler, as the user that runs them, in a folder with the given
// files. It ends when the test ends, or the test binary.
func Companion(t testing.TB, files map[string]string, program string, args ...string) {
	t.Helper()
	all, err := folder()
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(all, strconv.FormatInt(clusters.Add(1), 10))
	if err := errors.Join(os.Mkdir(home, 0o700), own(home)); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), own(path)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, args...)
	asOwner(cmd)
	cmd.Dir = home
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := filepath.Join(home, "pid")
	if err := os.WriteFile(pid, []byte(strconv.Itoa(cmd.Process.Pid)), 0o644); err != nil {
		t.Error(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if err := os.RemoveAll(home); err != nil {
			t.Error(err)
		}
	})
}
