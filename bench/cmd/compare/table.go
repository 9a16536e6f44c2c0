package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"
)

// row is one line of the table.
type row struct {
	work   string
	cells  []string // by column
	target string
}

// none fills a cell that has nothing to say.
const none = "–"

func newRow(work string) row {
	return row{work: work, cells: slices.Repeat([]string{none}, columns)}
}

// aim sets the row's target: got should not be above most.
func (r *row) aim(got, most float64, unit string) {
	r.target = fmt.Sprintf("≤ %g%s %s", most, unit, verdict(got <= most))
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "**missed**"
}

// write prints the rows as one Markdown table.
func write(b *bytes.Buffer, columns []string, rows []row) {
	b.WriteString("\n| work | " + strings.Join(columns, " | ") + " | target |\n|---|" + strings.Repeat("---|", len(columns)+1) + "\n")
	for _, r := range rows {
		b.WriteString("| " + r.work + " | " + strings.Join(r.cells, " | ") + " | " + r.target + " |\n")
	}
}

// ratioRow shows CPU time as a ratio to the bare handler's, median and range over the rounds.
func ratioRow(work, unit string, c cost, most float64) row {
	r := newRow(work)
	base := c.time[colBare]
	for col, s := range c.time {
		if len(s) == 0 {
			continue
		}
		over := s.over(base)
		r.cells[col] = spread(over, short)
	}
	r.cells[colBare] = fmt.Sprintf("1 (%s per %s)", duration(base.median()), unit)
	if c.writes[colA2Agen] > 0 {
		r.work += fmt.Sprintf("; writes an event: %s", each(c.writes))
	}
	if most > 0 {
		r.aim(c.time[colA2Agen].over(base).median(), most, "")
	}
	return r
}

// percentileRow compares a percentile of all waits.
func percentileRow(work string, waits []series, share, most float64) row {
	r := newRow(work)
	base := waits[colBare].percentile(share)
	for col, s := range waits {
		if len(s) > 0 {
			r.cells[col] = short(s.percentile(share) / base)
		}
	}
	r.cells[colBare] = fmt.Sprintf("1 (%s)", duration(base))
	if most > 0 {
		r.aim(waits[colA2Agen].percentile(share)/base, most, "")
	}
	return r
}

// spread shows a median and, of several measurements, the least and the most.
func spread(s series, show func(float64) string) string {
	sorted := s.sorted()
	if len(sorted) == 1 {
		return show(sorted[0])
	}
	return fmt.Sprintf("%s (%s–%s)", show(s.median()), show(sorted[0]), show(sorted[len(sorted)-1]))
}

func each(values []float64) string {
	var list []string
	for _, v := range values {
		list = append(list, fmt.Sprintf("%.2f", v))
	}
	return strings.Join(list, " / ")
}

// timeRow shows times in nanoseconds, median and range. The target is most milliseconds on a machine where the bare
// handler takes bare milliseconds; 0 sets no target.
func timeRow(work string, took []series, most, bare float64) row {
	r := newRow(work)
	for col, s := range took {
		if len(s) > 0 {
			r.cells[col] = spread(s, duration)
		}
	}
	if most > 0 {
		ours, base := took[colA2Agen].median()/1e6, took[colBare].median()/1e6
		r.target = fmt.Sprintf("≤ %g ms (%.2f × bare) %s", most, most/bare, reached(ours <= most, ours/base <= most/bare))
	}
	return r
}

// reached is the verdict on a target that was set as an absolute figure on another machine, where the same figure was
// known of a peer: on a slower machine the ratio counts.
func reached(absolute, ratio bool) string {
	if ratio && !absolute {
		return "met as a ratio"
	}
	return verdict(absolute)
}

func sizeRow(work string, bytes []float64, most float64) row {
	r := newRow(work)
	for col, n := range bytes {
		if n == 0 {
			continue
		}
		r.cells[col] = fmt.Sprintf("%.0f kB", n/1000)
	}
	if most > 0 {
		r.aim(bytes[colA2Agen]/1000, most, " kB")
	}
	return r
}

// short prints a number with three digits.
func short(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// duration prints nanoseconds with three digits.
func duration(ns float64) string {
	switch d := time.Duration(ns); {
	case d >= time.Second:
		return short(ns/1e9) + " s"
	case d >= time.Millisecond:
		return short(ns/1e6) + " ms"
	}
	return short(ns/1e3) + " µs"
}
