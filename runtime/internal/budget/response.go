package budget

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// ErrBusy tells the client to come back later (R40): the code is the internal error's, the reason says that it passes.
var ErrBusy = &runtime.Error{
	Code: runtime.ErrInternal.Code, Reason: "RESOURCE_EXHAUSTED",
	Message: runtime.ErrInternal.Message, Note: "the agent is busy, try again later",
}

// Uncounted is up to which size a response is not counted, in bytes, and up to which a buffer is kept.
const Uncounted = 64 << 10

// Response is what the response to one request takes of a budget that all responses share. A writer of many bytes waits
// for room without holding on to what it is going to write.
type Response struct {
	Budget *Budget
	Stall  time.Duration // how long a response waits for room: as long as a client may take nothing
	taken  int64
}

// buffers hold responses. Larger ones are not kept.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// Reserve takes n bytes for a response that is yet to be made. Done gives them back.
func (r *Response) Reserve(ctx context.Context, n int64) error {
	if n <= Uncounted {
		return nil
	}
	if err := r.Wait(ctx, n); err != nil {
		return err
	}
	r.taken += n
	return nil
}

// Done gives back what the response holds.
func (r *Response) Done() {
	if r.taken > 0 {
		r.Budget.Release(r.taken)
		r.taken = 0
	}
}

// Pass makes bytes by encode and passes them to write, which must not keep them. Many bytes are taken from the budget
// for as long as write takes. When too few are left, what was made is dropped while waiting, and made again. An error
// is that of encode or of the budget; nothing is written then.
func (r *Response) Pass(
	ctx context.Context, encode func(dst []byte) ([]byte, error), write func(b []byte),
) error {
	buf := buffers.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= Uncounted {
			*buf = (*buf)[:0]
			buffers.Put(buf)
		}
	}()
	if r.taken > 0 { // as was reserved: waiting for more while holding that could be for ever
		b, err := encode(slices.Grow((*buf)[:0], int(r.taken)))
		if more := int64(len(b)) - r.taken; more > 0 {
			r.Budget.Add(more)
			r.taken += more
		}
		if err == nil {
			write(b)
		}
		return err
	}
	b, err := encode((*buf)[:0])
	size := int64(len(b))
	if err != nil || size <= Uncounted {
		*buf = b
		if err == nil {
			write(b)
		}
		return err
	}
	if !r.Budget.Try(size) {
		b = nil
		if err := r.Wait(ctx, size); err != nil {
			return err
		}
		if b, err = encode(nil); err != nil {
			r.Budget.Release(size)
			return err
		}
		r.Budget.Add(int64(len(b)) - size)
		size = int64(len(b))
	}
	defer r.Budget.Release(size)
	write(b)
	return nil
}

// Wait takes n bytes from the budget, and waits for them until ctx ends, for Stall at most. The error is [ErrBusy].
func (r *Response) Wait(ctx context.Context, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, r.Stall)
	defer cancel()
	if r.Budget.Acquire(ctx, n) != nil {
		return ErrBusy.With("too many large answers are being read, try again later")
	}
	return nil
}
