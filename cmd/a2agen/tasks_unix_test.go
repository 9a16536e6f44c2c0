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

// TestAnInterruptedCopyOrMoveSaysHowToGoOn interrupts them while they wait for a server that does not answer.
func TestAnInterruptedCopyOrMoveSaysHowToGoOn(t *testing.T) {
	s := &story{t: t, dir: t.TempDir(), env: storyEnv(t)}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	server := "postgres://u@" + l.Addr().String() + "/d"
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"copy", server, "tasks.db"}, "interrupted: the same command continues the copy"},
		{[]string{"move", "--all", "--store", server + "?a2a_name=a " + server + "2?a2a_name=b"}, "until the same command ends it"},
	} {
		cmd := exec.Command(filepath.Join(s.bin(), "a2agen"), append([]string{"tasks"}, test.args...)...)
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
		if err == nil || !strings.Contains(said.String(), test.want) {
			t.Errorf("%s: %v: %s", test.args[0], err, said.String())
		}
	}
}
