package server

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/engine"
	"google.golang.org/grpc/test/bufconn"
)

// bulky is a server whose skill makes a task of an artifact of so many bytes that goes on until the test ends. It is served twice: by Serve, and
// in a server of the user's own.
func bulky(t *testing.T, size int, limits Limits) (_ *Server, addrs map[string]string) {
	t.Helper()
	s, release := hostedBulk(t, size, limits)
	own, plain := localListener(t), localListener(t)
	h := &http.Server{Handler: s}
	go func() { _ = h.Serve(plain) }()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, own) }()
	t.Cleanup(func() { release(); _ = h.Close(); stop(); <-served })
	return s, map[string]string{"Serve": own.Addr().String(), "a server of one's own": plain.Addr().String()}
}

// hostedBulk is a server whose skill makes a task of an artifact of so many bytes, that goes on until release.
func hostedBulk(t *testing.T, size int, limits Limits) (s *Server, release func()) {
	t.Helper()
	released := make(chan struct{})
	return hosted(t, func(_ context.Context, task *Task) (string, error) {
		w := task.Stream("bulk")
		if _, err := io.WriteString(w, strings.Repeat("x", size)); err != nil {
			return "", err
		}
		if err := task.Progress("there"); err != nil {
			return "", err
		}
		<-released
		return "", w.Close()
	}, limits), func() { close(released) }
}

func localListener(t *testing.T) net.Listener {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return narrow{ln}
}

// narrow is a listener whose connections buffer little, so that what a client has not taken is seen soon.
type narrow struct{ net.Listener }

func (l narrow) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(64 << 10)
	}
	return c, err
}

// largeTask makes a task and waits until it is as large as it gets.
func largeTask(t *testing.T, addr string) (id string) {
	t.Helper()
	body := strings.Replace(sendStream, `"params":{`, `"params":{"configuration":{"returnImmediately":true},`, 1)
	_, _, got := post(t, addr, strings.Replace(body, "SendStreamingMessage", "SendMessage", 1))
	var made struct {
		Result struct{ Task struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(got), &made); err != nil || made.Result.Task.ID == "" {
		t.Fatalf("%v: %.300s", err, got)
	}
	id = made.Result.Task.ID
	waitFor(t, "the task is there", func() bool {
		_, _, got := post(t, addr, get(id))
		return strings.Contains(got, `"there"`)
	})
	return id
}

func get(id string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"` + id + `"}}`
}

func subscribe(id string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"` + id + `"}}`
}

// ask sends a request from a client with a small window.
func ask(t *testing.T, addr, body string) net.Conn {
	t.Helper()
	c := dial(t, addr, len(body), "")
	_ = c.(*net.TCPConn).SetReadBuffer(16 << 10)
	if _, err := io.WriteString(c, body); err != nil {
		t.Fatal(err)
	}
	return c
}

// A client that takes nothing is dropped, whatever it asked for.
func TestWhoTakesNothingIsDropped(t *testing.T) {
	t.Parallel()
	s, addrs := bulky(t, 8<<20, Limits{Stall: 300 * time.Millisecond})
	for name, addr := range addrs {
		id := largeTask(t, addr)
		for _, body := range []string{get(id), subscribe(id)} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ask(t, addr, body)
				waitFor(t, "the answer is being written", func() bool { return s.engine.Load().Answers > 4<<20 })
				waitFor(t, "it is given up", func() bool { return s.engine.Load().Answers == 0 })
			})
		}
	}
}

// A client that is slow gets everything, however much longer than the stall limit it takes. The clock is the test's.
func TestWhoIsSlowIsNotDropped(t *testing.T) {
	t.Parallel()
	const size, stall, read = 4 << 20, time.Second, 16 << 10
	for _, own := range []bool{false, true} {
		for what, body := range map[string]func(id string) string{"answer": get, "stream": subscribe} {
			t.Run(fmt.Sprintf("%s, in a server of one's own: %v", what, own), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, release := hostedBulk(t, size, Limits{Stall: stall})
					ln := bufconn.Listen(read)
					defer servedInMemory(t, s, ln, own)()
					defer release()
					c, err := ln.DialContext(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					defer c.Close()
					text := body(taskInMemory(t, s))
					go func() {
						_, _ = fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
					}()
					began := time.Now()
					for n := 0; n < size; n += read {
						if _, err := io.CopyN(io.Discard, c, read); err != nil {
							t.Fatalf("cut after %d bytes and %v: %v", n, time.Since(began), err)
						}
						time.Sleep(stall / 10)
					}
					if took := time.Since(began); took < 10*stall {
						t.Errorf("took %v: the test shows nothing", took)
					}
				})
			})
		}
	}
}

