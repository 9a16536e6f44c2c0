package fault

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// Fault is something that goes wrong: made by a function such as [CutAfter], and limited by methods, each of which
// returns a changed copy. Without limits it hits every request that it can hit, but those for the agent's card. What
// is wrong with a fault, such as a negative number, is an error of [New].
type Fault struct {
	name string // as it is written: "CutAfter(3)"
	err  error  // it cannot be made

	// One of them says what the fault does.
	request requestFault
	answer  func(x *exchange, b *body)
	events  bool // it is about the events of a stream; any other answer does not meet it
	pairs   bool // the next request overtakes the one that is hit

	where      where
	times      int // 0: always
	skip       int
	chance     float64 // 0: always
	retryAfter time.Duration
}

// requestFault has a request meet a fault, and passes it on by next if it is passed on.
type requestFault func(x *exchange, h *hit, r *http.Request, next send) (*http.Response, error)

// send passes a request on.
type send func(*http.Request) (*http.Response, error)

// Part is what a fault drops.
type Part uint8

// What [Drop] drops.
const (
	Request Part = iota + 1 // the request: the agent never sees it
	Reply                   // the reply: the agent did all of its work
)

// Delay has a request wait before it is passed on.
func Delay(d time.Duration) Fault {
	f := Fault{name: fmt.Sprintf("Delay(%v)", d)}
	f.request = func(x *exchange, _ *hit, r *http.Request, next send) (*http.Response, error) {
		if err := x.wait(d); err != nil {
			return nil, unsent(r, err)
		}
		return next(r)
	}
	return f.positive(d > 0, "the time")
}

// DelayEvents has each event of a stream wait before it is passed on.
func DelayEvents(d time.Duration) Fault {
	f := Fault{name: fmt.Sprintf("DelayEvents(%v)", d), events: true}
	f.answer = func(x *exchange, b *body) {
		next := b.next
		b.next = func(most int) (piece []byte, ends bool, err error) {
			if piece, ends, err = next(most); ends {
				if late := x.wait(d); late != nil {
					return nil, false, late
				}
			}
			return piece, ends, err
		}
	}
	return f.positive(d > 0, "the time")
}

// Drop breaks the connection without a byte of an answer: of a [Request], before the agent sees it; of a [Reply], when
// the agent has answered to the end, of which nothing is passed on.
func Drop(p Part) Fault {
	switch p {
	case Request:
		return Fault{name: "Drop(Request)", request: func(_ *exchange, h *hit, r *http.Request, _ send) (*http.Response, error) {
			return nil, unsent(r, &Error{h.fault.name})
		}}
	case Reply:
		return Fault{name: "Drop(Reply)", request: func(_ *exchange, h *hit, r *http.Request, next send) (*http.Response, error) {
			resp, err := next(r)
			if err != nil {
				return nil, err
			}
			defer func() { _ = resp.Body.Close() }()
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				return nil, err
			}
			return nil, &Error{h.fault.name}
		}}
	}
	f := Fault{name: fmt.Sprintf("Drop(%d)", p)}
	return f.wrong("it drops Request or Reply")
}

// Double sends a request twice. The second one goes out when the agent has begun to answer the first, as by a proxy
// that believes the first one lost; its answer is discarded. A body over 4 MiB is not sent twice, which
// [Injector.Err] reports.
func Double() Fault { return Fault{name: "Double()", request: doubleRequest} }

// ReorderRequests has a request wait until another one overtook it: until the next one that the fault may hit was
// passed on and its answer began. If none comes within a second it goes on, and [Injector.Err] reports that. Times
// counts the requests that are overtaken.
func ReorderRequests() Fault {
	return Fault{name: "ReorderRequests()", request: waitToBeOvertaken, pairs: true}
}

// ReorderEvents has event n of a stream, counted from 1, come after event n+1. If no such event comes it is the last
// one of the stream. An event over 1 MiB passes as it is, which [Injector.Err] reports, as it reports a stream over
// gRPC: there a client has nothing by which it could see the order of events.
func ReorderEvents(n int) Fault { return editing("ReorderEvents", n, editSwap) }

