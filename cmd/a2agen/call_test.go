package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strconv"

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
	cmd := exec.Command(ts.MkAbs(args[1]), append(args[2:], "-addr", "127.0.0.1:0")...)
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME")}
	found, ended := startUntil(ts, cmd, "running.txt", listening)
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	ts.Setenv(args[0], found[1])
}

// startUntil starts a command in the script's folder, with a file there for its stderr, and returns what matches there. It waits as long as the
// command runs; the script fails if that ends without a match. The error of its end, once it is complete, goes to ended.
func startUntil(ts *testscript.TestScript, cmd *exec.Cmd, file string, want *regexp.Regexp) (match []string, ended chan error) {
	log, err := os.Create(ts.MkAbs(file))
	ts.Check(err)
	said := &listener{file: log, want: want, found: make(chan []string, 1)}
	cmd.Stderr, cmd.Dir = said, ts.MkAbs(".")
	ts.Check(cmd.Start())
	ended = make(chan error, 1)
	go func() {
		ended <- errors.Join(cmd.Wait(), log.Close())
		close(said.found)
	}()
	match = <-said.found
	if match == nil {
		ts.Fatalf("%s ended (%v) without a match of %s:\n%s", cmd, <-ended, want, ts.ReadFile(file))
	}
	return match, ended
}

// listener writes what a command says to a file, and sends the first match in it.
type listener struct {
	file  *os.File
	want  *regexp.Regexp
	said  bytes.Buffer
	found chan []string
}

func (l *listener) Write(p []byte) (int, error) {
	if l.want != nil {
		l.said.Write(p)
		if m := l.want.FindStringSubmatch(l.said.String()); m != nil {
			l.found <- m
			l.want = nil
		}
	}
	return l.file.Write(p)
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

var taskNamed = regexp.MustCompile(`\ntask `)

// interrupt CODE COMMAND... runs a command, interrupts it once it has named its task on stderr, and wants its exit code.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupt CODE COMMAND [ARG]...")
	}
	bin, err := exec.LookPath(args[1])
	ts.Check(err)
	cmd := exec.Command(bin, args[2:]...)
	cmd.Env = []string{"HOME=" + ts.Getenv("HOME"), "PATH=" + ts.Getenv("PATH")}
	_, ended := startUntil(ts, cmd, "interrupted.txt", taskNamed)
	ts.Check(cmd.Process.Signal(os.Interrupt))
	err = <-ended
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strconv.Itoa(exit.ExitCode()) != args[0] {
		ts.Fatalf("ended with %v, want exit code %s", err, args[0])
	}
	ts.Check(ts.Exec("sh", "-c", "cat interrupted.txt >&2"))
}
