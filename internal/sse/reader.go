// Package sse reads and writes server-sent events (WHATWG HTML, "Server-sent events"; A2A 1.0 §9.4.2), for the runtime and
// the test kit.
//
// The writer appends framed events to a buffer of the caller's. The reader turns any byte stream into events: line ends
// LF, CR and CRLF, a byte order mark, comments, several data lines, ids, retry times, lines of any length up to the
// limit of an event. It differs from the standard in one point: an event at the end of the stream whose blank line is
// missing is delivered, marked [Event.Unfinished], because servers are known to forget it.
package sse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// DefaultMaxEvent is the largest event a [Reader] takes unless told otherwise, in bytes with its framing: 16 MiB.
const DefaultMaxEvent = 16 << 20

// LeastBetween is how much a [Reader] takes between two events however small its limit is, in bytes: heartbeats add up.
const LeastBetween = 1 << 20

// ErrTooLong is the error for an event larger than the reader's limit.
var ErrTooLong = errors.New("event too long")

// ErrNoEvent is the error for a row of comments and fields without data that is longer than the reader's limit of an
// event, and [LeastBetween].
var ErrNoEvent = errors.New("no event")

const (
	firstBuffer = 4 << 10 // also the smallest read
	keepBuffer  = 1 << 20 // a larger buffer is let go once its event is done
	maxEmpty    = 100     // reads in a row that return nothing before the source counts as broken
	maxID       = 1 << 10 // bytes; it is kept with every event and goes into a header
)

// Event is one event. Its slices belong to the reader and are valid until the next call of Next.
type Event struct {
	ID   []byte // the stream's last event id: this event's own, else that of an earlier one; empty without, or when over 1 KiB
	Name []byte // event field; empty means "message"
	Data []byte // data lines joined with LF
	Size int    // bytes read for it, with its framing and all between it and the event before
	// Unfinished: the stream ended (with a clean EOF) before the blank line that closes an event. Usually the server
	// forgot the line; it may also be a cut event, which shows as data that does not parse.
	Unfinished bool
}

// Reader reads events from a stream. It is not safe for concurrent use.
type Reader struct {
	src io.Reader
	max int
	err error // sticky error of src

	// buf[event:end] are the bytes of the event being read, of which buf[event:pos] are parsed. Data lines are joined
	// in place: fields shrink by their name, so that data[0]:data[1] never overtakes pos.
	buf             []byte
	event, pos, end int
	skipped         int // bytes since the event before that are part of none
	lf              int // no LF in buf[pos:lf]; buf[lf] is one when lf < end
	data            span
	skipLF          bool // the line before ended with CR: an LF directly after it belongs to that line end
	started         bool // the byte order mark is behind us

	name       []byte // event field of the event being read
	id, lastID []byte // id buffer and last dispatched id
	retry      time.Duration
}

var colon = []byte{':'}

// span is a range of Reader.buf.
type span struct {
	from, to int
	set      bool
}

// NewReader returns a reader of src that refuses events over max bytes, and as many bytes ([LeastBetween] at least)
// without any event; max ≤ 0 means [DefaultMaxEvent].
func NewReader(src io.Reader, max int) *Reader {
	if max <= 0 {
		max = DefaultMaxEvent
	}
	return &Reader{src: src, max: max}
}

// Resume sets the last event id before the first event, as when the stream continues one that broke.
func (r *Reader) Resume(lastID string) {
	r.id, r.lastID = []byte(lastID), []byte(lastID)
}

// Retry returns the reconnection time the server asked for, zero when it did not.
func (r *Reader) Retry() time.Duration { return r.retry }

// Next returns the next event. At the end of the stream it returns io.EOF, for an event over the limit an error that
// wraps [ErrTooLong], for more bytes than that without an event one that wraps [ErrNoEvent], otherwise the error of the
// source. A source error drops the event being read.
func (r *Reader) Next() (Event, error) {
	r.begin()
	for {
		line, err := r.line()
		if err == io.EOF {
			return r.finish()
		}
		if err != nil {
			return Event{}, err
		}
		if r.pos-r.event > r.max {
			return Event{}, r.giveUp(ErrTooLong, r.max)
		}
		if len(line) > 0 {
			r.field(line)
		} else if e, ok := r.dispatch(); ok {
			return e, nil
		}
		if !r.data.set { // nothing worth keeping: a long row of comments takes no room
			r.skipped += r.pos - r.event
			r.event = r.pos
		}
		if limit := max(r.max, LeastBetween); r.skipped > limit {
			return Event{}, r.giveUp(ErrNoEvent, limit)
		}
	}
}

// begin forgets the event delivered before.
func (r *Reader) begin() {
	r.name, r.data = r.name[:0], span{}
	r.event, r.skipped = r.pos, 0
	if r.pos == r.end && cap(r.buf) > keepBuffer {
		r.buf, r.event, r.pos, r.end, r.lf = nil, 0, 0, 0, 0
	}
}

