// Package merge merges two edits of one text, line by line, as "git merge-file" does.
package merge

import (
	"bytes"
	"slices"
	"strings"
)

// Labels name the two sides in conflict markers.
type Labels struct{ Ours, Theirs string }

// Three brings the change from base to theirs into ours. Where both changed the same or neighbouring lines in
// different ways, both stand in the result between conflict markers; conflicts counts those places. Line ends are
// ours: a text that has CRLF on our side keeps it, and CRLF on another side, where git may have put it, is no
// difference.
func Three(base, ours, theirs []byte, l Labels) (merged []byte, conflicts int) {
	ours, crlf := unix(ours)
	base, _ = unix(base)
	theirs, _ = unix(theirs)
	m := merger{base: lines(base), ours: lines(ours), theirs: lines(theirs), labels: l}
	m.run()
	merged = []byte(strings.Join(m.out, ""))
	if crlf {
		merged = bytes.ReplaceAll(merged, []byte("\n"), []byte("\r\n"))
	}
	return merged, m.conflicts
}

// unix turns the line ends of a text that has CRLF everywhere into LF.
func unix(text []byte) (lf []byte, crlf bool) {
	n := bytes.Count(text, []byte("\r\n"))
	if n == 0 || n != bytes.Count(text, []byte("\n")) {
		return text, false
	}
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), true
}

// Conflicted reports whether a text holds the markers of a conflict that nobody resolved.
func Conflicted(text []byte) bool {
	return bytes.HasPrefix(text, []byte("<<<<<<< ")) || bytes.Contains(text, []byte("\n<<<<<<< "))
}

// lines splits a text behind every line end.
func lines(text []byte) []string {
	ls := strings.SplitAfter(string(text), "\n")
	if ls[len(ls)-1] == "" {
		ls = ls[:len(ls)-1]
	}
	return ls
}

type merger struct {
	base, ours, theirs []string
	labels             Labels
	out                []string
	conflicts          int
}

// run walks over the lines of base that both sides kept; what lies between two of them is a chunk.
func (m *merger) run() {
	a, b := matches(m.base, m.ours), matches(m.base, m.theirs)
	at := struct{ base, ours, theirs int }{}
	for i := 0; i <= len(m.base); i++ {
		inOurs, inTheirs := len(m.ours), len(m.theirs)
		if i < len(m.base) {
			if inOurs, inTheirs = a[i], b[i]; inOurs < 0 || inTheirs < 0 {
				continue
			}
		}
		m.chunk(m.base[at.base:i], m.ours[at.ours:inOurs], m.theirs[at.theirs:inTheirs])
		if i < len(m.base) {
			m.out = append(m.out, m.base[i])
		}
		at.base, at.ours, at.theirs = i+1, inOurs+1, inTheirs+1
	}
}

func (m *merger) chunk(base, ours, theirs []string) {
	switch {
	case slices.Equal(base, theirs) || slices.Equal(ours, theirs):
		m.out = append(m.out, ours...)
	case slices.Equal(base, ours):
		m.out = append(m.out, theirs...)
	default:
		m.conflict(ours, theirs)
	}
}

// conflict writes both sides. Lines that they begin or end with alike stand outside the markers.
func (m *merger) conflict(ours, theirs []string) {
	head, tail := 0, 0
	for head < min(len(ours), len(theirs)) && ours[head] == theirs[head] {
		head++
	}
	for tail < min(len(ours), len(theirs))-head && ours[len(ours)-1-tail] == theirs[len(theirs)-1-tail] {
		tail++
	}
	m.conflicts++
	m.out = append(m.out, ours[:head]...)
	m.marker("<<<<<<< " + m.labels.Ours)
	m.out = append(m.out, ours[head:len(ours)-tail]...)
	m.marker("=======")
	m.out = append(m.out, theirs[head:len(theirs)-tail]...)
	m.marker(">>>>>>> " + m.labels.Theirs)
	m.out = append(m.out, ours[len(ours)-tail:]...)
}

// marker writes a line of its own, also behind a last line without an end.
func (m *merger) marker(text string) {
	if n := len(m.out); n > 0 && !strings.HasSuffix(m.out[n-1], "\n") {
		m.out[n-1] += "\n"
	}
	m.out = append(m.out, text+"\n")
}

// mostCells bounds the table that compares two texts; beyond it, what lies between their common ends counts as
// one change, which is coarse but right.
const mostCells = 16 << 20

// matches returns for each line of a the line of b that stands for it, or -1: a longest common subsequence.
func matches(a, b []string) []int {
	m := make([]int, len(a))
	for i := range m {
		m[i] = -1
	}
	head, tail := 0, 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		m[head] = head
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
		m[len(a)-tail] = len(b) - tail
	}
	subsequence(a[head:len(a)-tail], b[head:len(b)-tail], func(i, j int) { m[head+i] = head + j })
	return m
}

// subsequence calls match for each pair of a longest common subsequence, in order.
func subsequence(a, b []string, match func(i, j int)) {
	if len(a) == 0 || len(b) == 0 || len(a) > mostCells/len(b) {
		return
	}
	width := len(b) + 1
	length := make([]int32, (len(a)+1)*width) // of the longest one in a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i*width+j] = length[(i+1)*width+j+1] + 1
			} else {
				length[i*width+j] = max(length[(i+1)*width+j], length[i*width+j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			match(i, j)
			i, j = i+1, j+1
		case length[(i+1)*width+j] >= length[i*width+j+1]:
			i++
		default:
			j++
		}
	}
}
