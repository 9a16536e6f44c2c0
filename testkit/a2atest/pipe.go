package a2atest

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// maxBuffered is how much one side of a connection may write before the other side reads, in bytes.
const maxBuffered = 64 << 10

// listener accepts connections that are made in this process.
type listener struct {
	addr net.Addr
	next chan net.Conn
	done chan struct{}
	once sync.Once
}

// Accept returns the server's side of the next connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.next:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept, and makes dialing fail.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr returns the agent's address.
func (l *listener) Addr() net.Addr { return l.addr }

// address is the address of a side of a connection. It is no TCP address: nothing takes it for one of this machine.
type address string

func (address) Network() string  { return "memory" }
func (a address) String() string { return string(a) }

// newPipe returns the two sides of a connection between two addresses. All that blocks on it does so inside a bubble of
// testing/synctest, too.
func newPipe(client, server net.Addr) (atClient, atServer net.Conn) {
	up, down := newFlow(), newFlow()
	return &pipe{in: down, out: up, local: client, remote: server}, &pipe{in: up, out: down, local: server, remote: client}
}

// pipe is one side of a connection.
type pipe struct {
	in, out       *flow
	local, remote net.Addr
}

func (p *pipe) Read(b []byte) (int, error)  { return p.in.read(b) }
func (p *pipe) Write(b []byte) (int, error) { return p.out.write(b) }

// Close ends both directions: what the other side has not read yet it still reads.
func (p *pipe) Close() error {
	p.in.close(net.ErrClosed, io.ErrClosedPipe)
	p.out.close(io.EOF, net.ErrClosed)
	return nil
}

// CloseWrite ends the direction to the other side.
func (p *pipe) CloseWrite() error {
	p.out.close(io.EOF, net.ErrClosed)
	return nil
}

func (p *pipe) LocalAddr() net.Addr  { return p.local }
func (p *pipe) RemoteAddr() net.Addr { return p.remote }

func (p *pipe) SetDeadline(t time.Time) error {
	return errors.Join(p.SetReadDeadline(t), p.SetWriteDeadline(t))
}

func (p *pipe) SetReadDeadline(t time.Time) error {
	p.in.limit(&p.in.reading, t)
	return nil
}

func (p *pipe) SetWriteDeadline(t time.Time) error {
	p.out.limit(&p.out.writing, t)
	return nil
}

// flow is one direction of a connection.
type flow struct {
	mu   sync.Mutex
	cond sync.Cond // data, room, an end or a deadline came

	data             []byte
	readErr          error // of a read when there is no data any more; nil while more may come
	writeErr         error // of a write; nil: the reader is there
	reading, writing deadline
}

// deadline is whether a time has passed.
type deadline struct {
	timer  *time.Timer
	passed bool
}

func newFlow() *flow {
	f := &flow{}
	f.cond.L = &f.mu
	return f
}

// close ends the flow with the errors that its reader and its writer get. The first end counts.
func (f *flow) close(reader, writer error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.readErr == nil || errors.Is(reader, net.ErrClosed) {
		f.readErr = reader
	}
	if f.writeErr == nil {
		f.writeErr = writer
	}
	for _, d := range []*deadline{&f.reading, &f.writing} {
		if d.timer != nil {
			d.timer.Stop()
		}
	}
	f.cond.Broadcast()
}

// limit sets a deadline; zero: there is none.
func (f *flow) limit(d *deadline, at time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if d.timer != nil {
		d.timer.Stop()
	}
	d.timer, d.passed = nil, false
	defer f.cond.Broadcast()
	if at.IsZero() || f.writeErr != nil {
		return
	}
	after := time.Until(at)
	if d.passed = after <= 0; d.passed {
		return
	}
	var timer *time.Timer
	timer = time.AfterFunc(after, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if d.timer == timer { // no other deadline was set meanwhile
			d.passed = true
			f.cond.Broadcast()
		}
	})
	d.timer = timer
}

func (f *flow) read(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case errors.Is(f.readErr, net.ErrClosed):
			return 0, f.readErr
		case f.reading.passed:
			return 0, os.ErrDeadlineExceeded
		case len(f.data) > 0:
			n := copy(b, f.data)
			if f.data = f.data[n:]; len(f.data) == 0 {
				f.data = nil
			}
			f.cond.Broadcast()
			return n, nil
		case f.readErr != nil:
			return 0, f.readErr
		case len(b) == 0:
			return 0, nil
		}
		f.cond.Wait()
	}
}

func (f *flow) write(b []byte) (n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		switch {
		case f.writeErr != nil:
			return n, f.writeErr
		case f.writing.passed:
			return n, os.ErrDeadlineExceeded
		case len(b) == 0:
			return n, nil
		}
		if room := min(len(b), maxBuffered-len(f.data)); room > 0 {
			f.data = append(f.data, b[:room]...)
			n, b = n+room, b[room:]
			f.cond.Broadcast()
			continue
		}
		f.cond.Wait()
	}
}
