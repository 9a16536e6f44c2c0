package fault

import (
	"errors"
	"io"
	"maps"
	"net/http"

	"github.com/a2agen/a2agen/runtime"
)

// body is an answer's body on its way to the caller, through the faults that hit it.
type body struct {
	x        *exchange
	src      io.ReadCloser // from the agent
	out      io.Reader     // the last fault
	length   int64         // in bytes; negative: not known
	scan     func() scanner
	messages bool // of gRPC
	events   *countedEvents
	trailers func() // are the caller's when the body is over
}

// answer has an answer pass through the faults that hit it.
func (x *exchange) answer(from *http.Response) *http.Response {
	resp := *from // the trailer of from may be set while nobody reads
	stream := x.streams(from)
	x.seen.Status = from.StatusCode
	x.in.mu.Lock()
	hits := x.plan(func(f Fault) bool { return f.answer != nil && (stream || !f.events) })
	x.in.mu.Unlock()
	x.in.tellHits(x.request, hits)
	b := &body{
		x: x, src: from.Body, out: from.Body, length: from.ContentLength,
		scan: scannerOf(from), messages: isGRPC(from.Header),
	}
	b.trailers = func() { resp.Trailer = maps.Clone(from.Trailer) }
	for _, h := range hits {
		h.fault.answer(x, b)
	}
	if stream {
		b.events = &countedEvents{frames: b.frames()}
		b.out = b.events
	}
	resp.Body = b
	return &resp
}

// streams reports whether an answer is a stream of events. Over gRPC the operation says it; of one that is not known
// it may be one.
func (x *exchange) streams(resp *http.Response) bool {
	role := runtime.RoleOf(x.seen.Operation)
	known := role == runtime.RoleStream || role == runtime.RoleSubscribe
	return isEvents(resp.Header) || isGRPC(resp.Header) && (known || x.seen.Operation == "")
}

// Read reads what the faults let through.
func (b *body) Read(p []byte) (n int, err error) {
	if n, err = b.out.Read(p); err == io.EOF && !b.x.detached.Load() {
		b.trailers()
	}
	b.x.mu.Lock()
	b.x.seen.Bytes += int64(n)
	if b.events != nil {
		b.x.seen.Events = b.events.n
	}
	b.x.mu.Unlock()
	switch {
	case err == io.EOF:
		b.x.end(nil)
	case err != nil:
		b.x.end(err)
	}
	return n, err
}

// Close ends the request to the agent.
func (b *body) Close() error {
	b.x.release()
	b.x.end(b.unread())
	if b.x.detached.Load() {
		return nil
	}
	return b.src.Close()
}

// unread is the error of an answer whose reader stops before it ended; nil if there is nothing more.
func (b *body) unread() error {
	b.x.mu.Lock()
	defer b.x.mu.Unlock()
	if b.length >= 0 && b.x.seen.Bytes == b.length {
		return nil
	}
	return errClosed
}

// cut breaks the connection on both sides.
func (b *body) cut(fault string) error {
	b.x.release()
	_ = b.src.Close()
	return &Error{fault}
}

// halfClose ends the answer, and takes from the agent what it still writes.
func (b *body) halfClose() error {
	b.x.detach()
	reads := b.x.in.background(func() {
		defer b.x.finish()
		_, _ = io.Copy(io.Discard, b.src)
		_ = b.src.Close()
	})
	if !reads {
		b.x.finish()
		_ = b.src.Close()
	}
	return io.EOF
}

// firstBytes passes on so many bytes, and then what is returned by then.
type firstBytes struct {
	src  io.Reader
	left int
	then func() error
	err  error
}

func (f *firstBytes) Read(p []byte) (int, error) {
	if f.left == 0 && f.err == nil {
		f.err = f.then()
	}
	if f.err != nil {
		return 0, f.err
	}
	n, err := f.src.Read(p[:min(len(p), f.left)])
	f.left -= n
	return n, err
}

// slowPieces is into how many pieces the bytes of a second are divided at least.
const slowPieces = 20

