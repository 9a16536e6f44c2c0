package server

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"
)

// FuzzLinesOfCalls holds the short way of the lines of calls to what slog writes, byte for byte.
func FuzzLinesOfCalls(f *testing.F) {
	f.Add(int64(1777887000961000000), 0, "SendMessage", "6f9c-01", "https://a.example|ann", int64(843000000))
	f.Add(int64(1777887000000000000), 19800, "", "a b", "ä", int64(0))
	f.Add(int64(1), -3600, "a=b", `"\`, "<&>\x7f\x80", int64(-1))
	f.Add(int64(1777887000000120000), 3601, "{}[],:'", "~!", "\n", int64(1500))
	f.Fuzz(func(t *testing.T, at int64, east int, a, b, c string, took int64) {
		when := time.Unix(0, at).In(time.FixedZone("", east%86400))
		attrs := []slog.Attr{slog.String("operation", a), slog.String("task", b), slog.String("caller", c), slog.Duration("took", time.Duration(took))}
		for _, words := range []string{"", "json"} {
			var got, want bytes.Buffer
			log := newLogger(&got, words).Handler().(*logHandler)
			taken := log.LogCall(when, "request", attrs)
			log.lines.flush()
			var std slog.Handler = slog.NewTextHandler(&want, nil)
			if words == "json" {
				std = slog.NewJSONHandler(&want, nil)
			}
			r := slog.NewRecord(when, slog.LevelInfo, "request", 0)
			r.AddAttrs(attrs...)
			if err := std.Handle(context.Background(), r); err != nil {
				t.Fatal(err)
			}
			if plain := isPlain(a) && isPlain(b) && isPlain(c); taken != plain {
				t.Errorf("taken: %v", taken)
			}
			if taken && got.String() != want.String() || !taken && got.Len() > 0 {
				t.Errorf("got  %swant %s", &got, &want)
			}
		}
	})
}

// Lines of calls wait for the next other line, which comes after them, for 50 ms, or for a page full of them.
func TestLinesOfCallsAreWrittenTogether(t *testing.T) {
	var out lines
	log := newLogger(&out, "")
	h := log.Handler().(*logHandler)
	call := func(task string) {
		if !h.LogCall(time.Now(), "request", []slog.Attr{slog.String("task", task)}) {
			t.Fatal("it does not take the line")
		}
	}
	call("1")
	call("2")
	if got := out.String(); got != "" {
		t.Errorf("at once: %s", got)
	}
	log.With("more", true).Info("three")
	tasks := func() (all []string) {
		for line := range strings.Lines(out.String()) {
			all = append(all, line[strings.Index(line, "msg="):len(line)-1])
		}
		return all
	}
	if got := strings.Join(tasks(), "; "); got != "msg=request task=1; msg=request task=2; msg=three more=true" {
		t.Errorf("with the next line: %s", got)
	}
	for range 3 { // the timer runs again and again, and not when there is nothing to write
		n := len(tasks())
		call("4")
		waitFor(t, "the line is written", func() bool { return len(tasks()) == n+1 })
		h.lines.mu.Lock()
		if h.lines.timed {
			t.Error("the timer runs on")
		}
		h.lines.mu.Unlock()
	}
	long := strings.Repeat("x", linesTogether)
	call(long)
	if got := tasks(); !strings.HasSuffix(got[len(got)-1], long) {
		t.Error("what is long enough is not written at once")
	}
}

// Nothing is lost or cut when many write at once.
func TestLinesOfCallsAndOthersAreWhole(t *testing.T) {
	var out lines
	log := newLogger(&out, "json")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 500 {
				if i%10 == 0 {
					log.Info("other")
				}
				log.Handler().(*logHandler).LogCall(time.Now(), "request", []slog.Attr{slog.String("task", "1")})
			}
		})
	}
	all.Wait()
	log.Handler().(*logHandler).lines.flush()
	calls, others := 0, 0
	for line := range strings.Lines(out.String()) {
		switch {
		case strings.HasSuffix(line, `"msg":"request","task":"1"}`+"\n") && strings.HasPrefix(line, `{"time":"`):
			calls++
		case strings.HasSuffix(line, `"msg":"other"}`+"\n") && strings.HasPrefix(line, `{"time":"`):
			others++
		default:
			t.Errorf("a line: %s", line)
		}
	}
	if calls != 8*500 || others != 8*50 {
		t.Errorf("%d and %d lines", calls, others)
	}
}

// A line of a call: less than half a microsecond.
func BenchmarkLineOfACall(b *testing.B) {
	for _, words := range []string{"text", "json"} {
		b.Run(words, func(b *testing.B) {
			h := newLogger(nowhere{}, words).Handler().(*logHandler)
			b.ReportAllocs()
			for b.Loop() {
				attrs := append(make([]slog.Attr, 0, 10), slog.String("operation", "SendMessage"), slog.String("skill", "talk"),
					slog.String("task", "0198f7f4-5f4e-7a0e-8d3b-6a5f2b1c9d3e"), slog.String("state", "completed"), slog.String("outcome", "ok"),
					slog.Duration("took", 123456*time.Nanosecond))
				h.LogCall(time.Now(), "request", attrs)
			}
			b.StopTimer()
			h.lines.flush()
		})
	}
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
