package server

import (
	"io"
	"log/slog"
	"strconv"
	"sync"
	"time"
)

// logHandler is the handler of a [Logger]: one of slog, and beside it a shorter way for the lines of calls, of which a
// busy agent has many. Those have the same form, but are written together.
type logHandler struct {
	slog.Handler // writes to lines
	json         bool
	lines        logLines
}

// LogCall logs the line of a call, at level info: a message and attributes that are texts, or times that something
// took. It reports false, and has done nothing, if some of them are more than that or have characters to be escaped.
func (h *logHandler) LogCall(at time.Time, message string, attrs []slog.Attr) bool {
	for i := range attrs {
		if k := attrs[i].Value.Kind(); k != slog.KindDuration && (k != slog.KindString || !isPlain(attrs[i].Value.String())) {
			return false
		}
	}
	l := &h.lines
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.json {
		l.object(at, message, attrs)
	} else {
		l.text(at, message, attrs)
	}
	switch {
	case len(l.waiting) >= linesTogether:
		l.writeAll()
	case l.timer == nil:
		l.timer, l.timed = time.AfterFunc(longestWait, l.flush), true
	case !l.timed:
		l.timer.Reset(longestWait)
		l.timed = true
	}
	return true
}

// isPlain reports whether a text stands in a line as it is.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || c == '"' || c == '=' || c == '\\' {
			return false
		}
	}
	return s != ""
}

// How long a line of a call waits for others, at most, and how many bytes are written together.
const (
	longestWait   = 50 * time.Millisecond
	linesTogether = 16 << 10
)

// logLines are written in the order in which they come.
type logLines struct {
	to io.Writer

	mu      sync.Mutex
	waiting []byte      // lines of calls, whole ones
	timer   *time.Timer // which writes them; nil: there have been none
	timed   bool        // the timer runs

	second     int64  // since 1970, of which date and zone are
	date, zone []byte // of the last line
}

// Write writes a line, and those that wait before it.
func (l *logLines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, line...)
	return len(line), l.writeAll()
}

// flush writes the lines that wait.
func (l *logLines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timed = false
	_ = l.writeAll()
}

// writeAll is flush for callers that hold mu.
func (l *logLines) writeAll() error {
	if len(l.waiting) == 0 {
		return nil
	}
	_, err := l.to.Write(l.waiting)
	if l.waiting = l.waiting[:0]; cap(l.waiting) > 2*linesTogether {
		l.waiting = nil
	}
	return err
}

// text appends a line as slog.TextHandler writes it. Callers must hold mu.
func (l *logLines) text(at time.Time, message string, attrs []slog.Attr) {
	l.setSecond(at)
	milli := at.Nanosecond() / 1e6
	b := append(append(l.waiting, "time="...), l.date...)
	b = append(b, '.', '0'+byte(milli/100), '0'+byte(milli/10%10), '0'+byte(milli%10))
	b = append(append(append(b, l.zone...), " level=INFO msg="...), message...)
	for i := range attrs {
		b = append(append(append(b, ' '), attrs[i].Key...), '=')
		if v := &attrs[i].Value; v.Kind() == slog.KindDuration {
			b = append(b, v.Duration().String()...)
		} else {
			b = append(b, v.String()...)
		}
	}
	l.waiting = append(b, '\n')
}

// object appends a line as slog.JSONHandler writes it. Callers must hold mu.
func (l *logLines) object(at time.Time, message string, attrs []slog.Attr) {
	l.setSecond(at)
	b := append(append(l.waiting, `{"time":"`...), l.date...)
	if nano := at.Nanosecond(); nano > 0 {
		b = strconv.AppendInt(b, int64(1e9+nano), 10)
		b[len(b)-10] = '.' // in the place of the one that keeps the zeros after it
		for b[len(b)-1] == '0' {
			b = b[:len(b)-1]
		}
	}
	b = append(append(append(b, l.zone...), `","level":"INFO","msg":"`...), message...)
	b = append(b, '"')
	for i := range attrs {
		b = append(append(append(b, `,"`...), attrs[i].Key...), `":`...)
		if v := &attrs[i].Value; v.Kind() == slog.KindDuration {
			b = strconv.AppendInt(b, int64(v.Duration()), 10)
		} else {
			b = append(append(append(b, '"'), v.String()...), '"')
		}
	}
	l.waiting = append(b, "}\n"...)
}

// setSecond makes date and zone those of a time: once a second. Callers must hold mu.
func (l *logLines) setSecond(at time.Time) {
	if second := at.Unix(); second != l.second || l.date == nil {
		l.second = second
		l.date, l.zone = at.AppendFormat(l.date[:0], "2006-01-02T15:04:05"), at.AppendFormat(l.zone[:0], "Z07:00")
	}
}
