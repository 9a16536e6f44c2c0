package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// maxPiece is how much is written under one deadline, in bytes: a client that takes as much within [Limits.Stall] is
// slow, not gone.
const maxPiece = 64 << 10

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

// Write writes b in pieces, each with a deadline of its own. It is set anew once it is used up by a quarter, not for
// every event of a stream.
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

// SetDeadline sets that of reading.
func (c *pacedConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// CloseWrite lets net/http end an answer while the client still sends.
func (c *pacedConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return nil
}

// pacedWriter is the answer to a request of HTTP/2, where a client may take nothing of one answer while the connection
// goes on. A deadline of net/http's ends an answer that has nothing to write, too: it is only set for as long as
// something is being written.
type pacedWriter struct {
	http.ResponseWriter
	rc    *http.ResponseController
	stall time.Duration
}

func newPacedWriter(w http.ResponseWriter, stall time.Duration) *pacedWriter {
	return &pacedWriter{w, http.NewResponseController(w), stall}
}

// Write writes b within the stall limit.
func (w *pacedWriter) Write(b []byte) (int, error) {
	defer w.paced()()
	return w.ResponseWriter.Write(b)
}

// FlushError hands over what was written.
func (w *pacedWriter) FlushError() error {
	defer w.paced()()
	return w.rc.Flush()
}

// Flush is FlushError for who does not ask.
func (w *pacedWriter) Flush() { _ = w.FlushError() }

// Unwrap is for [http.ResponseController].
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// last sets the deadline for what net/http writes when the answer is complete.
func (w *pacedWriter) last() { _ = w.rc.SetWriteDeadline(time.Now().Add(w.stall)) }

// paced sets the deadline. The function that it returns takes it back.
func (w *pacedWriter) paced() func() {
	w.last()
	return func() { _ = w.rc.SetWriteDeadline(time.Time{}) }
}
