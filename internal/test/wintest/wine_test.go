//go:build linux

package wintest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/gotool"
)

// windows is a Windows to run programs in, with a folder on it whose path has a space.
type windows struct {
	prefix string // WINEPREFIX
	home   string // where commands run
}

// newWindows makes one. On it, drive Z is the root of this machine's files.
func newWindows(t *testing.T) *windows {
	t.Helper()
	if os.Getenv("A2A_WINE") == "" {
		t.Skip(`needs wine and a C compiler for Windows: "make windows" installs them`)
	}
	dir := t.TempDir()
	w := &windows{filepath.Join(dir, "prefix"), filepath.Join(dir, "my agents")}
	if err := os.Mkdir(w.home, 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, w.command("wineboot", "--init"))
	t.Cleanup(func() { run(t, w.command("wineserver", "--kill")) })
	lib := filepath.Join(w.prefix, "drive_c", "windows", "system32", "bcryptprimitives.dll")
	if _, err := os.Stat(lib); err != nil {
		run(t, exec.Command("x86_64-w64-mingw32-gcc", "-shared", "-o", lib, "testdata/prng.c", "-ladvapi32"))
	}
	return w
}

// command is a program of wine's, or a program for Windows that wine runs, in w.home.
func (w *windows) command(args ...string) *exec.Cmd {
	if strings.HasSuffix(args[0], ".exe") {
		args = append([]string{"wine"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = w.home
	cmd.Env = append(os.Environ(), "WINEPREFIX="+w.prefix, "WINEDEBUG=-all", "DISPLAY=", "WINEDLLOVERRIDES=mscoree,mshtml=")
	return cmd
}

// path is that of a file in w.home as Windows has it.
func (w *windows) path(name ...string) string {
	return "Z:" + strings.ReplaceAll(filepath.Join(append([]string{w.home}, name...)...), "/", `\`)
}

// build compiles a package for Windows, in a folder, and returns the program.
func build(t *testing.T, dir, pkg, program string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), program)
	cmd := gotool.Command(dir, "build", "-o", out, pkg)
	cmd.Env = append(cmd.Env, "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
	run(t, cmd)
	return out
}

// run runs a command that must not fail, and returns what it prints.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out.String())
	}
	return out.String()
}
