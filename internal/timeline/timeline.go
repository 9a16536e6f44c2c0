// Package timeline prints what happened to a task as bars on one axis of time, for a terminal.
package timeline

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Row is an event.
type Row struct {
	Seq   int64     // 0: not known
	At    time.Time // zero: not known; it is that of the event before then
	State string    // of the task, from then on; "" if that stays
	Bytes int
	Words string // what it says, on one line
}

// axis is how wide the bars may be, in characters.
const axis = 30

// Write prints rows in their order: number, time after the first, bar until the next, state, size, words. end is until
// when the last one lasts; zero: it does not.
func Write(out io.Writer, rows []Row, end time.Time) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(out, "no events")
		return err
	}
	fill(rows)
	first := rows[0].At
	last := rows[len(rows)-1].At
	if end.After(last) {
		last = end
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, r := range rows {
		until := last
		if i+1 < len(rows) {
			until = rows[i+1].At
		}
		seq := ""
		if r.Seq > 0 {
			seq = fmt.Sprint(r.Seq)
		}
		line := []string{seq, "+" + short(r.At.Sub(first)), bar(r.At.Sub(first), until.Sub(r.At), last.Sub(first)), r.State, fmt.Sprintf("%d B", r.Bytes), r.Words}
		if _, err := fmt.Fprintln(table, strings.TrimRight(strings.Join(line, "\t"), "\t")); err != nil {
			return err
		}
	}
	return table.Flush()
}

// fill gives rows without a time that of the one before, or, at the beginning, after. No row is before the one above.
func fill(rows []Row) {
	var at time.Time
	for _, r := range rows {
		if !r.At.IsZero() {
			at = r.At
			break
		}
	}
	for i := range rows {
		if rows[i].At.Before(at) {
			rows[i].At = at
		}
		at = rows[i].At
	}
}

// bar is a line that begins and lasts, of a whole.
func bar(begin, lasts, whole time.Duration) string {
	from, length := 0, 1
	if whole > 0 {
		from = min(axis-1, int(int64(axis)*begin.Microseconds()/max(1, whole.Microseconds())))
		length = max(1, int(int64(axis)*lasts.Microseconds()/max(1, whole.Microseconds())))
	}
	length = min(length, axis-from)
	return "|" + strings.Repeat(" ", from) + "●" + strings.Repeat("━", length-1) + strings.Repeat(" ", axis-from-length) + "|"
}

// short is a duration in the unit that suits it.
func short(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}
