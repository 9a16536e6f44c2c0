package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// MismatchError is a request that a recording does not have. It is final: the same request has no other answer later.
type MismatchError struct {
	File    string
	Line    int    // of the nearest recorded request; 0: there is none
	Request string // "POST / SendMessage"
	Caller  string // the line of the test that led to it, "quote_test.go:12"; "" if that is not known
	Reason  string // what the request has that none of the recording can have; "": nothing
	Diff    string // the lines in which the nearest recorded request and this one differ
	again   string
}

// Error names the request and the nearest recorded one, in one line.
func (e *MismatchError) Error() string {
	s := fmt.Sprintf("%s has no request like this %s", e.File, e.Request)
	switch {
	case e.Reason != "":
		s += ": " + e.Reason
	case e.Line > 0:
		s += fmt.Sprintf("; the nearest is in line %d", e.Line)
	}
	return s
}

// Details is the error with the difference, line by line, and what to do about it.
func (e *MismatchError) Details() string {
	var b strings.Builder
	if e.Caller != "" {
		b.WriteString(e.Caller + ": ")
	}
	b.WriteString(e.Error())
	if e.Diff != "" {
		fmt.Fprintf(&b, "\n%s:%d (-) and this request (+):\n%s", e.File, e.Line, e.Diff)
	}
	b.WriteString("\nIf the change is meant, " + e.again)
	return b.String()
}

// TryLater is false: the request has no answer however often it is made.
func (e *MismatchError) TryLater() bool { return false }

// maxMistakes is how many requests are reported that do not match.
const maxMistakes = 20

// candidates is how many recorded requests are looked at for the nearest one.
const candidates = 200

// mismatch is the error of a request. Callers must hold p.mu.
func (p *Player) mismatch(a *asked) *MismatchError {
	p.masker.ready()
	p.masker.clean(&a.frame, false) // of what is known to be secret by now
	e := &MismatchError{File: p.file, Request: title(&a.frame), Caller: caller(), again: p.again(), Reason: p.reason(a)}
	if x := p.nearest(a); x != nil {
		m := p.matcher()
		m.whole = true
		m.request(&x.request, &a.frame)
		e.Line, e.Diff = x.line, diff(shown(&x.request, nil), shown(&a.frame, m.named))
		if same := !m.failed; same {
			e.Diff = ""
		}
	}
	known := slices.ContainsFunc(p.mistakes, func(other *MismatchError) bool { return *other == *e })
	if !known && len(p.mistakes) < maxMistakes {
		p.mistakes = append(p.mistakes, e)
	}
	return e
}

// reason is what a request has that none of the recording can have.
func (p *Player) reason(a *asked) string {
	calls := slices.DeleteFunc(slices.Clone(p.rec.exchanges), (*recorded).ofCard)
	if len(calls) == 0 || isCard(a.Method, a.Path) {
		return ""
	}
	version, has := a.Header["A2A-Version"], false
	binding := bindingOf(a.Body)
	speaks := false
	times := 0
	for _, x := range calls {
		r := &x.request
		has = has || r.Header["A2A-Version"] == version
		speaks = speaks || bindingOf(r.Body) == binding
		m := p.matcher()
		if m.request(r, &a.frame) {
			times++
		}
	}
	head := p.rec.head
	switch {
	case version != "" && head.Protocol != "" && !has:
		return fmt.Sprintf("it is of version %s of the protocol, and the recording of %s", version, head.Protocol)
	case !speaks:
		return fmt.Sprintf("it is made over %s, and the recording over %[2]s; rpc.Prefer(%[2]q) may help",
			binding, head.Binding)
	case times > 0:
		return fmt.Sprintf("it was recorded %d×, and is made once more", times)
	}
	return ""
}

// nearest is the recorded request that has the most lines in common with another one: one that was not made yet, of
// the same operation, if there is one.
func (p *Player) nearest(a *asked) *recorded {
	var best *recorded
	most, looked := -1, 0
	lines := map[string]int{}
	for _, l := range shown(&a.frame, p.matcher().named) {
		lines[l]++
	}
	for i, x := range p.rec.exchanges {
		r := &x.request
		if x.ofCard() != isCard(a.Method, a.Path) || looked > candidates {
			continue
		}
		looked++
		score, left := 0, maps.Clone(lines)
		for _, l := range shown(r, nil) {
			if left[l] > 0 {
				left[l]--
				score += 4
			}
		}
		if r.Operation == a.Operation && r.Method == a.Method {
			score += 1 << 20
		}
		if !p.used[i] {
			score += 2
		}
		if score > most {
			best, most = x, score
		}
	}
	return best
}

// title is a request in a few words.
func title(f *frame) string {
	return strings.TrimSpace(f.Method + " " + f.Path + " " + f.Operation)
}

// shown is a request as lines that people read. name is the text that stands for one of this run; nil for a recorded
// one.
func shown(f *frame, name func(string) string) []string {
	if name == nil {
		name = func(s string) string { return s }
	}
	path := name(f.Path)
	if f.Query != "" {
		path += "?" + name(f.Query)
	}
	lines := []string{f.Method + " " + path}
	for _, h := range slices.Sorted(maps.Keys(f.Header)) {
		lines = append(lines, h+": "+name(f.Header[h]))
	}
	body := name(f.Text)
	if f.Body != nil {
		var b bytes.Buffer
		_ = json.Indent(&b, encode(f.Body), "", "  ") // of JSON that was just written
		body = b.String()
	}
	if body == "" {
		return lines
	}
	for l := range strings.SplitSeq(body, "\n") {
		lines = append(lines, name(l))
	}
	return lines
}

// maxDiff is how many lines are compared of each text.
const maxDiff = 400

// diff is the lines in which two texts differ, with two that are equal around them: "-" are those of a, "+" those of b.
// Long lines are cut.
func diff(a, b []string) string {
	var out []string
	a, b = a[:min(len(a), maxDiff)], b[:min(len(b), maxDiff)]
	equal := make([][]int, len(a)+1) // the lengths of the longest common subsequences of a[i:] and b[j:]
	for i := range equal {
		equal[i] = make([]int, len(b)+1)
	}
	for i, l := range slices.Backward(a) {
		for j := len(b) - 1; j >= 0; j-- {
			equal[i][j] = max(equal[i+1][j], equal[i][j+1])
			if l == b[j] {
				equal[i][j] = equal[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, "  "+a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && equal[i+1][j] >= equal[i][j+1]:
			out = append(out, "- "+a[i])
			i++
		default:
			out = append(out, "+ "+b[j])
			j++
		}
	}
	var shown strings.Builder
	last := -1
	for i, l := range out {
		near := slices.ContainsFunc(out[max(0, i-2):min(len(out), i+3)], func(s string) bool { return s[0] != ' ' })
		if !near {
			continue
		}
		if last >= 0 && last < i-1 {
			shown.WriteString("\t  …\n")
		}
		last = i
		if len(l) > 400 {
			l = l[:400] + "…"
		}
		shown.WriteString("\t" + l + "\n")
	}
	return strings.TrimSuffix(shown.String(), "\n")
}

// caller is the line of a test on the stack.
func caller() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.File, "_test.go") {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}
