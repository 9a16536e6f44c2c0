package audit

import (
	"bytes"
	"os"
	"time"
)

// Writing to the file. Callers of the functions here must hold Log.mu.

// keepBuffer is up to which size the memory of lines is kept.
const keepBuffer = 64 << 10

// flush writes the waiting lines, if it is time to try.
func (l *Log) flush() {
	if !l.due() {
		return
	}
	err := l.write()
	if failing := err != nil; failing != l.failing.Swap(failing) {
		if failing {
			l.logger.Error("the audit log cannot be written, trying again", "error", err, "calls_are_refused", !l.lenient)
		} else {
			l.logger.Info("the audit log can be written again", "path", l.path)
		}
	}
}

// due reports whether to write now: always, unless that failed a moment ago. From time to time, and after SIGHUP, it
// checks whether the file still has its name.
func (l *Log) due() bool {
	now := time.Now()
	look := now.Sub(l.looked) >= l.every
	select {
	case <-l.hangups:
		look = true
		l.shut()
	default:
	}
	if look {
		l.looked = now
		if info, err := os.Stat(l.path); l.file != nil && (err != nil || !os.SameFile(info, l.info)) {
			l.shut()
		}
	}
	return look || !l.failing.Load()
}

// write writes the waiting lines.
func (l *Log) write() error {
	if l.file == nil {
		if err := l.open(); err != nil {
			return err
		}
	}
	for l.written < len(l.waiting) {
		n, err := l.file.Write(l.waiting[l.written:])
		l.written += n
		if err != nil {
			return err
		}
	}
	l.waiting, l.written = l.waiting[:0], 0
	if cap(l.waiting) > keepBuffer {
		l.waiting = nil
	}
	return nil
}

// open opens the file, or a new one in its place.
func (l *Log) open() error {
	f, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if l.info, err = f.Stat(); err != nil {
		_ = f.Close()
		return err
	}
	l.file = f
	return nil
}

// shut closes a file that was moved away. A line that it has in part is written to the next one as a whole.
func (l *Log) shut() {
	if l.file != nil {
		_ = l.file.Close() // what was written is the system's
		l.file = nil
	}
	l.waiting = l.waiting[bytes.LastIndexByte(l.waiting[:l.written], '\n')+1:]
	l.written = 0
}
