package fault

import (
	"errors"
	"io"
	"maps"
	"net/http"

	"github.com/a2agen/a2agen/internal/frames"
	"github.com/a2agen/a2agen/runtime"
)

// body is an answer's body on its way to the caller, through the faults that hit it.
type body struct {
	x        *exchange
	src      io.ReadCloser // from the agent
	next     pieces        // what the last fault lets through
	length   int64         // in bytes; negative: not known
	messages bool          // of gRPC
	stream   bool
	trailers func() // are the caller's when the body is over
}

// answer has an answer pass through the faults that hit it.
func (x *exchange) answer(from *http.Response) *http.Response {
	resp := *from // the trailer of from may be set while nobody reads
	grpc := frames.IsGRPC(from.Header)
	b := &body{x: x, src: from.Body, length: from.ContentLength, messages: grpc, stream: x.streams(from)}
	b.next = cut(from.Body, frames.Scanner{GRPC: grpc})
	b.trailers = func() { resp.Trailer = maps.Clone(from.Trailer) }
	x.seen.Status = from.StatusCode
	x.in.mu.Lock()
	hits := x.plan(func(f Fault) bool { return f.answer != nil && (b.stream || !f.events) })
	x.in.mu.Unlock()
	x.in.reportHits(x.request, hits)
	for _, h := range hits {
		h.fault.answer(x, b)
	}
	resp.Body = b
	return &resp
}

// streams reports whether an answer is a stream of events. Over gRPC the operation says it; of one that is not known
// it may be one.
func (x *exchange) streams(resp *http.Response) bool {
	role := runtime.RoleOf(x.seen.Operation)
	known := role == runtime.RoleStream || role == runtime.RoleSubscribe
	return frames.IsServerSent(resp.Header) || frames.IsGRPC(resp.Header) && (known || x.seen.Operation == "")
}

// Read reads what the faults let through.
func (b *body) Read(p []byte) (n int, err error) {
	if len(p) == 0 {
		return 0, nil
	}
	piece, ends, err := b.next(len(p))
	n = copy(p, piece)
	if err == io.EOF && !b.x.detached.Load() {
		b.trailers()
	}
	b.x.mu.Lock()
	b.x.seen.Bytes += int64(n)
	if ends && b.stream {
		b.x.seen.Events++
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
	b.x.mu.Lock()
	whole := b.length >= 0 && b.x.seen.Bytes == b.length
	b.x.mu.Unlock()
	if whole {
		b.x.end(nil)
	} else {
		b.x.end(errClosed)
	}
	if b.x.detached.Load() {
		return nil
	}
	return b.src.Close()
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

// upTo passes on n events, or n bytes, and then what is returned by then.
func (b *body) upTo(n int, bytes bool, then func() error) {
	next := b.next
	var over error
	b.next = func(most int) (piece []byte, ends bool, err error) {
		if n == 0 && over == nil {
			over = then()
		}
		if over != nil {
			return nil, false, over
		}
		if bytes {
			piece, ends, err = next(min(most, n))
			n -= len(piece)
			return piece, ends, err
		}
		if piece, ends, err = next(most); ends {
			n--
		}
		return piece, ends, err
	}
}

// pieces reads a body of an answer: the next piece of it, of most bytes at most and of no more than one event, and whether
// the event ends with it. The piece is valid until the next call. An error comes with the last piece or after it.
type pieces func(most int) (piece []byte, ends bool, err error)

// sizeOfPiece is how much is read at once, in bytes.
const sizeOfPiece = 4 << 10

// cut reads src in pieces. A comment of server-sent events belongs to the event after it.
func cut(src io.Reader, scan frames.Scanner) pieces {
	buf := make([]byte, sizeOfPiece)
	var rest []byte // read, and not cut yet
	var failed error
	return func(most int) (piece []byte, ends bool, err error) {
		if len(rest) == 0 {
			if failed != nil {
				return nil, false, failed
			}
			var n int
			n, failed = src.Read(buf)
			rest = buf[:n]
		}
		if len(rest) > 0 {
			n, end := scan.Scan(rest[:min(len(rest), most)])
			piece, rest, ends = rest[:n], rest[n:], end == frames.Event
		}
		if len(rest) == 0 {
			err = failed
		}
		return piece, ends, err
	}
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
	e := &edited{next: b.next, n: n, edit: what, problem: func(err error) { b.x.problem(fault, err) }}
	b.next = e.pieces
}

// edited passes on all events but for event n.
type edited struct {
	next    pieces
	n       int
	edit    edit
	problem func(error)
	over    int    // events that have ended
	kept    []byte // of event n
	large   bool   // event n is, and passes as it is
	ready   []part // to be passed on before anything else
	err     error  // after that
}

// part is a part of an event, or a whole one.
type part struct {
	bytes []byte
	ends  bool
}

func (e *edited) pieces(most int) ([]byte, bool, error) {
	for {
		if len(e.ready) > 0 {
			p := &e.ready[0]
			if len(p.bytes) > most {
				var piece []byte
				piece, p.bytes = p.bytes[:most], p.bytes[most:]
				return piece, false, nil
			}
			e.ready = e.ready[1:]
			return p.bytes, p.ends, nil
		}
		if e.err != nil {
			return nil, false, e.err
		}
		var got part
		got.bytes, got.ends, e.err = e.next(most)
		e.take(got)
	}
}

// take makes ready what can be passed on with one part more.
func (e *edited) take(got part) {
	ours := e.over == e.n-1
	if got.ends {
		e.over++
	}
	switch {
	case !ours || e.large:
		e.ready = append(e.ready, got)
	case e.edit == editDrop:
	case len(e.kept)+len(got.bytes) > maxKept:
		e.problem(errKept)
		if e.large = true; e.edit == editSwap {
			e.ready = append(e.ready, part{bytes: e.kept})
		}
		e.ready, e.kept = append(e.ready, got), nil
	default:
		e.kept = append(e.kept, got.bytes...)
		if e.edit == editDouble {
			e.ready = append(e.ready, got)
		}
	}
	again := e.edit == editDouble && ours && got.ends
	overtaken := e.edit == editSwap && got.ends && e.over == e.n+1
	if len(e.kept) > 0 && (again || overtaken || e.err != nil) {
		e.ready, e.kept = append(e.ready, part{e.kept, e.over >= e.n}), nil
	}
}
