package main

import (
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// freeAddressCmd VAR sets VAR to an address of this machine on which nobody listens.
func freeAddressCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeAddress VAR")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Check(l.Close())
	ts.Setenv(args[0], l.Addr().String())
}

// answers URL waits until something answers at a URL, which a command in the background is to do.
func answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answers URL")
	}
	await(ts, func() bool {
		resp, err := http.Get(args[0])
		if err == nil {
			ts.Check(resp.Body.Close())
		}
		return err == nil
	})
}

// says FILE REGEXP [TIMES] waits until what a command in the background writes to a file matches, or does so often.
func says(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: says FILE REGEXP [TIMES]")
	}
	want, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	times := 1
	if len(args) == 3 {
		times, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	await(ts, func() bool {
		said, err := os.ReadFile(ts.MkAbs(args[0])) // it is not there before the command has begun
		return err == nil && len(want.FindAllIndex(said, -1)) >= times
	})
}

// await waits until something is so, however long that takes, and fails if a command ends in the background before: nothing would make it so.
func await(ts *testscript.TestScript, so func() bool) {
	for ; !so(); time.Sleep(10 * time.Millisecond) {
		for _, cmd := range ts.BackgroundCmds() {
			if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
				ts.Fatalf("%s: %v", cmd, err)
			}
		}
	}
}
