package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s:]+)\)`) // not one with a scheme
	heading = regexp.MustCompile(`(?m)^#+ +(.*)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```")
	inline  = regexp.MustCompile("`[^`\n]*`")
	dropped = regexp.MustCompile(`[^\pL\pN_ -]`)
)

// pages are the texts of the pages that people read, by their paths from the root.
func pages(t *testing.T) map[string]string {
	t.Helper()
	files := []string{"README.md", "CONTRIBUTING.md", "bench/README.md", "interop/README.md"}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob("../../" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			files = append(files, strings.TrimPrefix(filepath.ToSlash(f), "../../"))
		}
	}
	texts := map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile("../../" + f)
		if err != nil {
			t.Fatal(err)
		}
		texts[f] = fenced.ReplaceAllString(string(text), "")
	}
	return texts
}

// TestLinksOfPagesLeadSomewhere: to files that are there, and to headings that their page has.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	texts := pages(t)
	for name, text := range texts {
		for _, m := range link.FindAllStringSubmatch(inline.ReplaceAllString(text, ""), -1) {
			file, anchor, _ := strings.Cut(m[1], "#")
			target := name
			if file != "" {
				target = filepath.ToSlash(filepath.Join(filepath.Dir(name), file))
			}
			if _, err := os.Stat("../../" + target); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			} else if page, ok := texts[target]; ok && anchor != "" && !hasHeading(page, anchor) {
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
}

// hasHeading reports whether a page has a heading with that anchor.
func hasHeading(page, anchor string) bool {
	for _, m := range heading.FindAllStringSubmatch(page, -1) {
		if strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-") == anchor {
			return true
		}
	}
	return false
}

// TestEveryPageIsListed in docs/README.md.
func TestEveryPageIsListed(t *testing.T) {
	list := pages(t)["docs/README.md"]
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := filepath.Base(f); name != "README.md" && !strings.Contains(list, "("+name+")") {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

// TestTheBookStaysSmall: 24 pages and 45,000 words beside what maintainers read, of which 6 pages, and 40 decisions.
func TestTheBookStaysSmall(t *testing.T) {
	for _, most := range []struct {
		what         string
		pages, words int
	}{{"docs/*.md", 24, 45_000}, {"docs/internals/*.md", 6, 0}, {"docs/decisions/*.md", 40, 0}} {
		found, err := filepath.Glob("../../" + most.what)
		if err != nil {
			t.Fatal(err)
		}
		words := 0
		for _, f := range found {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			words += len(strings.Fields(string(text)))
		}
		if len(found) > most.pages || most.words > 0 && words > most.words {
			t.Errorf("%s: %d pages of %d words; at most %d and %d: say it once, or leave it to a diagnostic", most.what, len(found), words, most.pages, most.words)
		}
	}
}
