package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/interop/internal/desk"
)

// TestOurClientPassesTheChecksOfOurAgent: what is asked of peers we do ourselves.
func TestOurClientPassesTheChecksOfOurAgent(t *testing.T) {
	url, stop, err := startOurDesk()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, s := range called {
		t.Run(s.String(), func(t *testing.T) {
			c, stop, err := newOurClient(t.Context(), url, s)
			if err != nil {
				t.Fatal(err)
			}
			defer stop()
			for _, r := range desk.Visit(t.Context(), c, s.version) {
				if r.Fault != "" || r.None != "" {
					t.Errorf("%s: %s%s", r.Check, r.Fault, r.None)
				}
			}
		})
	}
}

// silent is a client that gets nothing.
type silent struct{}

func (silent) Do(context.Context, *desk.Ask) *desk.Answer { return &desk.Answer{} }

// TestNoCheckIsPassedByNothing: a check that an empty answer passes would check nothing.
func TestNoCheckIsPassedByNothing(t *testing.T) {
	for _, r := range desk.Visit(t.Context(), silent{}, "1.0") {
		if r.Fault == "" {
			t.Errorf("%s is passed", r.Check)
		}
	}
}

// Try is such a client with credentials.
func (silent) Try(context.Context, *attempt) *desk.Answer { return &desk.Answer{} }

// TestNoAdmissionIsPassedByNothing: nor would a client be let in, or refused, that says nothing.
func TestNoAdmissionIsPassedByNothing(t *testing.T) {
	agents, stop, err := startSecured(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, s := range schemes {
		e := &entry{scheme: s, keys: agents.keys, caller: silent{}}
		for _, r := range e.visit(t.Context()) {
			if r.Fault == "" {
				t.Errorf("%s: %s is passed", s.name, r.Check)
			}
		}
	}
}

// TestOnlyKnownFaultsAreExcused: a new fault ends the run with an error, a known one is told in the matrix, and so is one that is gone.
func TestOnlyKnownFaultsAreExcused(t *testing.T) {
	known := faults[0]
	bad := func(checks ...string) *report {
		r := &report{rows: []row{{known.peer, known.direction, spoken{known.version, rpcBinding}, []desk.Result{{Check: "card"}}}}}
		for _, c := range checks {
			r.rows[0].results = append(r.rows[0].results, desk.Result{Check: c, Fault: "it is not so"})
		}
		return r
	}
	for name, tc := range map[string]struct {
		report *report
		want   string
	}{
		"known": {bad(known.check), ""},
		"new":   {bad(known.check, "parts"), "parts: it is not so"},
		"gone":  {bad(), "delete it from faults.go: " + known.why},
	} {
		t.Run(name, func(t *testing.T) {
			said := ""
			for line := range strings.Lines(text(tc.report.judge())) {
				if strings.Contains(line, known.why) || strings.Contains(line, "it is not so") {
					said += line
				}
			}
			if tc.want == "" && said != "" || !strings.Contains(said, tc.want) {
				t.Errorf("it says %q, want %q", said, tc.want)
			}
		})
	}
	if m := bad(known.check).matrix(); !strings.Contains(m, "1/2 (1)") || !strings.Contains(m, "1. "+known.check+": "+known.why) {
		t.Errorf("the matrix is\n%s", m)
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestLintSaysWhatClientsCannotDo: "a2agen card lint" warns of a demand where a client is not let in, and nowhere else.
func TestLintSaysWhatClientsCannotDo(t *testing.T) {
	for _, s := range schemes {
		text := ourCard("http://127.0.0.1:1", s.speaks(), s.demands())
		read, list := card.Import("card.json", text)
		if list.HasErrors() {
			t.Fatal(list)
		}
		for _, c := range []struct{ peer, version, name string }{
			{"a2a-go 2.4.0", "1.0", "a2a-go 2.4.0"}, {"a2a-go 0.3.15", "0.3", "a2a-go 0.3.15"},
			{"a2a-sdk 1.3.0 (Python)", "1.0", "a2a-sdk for Python 1.3.0"}, {"a2a-sdk 0.3.26 (Python)", "0.3", "a2a-sdk for Python 0.3.26"},
			{"a2a-java-sdk 0.3.3.Final", "0.3", "a2a-java-sdk 0.3.3"},
		} {
			said := fmt.Sprint(read.Lint(card.Served{Versions: []string{c.version}, Lists: true}))
			row := &row{peer: c.peer, direction: s.name, spoken: spoken{c.version, rpcBinding}}
			if cannot, warned := known(row, right) >= 0, strings.Contains(said, "callers with "+c.name+" cannot"); cannot != warned {
				t.Errorf("%s: %s is not let in: %v, lint says so: %v\n%s", s.name, c.peer, cannot, warned, said)
			}
		}
	}
}
