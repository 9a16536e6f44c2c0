package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTestsOfAnOlderToolStayAsLongAsTheUserUsesThem has a project whose agent_test.go, which nobody edited, declares a function
// that it would declare no more, and a test of the user's that calls it.
func TestTestsOfAnOlderToolStayAsLongAsTheUserUsesThem(t *testing.T) {
	dir := aged(t, map[string]func(string) string{
		"skills/agent_test.go": func(text string) string {
			return strings.NewReplacer("func serve(", "func newServer(", "serve(t)", "newServer(t)").Replace(text)
		},
	})
	mine := filepath.Join(dir, "skills", "rpc_test.go")
	if err := os.WriteFile(mine, []byte("package skills\n\nimport \"testing\"\n\nfunc TestMine(t *testing.T) { newServer(t) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := Options{Tool: Tool{Version: "v1.0.0"}, Dir: dir, Force: true}
	declares := func(function string) {
		t.Helper()
		if _, err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if text := read(t, filepath.Join(dir, "skills", "agent_test.go")); !strings.Contains(text, "func "+function+"(") {
			t.Errorf("agent_test.go declares no %s:\n%s", function, text)
		}
	}
	declares("newServer")
	want := []ScaffoldUpdate{{
		Path: "skills/agent_test.go", Outcome: LeftAlone,
		Reason: "skills/rpc_test.go uses newServer, which it would declare no more: change or delete that file, and update again",
	}}
	if diff := cmp.Diff(want, updateScaffold(t, dir).Updates); diff != "" {
		t.Error(diff)
	}
	declares("newServer")
	if err := os.Remove(mine); err != nil {
		t.Fatal(err)
	}
	declares("serve")
}