// dispatch handles a blank line. It reports false when there is no data, which is no event.
func (r *Reader) dispatch() (Event, bool) {
	r.lastID = append(r.lastID[:0], r.id...)
	if !r.data.set {
		r.name = r.name[:0]
		return Event{}, false
	}
	return Event{ID: r.lastID, Name: r.name, Data: r.buf[r.data.from:r.data.to], Size: r.skipped + r.pos - r.event}, true
}

// finish delivers the event that the end of the stream left without a blank line.
func (r *Reader) finish() (Event, error) {
	if r.end-r.event > r.max {
		return Event{}, r.giveUp(ErrTooLong, r.max)
	}
	if r.pos < r.end { // the last line has no line end either
		line := r.buf[r.pos:r.end]
		r.pos = r.end
		r.field(r.trimBOM(line))
	}
	if !r.data.set {
		return Event{}, io.EOF
	}
	e, _ := r.dispatch()
	e.Unfinished = true
	return e, nil
}

// field handles a line that is not blank; it ends before r.pos.
func (r *Reader) field(line []byte) {
	name, value, _ := bytes.Cut(line, colon)
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(name) {
	case "data":
		r.addData(value)
	case "event":
		r.name = append(r.name[:0], value...)
	case "id":
		if len(value) > maxID { // nothing can be resumed by it
			value = nil
		}
		if bytes.IndexByte(value, 0) < 0 {
			r.id = append(r.id[:0], value...)
		}
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			r.retry = time.Duration(ms) * time.Millisecond
		}
	}
}

// addData joins value to the data so far. value lies behind it in the buffer, by at least the name of its field.
func (r *Reader) addData(value []byte) {
	if !r.data.set {
		r.data = r.spanOf(value)
		return
	}
	r.buf[r.data.to] = '\n' // a line end was here at the latest
	r.data.to += 1 + copy(r.buf[r.data.to+1:], value)
}

// spanOf locates a value that is a part of the buffer.
func (r *Reader) spanOf(value []byte) span {
	if len(value) == 0 {
		return span{r.pos, r.pos, true}
	}
	from := cap(r.buf) - cap(value)
	return span{from, from + len(value), true}
}

// line returns the next line without its end, and io.EOF when the rest of the stream holds no line end.
func (r *Reader) line() ([]byte, error) {
	for {
		if r.skipLF && r.pos < r.end {
			if r.buf[r.pos] == '\n' {
				r.pos++
			}
			r.skipLF = false
		}
		if n := r.lineEnd(); n >= 0 {
			line := r.buf[r.pos:n]
			r.skipLF = r.buf[n] == '\r'
			r.pos = n + 1
			return r.trimBOM(line), nil
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// lineEnd returns the index of the first line end at or after pos, or -1. Every byte is looked at twice at most,
// however the stream mixes its line ends: r.lf remembers the search for LF.
func (r *Reader) lineEnd() int {
	if r.lf < r.pos {
		r.lf = r.pos
	}
	if r.lf == r.end || r.buf[r.lf] != '\n' {
		if i := bytes.IndexByte(r.buf[r.lf:r.end], '\n'); i >= 0 {
			r.lf += i
		} else {
			r.lf = r.end
		}
	}
	if i := bytes.IndexByte(r.buf[r.pos:r.lf], '\r'); i >= 0 {
		return r.pos + i
	}
	if r.lf < r.end {
		return r.lf
	}
	return -1
}

// fill reads more bytes behind the event, moving it to the front of the buffer or growing the buffer as needed.
func (r *Reader) fill() error {
	if r.err != nil {
		return r.err
	}
	if r.end-r.event > r.max {
		return r.giveUp(ErrTooLong, r.max)
	}
	r.makeRoom()
	for range maxEmpty {
		n, err := r.src.Read(r.buf[r.end:cap(r.buf)])
		r.end += n
		if err != nil {
			r.err = err
		}
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	r.err = io.ErrNoProgress
	return r.err
}

// makeRoom makes sure that there is room for at least one byte behind the event.
func (r *Reader) makeRoom() {
	if r.end < cap(r.buf) && r.event < cap(r.buf)/2 {
		return
	}
	dst := r.buf[:cap(r.buf)]
	if size := r.end - r.event; size > cap(r.buf)/2 || cap(r.buf) == 0 {
		dst = make([]byte, max(firstBuffer, 2*cap(r.buf)))
	}
	copy(dst, r.buf[r.event:r.end])
	r.buf = dst
	r.pos, r.end, r.lf = r.pos-r.event, r.end-r.event, r.lf-r.event
	r.data.from, r.data.to = r.data.from-r.event, r.data.to-r.event
	r.event = 0
}

// giveUp ends the stream: what follows an event that was given up cannot be trusted to begin a new one.
func (r *Reader) giveUp(why error, limit int) error {
	r.pos, r.err = r.end, fmt.Errorf("%w: over %d bytes", why, limit)
	return r.err
}

// trimBOM removes a byte order mark from the first line of the stream.
func (r *Reader) trimBOM(line []byte) []byte {
	if !r.started {
		r.started = true
		return bytes.TrimPrefix(line, []byte("\uFEFF"))
	}
	return line
}
