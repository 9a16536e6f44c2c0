package main

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2agen/a2agen/internal/test/talktest"
)

// agent VAR starts an agent of all protocol versions, and sets VAR to its URL.
func agent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: agent VAR")
	}
	url, stop, err := talktest.Agent()
	ts.Check(err)
	ts.Defer(stop)
	ts.Setenv(args[0], url)
}

var listening = regexp.MustCompile(`agent is listening" url=(\S+)`)

// running VAR COMMAND... starts an agent that was built, on a free port, and sets VAR to its URL.
func running(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: running VAR COMMAND [ARG]...")
	}
	log, err := os.Create(ts.MkAbs("running.txt"))
	ts.Check(err)
	cmd := exec.Command(ts.MkAbs(args[1]), append(args[2:], "-addr", "127.0.0.1:0")...)
	cmd.Stderr, cmd.Dir, cmd.Env = log, ts.MkAbs("."), []string{"HOME=" + ts.Getenv("HOME")}
	ts.Check(cmd.Start())
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = log.Close()
	})
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		said := ts.ReadFile("running.txt")
		if m := listening.FindStringSubmatch(said); m != nil {
			ts.Setenv(args[0], m[1])
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("the agent does not listen: %s", said)
		}
	}
}

var anID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// taskID VAR sets VAR to the first id in what the last command printed.
func taskID(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: taskID VAR")
	}
	id := anID.FindString(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
	if id == "" {
		ts.Fatalf("no id was printed")
	}
	ts.Setenv(args[0], id)
}

// interrupt CODE COMMAND... runs a command, interrupts it once it has named its task on stderr, and wants its exit code.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupt CODE COMMAND [ARG]...")
	}
	path := ts.MkAbs("interrupted.txt")
	file, err := os.Create(path)
	ts.Check(err)
	defer file.Close()
	bin, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(bin, args[2:]...)
	cmd.Stderr, cmd.Dir, cmd.Env = file, ts.MkAbs("."), []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH")}
	ts.Check(cmd.Start())
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(ts.ReadFile(path), "\ntask "); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill() // the test fails anyhow
			ts.Fatalf("no task was named: %s", ts.ReadFile(path))
		}
	}
	ts.Check(cmd.Process.Signal(os.Interrupt))
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strconv.Itoa(exit.ExitCode()) != args[0] {
		ts.Fatalf("ended with %v, want exit code %s", err, args[0])
	}
	ts.Check(ts.Exec("sh", "-c", "cat interrupted.txt >&2"))
}
