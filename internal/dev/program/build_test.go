package program

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/dev/status"
)

// TestProblemsOfABuild are read from what the go command prints, and say what to do.
func TestProblemsOfABuild(t *testing.T) {
	for text, want := range map[string][]string{
		"# example.com/x\n./main.go:7:2: undefined: x\n./main.go:9: too many\n": {"main.go:7:2: undefined: x", "main.go:9: too many"},
		"go: errors parsing go.mod:\ngo.mod:8: unknown directive: requir\n":     {"go.mod:8: unknown directive: requir"},
		"a.go:5:2: no required module provides package b; to add it:\n\tgo get b\n": {
			"a.go:5:2: no required module provides package b; to add it: go get b",
		},
		"m.go:3:8: import cycle\n\timports a\n\timports b\n": {"m.go:3:8: import cycle; imports a; imports b"},
		"no Go files in /x\n":                                {"no Go files in /x: " + giveMain},
		"":                                                   {"the build ended with exit status 1"},
	} {
		var got []string
		for _, p := range problemsIn(text, errors.New("exit status 1")) {
			got = append(got, p.String())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestAPackageIsNoProgram although the go command builds it.
func TestAPackageIsNoProgram(t *testing.T) {
	b := Build{Dir: t.TempDir()}
	out := filepath.Join(b.Dir, "agent")
	var failure *status.Failure
	if err := b.isProgram(out); !errors.As(err, &failure) || failure.Step != status.Building {
		t.Errorf("no file: %v", err)
	}
	for text, want := range map[string]string{archive + "\n__.PKGDEF": giveMain, "\x7fELF": "", "MZ": "", "": ""} {
		if err := os.WriteFile(out, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
		err := b.isProgram(out)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestWithoutAGoCommand it is said what to install.
func TestWithoutAGoCommand(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := exec.LookPath("go"); err == nil {
		t.Skip("there is one all the same")
	}
	err := Build{Dir: t.TempDir()}.Run(t.Context(), "agent")
	var failure *status.Failure
	if !errors.As(err, &failure) || failure.Step != status.Building || !strings.Contains(err.Error(), "https://go.dev/dl") || !strings.Contains(err.Error(), "--exec") {
		t.Errorf("%v", err)
	}
}
