package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// process is a stand-in for that of an agent: a server whose connections break when it is killed.
type process struct{ *httptest.Server }

func startProcess(t *testing.T, h http.Handler) *process {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return &process{s}
}

func (p *process) addr() string { return p.Listener.Addr().String() }

// kill breaks the connections of the process, and has nobody connect any more.
func (p *process) kill() {
	_ = p.Listener.Close()
	p.CloseClientConnections()
}

func startFront(t *testing.T) (*Front, string) {
	t.Helper()
	f := New()
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	return f, s.URL
}

func say(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, text)
	})
}

func ask(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(`{"method":"GetTask"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(resp.StatusCode, " ", strings.TrimSpace(string(body)))
}

// TestNoCallFailsOverRestarts although each process is killed without a word.
func TestNoCallFailsOverRestarts(t *testing.T) {
	f, url := startFront(t)
	now := startProcess(t, say("hello"))
	f.Switch(now.addr())
	var calls, failed atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				resp, err := client.Post(url, "application/json", strings.NewReader(`{"method":"SendMessage"}`))
				calls.Add(1)
				if err != nil {
					failed.Add(1)
					continue
				}
				body, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil || string(body) != "hello" || resp.StatusCode != http.StatusOK {
					failed.Add(1)
				}
			}
		})
	}
	for range 20 {
		for before := calls.Load(); calls.Load() < before+20; {
			time.Sleep(time.Millisecond)
		}
		next := startProcess(t, say("hello"))
		f.Hold()
		now.kill()
		f.Switch(next.addr())
		now = next
	}
	cancel()
	wg.Wait()
	if failed.Load() > 0 {
		t.Errorf("%d of %d calls failed", failed.Load(), calls.Load())
	}
}

// TestACallThatRunsIsMadeAgain when its process ends before it has answered, whether that breaks off or says so.
func TestACallThatRunsIsMadeAgain(t *testing.T) {
	for name, end := range map[string]func(w http.ResponseWriter){
		"breaks off": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"says 503":   func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) },
		"says so in JSON-RPC": func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error: the agent is shutting down"}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, url := startFront(t)
			began, stop := make(chan struct{}), make(chan struct{})
			old := startProcess(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(began)
				<-stop
				end(w)
			}))
			f.Switch(old.addr())
			got := make(chan string, 1)
			go func() { got <- ask(t, url) }()
			<-began
			f.Hold()
			close(stop)
			f.Switch(startProcess(t, say("new")).addr())
			if answer := <-got; answer != "200 new" {
				t.Error(answer)
			}
		})
	}
}

// TestRequestsWaitUntilThereIsAnAgent, and are told why there is none.
func TestRequestsWaitUntilThereIsAnAgent(t *testing.T) {
	f, url := startFront(t)
	got := make(chan string, 1)
	go func() { got <- ask(t, url) }()
	f.Fail("main.go:1:1: no")
	if answer := <-got; answer != "503 main.go:1:1: no" {
		t.Error(answer)
	}
	f.Switch(startProcess(t, say("here")).addr())
	if answer := ask(t, url); answer != "200 here" {
		t.Error(answer)
	}
}

// TestDrainWaitsForAnswersAndNotForStreams: a stream that is open holds up nobody.
func TestDrainWaitsForAnswersAndNotForStreams(t *testing.T) {
	f, url := startFront(t)
	began, stop := make(chan struct{}), make(chan struct{})
	p := startProcess(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stream" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, "data: {}\n\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return
		}
		close(began)
		<-stop
	}))
	f.Switch(p.addr())
	resp, err := http.Get(url + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	f.Drain(t.Context(), time.Hour)
	done := make(chan struct{})
	go func() { _ = ask(t, url+"/call"); close(done) }()
	<-began
	drained := make(chan struct{})
	go func() { f.Drain(t.Context(), time.Hour); close(drained) }()
	select {
	case <-drained:
		t.Error("it did not wait for the call")
	case <-time.After(20 * time.Millisecond):
	}
	close(stop)
	<-done
	<-drained
}
