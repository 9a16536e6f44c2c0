// Package diag holds diagnostics: what is wrong with an input, where, and what to write instead.
//
// Diagnostics are values. Every stage collects all it finds in a [List] instead of stopping at the first problem;
// the command line prints the list once, sorted, as text or as JSON.
package diag

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// Pos is a place in an input file. Line and Col count from 1, Col in runes; zero means unknown.
type Pos struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	Col  int    `json:"col,omitempty"`
}

// String renders the position as file:line:col, leaving out what is unknown.
func (p Pos) String() string {
	switch {
	case p.Line == 0:
		return p.File
	case p.Col == 0:
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
	}
}

// Severity says whether a diagnostic stops the run.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Related points to a second place that explains a diagnostic, such as the first of two equal ids.
type Related struct {
	Pos     Pos    `json:"pos"`
	Message string `json:"message"`
}

// Diagnostic is one problem found in an input.
type Diagnostic struct {
	// Code names the kind of problem for tools, in kebab case: "unknown-key".
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Pos      Pos      `json:"pos"`
	// Message says what is wrong, lower case, without a full stop.
	Message string `json:"message"`
	// Hint says what to write instead. It may be empty.
	Hint    string    `json:"hint,omitempty"`
	Related []Related `json:"related,omitempty"`
}

// String renders the diagnostic on one line: position, message and, in brackets, the hint.
func (d Diagnostic) String() string {
	s := d.Message
	if d.Severity == Warning {
		s = "warning: " + s
	}
	if p := d.Pos.String(); p != "" {
		s = p + ": " + s
	}
	if d.Hint != "" {
		s += " (" + d.Hint + ")"
	}
	for _, r := range d.Related {
		s += fmt.Sprintf("\n\t%s: %s", r.Pos, r.Message)
	}
	return s
}

// List collects diagnostics. The zero value is ready for use.
type List []Diagnostic

// Errorf adds an error.
func (l *List) Errorf(pos Pos, code, hint, format string, args ...any) {
	l.Add(Diagnostic{Code: code, Severity: Error, Pos: pos, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// Warnf adds a warning.
func (l *List) Warnf(pos Pos, code, hint, format string, args ...any) {
	l.Add(Diagnostic{Code: code, Severity: Warning, Pos: pos, Hint: hint, Message: fmt.Sprintf(format, args...)})
}

// Add appends diagnostics.
func (l *List) Add(ds ...Diagnostic) { *l = append(*l, ds...) }

// HasErrors reports whether any diagnostic is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sort orders the list by file, line, column, code and message, and drops exact repetitions,
// so that the order in which stages found the problems never shows.
func (l *List) Sort() {
	slices.SortStableFunc(*l, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col),
			cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message),
		)
	})
	*l = slices.CompactFunc(*l, func(a, b Diagnostic) bool {
		return a.Pos == b.Pos && a.Code == b.Code && a.Message == b.Message
	})
}

// WriteText prints one diagnostic a line.
func (l List) WriteText(w io.Writer) error {
	for _, d := range l {
		if _, err := fmt.Fprintln(w, d); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON prints the list as one indented JSON array, never null.
func (l List) WriteJSON(w io.Writer) error {
	if l == nil {
		l = List{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(l)
}
