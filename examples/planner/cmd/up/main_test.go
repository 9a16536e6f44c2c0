package main

import (
	"net"
	"strings"
	"testing"
)

func TestUp_saysWhosePortIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	err = up(l.Addr().(*net.TCPAddr).Port-1, "", nil) // the weather agent has the next port
	if err == nil || !strings.Contains(err.Error(), "is taken; -port takes others") {
		t.Errorf("got %v", err)
	}
}
