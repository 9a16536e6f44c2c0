package merge

import (
	"slices"
	"strings"
	"testing"
)

// counts says how often each line is in a text, whatever its line end.
func counts(text []byte) map[string]int {
	n := map[string]int{}
	for _, line := range lines(text) {
		n[strings.TrimRight(line, "\r\n")]++
	}
	return n
}

// FuzzThree holds merging to its laws for texts of any bytes: one side's change alone is taken as it is, no line that
// a side added and nobody deleted gets lost, and what is not decided is marked.
func FuzzThree(f *testing.F) {
	for _, seed := range [][3]string{
		{"a\nb\nc\n", "a\nx\nc\n", "a\nb\nc\ny\n"}, {"a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n"}, {"a\r\nb\r\n", "a\r\nb\r\nc\r\n", "a\nb\nd\n"},
		{"", "x", "y"}, {"a\n\n\na\n", "\n\n", "a\na\n"}, {"a", "a\n", "a"}, {"<<<<<<< yours\na\n=======\n", "b\n", "=======\n>>>>>>> a2agen\n"}, {"a\nb", "a\nb\r", "\r\n"},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		law := func(name, base, ours, theirs, want string) {
			if got, n := Three([]byte(base), []byte(ours), []byte(theirs), labels); n != 0 || string(got) != want {
				t.Errorf("%s: %d conflicts, %q, want %q", name, n, got, want)
			}
		}
		law("a tool that changes nothing leaves ours", base, ours, base, ours)
		law("the same change on both sides is one", base, ours, ours, ours)
		if !strings.Contains(base, "\r") && !strings.Contains(theirs, "\r") {
			law("an untouched file becomes theirs", base, base, theirs, theirs)
		}
		merged, n := Three([]byte(base), []byte(ours), []byte(theirs), labels)
		if strings.Count(string(merged), "<<<<<<< yours") < n || n > 0 && !Conflicted(merged) {
			t.Errorf("%d conflicts are not marked in %q", n, merged)
		}
		was, is := counts([]byte(base)), counts(merged)
		for _, side := range []string{ours, theirs} {
			for line, count := range counts([]byte(side)) {
				if was[line] == 0 && is[line] < count {
					t.Errorf("%q has %d times %q, and what is merged %d times: %q", side, count, line, is[line], merged)
				}
			}
		}
		all := slices.Concat(lines([]byte(base)), lines([]byte(ours)), lines([]byte(theirs)))
		if len(lines(merged)) > len(all)+3*n {
			t.Errorf("%d lines have become %d with %d conflicts", len(all), len(lines(merged)), n)
		}
	})
}
