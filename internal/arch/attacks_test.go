package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lists are those of attacks and cases, by the page that has them.
var lists = map[string][]string{
	"security.md": {"| attack | test |\n|---|---|\n", "| document | case | test |\n|---|---|---|\n"},
	"cards.md":    {"| attack | test |\n|---|---|\n"},
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
	for name, heads := range lists {
		page, err := os.ReadFile("../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, head := range heads {
			_, list, found := strings.Cut(string(page), head)
			if !found {
				t.Fatalf("%s has no list %q", name, head)
			}
			for line := range strings.Lines(list) {
				if !strings.HasPrefix(line, "|") {
					break
				}
				heldBy(t, line, there)
			}
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
