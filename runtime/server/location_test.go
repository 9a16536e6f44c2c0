package server

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// located is a store that says where it is.
type located struct{ store.Store }

func (located) Location() (kind, address string) { return "a shed", "garden:7" }

func TestTheStartSaysWhereTasksAre(t *testing.T) {
	plain := memory.New(memory.Limits{})
	for want, tasks := range map[string]tasks{
		`msg="tasks are kept in a shed" address=garden:7`: {own: located{plain}},
		"end with this process: " + byWord:                {brief: byWord},
		"":                                                {own: plain},
	} {
		var out lines
		tasks.announce(slog.New(slog.NewTextHandler(&out, nil)))
		if !strings.Contains(out.String(), want) || (want == "") != (out.String() == "") {
			t.Errorf("%q is logged, want %q", out.String(), want)
		}
	}
}
