package grpcserver_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/a2agen/a2agen/runtime/server"
)

// body is the body of a request that does not end before somebody says so.
type body struct {
	io.Reader
	end <-chan struct{}
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		<-b.end
	}
	return n, err
}

// upload begins a call over net/http and returns its status when it ends.
func (a *agent) upload(t *testing.T, web http.RoundTripper, method string, b *body) <-chan string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+a.addr+method, b)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/grpc")
	r.Header.Set("TE", "trailers")
	ended := make(chan string, 1)
	go func() {
		resp, err := web.RoundTrip(r)
		if err != nil {
			ended <- err.Error()
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		ended <- resp.Header.Get("Grpc-Status") + resp.Trailer.Get("Grpc-Status")
		_ = resp.Body.Close() // waits for a read of b that has begun
	}()
	return ended
}

// Messages that net/http serves have the budget of all: those beyond it are refused while they come.
func TestUploadsOverNetHTTPHaveTheBudgetOfMessages(t *testing.T) {
	const size, n = 1 << 20, 20
	a := mounted(t, testCard, []server.Skill{brief()}, server.WithLimits(server.Limits{Bodies: 4 * size}))
	method, in := sending(t, strings.Repeat("x", size))
	frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(in))), in...)
	web := &http.Transport{Protocols: one(false)}
	defer web.CloseIdleConnections()
	over := make(chan struct{})
	ended := make(chan string, n)
	for range n {
		status := a.upload(t, web, method, &body{bytes.NewReader(frame[:len(frame)-10]), over})
		go func() { ended <- <-status }()
	}
	for range n / 2 {
		if got := <-ended; got != wireExhausted {
			t.Errorf("an upload ends with %q", got)
		}
	}
	close(over)
	for range n - n/2 { // some of those that come at the same time fit
		<-ended
	}
	a.until(t, wireOK, method, frame)
}

// A message has to come within the limit, whoever has the connection.
func TestAnUploadOverNetHTTPThatDoesNotComeIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	a := mounted(t, testCard, []server.Skill{brief()}, server.WithLimits(server.Limits{Read: 200 * time.Millisecond}))
	method, in := sending(t, "hello")
	p := a.connect()
	for _, cut := range []int{1, len(in), len(in) + 4, len(in) + 5} {
		p.call(method, in, cut)
		if got := p.status(10 * time.Second); got != wireDeadline {
			t.Errorf("cut by %d bytes: %q", cut, got)
		}
	}
	p.call(method, in, 0)
	if got := p.status(10 * time.Second); got != wireOK {
		t.Errorf("the connection is of no use any more: %q", got)
	}
}

// Nothing is read of a call before its caller is known.
func TestUploadsOverNetHTTPWaitForTheirCallers(t *testing.T) {
	a := mounted(t, authCard, []server.Skill{quiet()}, guards())
	method, in := sending(t, "hello")
	p := a.connect()
	p.call(method, in, len(in)+5)
	if got := p.status(10 * time.Second); got != "16" {
		t.Errorf("without a message the call ends with %q", got)
	}
}

// Answers that net/http writes have the budget of all answers, for as long as it takes to write them.
func TestAnswersOverNetHTTPHaveTheBudgetOfAnswers(t *testing.T) {
	const calls = 40
	a := mounted(t, testCard, []server.Skill{large()}, server.WithLimits(server.Limits{
		Answers: 4 << 20, Stall: 400 * time.Millisecond,
	}))
	method, in := sending(t, "go")
	var peers []*peer
	for range calls {
		p := a.connect(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
		p.coding = "identity"
		p.call(method, in, 0)
		peers = append(peers, p)
	}
	refused := 0
	for _, p := range peers {
		if got := p.status(10 * time.Second); got == "14" {
			refused++
		}
	}
	if refused < calls/4 {
		t.Errorf("%d of %d answers that nobody takes found no room", refused, calls)
	}
}
