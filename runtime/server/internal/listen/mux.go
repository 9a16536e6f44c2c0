package server

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"time"
)

// splitter shares a listener between net/http and a transport: what a new connection says first decides.
type splitter struct {
	transport Transport
	limit     time.Duration // for a connection to say enough
	web, own  *branch

	mu     sync.Mutex
	fresh  map[net.Conn]bool // undecided
	closed bool
	all    sync.WaitGroup // of the goroutines that look at them
}

// branch is one side of a splitter, a listener.
type branch struct {
	addr net.Addr
	next chan net.Conn
	done chan struct{}
	once sync.Once
}

func newBranch(addr net.Addr) *branch {
	return &branch{addr: addr, next: make(chan net.Conn), done: make(chan struct{})}
}

// Accept returns the next connection that is for this side.
func (b *branch) Accept() (net.Conn, error) {
	select {
	case c := <-b.next:
		return c, nil
	case <-b.done:
		return nil, net.ErrClosed
	}
}

// Close lets Accept return.
func (b *branch) Close() error {
	b.once.Do(func() { close(b.done) })
	return nil
}

// Addr returns the address of the listener that is shared.
func (b *branch) Addr() net.Addr { return b.addr }

// put hands a connection over, or closes it when nobody accepts any more.
func (b *branch) put(c net.Conn) {
	select {
	case b.next <- c:
	case <-b.done:
		_ = c.Close()
	}
}

func newSplitter(addr net.Addr, t Transport, limit time.Duration) *splitter {
	return &splitter{
		transport: t, limit: limit, web: newBranch(addr), own: newBranch(addr), fresh: map[net.Conn]bool{},
	}
}

// Pauses after an error of accepting that passes: too many open files, say.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = time.Second
)

// run shares the connections of ln until that is closed.
func (s *splitter) run(ln net.Listener) error {
	pause := shortestPause
	for {
		c, err := ln.Accept()
		switch passing := (interface{ Temporary() bool })(nil); {
		case err == nil:
			pause = shortestPause
			s.look(c)
		case errors.As(err, &passing) && passing.Temporary():
			time.Sleep(pause)
			pause = min(2*pause, longestPause)
		default:
			return err
		}
	}
}

// look decides about a connection, on a goroutine of its own that ends with the decision.
func (s *splitter) look(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = c.Close()
		return
	}
	s.fresh[c] = true
	s.all.Go(func() {
		b, decided, err := s.decide(c)
		s.mu.Lock()
		delete(s.fresh, c)
		s.mu.Unlock()
		if err != nil {
			_ = c.Close()
			return
		}
		b.put(decided)
	})
}

// decide says whose a connection is.
func (s *splitter) decide(c net.Conn) (to *branch, decided net.Conn, err error) {
	if err := c.SetDeadline(time.Now().Add(s.limit)); err != nil {
		return nil, nil, err
	}
	if secure, ok := c.(*tls.Conn); ok {
		to, decided, err = s.decideSecure(secure)
	} else {
		to, decided, err = s.ask(c)
	}
	if err != nil {
		return nil, nil, err
	}
	return to, decided, c.SetDeadline(time.Time{})
}

// decideSecure is decide for a connection over TLS: who speaks HTTP/1 says so at its beginning.
func (s *splitter) decideSecure(c *tls.Conn) (*branch, net.Conn, error) {
	if err := c.Handshake(); err != nil {
		return s.web, c, nil // net/http finds the same, and tells clients that speak no TLS
	}
	state := c.ConnectionState()
	if state.NegotiatedProtocol == "http/1.1" {
		return s.web, c, nil
	}
	to, again, err := s.ask(c)
	if err == nil && to == s.web {
		again = &securedConn{again, state}
	}
	return to, again, err
}

// ask asks the transport whether a connection is its.
func (s *splitter) ask(c net.Conn) (*branch, net.Conn, error) {
	again, mine, err := s.transport.Claim(c)
	if mine {
		return s.own, again, err
	}
	return s.web, again, err
}

// close closes the connections that nothing is known of yet, and waits for those who look at them.
func (s *splitter) close() {
	s.mu.Lock()
	s.closed = true
	for c := range s.fresh {
		_ = c.Close()
	}
	s.mu.Unlock()
	_, _ = s.web.Close(), s.own.Close()
	s.all.Wait()
}
