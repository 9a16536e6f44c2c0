package main

import (
	"fmt"
	"regexp"
	"strings"
)

// shown is how many tests a line names.
const shown = 3

// line is a requirement: its number, its section and sentence, and behind a dash what holds it.
var line = regexp.MustCompile(`^(\* ([RQT][1-9][0-9]{0,2}) \(.*) — (.*)$`)

// fill returns the page with what is behind the dashes made anew. A line without tests keeps what a person wrote there, which
// begins with "none".
func fill(page []byte, cited citations) []byte {
	lines := strings.Split(string(page), "\n")
	for i := range lines {
		if m := line.FindStringSubmatch(lines[i]); m != nil {
			lines[i] = m[1] + " — " + heldBy(cited[m[2]], m[3])
		}
	}
	return []byte(strings.Join(lines, "\n"))
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
