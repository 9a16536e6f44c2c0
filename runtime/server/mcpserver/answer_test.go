package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/server"
)

func TestASilentStreamHasComments(t *testing.T) {
	a := serve(t, newServer(t, config(t, openCard, blue("do")), server.WithLimits(server.Limits{Heartbeat: time.Millisecond})))
	resp, err := a.web.Do(a.request(t.Context(), http.MethodGet, "/mcp", "", a.session()...))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	for comments := 0; comments < 3 && lines.Scan(); {
		if lines.Text() == ":" {
			comments++
		}
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
}

// TestAHostThatReadsNothingIsDropped: it has one of two streams, the call that it made has the other one.
func TestAHostThatReadsNothingIsDropped(t *testing.T) {
	limits := server.Limits{Streams: 2, Stall: 10 * time.Millisecond}
	a := serve(t, newServer(t, config(t, openCard, skill("do", func(_ context.Context, task *server.Task, in []byte) (string, error) {
		if strings.Contains(string(in), "Rome") {
			for range 20 { // more than sockets take
				if err := task.Artifact("a", runtime.Text(strings.Repeat("x", 1<<20))); err != nil {
					return "", err
				}
			}
		}
		return `{"sky":"blue"}`, nil
	})), server.WithLimits(limits)))
	body, header := modern("tools/call", "do", `"name":"do","arguments":{"city":"Rome"}`)
	body = strings.Replace(body, `"_meta":{`, `"_meta":{"progressToken":"p",`, 1)
	c, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	lines := append(header, "Content-Type: application/json", "Accept: application/json, text/event-stream", fmt.Sprint("Content-Length: ", len(body)))
	if _, err := fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n%s\r\n\r\n%s", strings.Join(lines, "\r\n"), body); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Read(make([]byte, 1)); err != nil { // it has begun
		t.Fatal(err)
	}
	other, header := modern("tools/call", "do", `"name":"do","arguments":{"city":"Oslo"}`)
	for until := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		status, _, answer := a.post("/mcp", other, header...)
		if status == http.StatusOK && strings.Contains(answer, "blue") {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("%d %s", status, answer)
		}
	}
}

// lines keeps what is logged.
type lines struct {
	mu  sync.Mutex
	all strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

func TestACallIsLoggedOnceAndSoIsARefusal(t *testing.T) {
	var log lines
	a := serve(t, newServer(t, config(t, guarded(bearer, ""), named()), server.WithAuth(auth.Verifiers{"s": known}),
		server.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))))
	body, header := modern("tools/call", "do", `"name":"do","arguments":{"city":"Rome"}`)
	a.post("/mcp", body, append(header, "Authorization: Bearer ann")...)
	a.post("/mcp", body, append(header, "Authorization: Bearer eve")...)
	if err := a.Close(); err != nil { // with it all lines are there
		t.Fatal(err)
	}
	var requests []string
	for line := range strings.Lines(log.String()) {
		if strings.Contains(line, "request") {
			requests = append(requests, line)
		}
	}
	if len(requests) != 2 || !strings.Contains(requests[0], "skill=do") || !strings.Contains(requests[0], "caller=s|ann") || !strings.Contains(requests[1], `msg="request refused"`) {
		t.Errorf("got %q", requests)
	}
}
