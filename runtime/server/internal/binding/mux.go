package binding

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"
)

// connMux distributes the connections of a listener between net/http and a transport, by their first bytes.
type connMux struct {
	transport Transport
	limit     time.Duration // for a connection to say what it speaks
	web, own  *muxListener  // of net/http, of the transport

	mu        sync.Mutex
	undecided map[net.Conn]bool
	closed    bool
	deciding  sync.WaitGroup // goroutines, one for each undecided connection
}

// muxListener is the listener of one side of a connMux.
type muxListener struct {
	addr net.Addr
	next chan net.Conn
	done chan struct{}
	once sync.Once
}

func newMuxListener(addr net.Addr) *muxListener {
	return &muxListener{addr: addr, next: make(chan net.Conn), done: make(chan struct{})}
}

// Accept returns the next connection of this side.
func (l *muxListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.next:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close lets Accept return.
func (l *muxListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr returns the address of the shared listener.
func (l *muxListener) Addr() net.Addr { return l.addr }

// put passes a connection to Accept, or closes it when the listener is closed.
func (l *muxListener) put(c net.Conn) {
	select {
	case l.next <- c:
	case <-l.done:
		_ = c.Close()
	}
}

// Pauses after a temporary error of Accept: too many open files, say.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = time.Second
)

// run distributes the connections of ln until that is closed.
func (m *connMux) run(ln net.Listener) error {
	pause := shortestPause
	for {
		c, err := ln.Accept()
		switch temporary := (interface{ Temporary() bool })(nil); {
		case err == nil:
			pause = shortestPause
			m.start(c)
		case errors.As(err, &temporary) && temporary.Temporary():
			time.Sleep(pause)
			pause = min(2*pause, longestPause)
		default:
			return err
		}
	}
}

// start decides which side serves a connection, on a goroutine of its own that ends with the decision.
func (m *connMux) start(c net.Conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		_ = c.Close()
		return
	}
	m.undecided[c] = true
	m.deciding.Go(func() {
		to, decided, err := m.decide(c)
		m.mu.Lock()
		delete(m.undecided, c)
		m.mu.Unlock()
		if err != nil {
			_ = c.Close()
			return
		}
		to.put(decided)
	})
}

// decide returns the side that serves a connection, and a connection that reads its first bytes again.
func (m *connMux) decide(c net.Conn) (to *muxListener, decided net.Conn, err error) {
	if err := c.SetDeadline(time.Now().Add(m.limit)); err != nil {
		return nil, nil, err
	}
	if secure, ok := c.(*tls.Conn); ok {
		to, decided, err = m.decideSecure(secure)
	} else {
		to, decided, err = m.ask(c)
	}
	if err != nil {
		return nil, nil, err
	}
	return to, decided, c.SetDeadline(time.Time{})
}

// decideSecure is decide for a connection over TLS, whose handshake says already if it is HTTP/1.
func (m *connMux) decideSecure(c *tls.Conn) (*muxListener, net.Conn, error) {
	if err := c.Handshake(); err != nil {
		return m.web, c, nil // net/http finds the same, and tells clients that speak no TLS
	}
	state := c.ConnectionState()
	if state.NegotiatedProtocol == "http/1.1" {
		return m.web, c, nil
	}
	to, again, err := m.ask(c)
	if err == nil && to == m.web {
		again = &tlsConn{again, state}
	}
	return to, again, err
}

// ask asks the transport whether it serves a connection.
func (m *connMux) ask(c net.Conn) (*muxListener, net.Conn, error) {
	again, mine, err := m.transport.Claim(c)
	if mine {
		return m.own, again, err
	}
	return m.web, again, err
}

// close closes the undecided connections, and waits for their goroutines.
func (m *connMux) close() {
	m.mu.Lock()
	m.closed = true
	for c := range m.undecided {
		_ = c.Close()
	}
	m.mu.Unlock()
	_, _ = m.web.Close(), m.own.Close()
	m.deciding.Wait()
}