// DropEvent leaves event n of a stream, counted from 1, out. For gRPC see [ReorderEvents].
func DropEvent(n int) Fault { return editing("DropEvent", n, editDrop) }

// DoubleEvent has event n of a stream, counted from 1, come twice. For gRPC and large events see [ReorderEvents].
func DoubleEvent(n int) Fault { return editing("DoubleEvent", n, editDouble) }

func editing(name string, n int, what edit) Fault {
	f := Fault{name: fmt.Sprintf("%s(%d)", name, n), events: true}
	f.answer = func(_ *exchange, b *body) { b.editEvent(f.name, n, what) }
	return f.positive(n > 0, "the number of the event")
}

// CutAfter breaks the connection after n events of a stream, in the middle of the answer. The context of the
// agent's request ends. 0 is before the first event. [Fault.Skip] breaks connections after n requests.
func CutAfter(n int) Fault {
	f := Fault{name: fmt.Sprintf("CutAfter(%d)", n), events: true}
	f.answer = func(_ *exchange, b *body) { b.upTo(n, false, func() error { return b.cut(f.name) }) }
	return f.natural(n)
}

// Truncate breaks the connection after n bytes of any answer's body.
func Truncate(n int) Fault {
	f := Fault{name: fmt.Sprintf("Truncate(%d)", n)}
	f.answer = func(_ *exchange, b *body) { b.upTo(n, true, func() error { return b.cut(f.name) }) }
	return f.natural(n)
}

// HalfClose ends the direction from the agent to the caller alone, after n events of a stream: the caller sees the
// answer end as if it were complete, and the agent goes on writing: its request is not canceled. HalfClose(0) hits plain answers,
// too, before they begin and as soon as the agent has the whole request: there the caller sees the connection end.
func HalfClose(n int) Fault {
	f := Fault{name: fmt.Sprintf("HalfClose(%d)", n)}
	if n == 0 {
		f.request = halfCloseRequest
		return f
	}
	f.events = true
	f.answer = func(_ *exchange, b *body) { b.upTo(n, false, b.halfClose) }
	return f.natural(n)
}

// Stall has the answer never begin. The agent gets the request, and the connection stays open until the caller gives
// up.
func Stall() Fault {
	return Fault{name: "Stall()", request: func(x *exchange, _ *hit, r *http.Request, next send) (*http.Response, error) {
		resp, err := next(r)
		if err != nil {
			return nil, err
		}
		defer func() { _ = resp.Body.Close() }()
		return nil, x.until(nil)
	}}
}

// StallAfter has nothing more come after n events of a stream. The connection stays open until the caller gives up.
func StallAfter(n int) Fault {
	f := Fault{name: fmt.Sprintf("StallAfter(%d)", n), events: true}
	f.answer = func(x *exchange, b *body) { b.upTo(n, false, func() error { return x.until(nil) }) }
	return f.natural(n)
}

// Slow has the bodies of answers come at a number of bytes in a second.
func Slow(bytesPerSecond int) Fault {
	f := Fault{name: fmt.Sprintf("Slow(%d)", bytesPerSecond)}
	f.answer = func(x *exchange, b *body) {
		next := b.next
		b.next = func(most int) (piece []byte, ends bool, err error) {
			piece, ends, err = next(min(most, max(1, bytesPerSecond/slowPieces)))
			if len(piece) == 0 {
				return nil, ends, err
			}
			took := float64(len(piece)) / float64(bytesPerSecond)
			if late := x.wait(time.Duration(took * float64(time.Second))); late != nil {
				return nil, false, late
			}
			return piece, ends, err
		}
	}
	return f.positive(bytesPerSecond > 0, "the number of bytes in a second")
}

// slowPieces is into how many pieces the bytes of a second are divided at least.
const slowPieces = 20

