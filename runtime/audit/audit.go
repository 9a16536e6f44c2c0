// Package audit writes down who did what with an agent: a line of JSON for every call, run and delivery when it is
// over, appended to a file, without contents of messages and without secrets.
//
// A [Log] is an observer, which server.WithAudit gives to a server and client.WithObserver to a client. A line is one
// write: several processes may share a file. It is written after the answer, so that a crash leaves no lines of calls
// in flight, and it is not synced, so that a machine that stops at once may lose the last lines. Lines that cannot be
// written wait in memory, and calls are refused until they are written (see [KeepServing]).
package audit

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/observe"
)

// Limits of a log.
const (
	maxWaiting = 1 << 20 // bytes of lines that could not be written yet
	// How many lines of unknown callers are written in which time, so that wrong credentials do not fill the disk.
	strangers       = 600
	strangersWithin = time.Minute
)

// Option changes a log.
type Option func(*Log)

// KeepServing answers calls also while lines cannot be written. Without it they are refused meanwhile.
func KeepServing() Option { return func(l *Log) { l.lenient = true } }

// WithLogger sets the logger for errors of the file; the default is slog.Default().
func WithLogger(logger *slog.Logger) Option { return func(l *Log) { l.logger = logger } }

// Log is a file to which lines are appended. It is safe for concurrent use.
type Log struct {
	path    string
	lenient bool
	logger  *slog.Logger
	hangups chan os.Signal
	every   time.Duration // how often to check whether the file was moved, or can be written again
	failing atomic.Bool   // lines wait

	mu      sync.Mutex
	file    *os.File // nil: to be opened
	info    os.FileInfo
	looked  time.Time
	waiting []byte // whole lines
	written int    // bytes of them that are in the file: part of a line when the disk was full
	omitted int    // lines that are missing before the next one

	since time.Time // of unknown callers
	n     int
}

// Open opens the file, which is made if it is not there, for its owner alone to read.
func Open(path string, opts ...Option) (*Log, error) {
	l := &Log{path: path, logger: slog.Default(), hangups: make(chan os.Signal, 1), every: time.Second}
	for _, o := range opts {
		o(l)
	}
	if err := l.open(); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	notify(l.hangups)
	return l, nil
}

// Ready reports whether calls may be answered: lines can be written, or need not be.
func (l *Log) Ready() bool {
	if l.lenient || !l.failing.Load() {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flush()
	return !l.failing.Load()
}

// Begin does nothing: a line is written at the end.
func (l *Log) Begin(ctx context.Context, _ *observe.Activity) context.Context { return ctx }

// End writes a line.
func (l *Log) End(_ context.Context, a *observe.Activity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) > maxWaiting || a.Reason == runtime.ErrUnauthenticated.Reason && a.Caller == nil && !l.another(time.Now()) {
		l.omitted++
		return
	}
	l.waiting = appendLine(l.waiting, a, time.Since(a.Begun), l.omitted)
	l.omitted = 0
	l.flush()
}

// another reports whether one more call of an unknown caller is written.
func (l *Log) another(now time.Time) bool {
	if now.Sub(l.since) >= strangersWithin {
		l.since, l.n = now, 0
	}
	l.n++
	return l.n <= strangers
}

// Close writes the waiting lines and closes the file. A later line opens it again.
func (l *Log) Close() error {
	signal.Stop(l.hangups)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looked = time.Time{}
	l.flush()
	if n := len(l.waiting); n > 0 {
		l.logger.Error("the last lines of the audit log could not be written", "path", l.path, "bytes", n, "omitted", l.omitted)
	}
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return f.Close()
}
