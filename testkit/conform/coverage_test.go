package conform_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/testkit/conform"
)

var update = flag.Bool("update", false, "rewrite the table of docs/internals/requirements.md")

// TestEveryRequirementHasACheckOrAReason reads the page of requirements, and wants each number on one side alone.
func TestEveryRequirementHasACheckOrAReason(t *testing.T) {
	page, err := os.ReadFile("../../docs/internals/requirements.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\* ([RQT][0-9]+) \(`).FindAllSubmatch(page, -1) {
		listed[string(m[1])] = true
	}
	for _, r := range conform.Coverage() {
		switch {
		case !listed[r.Number]:
			t.Errorf("%s, of %v, is no requirement", r.Number, r.Checks)
		case r.Why != "" && len(r.Checks) > 0:
			t.Errorf("%s has the checks %v, and in coverage.go a reason why there are none: %s", r.Number, r.Checks, r.Why)
		}
		delete(listed, r.Number)
	}
	for number := range listed {
		if !strings.HasPrefix(number, "T") {
			t.Errorf("%s has neither a check nor a reason in coverage.go", number)
		}
	}
}

// TestChecksAreWritten: what each needs to be understood.
func TestChecksAreWritten(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range conform.Checks() {
		if seen[c.ID] {
			t.Errorf("two checks are called %s", c.ID)
		}
		seen[c.ID] = true
		if len(c.Requirements) == 0 || c.Section == "" || !strings.HasSuffix(c.Sentence, ".") || c.Level == "" || c.Scope == "" {
			t.Errorf("%s lacks something: %+v", c.ID, c)
		}
	}
}

// TestThePageHasWhatIsNotChecked holds the table of the docs to the list of requirements without a check.
func TestThePageHasWhatIsNotChecked(t *testing.T) {
	const path = "../../docs/internals/requirements.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := between(t, page, "coverage", coverageTable())
	if bytes.Equal(want, page) {
		return
	}
	if !*update {
		t.Fatal("docs/internals/requirements.md is stale: run go test ./testkit/conform -update")
	}
	if err := os.WriteFile(path, want, 0o644); err != nil {
		t.Fatal(err)
	}
}

// between replaces what stands between two comments.
func between(t *testing.T, page []byte, name, table string) []byte {
	t.Helper()
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->"
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("the page has no %s", begin)
	}
	return []byte(before + begin + "\n" + table + "\n" + end + after)
}

func coverageTable() string {
	reasons := map[string][]string{}
	var order []string
	for _, r := range conform.Coverage() {
		if r.Why == "" {
			continue
		}
		if reasons[r.Why] == nil {
			order = append(order, r.Why)
		}
		reasons[r.Why] = append(reasons[r.Why], r.Number)
	}
	slices.Sort(order)
	var b strings.Builder
	b.WriteString("| requirements | why no check is for them |\n|---|---|\n")
	for _, why := range order {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(reasons[why], ", "), why)
	}
	return b.String()
}