// Status answers with an HTTP status from 400 to 599, as a proxy does that passes nothing on: 503, 429. The agent does
// not see the request.
func Status(code int) Fault {
	f := Fault{name: fmt.Sprintf("Status(%d)", code)}
	f.request = func(_ *exchange, h *hit, r *http.Request, _ send) (*http.Response, error) {
		_ = unsent(r, nil)
		text := fmt.Sprintf("fault.%s: the agent was not asked\n", h.fault.name)
		resp := &http.Response{
			StatusCode: code, Status: strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code)), Request: r,
			Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {"text/plain; charset=utf-8"}},
			Body: io.NopCloser(strings.NewReader(text)), ContentLength: int64(len(text)),
		}
		if d := h.fault.retryAfter; d > 0 {
			resp.Header.Set("Retry-After", strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10))
		}
		return resp, nil
	}
	if code < 400 || code > 599 {
		return f.wrong("a status that fails is from 400 to 599")
	}
	return f
}

// RetryAfter has a [Status] ask for a pause, in whole seconds.
func (f Fault) RetryAfter(d time.Duration) Fault {
	f.retryAfter = d
	if !strings.HasPrefix(f.name, "Status(") {
		return f.wrong("RetryAfter is for Status alone")
	}
	return f.positive(d > 0, "the time of RetryAfter")
}

// Times limits a fault to the first n requests that it can hit; a fault about events counts streams.
func (f Fault) Times(n int) Fault {
	f.times = n
	return f.positive(n > 0, "the number of Times")
}

// Skip has a fault begin after the first n requests that it could have hit.
func (f Fault) Skip(n int) Fault {
	f.skip = n
	return f.natural(n)
}

// Probability has a fault hit a request with probability p, more than 0 and at most 1, as the seed of the injector
// says.
func (f Fault) Probability(p float64) Fault {
	f.chance = p
	if !(p > 0 && p <= 1) {
		return f.wrong("a probability is more than 0 and at most 1, and this is %v", p)
	}
	return f
}

// On limits a fault to operations, as A2A 1.0 calls them ("SendMessage") or another version ("message/send"), and to
// the agent's card by [Card]. It hits them over each version and binding.
func (f Fault) On(operations ...string) Fault {
	f.where.operations = slices.Clone(f.where.operations)
	for _, name := range operations {
		known := operationNamed(name)
		if known == "" {
			var all []string
			for _, role := range runtime.Roles {
				if role.RPC != "" {
					all = append(all, role.RPC)
				}
			}
			return f.wrong("there is no operation %q: there are %s and %s", name, strings.Join(all, ", "), Card)
		}
		f.where.operations = append(f.where.operations, known)
	}
	if len(operations) == 0 {
		return f.wrong("On names no operation")
	}
	return f
}

// Path limits a fault to requests whose path begins with a prefix: "/rpc".
func (f Fault) Path(prefix string) Fault {
	f.where.prefix = prefix
	if !strings.HasPrefix(prefix, "/") {
		return f.wrong("a path begins with a slash, and %q does not", prefix)
	}
	return f
}

// String writes the fault as it is made: "Drop(Reply).Times(2)".
func (f Fault) String() string {
	s := f.name
	if f.retryAfter != 0 {
		s += fmt.Sprintf(".RetryAfter(%v)", f.retryAfter)
	}
	if len(f.where.operations) > 0 {
		s += fmt.Sprintf(".On(%q)", strings.Join(f.where.operations, `", "`))
	}
	if f.where.prefix != "" {
		s += fmt.Sprintf(".Path(%q)", f.where.prefix)
	}
	if f.skip != 0 {
		s += fmt.Sprintf(".Skip(%d)", f.skip)
	}
	if f.times != 0 {
		s += fmt.Sprintf(".Times(%d)", f.times)
	}
	if f.chance != 0 {
		s += fmt.Sprintf(".Probability(%v)", f.chance)
	}
	return strings.ReplaceAll(s, `\"`, `"`)
}

func (f Fault) natural(n int) Fault {
	if n < 0 {
		return f.wrong("the number must not be negative")
	}
	return f
}

func (f Fault) positive(ok bool, what string) Fault {
	if !ok {
		return f.wrong("%s must be more than 0", what)
	}
	return f
}

// wrong keeps the first mistake.
func (f Fault) wrong(format string, args ...any) Fault {
	if f.err == nil {
		f.err = fmt.Errorf("fault.%s: %s", f, fmt.Sprintf(format, args...))
	}
	return f
}
