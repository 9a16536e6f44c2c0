package project

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

// TestWhatIsCopiedMayOnlyFall limits what new projects carry of the runtime and of the test kit, where there is neither a release nor a
// checkout to build against. Lower a limit when the number has fallen. One that rises is often an import that nobody needs; to raise a
// limit is a commit of its own, which says why.
func TestWhatIsCopiedMayOnlyFall(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // out of this checkout
	projecttest.WriteFile(t, "card.json", `{"name":"desk","description":"d","version":"1","capabilities":{"streaming":true},
		"supportedInterfaces":[{"url":"https://desk.example/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
		"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"chat","name":"Chat","description":"d","tags":["t"]}]}`)
	if _, err := Init(t.Context(), InitOptions{Options: Options{Dir: "agent"}, Vendor: true}); err != nil {
		t.Fatal(err)
	}
	holdReadme(t, string(readme), "agent")
	if _, _, err := AddClient(t.Context(), ClientOptions{Options: Options{Dir: "client"}, Target: "card.json", Module: "example.com/desk"}); err != nil {
		t.Fatal(err)
	}
	for project, limit := range map[string]struct{ files, lines int }{
		"agent":  {315, 52_689},
		"client": {265, 44_332},
	} {
		files, lines := 0, 0
		err := filepath.WalkDir(filepath.Join(project, scaffold.Unpacked), func(name string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			files, lines = files+1, lines+bytes.Count(text, []byte("\n"))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if files > limit.files || lines > limit.lines {
			t.Errorf("a new %s carries %d files, %d lines; the limits are %d and %d", project, files, lines, limit.files, limit.lines)
		}
		if files == 0 {
			t.Errorf("a new %s carries nothing, though it has nothing else to build against", project)
		}
	}
}

// holdReadme holds what README.md says of the files and lines of a new agent to the one in the folder project. The README rounds: a
// number may be off by a twentieth.
func holdReadme(t *testing.T, readme, project string) {
	t.Helper()
	_, said, _ := strings.Cut(readme, "\n## What `init` makes\n")
	said, _, _ = strings.Cut(said, "\n## ")
	var numbers []int
	for _, n := range regexp.MustCompile(`\b[1-9][0-9,]*\b`).FindAllString(said, -1) {
		number, err := strconv.Atoi(strings.ReplaceAll(n, ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, number)
	}
	parts := []string{"Go", "yours", "the protocol", "the agent and its client", "copied"}
	if len(numbers) != 2*len(parts) {
		t.Fatalf("README.md has the numbers %v; it should have files and lines of %q", numbers, parts)
	}
	made := make([]int, len(numbers))
	err := filepath.WalkDir(project, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		add := func(part int) {
			made[2*part], made[2*part+1] = made[2*part]+1, made[2*part+1]+bytes.Count(text, []byte("\n"))
		}
		switch in, _, _ := strings.Cut(strings.TrimPrefix(filepath.ToSlash(name), project+"/"), "/"); {
		case in == "third_party":
			add(4)
			return err
		case filepath.Ext(name) != ".go":
			return nil
		case in == "a2a":
			add(2)
		case in == "agent" || in == "client":
			add(3)
		default:
			add(1)
		}
		add(0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, said := range numbers {
		if got := made[i]; 20*got < 19*said || 20*got > 21*said {
			t.Errorf("README.md says %d %s of what is %s; init makes %d", said, []string{"files", "lines"}[i%2], parts[i/2], got)
		}
	}
}
