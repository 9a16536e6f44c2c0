package main

import (
	"fmt"
	"strings"
)

// shown is how many tests a row names.
const shown = 3

// fill returns the page with its last column made anew. A row without tests keeps what a person wrote there, which begins
// with "none".
func fill(page []byte, cited citations) []byte {
	lines := strings.Split(string(page), "\n")
	for i, line := range lines {
		cells := row(line)
		if cells == nil {
			continue
		}
		cells[len(cells)-1] = heldBy(cited[cells[0]], cells[len(cells)-1])
		lines[i] = "| " + strings.Join(cells, " | ") + " |"
	}
	return []byte(strings.Join(lines, "\n"))
}

// row returns the cells of a requirement's row, nil for any other line.
func row(line string) []string {
	if !strings.HasPrefix(line, "| ") {
		return nil
	}
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	if len(cells) != 4 || number.FindString(cells[0]) != cells[0] || cells[0] == "" {
		return nil
	}
	return cells
}

func heldBy(p *places, said string) string {
	if p == nil || len(p.tests) == 0 {
		if strings.HasPrefix(said, "none") {
			return said
		}
		return "none"
	}
	tests := sorted(p.tests)
	more := ""
	if len(tests) > shown {
		more = fmt.Sprintf(" +%d", len(tests)-shown)
		tests = tests[:shown]
	}
	return "`" + strings.Join(tests, "`, `") + "`" + more
}
