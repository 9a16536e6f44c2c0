package scaffold

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestMovedPackagesAreThere, where the table says, and not where they were.
func TestMovedPackagesAreThere(t *testing.T) {
	for old, now := range moved {
		if _, err := os.Stat("../../" + now); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat("../../" + old); err == nil {
			t.Errorf("%s has not moved", old)
		}
	}
}

func TestImportsOfMovedPackages(t *testing.T) {
	const old = `package skills // "github.com/a2agen/a2agen/runtime/fault" is no import

import (
	"testing"

	"github.com/a2agen/a2agen/runtime/a2atest"
	kit "github.com/a2agen/a2agen/runtime/auth/authtest"
	"github.com/a2agen/a2agen/runtime/faults"
	"github.com/a2agen/a2agen/runtime/server"
)

const text = "github.com/a2agen/a2agen/runtime/record"
`
	const now = `package skills // "github.com/a2agen/a2agen/runtime/fault" is no import

import (
	"testing"

	"github.com/a2agen/a2agen/runtime/faults"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/testkit/a2atest"
	kit "github.com/a2agen/a2agen/testkit/authtest"
)

const text = "github.com/a2agen/a2agen/runtime/record"
`
	want := []OldImport{
		{Line: 6, Old: "github.com/a2agen/a2agen/runtime/a2atest", New: "github.com/a2agen/a2agen/testkit/a2atest"},
		{Line: 7, Old: "github.com/a2agen/a2agen/runtime/auth/authtest", New: "github.com/a2agen/a2agen/testkit/authtest"},
	}
	if diff := cmp.Diff(want, OldImports([]byte(old)), cmpopts.IgnoreUnexported(OldImport{})); diff != "" {
		t.Errorf("old imports (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(now, string(WithNewImports([]byte(old)))); diff != "" {
		t.Errorf("with new imports (-want +got):\n%s", diff)
	}
	if got := OldImports([]byte(now)); got != nil {
		t.Errorf("a file that has the new imports has %v", got)
	}
	for name, texts := range map[string][2]string{
		"not gofmt's": {"package x\nimport  `github.com/a2agen/a2agen/runtime/fault`\nvar  y = 1\n", "package x\nimport  \"github.com/a2agen/a2agen/testkit/fault\"\nvar  y = 1\n"},
		"CRLF":        {"package x\r\n\r\nimport \"github.com/a2agen/a2agen/runtime/fault\"\r\n", "package x\r\n\r\nimport \"github.com/a2agen/a2agen/testkit/fault\"\r\n"},
		"no Go":       {"import runtime/fault", "import runtime/fault"},
	} {
		if got := string(WithNewImports([]byte(texts[0]))); got != texts[1] {
			t.Errorf("%s: %q", name, got)
		}
	}
}
