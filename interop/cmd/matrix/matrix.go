package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/interop/internal/desk"
)

// score is how many of the checks that can be made are passed.
func (r *row) score() string { return score(r.results) }

func score(results []desk.Result) string {
	passed, made := 0, 0
	for _, result := range results {
		if result.None != "" {
			continue
		}
		made++
		if result.Fault == "" {
			passed++
		}
	}
	return fmt.Sprintf("%d/%d", passed, made)
}

// matrix is the table of all peers with notes on their faults, in Markdown.
func (r *report) matrix() string {
	var b strings.Builder
	b.WriteString("| peer | direction |")
	for _, s := range all {
		fmt.Fprintf(&b, " %s |", s)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(all)) + "\n")
	n := &notes{}
	for _, p := range peers {
		for _, direction := range []string{theirClient, ourCalls} {
			r.line(&b, n, p.name, direction)
		}
	}
	for _, why := range r.left {
		fmt.Fprintf(&b, "\n%s\n", why)
	}
	n.print(&b)
	return b.String()
}

// admissions is the table of who gets into which agent, as matrix. A cell has all versions and bindings.
func (r *report) admissions() string {
	var b strings.Builder
	columns := []string{cardForm}
	for _, s := range schemes {
		columns = append(columns, s.name)
	}
	b.WriteString("| client | " + strings.Join(columns, " | ") + " |\n|---|" + strings.Repeat("---|", len(columns)) + "\n")
	n := &notes{}
	for _, p := range peers {
		if p.caller == nil {
			continue
		}
		fmt.Fprintf(&b, "| %s |", p.name)
		for _, c := range columns {
			fmt.Fprintf(&b, " %s |", r.cell(n, p.name, c))
		}
		b.WriteString("\n")
	}
	n.print(&b)
	return b.String()
}

// cell is the score of a peer in one direction, over all that it speaks.
func (r *report) cell(n *notes, peer, direction string) string {
	var results []desk.Result
	var rows []*row
	for i := range r.rows {
		if row := &r.rows[i]; row.peer == peer && row.direction == direction {
			rows, results = append(rows, row), append(results, row.results...)
		}
	}
	if rows == nil {
		return "–"
	}
	return score(results) + n.of(rows...)
}

// line is one line of the table, if there is something to tell.
func (r *report) line(b *strings.Builder, n *notes, peer, direction string) {
	cells, some := "", false
	for _, s := range all {
		cell := "–"
		for i := range r.rows {
			if row := &r.rows[i]; row.peer == peer && row.direction == direction && row.spoken == s {
				cell, some = row.score()+n.of(row), true
			}
		}
		cells += " " + cell + " |"
	}
	if some {
		fmt.Fprintf(b, "| %s | %s |%s\n", peer, direction, cells)
	}
}

// notes numbers what is to say about rows.
type notes struct{ lines []string }

// of returns the numbers of the notes on rows.
func (n *notes) of(rows ...*row) string {
	byWhy, order := map[string][]string{}, []string{}
	for _, r := range rows {
		for _, result := range r.results {
			why := whyOf(r, result)
			if why == "" {
				continue
			}
			if byWhy[why] == nil {
				order = append(order, why)
			}
			if !slices.Contains(byWhy[why], result.Check) {
				byWhy[why] = append(byWhy[why], result.Check)
			}
		}
	}
	var numbers []string
	for _, why := range order {
		line := fmt.Sprintf("%s: %s", strings.Join(byWhy[why], ", "), why)
		i := slices.Index(n.lines, line)
		if i < 0 {
			i, n.lines = len(n.lines), append(n.lines, line)
		}
		numbers = append(numbers, fmt.Sprint(i+1))
	}
	if numbers == nil {
		return ""
	}
	return " (" + strings.Join(numbers, ", ") + ")"
}

// print lists them.
func (n *notes) print(b *strings.Builder) {
	if len(n.lines) > 0 {
		b.WriteString("\n")
	}
	for i, line := range n.lines {
		fmt.Fprintf(b, "%d. %s\n", i+1, line)
	}
}

// judge is an error for every failure that is not a known fault, and for every known fault that is gone.
func (r *report) judge() error {
	var errs []error
	used := make([]bool, len(faults))
	visited := map[string]bool{}
	for i := range r.rows {
		row := &r.rows[i]
		visited[row.peer] = true
		for _, result := range row.results {
			if result.Fault == "" {
				continue
			}
			if f := known(row, result.Check); f >= 0 {
				used[f] = true
				continue
			}
			errs = append(errs, fmt.Errorf("%s, %s, %s: %s: %s", row.peer, row.direction, row.spoken, result.Check, result.Fault))
		}
	}
	for i, f := range faults {
		if !used[i] && visited[f.peer] {
			errs = append(errs, fmt.Errorf("%s has mended this, delete it from faults.go: %s", f.peer, f.why))
		}
	}
	return errors.Join(errs...)
}

// known is the index of the fault that a failed check shows, or -1.
func known(r *row, check string) int {
	return slices.IndexFunc(faults, func(f fault) bool { return f.excuses(r, check) })
}

// Where tables stand in documents.
const matrixPlace, admissionsPlace, conformancePlace = "matrix", "admissions", "findings"

// write puts tables into a document.
func (r *report) write(path string, tables map[string]string) error {
	if len(r.left) > 0 {
		return fmt.Errorf("%s is not written: %s", path, strings.Join(r.left, "; "))
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	doc := string(text)
	for place, table := range tables {
		begin, end := "<!-- "+place+" -->\n", "<!-- end of the "+place+" -->\n"
		before, rest, ok := strings.Cut(doc, begin)
		_, after, ok2 := strings.Cut(rest, end)
		if !ok || !ok2 {
			return fmt.Errorf("%s has no place for the %s", path, place)
		}
		doc = before + begin + "\n" + table + "\n" + end + after
	}
	return os.WriteFile(path, []byte(doc), 0o644)
}

// whyOf is what is to say about a check that was not passed.
func whyOf(r *row, result desk.Result) string {
	if result.None != "" {
		return "not there: " + result.None
	}
	if result.Fault == "" {
		return ""
	}
	if f := known(r, result.Check); f >= 0 {
		return faults[f].why
	}
	return result.Fault
}
