package run

import (
	"slices"
	"strings"
	"testing"
)

func TestExtensionsAreKeptBesideWhatHandlersSave(t *testing.T) {
	for _, private := range []string{"", `{"saved":1}`, "\x01{}\n[1]", "\x02{\"asked\":{}}\n", "\x03", "\n"} {
		for _, active := range [][]string{nil, {"urn:a"}, {"https://example.com/a?b=c#d", "urn:x:\x02"}} {
			stored := joinExtensions(active, []byte(private))
			if len(active) == 0 && private == "\x03" {
				continue // what is saved is JSON, or begins with the calls of other agents
			}
			got, rest := splitExtensions(stored)
			if !slices.Equal(got, active) || string(rest) != private {
				t.Errorf("%q and %q become %q and %q", active, private, got, rest)
			}
			if passedOn(stored) != strings.HasPrefix(private, "\x02") {
				t.Errorf("%q: whether a question was passed on is lost", stored)
			}
		}
	}
}

func TestNotesAreUnstoredWhenAnExtensionIsNew(t *testing.T) {
	var n notes
	n.have([]byte("\x03urn:a\n{}"))
	if n.activate([]string{"urn:a"}); n.unsaved.Load() {
		t.Error("there is nothing new to store")
	}
	n.activate([]string{"urn:b"})
	if p := n.unstored(); p == nil || string(*p) != "\x03urn:a urn:b\n{}" {
		t.Errorf("to be stored: %v", p)
	}
}
