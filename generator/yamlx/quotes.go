package yamlx

import (
	"fmt"
	"strings"

	"github.com/a2agen/a2agen/generator/diag"
)

// blameQuote moves a syntax error to a quoted text that begins lines before and ends right before the error, or in its
// line: most likely its closing quote is missing, and the quote of another text closed it.
func blameQuote(d *diag.Diagnostic, src []byte) {
	lines := strings.Split(string(src), "\n")
	for at := (place{}); at.line < d.Pos.Line && at.line < len(lines); {
		open, ok := nextQuote(lines, &at)
		if !ok {
			continue
		}
		end, closed := endOfQuote(lines, open)
		if !closed {
			return
		}
		if open.line < end.line && endsAt(lines, end, d.Pos.Line-1) {
			d.Pos.Line, d.Pos.Col = open.line+1, 1+len([]rune(lines[open.line][:open.col]))
			d.Message = fmt.Sprintf("the text in quotes that begins here ends only in line %d", end.line+1)
			d.Hint = "close the quote"
			return
		}
		at = end
	}
}

// endsAt reports whether nothing but comments is between a place and a later line, or the place is in that line.
func endsAt(lines []string, end place, line int) bool {
	for ; end.line < line; end = (place{end.line + 1, 0}) {
		if rest := strings.TrimSpace(lines[end.line][end.col:]); rest != "" && rest[0] != '#' {
			return false
		}
	}
	return end.line == line
}

// place is one in a text: a line and a byte in it, from 0 on.
type place struct{ line, col int }

// nextQuote goes on to the next quote in the present line that begins a text, or to the next line. What is indented below
// a line that ends in | or > is text, not YAML.
func nextQuote(lines []string, at *place) (open place, ok bool) {
	line := lines[at.line]
	for i := at.col; i < len(line); i++ {
		before := strings.TrimRight(line[:i], " ")
		spaced := len(before) < i
		begins := before == "" || strings.ContainsAny(before[len(before)-1:], "[{,") ||
			spaced && strings.ContainsAny(before[len(before)-1:], ":-?")
		switch {
		case line[i] == '#' && (spaced || i == 0):
			line = line[:i]
		case (line[i] == '"' || line[i] == '\'') && begins:
			return place{at.line, i}, true
		}
	}
	text := strings.TrimRight(line, " +-0123456789")
	block := strings.HasSuffix(text, " |") || strings.HasSuffix(text, " >")
	indent := len(line) - len(strings.TrimLeft(line, " -"))
	for at.line, at.col = at.line+1, 0; block && at.line < len(lines); at.line++ {
		if l := lines[at.line]; strings.TrimSpace(l) != "" && len(l)-len(strings.TrimLeft(l, " ")) <= indent {
			break
		}
	}
	return place{}, false
}

// endOfQuote is the place after the quote that closes the one at open.
func endOfQuote(lines []string, open place) (end place, closed bool) {
	quote := lines[open.line][open.col]
	for at := (place{open.line, open.col + 1}); at.line < len(lines); at = (place{at.line + 1, 0}) {
		line := lines[at.line]
		for i := at.col; i < len(line); i++ {
			switch {
			case line[i] == '\\' && quote == '"':
				i++
			case line[i] == quote && quote == '\'' && i+1 < len(line) && line[i+1] == quote:
				i++
			case line[i] == quote:
				return place{at.line, i + 1}, true
			}
		}
	}
	return place{}, false
}
