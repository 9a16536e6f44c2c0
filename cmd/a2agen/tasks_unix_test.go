//go:build unix

package main

import (
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAnInterruptedCopySaysHowToGoOn interrupts one while it waits for a server that does not answer.
func TestAnInterruptedCopySaysHowToGoOn(t *testing.T) {
	s := &story{t: t, dir: t.TempDir(), env: storyEnv(t)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	server := "postgres://u@" + l.Addr().String() + "/d"
	cmd := exec.Command(filepath.Join(s.bin(), "a2agen"), "tasks", "copy", server, "tasks.db")
	var said strings.Builder
	cmd.Dir, cmd.Env, cmd.Stderr = s.dir, s.env, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	_ = conn.Close()
	if err == nil || !strings.Contains(said.String(), "interrupted: the same command continues the copy") {
		t.Errorf("%v: %s", err, said.String())
	}
}
