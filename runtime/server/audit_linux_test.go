package server_test

import (
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/audit"
	"github.com/a2agen/a2agen/runtime/server"
)

// TestWhatCannotBeWrittenDownIsNotDone: unless the log is told otherwise.
func TestWhatCannotBeWrittenDownIsNotDone(t *testing.T) {
	for _, lenient := range []bool{false, true} {
		var opts []audit.Option
		if lenient {
			opts = append(opts, audit.KeepServing())
		}
		a := start(t, restCard, doing()[:1], server.WithAudit("/dev/full", opts...))
		if _, err := a.call("SendMessage", message("x")); err != nil {
			t.Fatal(err) // the first one finds out
		}
		if _, err := a.call("SendMessage", message("x")); (err == nil) != lenient {
			t.Errorf("lenient %v: %v", lenient, err)
		}
		resp := a.rest("GET", "/tasks", "")
		_ = resp.Body.Close()
		if want := map[bool]int{true: 200, false: 503}[lenient]; resp.StatusCode != want {
			t.Errorf("lenient %v: status %d", lenient, resp.StatusCode)
		}
		if resp, _ := a.web.Get(strings.TrimSuffix(a.url, "/rpc") + server.CardPath); resp.StatusCode != 200 {
			t.Errorf("the card has status %d", resp.StatusCode)
		} else {
			_ = resp.Body.Close()
		}
	}
}
