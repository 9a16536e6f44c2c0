package lower

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/a2agen/a2agen/spec"
)

// TestRelationsOfADefinitionOfOnesOwn changes the proto of 1.0 in one way of each kind.
func TestRelationsOfADefinitionOfOnesOwn(t *testing.T) {
	src, err := spec.Source("1.0")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(
		"message Task {\n", "message Task {\n  string priority = 40;\n",
		"repeated string reference_task_ids = 8;", "repeated string related_tasks = 8;",
		"  TASK_STATE_AUTH_REQUIRED = 8;\n", "  TASK_STATE_AUTH_REQUIRED = 8;\n  TASK_STATE_PAUSED = 9;\n",
		"  // What the artifact is.\n  string description = 3;\n", "",
		"// Role tells who speaks", "message Budget { int64 tokens = 1; }\n\n// Role tells who speaks",
	).Replace(string(src))
	doc, problems := spec.Read("a2a.proto", []byte(text))
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	doc.Version = "1.1-preview"
	reports, problems := Relations([]*spec.Document{doc, shippedDoc(t, "1.0"), shippedDoc(t, "0.3")})
	if problems.HasErrors() || len(reports) != 2 {
		t.Fatal(problems, len(reports))
	}
	var changed []Aligned
	for _, thing := range reports[0].Things {
		if thing.Class != "same" {
			changed = append(changed, thing)
		}
	}
	want := []Aligned{
		{"renamed", "Message.reference_task_ids", "Message.related_tasks", ""},
		{"absent", "", "Task.priority", "drop"},
		{"absent", "Artifact.description", "", "drop"},
		{"absent", "", "Budget", "drop"},
		{"absent", "", "TaskState.TASK_STATE_PAUSED", "drop"},
	}
	if diff := cmp.Diff(want, changed, cmpopts.SortSlices(func(a, b Aligned) bool { return a.Old+a.Hub < b.Old+b.Hub })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	shipped, err := AlignmentOf("0.3")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(shipped, reports[1]); diff != "" {
		t.Errorf("0.3 (-alone +in the project):\n%s", diff)
	}
}