// servedInMemory serves a server, by Serve or in a server of one's own, until the function that it returns is called.
func servedInMemory(t *testing.T, s *Server, ln net.Listener, own bool) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	h, done := &http.Server{Handler: s}, make(chan struct{})
	go func() {
		defer close(done)
		if own {
			_ = h.Serve(ln)
		} else if err := s.Serve(ctx, ln); err != nil {
			t.Error(err)
		}
	}()
	return func() {
		cancel()
		_, _ = h.Close(), s.Close()
		<-done
	}
}

// taskInMemory makes a task and waits until it is as large as it gets.
func taskInMemory(t *testing.T, s *Server) (id string) {
	ask := func(body string) string {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Body.String()
	}
	body := strings.Replace(sendStream, `"params":{`, `"params":{"configuration":{"returnImmediately":true},`, 1)
	var made struct {
		Result struct{ Task struct{ ID string } }
	}
	if err := json.Unmarshal([]byte(ask(strings.Replace(body, "SendStreamingMessage", "SendMessage", 1))), &made); err != nil {
		t.Fatal(err)
	}
	for id = made.Result.Task.ID; !strings.Contains(ask(get(id)), `"there"`); {
		time.Sleep(time.Millisecond)
	}
	return id
}

// Streams that begin with the same task share its bytes.
func TestStalledStreamsShareTheTask(t *testing.T) {
	const size, n = 4 << 20, 40
	s, addrs := bulky(t, size, Limits{Stall: time.Minute})
	addr := addrs["Serve"]
	id := largeTask(t, addr)
	before := heap()
	for range n {
		ask(t, addr, subscribe(id))
	}
	waitFor(t, "all are being written", func() bool { return s.engine.Load().Streams == n })
	waitFor(t, "the task is encoded", func() bool { return s.engine.Load().Answers > 0 })
	time.Sleep(50 * time.Millisecond)
	if held := heap() - before; held > 6*size || s.engine.Load().Answers > 3*size {
		t.Errorf("%d streams of a task of %d MB hold %d MB, %d MB of the budget", n, size>>20, held>>20, s.engine.Load().Answers>>20)
	}
}

// What is being written has a budget: who does not fit waits, without a copy, and is told to come later; small answers pass.
func TestStalledAnswersStayWithinTheBudget(t *testing.T) {
	const size, limit = 2 << 20, 10 << 20
	s, addrs := bulky(t, size, Limits{Stall: 200 * time.Millisecond, Answers: limit})
	addr := addrs["Serve"]
	id := largeTask(t, addr)
	before := heap()
	for range 30 {
		ask(t, addr, get(id))
	}
	waitFor(t, "the budget is used", func() bool { return s.engine.Load().Answers > limit/2 })
	if held, used := heap()-before, s.engine.Load().Answers; used > limit || held > 3*limit {
		t.Errorf("%d MB are held, %d MB of the budget", held>>20, used>>20)
	}
	if status, _, got := post(t, addr, listTasks); status != http.StatusOK || !strings.Contains(got, "totalSize") {
		t.Errorf("a small answer: status %d: %s", status, got)
	}
	waitFor(t, "everything is given back", func() bool { return s.engine.Load().Answers == 0 })
	var full engine.Request
	full.Begin(t.Context(), s.engine)
	give := make(chan struct{})
	var held sync.WaitGroup
	held.Go(func() {
		_ = full.Response.Pass(t.Context(), func([]byte) ([]byte, error) { return make([]byte, limit), nil }, func([]byte) { <-give })
	})
	waitFor(t, "the budget is used up", func() bool { return s.engine.Load().Answers == limit })
	if status, _, got := post(t, addr, get(id)); status != http.StatusOK || !strings.Contains(got, "RESOURCE_EXHAUSTED") {
		t.Errorf("a large answer without room: status %d: %.200s", status, got)
	}
	close(give)
	held.Wait()
	if _, _, got := post(t, addr, get(id)); !strings.Contains(got, `"there"`) {
		t.Errorf("afterwards: %.200s", got)
	}
}

// Also small answers that nobody reads end: those of one connection fill its buffers.
func TestUnreadAnswersEndTheConnection(t *testing.T) {
	t.Parallel()
	_, addrs := bulky(t, 1, Limits{Stall: 200 * time.Millisecond})
	c := ask(t, addrs["Serve"], listTasks)
	_ = c.SetWriteDeadline(time.Now().Add(20 * time.Second))
	w := bufio.NewWriterSize(c, 64<<10)
	for {
		if _, err := fmt.Fprintf(w, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the connection stays")
			}
			return
		}
	}
}
