package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// heads begin the lists of attacks and cases in docs/internals/attacks.md.
var heads = []string{
	"## Requests, clients and tokens\n", "## Signed cards\n", "## Standards\n",
}

// TestAttacksAreHeldByTestsThatAreThere: each line of the lists names some.
func TestAttacksAreHeldByTestsThatAreThere(t *testing.T) {
	there := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			there[filepath.Base(filepath.Dir(path))+"."+m[1]] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/internals/attacks.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, head := range heads {
		_, section, found := strings.Cut(string(page), head)
		_, list, table := strings.Cut(section, "|---|\n")
		if !found || !table {
			t.Fatalf("attacks.md has no list below %q", head)
		}
		for line := range strings.Lines(list) {
			if !strings.HasPrefix(line, "|") {
				break
			}
			heldBy(t, line, there)
		}
	}
}

// heldBy: a line names tests, all of which are there.
func heldBy(t *testing.T, line string, there map[string]bool) {
	tests := regexp.MustCompile("`(\\w+\\.(?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(line, -1)
	if len(tests) == 0 {
		t.Errorf("no test holds %s", line)
	}
	for _, m := range tests {
		if !there[m[1]] {
			t.Errorf("%s is not there, which is to hold %s", m[1], line)
		}
	}
}
