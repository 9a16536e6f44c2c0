package golden

import (
	"bytes"
	"os"
	"testing"
	"unicode/utf8"
)

// maxColumns is how wide a line of generated code may be; a tab counts as one column.
const maxColumns = 120

// checkWidth refuses lines that are wider than that.
func checkWidth(t *testing.T, path string, src []byte) {
	t.Helper()
	n := 0
	for line := range bytes.Lines(src) {
		n++
		if got := utf8.RuneCount(bytes.TrimRight(line, "\n")); got > maxColumns {
			t.Errorf("%s:%d has %d columns: %s", path, n, got, line)
		}
	}
}

func TestGeneratedLinesAreNoWiderThanAScreen(t *testing.T) {
	for _, path := range kept(t) {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		checkWidth(t, path, src)
	}
}
