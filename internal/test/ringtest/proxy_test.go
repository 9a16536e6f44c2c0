//go:build unix

package ringtest

import (
	"cmp"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"
)

// proxy passes connections on to a server, and does what networks do to them.
type proxy struct {
	ln net.Listener

	mu     sync.Mutex
	target string
	refuse bool          // new connections are closed at once
	delay  time.Duration // before each piece
	stops  [2]bool       // nothing passes: requests, answers
	resume *sync.Cond    // some of it has changed
	links  []*link
}

// link is a connection through the proxy.
type link struct {
	client, server net.Conn
	closed         bool
}

// Directions of what passes.
const (
	requests = 0
	answers  = 1
)

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{ln: ln, target: target}
	p.resume = sync.NewCond(&p.mu)
	go p.serve()
	t.Cleanup(func() {
		_ = ln.Close()
		p.Cut()
	})
	return p
}

// Address is where the proxy listens.
func (p *proxy) Address() string { return p.ln.Addr().String() }

func (p *proxy) serve() {
	for {
		client, err := p.ln.Accept()
		if err != nil {
			return
		}
		go p.connect(client)
	}
}

func (p *proxy) connect(client net.Conn) {
	p.mu.Lock()
	target, refuse := p.target, p.refuse
	p.mu.Unlock()
	if refuse {
		_ = client.Close()
		return
	}
	server, err := net.Dial("tcp", target)
	if err != nil {
		hangUp(client)
		return
	}
	l := &link{client: client, server: server}
	p.mu.Lock()
	p.links = append(p.links, l)
	p.mu.Unlock()
	go p.pass(l, requests, client, server)
	p.pass(l, answers, server, client)
}

// pass passes on what comes, until one of the ends closes.
func (p *proxy) pass(l *link, direction int, from, to net.Conn) {
	defer p.drop(l)
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && p.await(l, direction) {
			_, writeErr := to.Write(buf[:n])
			err = cmp.Or(err, writeErr)
		}
		if err != nil {
			return
		}
	}
}

// await waits until something may pass, and reports false if the link was closed meanwhile.
func (p *proxy) await(l *link, direction int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if delay := p.delay; delay > 0 {
		p.mu.Unlock()
		time.Sleep(delay)
		p.mu.Lock()
	}
	for p.stops[direction] && !l.closed {
		p.resume.Wait()
	}
	return !l.closed
}

// drop closes a link.
func (p *proxy) drop(l *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l.closed {
		return
	}
	l.closed = true
	p.links = slices.DeleteFunc(p.links, func(other *link) bool { return other == l })
	hangUp(l.client)
	hangUp(l.server)
	p.resume.Broadcast()
}

// hangUp closes a connection by a reset: what is under way is lost.
func hangUp(c net.Conn) {
	_ = c.(*net.TCPConn).SetLinger(0)
	_ = c.Close()
}

// Cut closes all connections.
func (p *proxy) Cut() {
	p.mu.Lock()
	links := slices.Clone(p.links)
	p.mu.Unlock()
	for _, l := range links {
		p.drop(l)
	}
}

// Refuse says whether new connections are closed at once.
func (p *proxy) Refuse(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
}

// Delay has each piece wait before it passes.
func (p *proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Stop says in which directions nothing passes: it arrives later, unless the connections are cut.
func (p *proxy) Stop(requestsToo, answersToo bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stops = [2]bool{requestsToo, answersToo}
	p.resume.Broadcast()
}

// Switch leads new connections to another server, and cuts those to the one before.
func (p *proxy) Switch(target string) {
	p.mu.Lock()
	p.target = target
	p.mu.Unlock()
	p.Cut()
}

func TestTheProxyPassesStopsCutsRefusesAndSwitches(t *testing.T) {
	one, two := echo(t, "one"), echo(t, "two")
	p := newProxy(t, one)
	say := func(c net.Conn, text string) {
		t.Helper()
		if _, err := io.WriteString(c, text); err != nil {
			t.Fatal(err)
		}
	}
	hear := func(c net.Conn, want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	gone := func(c net.Conn) {
		t.Helper()
		if n, err := c.Read(make([]byte, 1)); err == nil {
			t.Errorf("%d bytes came, want none", n)
		}
	}
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", p.Address())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	c := dial()
	say(c, "hello")
	hear(c, "one:hello")
	p.Stop(false, true)
	say(c, "late")
	p.Delay(time.Millisecond)
	p.Stop(false, false)
	hear(c, "one:late")
	p.Stop(true, true)
	say(c, "lost")
	p.Cut()
	gone(c)
	p.Stop(false, false)
	p.Refuse(true)
	gone(dial())
	p.Refuse(false)
	p.Switch(two)
	c = dial()
	say(c, "moved")
	hear(c, "two:moved")
}

// echo starts a server that says each piece again, after its name.
func echo(t *testing.T, name string) (address string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				for buf := make([]byte, 100); ; {
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					_, _ = io.WriteString(c, name+":"+string(buf[:n]))
				}
			}()
		}
	}()
	return ln.Addr().String()
}
