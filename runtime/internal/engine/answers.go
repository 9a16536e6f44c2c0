package engine

import (
	"context"
	"slices"
	"sync"
)

// What is being written has a budget of bytes: who writes much waits for room, without holding on to what he is going
// to write.

// uncounted is up to which size an answer is not counted, in bytes, and up to which a buffer is kept.
const uncounted = 64 << 10

// buffers hold answers. Larger ones are not kept.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

func putBuffer(b *[]byte) {
	if cap(*b) <= uncounted {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

// reserve takes n bytes for an answer, before the answer is made. They are given back when the request is done.
func (r *Request) reserve(n int64) error {
	if n <= uncounted {
		return nil
	}
	if err := r.e.wait(r.Context, n); err != nil {
		return err
	}
	r.room += n
	return nil
}

// Done gives back what the answer holds.
func (r *Request) Done() {
	if r.room > 0 {
		r.e.answers.Release(r.room)
		r.room = 0
	}
}

// Pass makes bytes by encode and passes them to write, which must not keep them. Many bytes are taken from the budget
// of all answers as long as write takes. When there are too few left, what was made is dropped while waiting, for as
// long as a client may take nothing, and made again. An error is that of encode or of the budget; nothing is written
// then.
func (r *Request) Pass(encode func(dst []byte) ([]byte, error), write func(b []byte)) error {
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	if r.room > 0 { // as was reserved: waiting for more while holding that could be for ever
		b, err := encode(slices.Grow((*buf)[:0], int(r.room)))
		if more := int64(len(b)) - r.room; more > 0 {
			r.e.answers.Add(more)
			r.room += more
		}
		if err == nil {
			write(b)
		}
		return err
	}
	b, err := encode((*buf)[:0])
	room := int64(len(b))
	if err != nil || room <= uncounted {
		*buf = b
		if err == nil {
			write(b)
		}
		return err
	}
	if !r.e.answers.Try(room) {
		b = nil
		if err := r.e.wait(r.Context, room); err != nil {
			return err
		}
		if b, err = encode(nil); err != nil {
			r.e.answers.Release(room)
			return err
		}
		r.e.answers.Add(int64(len(b)) - room)
		room = int64(len(b))
	}
	defer r.e.answers.Release(room)
	write(b)
	return nil
}

// wait takes n bytes from the budget of answers, and waits for them no longer than a client may take nothing.
func (e *Engine) wait(ctx context.Context, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, e.limits.Stall)
	defer cancel()
	if e.answers.Acquire(ctx, n) != nil {
		return ErrBusy.With("too many large answers are being read, try again later")
	}
	return nil
}
