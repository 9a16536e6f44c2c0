package binding

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

// A stream that waits for its next event costs three times the memory while net/http serves it: two buffers, and the
// stack of a handler that has called deep once. So it may detach its connection: its handler returns, the stream goes
// on in a goroutine of its own, and the connection comes back to net/http for the next request when it has ended.

type portKey struct{}

// keepPort puts the port into the context of its connections' requests.
func (p *Port) keepPort(ctx context.Context, c net.Conn) context.Context {
	return keepTLSState(context.WithValue(ctx, portKey{}, p), c)
}

// portOf returns the port whose connections a request may detach; nil over HTTP/2, where others share the connection,
// and in servers of the user's own.
func portOf(r *http.Request) *Port {
	if r.ProtoMajor != 1 || r.ProtoMinor == 0 { // HTTP/1.0 has no chunks
		return nil
	}
	p, _ := r.Context().Value(portKey{}).(*Port)
	return p
}

// detachedConn is a detached connection: the rest of an answer in chunks goes out on it. One goroutine at a time may use it.
type detachedConn struct {
	net.Conn
	port    *Port
	state   *tls.ConnectionState // nil: clear text
	watched chan struct{}        // closed when watch has ended
	first   []byte               // of the client's next request
	lost    bool                 // the client left; to be read when watched is closed
}

// Detach takes the connection of a request from net/http, whose handler must return then. The answer must have begun,
// in chunks. left is called when the client leaves. The caller must call Finish or Close.
func (p *Port) Detach(w http.ResponseWriter, r *http.Request, left func()) (*detachedConn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, net.ErrClosed
	}
	raw, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	c := &detachedConn{Conn: raw, port: p, state: r.TLS, watched: make(chan struct{})}
	if n := buffered.Reader.Buffered(); n > 0 {
		b, _ := buffered.Reader.Peek(n)
		c.first = append(c.first, b...)
	}
	p.detached[c] = struct{}{}
	p.streams.Add(1)
	go c.watch(left)
	return c, nil
}

// watch waits until the client leaves, or sends its next request too early, or Finish stops it.
func (c *detachedConn) watch(left func()) {
	defer close(c.watched)
	if len(c.first) > 0 {
		return // as net/http does, which watches no client that has sent more
	}
	var b [1]byte
	n, err := c.Conn.Read(b[:])
	switch {
	case n > 0:
		c.first = append(c.first, b[0])
	case !errors.Is(err, os.ErrDeadlineExceeded):
		c.lost = true
		left()
	}
}

// maxChunk is how much is written in one chunk, in bytes.
const maxChunk = 32 << 10

// chunks are buffers for chunks with their frames.
var chunks = sync.Pool{New: func() any { b := make([]byte, 0, 4<<10); return &b }}

// Write writes b in chunks.
func (c *detachedConn) Write(b []byte) (n int, err error) {
	buf := chunks.Get().(*[]byte)
	defer chunks.Put(buf)
	for err == nil && n < len(b) {
		piece := b[n:min(len(b), n+maxChunk)]
		chunk := strconv.AppendInt((*buf)[:0], int64(len(piece)), 16)
		chunk = append(append(append(chunk, "\r\n"...), piece...), "\r\n"...)
		*buf = chunk
		if _, err = c.Conn.Write(chunk); err == nil {
			n += len(piece)
		}
	}
	return n, err
}

// Finish ends the answer and gives the connection back to net/http.
func (c *detachedConn) Finish() {
	defer c.port.streams.Done()
	_ = c.Conn.SetReadDeadline(time.Unix(1, 0)) // stops watch
	<-c.watched
	if _, err := c.Conn.Write([]byte("0\r\n\r\n")); err != nil || c.lost || c.Conn.SetReadDeadline(time.Time{}) != nil {
		c.forget()
		_ = c.Conn.Close()
		return
	}
	c.port.giveBack(c)
}

// Close closes the connection, in the middle of the answer.
func (c *detachedConn) Close() error {
	defer c.port.streams.Done()
	c.forget()
	return c.Conn.Close()
}

func (c *detachedConn) forget() {
	c.port.mu.Lock()
	defer c.port.mu.Unlock()
	delete(c.port.detached, c)
}

// giveBack has net/http serve the connection again.
func (p *Port) giveBack(c *detachedConn) {
	var back net.Conn = &returnedConn{Conn: c.Conn, port: p, first: c.first}
	p.mu.Lock()
	delete(p.detached, c)
	closed := p.closed
	if !closed {
		p.returned[back] = struct{}{}
	}
	p.mu.Unlock()
	if closed {
		_ = c.Conn.Close()
		return
	}
	if c.state != nil {
		back = &tlsConn{back, *c.state}
	}
	p.again.put(back)
}

// returnedConn is a connection that net/http serves again. net/http takes it for a new one, for whose first request a
// shutdown would wait: so the port closes it if it has sent none.
type returnedConn struct {
	net.Conn
	port  *Port
	first []byte // what came of the next request
	used  bool
}

// Read reads what came of the next request, then the connection.
func (c *returnedConn) Read(b []byte) (n int, err error) {
	if len(c.first) > 0 {
		n = copy(b, c.first)
		c.first = c.first[n:]
	} else {
		n, err = c.Conn.Read(b)
	}
	if !c.used {
		c.used = true
		c.port.mu.Lock()
		delete(c.port.returned, c)
		c.port.mu.Unlock()
	}
	return n, err
}

// CloseWrite lets net/http end an answer while the client still sends.
func (c *returnedConn) CloseWrite() error {
	if h, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return h.CloseWrite()
	}
	return errors.ErrUnsupported
}

// closeDetached lets no more connections detach or come back, and waits until the streams of those that have are over,
// or ctx is done.
func (p *Port) closeDetached(ctx context.Context) error {
	p.mu.Lock()
	p.closed = true
	for c := range p.returned {
		_ = c.Close()
	}
	p.mu.Unlock()
	over := make(chan struct{})
	go func() { p.streams.Wait(); close(over) }()
	select {
	case <-over:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// cutDetached closes the connections that are detached: their streams end by it.
func (p *Port) cutDetached() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for c := range p.detached {
		_ = c.Conn.Close()
	}
}
