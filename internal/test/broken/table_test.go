package broken

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// cell is an agent of found.md: a row over a binding, tried with a contract or without.
type cell struct{ version, binding, name, with string }

const (
	withContract    = "with a contract"
	withoutContract = "without"
)

const foundPath = "testdata/found.md"

const foundHead = `# What finds which broken agent

Each line is a good agent with one thing broken; see [docs/conformance.md](../../../../docs/conformance.md). The checks
are those that cite the requirement and fail, with a contract that names what the agent can do, and without one.
It is written by ` + "`go test ./internal/test/broken -update`" + `.
`

// readCells reads what was found before.
func readCells(t *testing.T) map[cell]string {
	t.Helper()
	cells := map[cell]string{}
	page, err := os.ReadFile(foundPath)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(page)) {
		if f := strings.Split(strings.TrimSpace(line), " | "); len(f) == 6 && strings.HasPrefix(f[0], "| ") {
			for binding := range strings.SplitSeq(f[3], ", ") {
				cells[cell{f[2], binding, f[0][2:], withContract}] = f[4]
				cells[cell{f[2], binding, f[0][2:], withoutContract}] = strings.TrimSuffix(f[5], " |")
			}
		}
	}
	return cells
}

// holdPages compares found.md, and the totals in docs/conformance.md, with what is found now.
func holdPages(t *testing.T, cells map[cell]string) {
	t.Helper()
	var list, numbers strings.Builder
	numbers.WriteString(foundHead + "\n| what is broken | agents | found | without a contract | such as |\n|---|---|---|---|---|\n")
	total := [3]int{}
	for _, table := range tables {
		fmt.Fprintf(&list, "\n## %s\n\n", strings.ToUpper(table.breaks[:1])+table.breaks[1:])
		list.WriteString("| what is broken | requirement | version | binding | found by | without a contract |\n|---|---|---|---|---|---|\n")
		counts := [3]int{}
		line, over := "", []string{} // one for the bindings over which the same is found
		flush := func() {
			if len(over) > 0 {
				list.WriteString(strings.Replace(line, "BINDINGS", strings.Join(over, ", "), 1))
			}
			over = nil
		}
		for _, r := range rowsOf(table.over, table.rows) {
			with := cells[cell{r.version, r.binding, r.name, withContract}]
			without := cells[cell{r.version, r.binding, r.name, withoutContract}]
			requirement := r.requirement
			if r.harmless != "" {
				requirement = "none: " + r.harmless
			}
			next := fmt.Sprintf("| %s | %s | %s | BINDINGS | %s | %s |\n", r.name, requirement, r.version, dash(with), dash(without))
			if next != line {
				flush()
			}
			line, over = next, append(over, r.binding)
			counts[0]++
			for i, found := range []string{with, without} {
				if found != "" && found != "–" {
					counts[i+1]++
				}
			}
		}
		flush()
		fmt.Fprintf(&numbers, "| %s | %d | %d | %d | %s |\n", table.breaks, counts[0], counts[1], counts[2], table.rows[0].name)
		for i := 0; i < len(total) && table.rows[0].harmless == ""; i++ {
			total[i] += counts[i]
		}
	}
	fmt.Fprintf(&numbers, "| **all** | %d | %d | %d |  |\n", total[0], total[1], total[2])
	holdFile(t, foundPath, numbers.String()+list.String())

	const path = "../../../docs/conformance.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if said := fmt.Sprintf("%d agents are broken like this: %d are found with a contract, %d without.", total[0], total[1], total[2]); !strings.Contains(string(page), said) {
		t.Errorf("%s lacks the sentence %q", path, said)
	}
}

// dash stands for nothing.
func dash(found string) string {
	if found == "" {
		return "–"
	}
	return found
}

// holdFile compares a file with what should be in it, or writes it.
func holdFile(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) == want {
		return
	}
	lines := strings.Split(want, "\n")
	for i, line := range strings.Split(string(got), "\n") {
		if i >= len(lines) || line != lines[i] {
			t.Errorf("%s is stale at line %d: %s\n\tgo test ./internal/test/broken -update", path, i+1, line)
			return
		}
	}
	t.Errorf("%s is stale: go test ./internal/test/broken -update", path)
}
