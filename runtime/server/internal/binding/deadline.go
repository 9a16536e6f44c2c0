package binding

import (
	"crypto/tls"
	"net"
	"net/http"
	"time"
)

// MaxWrite is how much is written under one deadline, in bytes: a client that takes as much within the stall limit is
// slow, and not dropped.
const MaxWrite = 64 << 10

// deadlineListener gives each write to its connections a deadline of its own, also those that net/http makes.
type deadlineListener struct {
	net.Listener
	stall time.Duration
}

func (l deadlineListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if _, secure := c.(*tls.Conn); err != nil || secure { // net/http has to see a TLS connection as it is
		return c, err
	}
	return &deadlineConn{Conn: c, stall: l.stall}, nil
}

// deadlineConn is a connection whose writes end when the peer takes nothing for the stall limit.
type deadlineConn struct {
	net.Conn
	stall time.Duration
	until time.Time // current write deadline; used by Write alone, which is not called concurrently
}

// Write writes b in pieces, each with a deadline of its own. The deadline is renewed when a quarter of it has passed,
// not for every event of a stream.
func (c *deadlineConn) Write(b []byte) (n int, err error) {
	for {
		if now := time.Now(); c.until.Sub(now) < c.stall-c.stall/4 {
			c.until = now.Add(c.stall)
			if err := c.Conn.SetWriteDeadline(c.until); err != nil {
				return n, err
			}
		}
		m, err := c.Conn.Write(b[:min(len(b), MaxWrite)])
		n += m
		if b = b[m:]; err != nil || len(b) == 0 {
			return n, err
		}
	}
}

// SetWriteDeadline does nothing: Write sets its own.
func (c *deadlineConn) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline sets the read deadline.
func (c *deadlineConn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// CloseWrite lets net/http end an answer while the client still sends.
func (c *deadlineConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return nil
}

// ResponseWriter writes the answer to a request of HTTP/2, where a client may take nothing of one answer while the
// connection goes on. It sets a write deadline only while it writes: in net/http a deadline also ends an answer that
// has nothing to write.
type ResponseWriter struct {
	http.ResponseWriter
	rc    *http.ResponseController
	stall time.Duration
}

// NewResponseWriter returns a writer to w whose writes end when the client takes nothing for the stall limit.
func NewResponseWriter(w http.ResponseWriter, stall time.Duration) *ResponseWriter {
	return &ResponseWriter{w, http.NewResponseController(w), stall}
}

// Write writes b within the stall limit.
func (w *ResponseWriter) Write(b []byte) (int, error) {
	defer w.limit()()
	return w.ResponseWriter.Write(b)
}

// FlushError sends what was written.
func (w *ResponseWriter) FlushError() error {
	defer w.limit()()
	return w.rc.Flush()
}

// Flush is FlushError without its error.
func (w *ResponseWriter) Flush() { _ = w.FlushError() }

// Unwrap is for [http.ResponseController].
func (w *ResponseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Finish sets the deadline for what net/http writes after the handler has returned.
func (w *ResponseWriter) Finish() { _ = w.rc.SetWriteDeadline(time.Now().Add(w.stall)) }

// limit sets the deadline, and returns a function that removes it.
func (w *ResponseWriter) limit() func() {
	w.Finish()
	return func() { _ = w.rc.SetWriteDeadline(time.Time{}) }
}
