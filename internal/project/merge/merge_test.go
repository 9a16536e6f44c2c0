package merge

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

var labels = Labels{Ours: "yours", Theirs: "a2agen"}

// text writes one word a line.
func text(words string) string {
	if words == "" {
		return ""
	}
	return strings.ReplaceAll(words, " ", "\n") + "\n"
}

func TestThree(t *testing.T) {
	const conflict = "<<<<<<< yours\n"
	tests := map[string]struct{ base, ours, theirs, want string }{
		"nothing changed":                   {text("a b c"), text("a b c"), text("a b c"), text("a b c")},
		"only the user changed":             {text("a b c"), text("a x c"), text("a b c"), text("a x c")},
		"only the tool changed":             {text("a b c"), text("a b c"), text("a y c d"), text("a y c d")},
		"both changed, lines apart":         {text("a b c d e"), text("a x c d e"), text("a b c d y"), text("a x c d y")},
		"both changed alike":                {text("a b c"), text("a x c"), text("a x c"), text("a x c")},
		"both added at different ends":      {text("a b c"), text("x a b c"), text("a b c y"), text("x a b c y")},
		"user deleted, tool changed others": {text("a b c d e"), text("a b c d"), text("y b c d e"), text("y b c d")},
		"both changed one line":             {text("a b c"), text("a x c"), text("a y c"), "a\n" + conflict + "x\n=======\ny\n>>>>>>> a2agen\nc\n"},
		"user deleted what the tool changed": {text("a b c"), text("a c"), text("a y c"),
			"a\n" + conflict + "=======\ny\n>>>>>>> a2agen\nc\n"},
		"alike at the ends of a conflict": {text("a b c"), text("a p x q c"), text("a p y q c"),
			"a\np\n" + conflict + "x\n=======\ny\n>>>>>>> a2agen\nq\nc\n"},
		"no line end at the end":           {"a\nb", "a\nx", "a\ny", "a\n" + conflict + "x\n=======\ny\n>>>>>>> a2agen\n"},
		"from an empty base":               {"", text("x"), text("y"), conflict + "x\n=======\ny\n>>>>>>> a2agen\n"},
		"CRLF line ends of the user's":     {text("a b c"), "a\r\nx\r\nc\r\n", text("a b c y"), "a\r\nx\r\nc\r\ny\r\n"},
		"CRLF line ends of the base's":     {"a\r\nb\r\nc\r\n", text("a x c"), text("a b c y"), text("a x c y")},
		"CRLF line ends of all":            {"a\r\nb\r\nc\r\n", "a\r\nx\r\nc\r\n", "a\r\nb\r\nc\r\ny\r\n", "a\r\nx\r\nc\r\ny\r\n"},
		"the user emptied it":              {text("a b"), "", text("a b"), ""},
		"the user added, the tool emptied": {text("a b c d"), text("a b c d x"), "", conflict + "a\nb\nc\nd\nx\n=======\n>>>>>>> a2agen\n"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, n := Three([]byte(tt.base), []byte(tt.ours), []byte(tt.theirs), labels)
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if want := strings.Count(tt.want, conflict); n != want || Conflicted(got) != (want > 0) {
				t.Errorf("%d conflicts, want %d", n, want)
			}
			if !strings.Contains(tt.base+tt.ours, "\r") {
				sameAsGit(t, tt.base, tt.ours, tt.theirs, string(got))
			}
		})
	}
}

// sameAsGit holds a result against "git merge-file".
func sameAsGit(t *testing.T, base, ours, theirs, got string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		return
	}
	dir := t.TempDir()
	for name, data := range map[string]string{"base": base, "ours": ours, "theirs": theirs} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("git", "merge-file", "-p", "-L", "yours", "-L", "base", "-L", "a2agen", "ours", "base", "theirs")
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() > 127) {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(out), got); diff != "" {
		t.Errorf("git merges otherwise: %s", diff)
	}
}

func TestLawsOfMerging(t *testing.T) {
	word := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "d\n", "\n", "}\n"})
	doc := rapid.Map(rapid.SliceOfN(word, 0, 12), func(ls []string) []byte { return []byte(strings.Join(ls, "")) })
	rapid.Check(t, func(t *rapid.T) {
		base, ours, theirs := doc.Draw(t, "base"), doc.Draw(t, "ours"), doc.Draw(t, "theirs")
		equal := func(law string, got []byte, n int, want []byte) {
			if n != 0 || !bytes.Equal(got, want) {
				t.Fatalf("%s: %d conflicts, %q, want %q", law, n, got, want)
			}
		}
		got, n := Three(base, ours, base, labels)
		equal("a tool that changes nothing leaves ours", got, n, ours)
		got, n = Three(base, base, theirs, labels)
		equal("an untouched file becomes theirs", got, n, theirs)
		got, n = Three(base, ours, ours, labels)
		equal("the same change on both sides is one", got, n, ours)
		one, n1 := Three(base, ours, theirs, labels)
		other, n2 := Three(base, theirs, ours, labels)
		if n1 != n2 || n1 == 0 && !bytes.Equal(one, other) {
			t.Fatalf("the sides are not alike: %d %q, %d %q", n1, one, n2, other)
		}
		if again, n := Three(theirs, one, theirs, labels); n != 0 || !bytes.Equal(again, one) {
			t.Fatalf("merging again changes %q to %q", one, again)
		}
	})
}

func TestHugeTextsAreMergedInBoundedSpace(t *testing.T) {
	base := []byte(strings.Repeat("a\nb\n", 20000))
	ours := append([]byte("x\n"), base...)
	theirs := append(bytes.Clone(base), "y\n"...)
	got, n := Three(base, ours, theirs, labels)
	if n != 0 || len(got) != len(base)+4 {
		t.Errorf("%d conflicts, %d bytes", n, len(got))
	}
}