// slowBytes passes on so many bytes in a second.
type slowBytes struct {
	src  io.Reader
	x    *exchange
	rate int
}

func (s *slowBytes) Read(p []byte) (int, error) {
	n, err := s.src.Read(p[:min(len(p), max(1, s.rate/slowPieces))])
	if n == 0 {
		return 0, err
	}
	if late := s.x.wait(secondsOf(n, s.rate)); late != nil {
		return 0, late
	}
	return n, err
}

// afterEvents passes on n events, and then what is returned by then.
func (b *body) afterEvents(n int, then func() error) {
	b.out = &firstEvents{frames: b.frames(), n: n, then: then}
}

// firstEvents passes on so many events, and then what is returned by then.
type firstEvents struct {
	*frames
	n, passed int
	then      func() error
	err       error
}

func (f *firstEvents) Read(p []byte) (int, error) {
	if f.passed == f.n && f.err == nil {
		f.err = f.then()
	}
	if f.err != nil {
		return 0, f.err
	}
	piece, ends, err := f.next(len(p))
	if ends {
		f.passed++
	}
	return copy(p, piece), err
}

// countedEvents counts the events that are passed on.
type countedEvents struct {
	*frames
	n int
}

func (c *countedEvents) Read(p []byte) (int, error) {
	piece, ends, err := c.next(len(p))
	if ends {
		c.n++
	}
	return copy(p, piece), err
}

// eachEvent has each event wait before its end is passed on.
type eachEvent struct {
	*frames
	wait func() error
}

func (e *eachEvent) Read(p []byte) (int, error) {
	piece, ends, err := e.next(len(p))
	if ends {
		if late := e.wait(); late != nil {
			return 0, late
		}
	}
	return copy(p, piece), err
}

// maxKept is the largest event that is kept to be passed on later, in bytes.
const maxKept = 1 << 20

var (
	errKept   = errors.New("the event is over 1 MiB")
	errNumber = errors.New("messages of gRPC have no number by which a client could see that; they pass as they come")
)

// edit is what becomes of one event of a stream.
type edit uint8

const (
	editDrop edit = iota + 1
	editDouble
	editSwap // with the event that follows
)

// editEvent has an edit made of event n.
func (b *body) editEvent(fault string, n int, what edit) {
	if b.messages {
		b.x.problem(fault, errNumber)
		return
	}
	b.out = &editedEvents{frames: b.frames(), n: n, edit: what, problem: func(err error) { b.x.problem(fault, err) }}
}

// editedEvents passes on all events but for event n.
type editedEvents struct {
	*frames
	n       int
	edit    edit
	problem func(error)
	over    int    // events that have ended
	kept    []byte // of event n
	large   bool   // event n is, and passes as it is
	ready   []byte // to be passed on before anything else
	err     error  // after that
}

func (e *editedEvents) Read(p []byte) (int, error) {
	for {
		if len(e.ready) > 0 {
			n := copy(p, e.ready)
			e.ready = e.ready[n:]
			return n, nil
		}
		if e.err != nil {
			return 0, e.err
		}
		piece, ends, err := e.next(len(p))
		edited := e.over == e.n-1
		if ends {
			e.over++
		}
		e.err = err
		e.ready = append(e.ready[:0], piece...)
		if edited {
			e.keep(ends)
		}
		if err != nil || e.edit == editSwap && ends && e.over == e.n+1 {
			e.ready = append(e.ready, e.kept...)
			e.kept = nil
		}
	}
}

// keep does with the piece of event n that is ready what the edit says.
func (e *editedEvents) keep(ends bool) {
	switch {
	case e.large:
	case e.edit == editDrop:
		e.ready = e.ready[:0]
	case len(e.kept)+len(e.ready) > maxKept:
		e.problem(errKept)
		if e.large = true; e.edit == editSwap {
			e.ready = append(e.kept, e.ready...)
		}
		e.kept = nil
	default:
		e.kept = append(e.kept, e.ready...)
		if e.edit == editSwap {
			e.ready = e.ready[:0]
		} else if ends {
			e.ready = append(e.ready, e.kept...)
			e.kept = nil
		}
	}
}
