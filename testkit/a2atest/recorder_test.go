package a2atest_test

import (
	"context"
	"fmt"
	"io"
	"path"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// recorder is a test that keeps what is reported, with the line that the report is for, as testing.T has it.
type recorder struct {
	testing.TB
	ctx context.Context

	mu       sync.Mutex
	helpers  map[string]bool
	reports  []string // "fake_test.go:12: text"
	log      io.Writer
	cleanups []func()
}

// record runs f as a test of its own, and returns what it reported. It ends where f does, or where Fatalf ends it.
func record(t *testing.T, f func(t testing.TB)) []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := &recorder{TB: t, ctx: ctx, helpers: map[string]bool{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	cancel()
	for i := len(r.cleanups) - 1; i >= 0; i-- {
		r.cleanups[i]()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.reports
}

func (r *recorder) Context() context.Context { return r.ctx }
func (r *recorder) Logf(string, ...any)      {}

func (r *recorder) Output() io.Writer {
	if r.log != nil {
		return r.log
	}
	return r.TB.Output()
}

func (r *recorder) Cleanup(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cleanups = append(r.cleanups, f)
}

func (r *recorder) Helper() {
	var pc [1]uintptr
	runtime.Callers(2, pc[:])
	f, _ := runtime.CallersFrames(pc[:]).Next()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.helpers[f.Function] = true
}

func (r *recorder) Errorf(format string, args ...any) {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	r.mu.Lock()
	defer r.mu.Unlock()
	f, more := frames.Next()
	for more && r.helpers[f.Function] {
		f, more = frames.Next()
	}
	r.reports = append(r.reports, fmt.Sprintf("%s:%d: ", path.Base(f.File), f.Line)+fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Helper()
	r.Errorf(format, args...)
	runtime.Goexit()
}

// here is the line of its caller, so many lines further on: "fake_test.go:12".
func here(further int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", path.Base(file), line+further)
}

// wantReports compares reports with texts that they must have.
func wantReports(t *testing.T, got []string, want ...[]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d reports, want %d:\n%s", len(got), len(want), strings.Join(got, "\n"))
		return
	}
	for i, parts := range want {
		for _, part := range parts {
			if !strings.Contains(got[i], part) {
				t.Errorf("report %d has no %q:\n%s", i, part, got[i])
			}
		}
	}
}
