package timeline

import (
	"strings"
	"testing"
	"time"
)

// TestEventsAreBarsOnOneAxis each until the next; what has no time happens when the one before does.
func TestEventsAreBarsOnOneAxis(t *testing.T) {
	at := func(ms int) time.Time { return time.UnixMilli(int64(ms)) }
	var b strings.Builder
	err := Write(&b, []Row{
		{Seq: 1, State: "submitted", Bytes: 10, Words: "user: hi"},
		{Seq: 2, At: at(100), State: "working", Bytes: 5},
		{Seq: 3, Bytes: 7, Words: "artifact a: x"},
		{Seq: 4, At: at(1100), State: "completed", Bytes: 5},
		{Seq: 5, At: at(1000), Bytes: 5},
	}, at(2100))
	want := `1  +0 ms   |●                             |  submitted  10 B  user: hi
2  +0 ms   |●                             |  working    5 B
3  +0 ms   |●━━━━━━━━━━━━━━               |             7 B  artifact a: x
4  +1.0 s  |               ●              |  completed  5 B
5  +1.0 s  |               ●━━━━━━━━━━━━━━|             5 B
`
	if err != nil || trim(b.String()) != want {
		t.Errorf("%v\n%s", err, b.String())
	}
	b.Reset()
	if err := Write(&b, nil, time.Time{}); err != nil || b.String() != "no events\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	b.Reset()
	if err := Write(&b, []Row{{At: at(1), Words: "x"}}, time.Time{}); err != nil || !strings.Contains(b.String(), "+0 ms  |●") {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func trim(s string) string {
	var lines []string
	for l := range strings.Lines(s) {
		lines = append(lines, strings.TrimRight(l, " \n"))
	}
	return strings.Join(lines, "\n") + "\n"
}
