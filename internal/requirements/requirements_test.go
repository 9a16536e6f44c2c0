package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// Every number that anything here cites is on the page, once.
func TestCitedNumbersAreListed(t *testing.T) {
	cited, old := read(t)
	listed := map[string]bool{}
	for l := range strings.Lines(string(old)) {
		m := line.FindStringSubmatch(strings.TrimSuffix(l, "\n"))
		if m == nil {
			continue
		}
		if listed[m[2]] {
			t.Errorf("%s is listed twice", m[2])
		}
		listed[m[2]] = true
	}
	for n, p := range cited {
		if !listed[n] {
			t.Errorf("%s is cited in %s: list it in %s", n, strings.Join(sorted(p.files), ", "), page)
		}
	}
}

func TestThePageIsFresh(t *testing.T) {
	cited, old := read(t)
	if !bytes.Equal(fill(old, cited), old) {
		t.Errorf("%s is stale: run go generate ./internal/requirements", page)
	}
}

func TestALineKeepsItsReason(t *testing.T) {
	cited := citations{}
	cited.add("R2", "a_test.go", "a.TestB")
	page := "* R1 (§1): One. — none: not served\n* R2 (§2): Two. — none: not served\n* R3 (§3): Three. — `a.TestGone`\n* other — line\n"
	want := "* R1 (§1): One. — none: not served\n* R2 (§2): Two. — `a.TestB`\n* R3 (§3): Three. — none\n* other — line\n"
	if got := string(fill([]byte(page), cited)); got != want {
		t.Errorf("got:\n%s", got)
	}
}

func read(t *testing.T) (citations, []byte) {
	t.Helper()
	cited, err := scan("../..")
	if err != nil {
		t.Fatal(err)
	}
	old, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	return cited, old
}
