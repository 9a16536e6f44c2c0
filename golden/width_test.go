package golden

import (
	"bytes"
	"os"
	"testing"
	"unicode/utf8"
)

// maxColumns is how wide a line of a generated comment may be; a tab counts as one column.
const maxColumns = 120

// checkWidth refuses comments that are wider than that, unless a line is one word.
func checkWidth(t *testing.T, path string, src []byte) {
	t.Helper()
	n := 0
	for line := range bytes.Lines(src) {
		n++
		text, comment := bytes.CutPrefix(bytes.TrimSpace(line), []byte("// "))
		if got := utf8.RuneCount(bytes.TrimRight(line, "\n")); comment && got > maxColumns && bytes.ContainsRune(text, ' ') {
			t.Errorf("%s:%d has %d columns: %s", path, n, got, line)
		}
	}
}

func TestGeneratedCommentsAreNoWiderThanAScreen(t *testing.T) {
	for _, path := range kept(t) {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		checkWidth(t, path, src)
	}
}
