package binding

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"testing"
	"time"
)

// detaching serves a handler that detaches its connection once it has begun its answer, and goes on with it by rest.
func detaching(t *testing.T, rest func(*detachedConn)) (p *Port, addr string, left chan struct{}) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	left = make(chan struct{}, 1)
	p = OpenPort(ln, PortConfig{
		Header: time.Minute, Read: time.Minute, Idle: time.Minute, Stall: time.Minute, ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "begun ")
			_ = http.NewResponseController(w).Flush()
			c, err := portOf(r).Detach(w, r, func() { left <- struct{}{} })
			if err != nil {
				_, _ = io.WriteString(w, "not detached")
				return
			}
			go rest(c)
		}),
	})
	t.Cleanup(func() { _ = p.Cut() })
	return p, ln.Addr().String(), left
}

// ask sends a request on a connection.
func ask(t *testing.T, c net.Conn) {
	t.Helper()
	if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
}

// answer reads an answer.
func answer(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func dial(t *testing.T, addr string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, bufio.NewReader(c)
}

// A connection whose answer went on without net/http serves the next request, one after another, also when that came
// before the answer was over.
func TestADetachedConnectionComesBack(t *testing.T) {
	_, addr, _ := detaching(t, func(c *detachedConn) {
		_, _ = c.Write(make([]byte, 3*maxChunk/2))
		c.Finish()
	})
	c, r := dial(t, addr)
	for i, requests := range []int{1, 1, 2, 1} {
		for range requests {
			ask(t, c)
		}
		for range requests {
			if got := answer(t, r); len(got) != len("begun ")+3*maxChunk/2 {
				t.Errorf("%d: %d bytes: %.20q", i, len(got), got)
			}
		}
	}
}

// The client's leaving is told, and the connection does not come back.
func TestTheClientOfADetachedConnectionLeaves(t *testing.T) {
	done, over := make(chan struct{}), make(chan struct{})
	p, addr, left := detaching(t, func(c *detachedConn) { <-done; c.Finish(); close(over) })
	c, r := dial(t, addr)
	ask(t, c)
	if _, err := r.ReadString(' '); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	<-left
	close(done)
	<-over
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.detached)+len(p.returned) != 0 {
		t.Errorf("%d detached, %d returned", len(p.detached), len(p.returned))
	}
}

// Shutdown waits for detached connections, and not for those that came back and are idle.
func TestShutdownWaitsForDetachedConnections(t *testing.T) {
	begun, done := make(chan struct{}, 2), make(chan struct{})
	p, addr, _ := detaching(t, func(c *detachedConn) { begun <- struct{}{}; <-done; c.Finish() })
	first, r := dial(t, addr)
	ask(t, first)
	<-begun
	done <- struct{}{}
	answer(t, r) // and now it is idle
	second, _ := dial(t, addr)
	ask(t, second)
	<-begun
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.Shutdown(canceled); err == nil {
		t.Error("it did not wait")
	}
	close(done)
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	p.Wait()
}

// Cut ends detached connections.
func TestCutEndsDetachedConnections(t *testing.T) {
	begun, left := make(chan struct{}), make(chan struct{})
	p, addr, gone := detaching(t, func(c *detachedConn) { close(begun); <-left; _ = c.Close() })
	c, r := dial(t, addr)
	ask(t, c)
	<-begun
	go func() { <-gone; close(left) }()
	if err := p.Cut(); err != nil {
		t.Error(err)
	}
	if _, err := io.ReadAll(r); err != nil {
		t.Log(err) // the end, or a reset
	}
}
