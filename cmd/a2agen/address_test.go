package main

import (
	"net"
	"net/http"
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

// answers URL waits until something answers at a URL.
func answers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: answers URL")
	}
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		resp, err := http.Get(args[0])
		if err == nil {
			ts.Check(resp.Body.Close())
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("nothing answers: %v", err)
		}
	}
}
