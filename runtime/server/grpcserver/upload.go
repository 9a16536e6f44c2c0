package grpcserver

import (
	"context"
	"encoding/binary"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

// upload is the body of a call that net/http serves. grpc-go would read all that comes, for as long as the call takes:
// so a message is read when the call asks for it, in the time and the budget that it has.
type upload struct {
	io.ReadCloser
	t      *transport
	asked  chan *call // by which call: one throughout
	closed chan struct{}
	close  func()

	call  *call               // nil: it has not asked yet
	head  [messageHeader]byte // of the message
	have  int                 // bytes of it that have come
	left  int64               // bytes of the message that are to come after it
	came  int64               // bytes of the message that have come
	next  int64               // after how many its time is set anew
	began time.Time
	timer *time.Timer // nil: none has begun
}

// messageHeader is how long what stands before a message is, in bytes: whether it is compressed, and its length.
const messageHeader = 1 + 4

// uploadPaces is after how many bytes the time of a message is set anew.
const uploadPaces = 64 << 10

type uploadKey struct{}

func newUpload(t *transport, body io.ReadCloser) *upload {
	u := &upload{ReadCloser: body, t: t, asked: make(chan *call, 1), closed: make(chan struct{})}
	u.close = sync.OnceFunc(func() { close(u.closed) })
	return u
}

// in returns the request with the upload in the place of its body.
func (u *upload) in(r *http.Request) *http.Request {
	r = r.WithContext(context.WithValue(r.Context(), uploadKey{}, u))
	r.Body = u
	return r
}

// uploadOf is the body of a call; nil for one on a connection of the transport's own.
func uploadOf(ctx context.Context) *upload {
	u, _ := ctx.Value(uploadKey{}).(*upload)
	return u
}

// ask has the next message read.
func (u *upload) ask(c *call) {
	select {
	case u.asked <- c:
	default:
	}
}

// Close ends the reading.
func (u *upload) Close() error {
	u.close()
	return u.ReadCloser.Close()
}

// Read reads on in a message. It returns no less than fits or is left of the message, since grpc-go takes a whole
// buffer for every piece.
func (u *upload) Read(b []byte) (n int, err error) {
	if u.complete() || u.call == nil {
		if err := u.begin(); err != nil {
			return 0, err
		}
	}
	for n < len(b) && err == nil && !u.complete() && u.left <= u.t.agent.Limits.Body {
		var m int
		m, err = u.ReadCloser.Read(b[n : n+int(min(int64(len(b)-n), u.wanted()))])
		u.take(b[n : n+m])
		n += m
		if u.came > binding.FreeBody && !u.t.agent.Bodies.Try(0) { // what grpc-go keeps of it is counted by the pool
			u.call.cut(errCrowded)
			err = io.ErrUnexpectedEOF
		}
	}
	if err != nil || u.complete() {
		u.timer.Stop()
	}
	return n, err
}

// begin waits until the next message is asked for. Calls of one message ask once, and read to the end of what comes.
func (u *upload) begin() error {
	if u.call == nil || u.call.many {
		select {
		case u.call = <-u.asked:
		case <-u.closed:
			return io.ErrUnexpectedEOF
		}
	}
	u.have, u.left, u.came, u.next = 0, 0, 0, uploadPaces
	u.began = time.Now()
	if patience := u.t.agent.Patience(0); u.timer == nil {
		u.timer = time.AfterFunc(patience, func() { u.call.cut(errSlow) })
	} else {
		u.timer.Reset(patience)
	}
	return nil
}

// complete reports whether the message has come.
func (u *upload) complete() bool { return u.have == messageHeader && u.left == 0 }

// wanted is how much is to come of the header, or of the message.
func (u *upload) wanted() int64 {
	if u.have < messageHeader {
		return int64(messageHeader - u.have)
	}
	return u.left
}

// take counts what has come.
func (u *upload) take(b []byte) {
	if u.came += int64(len(b)); u.came >= u.next {
		u.next = u.came + uploadPaces
		u.timer.Reset(time.Until(u.began.Add(u.t.agent.Patience(u.came))))
	}
	if u.have == messageHeader {
		u.left -= int64(len(b))
		return
	}
	if u.have += copy(u.head[u.have:], b); u.have == messageHeader {
		u.left = int64(binary.BigEndian.Uint32(u.head[1:]))
	}
}
