package server

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// maxPiece is how much is written under one deadline, in bytes: a client that takes as much within [Limits.Stall] is slow, not gone.
const maxPiece = 64 << 10

// put writes b in pieces. The caller has set the deadline of the first one. Writers without deadlines are those of tests.
func (q *request) put(rc *http.ResponseController, b []byte) error {
	for {
		piece := b[:min(len(b), maxPiece)]
		if _, err := q.w.Write(piece); err != nil {
			return err
		}
		if b = b[len(piece):]; len(b) == 0 {
			return nil
		}
		_ = rc.SetWriteDeadline(time.Now().Add(q.s.limits.Stall))
	}
}

// putWhole is put for an answer that is complete by it.
func (q *request) putWhole(b []byte) error {
	rc := http.NewResponseController(q.w)
	_ = rc.SetWriteDeadline(time.Now().Add(q.s.limits.Stall))
	if err := q.put(rc, b); err != nil {
		return err
	}
	if err := rc.Flush(); err != nil {
		return err
	}
	return rc.SetWriteDeadline(time.Time{}) // the connection may serve further requests
}

// within makes bytes by encode, in a buffer of the caller's. Many bytes are taken from the budget of answers; when there are too few left, what was made is
// dropped while waiting, for as long as a client may take nothing, and made again. The caller gives room back.
func (s *Server) within(ctx context.Context, buf *[]byte, encode func([]byte) ([]byte, error)) (b []byte, room int64, err error) {
	b, err = encode((*buf)[:0])
	room = int64(len(b))
	if err != nil || room <= keepBuffer {
		*buf = b
		return b, 0, err
	}
	if !s.answers.try(room) {
		b = nil
		if err := s.wait(ctx, room); err != nil {
			return nil, 0, err
		}
		if b, err = encode(nil); err != nil {
			s.answers.release(room)
			return nil, 0, err
		}
		s.answers.add(int64(len(b)) - room)
	}
	return b, int64(len(b)), nil
}

// wait takes n bytes from the budget of answers, and waits for them no longer than a client may take nothing.
func (s *Server) wait(ctx context.Context, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, s.limits.Stall)
	defer cancel()
	if s.answers.acquire(ctx, n) != nil {
		return errBusy.With("too many large answers are being read, try again later")
	}
	return nil
}

// pacedListener gives every write to its connections a deadline by progress: those of net/http, too.
type pacedListener struct {
	net.Listener
	stall time.Duration
}

func (l pacedListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if _, secure := c.(*tls.Conn); err != nil || secure { // net/http has to see a TLS connection as it is
		return c, err
	}
	return &pacedConn{Conn: c, stall: l.stall}, nil
}

// pacedConn is a connection whose writes end when the peer takes nothing for the stall limit.
type pacedConn struct {
	net.Conn
	stall time.Duration
	until time.Time // deadline; only writers look at it, of which there is one at a time
}

// Write writes b in pieces, each with a deadline of its own. It is set anew once it is used up by a quarter, not for every event of a stream.
func (c *pacedConn) Write(b []byte) (n int, err error) {
	for {
		if now := time.Now(); c.until.Sub(now) < c.stall-c.stall/4 {
			c.until = now.Add(c.stall)
			if err := c.Conn.SetWriteDeadline(c.until); err != nil {
				return n, err
			}
		}
		m, err := c.Conn.Write(b[:min(len(b), maxPiece)])
		n += m
		if b = b[m:]; err != nil || len(b) == 0 {
			return n, err
		}
	}
}

// SetWriteDeadline does nothing: the connection has a better one already.
func (c *pacedConn) SetWriteDeadline(time.Time) error { return nil }

// CloseWrite lets net/http end an answer while the client still sends.
func (c *pacedConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return nil
}
