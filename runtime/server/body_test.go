package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/internal/budget"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
)

const listTasks = `{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}`

// serve runs a server of the given limits and options until the test ends, and returns its address.
func serve(t *testing.T, limits Limits, opts ...Option) (*Server, string) {
	t.Helper()
	s := hosted(t, func(context.Context, *Task) (string, error) { return "done", nil }, limits, opts...)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	t.Cleanup(func() { stop(); <-served })
	return s, ln.Addr().String()
}

// dial opens a connection and sends the head of a request that declares a length, and the start of its body.
func dial(t *testing.T, addr string, length int, start string, header ...string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	head := "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + strings.Join(append(header, ""), "\r\n")
	if _, err := fmt.Fprintf(c, "%sContent-Length: %d\r\n\r\n%s", head, length, start); err != nil {
		t.Fatal(err)
	}
	return c
}

// answer reads the answer that c gets, within ten seconds.
func answer(t *testing.T, c net.Conn) (int, http.Header, string) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b)
}

// post makes a whole request.
func post(t *testing.T, addr, body string) (int, http.Header, string) {
	t.Helper()
	return answer(t, dial(t, addr, len(body), body))
}

// waitFor waits until cond holds.
func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for range 2000 {
		if cond() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("in vain: %s", what)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Memory follows what is received, not what is declared.
func TestADeclaredLengthCostsNothing(t *testing.T) {
	_, addr := serve(t, Limits{})
	before := heap()
	const n = 100
	for range n {
		dial(t, addr, 16<<20, "{")
	}
	if status, _, body := post(t, addr, listTasks); status != http.StatusOK { // those before have been accepted
		t.Errorf("status %d: %s", status, body)
	}
	if each := (heap() - before) / n; each > 100<<10 {
		t.Errorf("a connection that has sent one byte holds %d kB", each>>10)
	}
}

// Bodies share a budget: what is over it is told to come later, small requests are taken all the while.
func TestSlowLargeBodiesLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	s, addr := serve(t, Limits{Bodies: 1 << 20})
	part := strings.Repeat(" ", 200<<10)
	var slow []net.Conn
	for range 6 {
		slow = append(slow, dial(t, addr, 16<<20, part))
	}
	waitFor(t, "large bodies are received", func() bool { return s.agent.Bodies.Taken() >= 3*240<<10 })
	for range 20 {
		if status, _, body := post(t, addr, listTasks); status != http.StatusOK {
			t.Fatalf("a small request: status %d: %s", status, body)
		}
	}
	long := strings.Replace(listTasks, "{}", "{"+strings.Repeat(" ", 700<<10)+"}", 1)
	status, header, body := post(t, addr, long)
	if status != http.StatusServiceUnavailable || header.Get("Retry-After") != "1" || !strings.Contains(body, "RESOURCE_EXHAUSTED") {
		t.Errorf("a large one: status %d, header %v: %s", status, header, body)
	}
	if used := s.agent.Bodies.Taken(); used > 1<<20 {
		t.Errorf("%d bytes are taken", used)
	}
	for _, c := range slow {
		_ = c.Close()
	}
	waitFor(t, "what clients that left had is given back", func() bool { return s.agent.Bodies.Taken() == 0 })
	if status, _, body := post(t, addr, long); status != http.StatusOK {
		t.Errorf("afterwards: status %d: %s", status, body)
	}
}

// A large message has room for all that it takes in memory until it is answered; a handler at work for a short one takes
// nothing from others.
func TestALargeMessageHasItsRoomUntilItIsAnswered(t *testing.T) {
	t.Parallel()
	for size, atWork := range map[int]int64{1 << 10: 0, 32 << 10: 0, 1 << 20: budget.Held << 20} {
		t.Run(strconv.Itoa(size), func(t *testing.T) { testRoomOfAMessage(t, size, atWork) })
	}
}

func testRoomOfAMessage(t *testing.T, size int, atWork int64) {
	release := make(chan struct{})
	s := hosted(t, func(context.Context, *Task) (string, error) { <-release; return "done", nil }, Limits{})
	server := &http.Server{Handler: s}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(ln) }()
	defer func() { _ = server.Close(); _ = s.Close() }()
	body := strings.Replace(sendStream, "SendStreamingMessage", "SendMessage", 1)
	body = strings.Replace(body, `"x"`, `"`+strings.Repeat("x", size)+`"`, 1)
	c := dial(t, ln.Addr().String(), len(body), body)
	waitFor(t, "the handler runs", func() bool { return s.engine.Load().Calls == 1 })
	if used := s.agent.Bodies.Taken(); used < atWork || used > atWork+atWork/8 {
		t.Errorf("%d bytes are taken, want %d", used, atWork)
	}
	close(release)
	if status, _, got := answer(t, c); status != http.StatusOK || !strings.Contains(got, "TASK_STATE_COMPLETED") {
		t.Errorf("status %d: %.200s", status, got)
	}
	waitFor(t, "all is given back", func() bool { return s.agent.Bodies.Taken() == 0 })
}

// An upload that goes on may take long, a drip may not; also in a server of the user's own, which sets no time limits.
func TestASlowBodyPassesAndADripDoesNot(t *testing.T) {
	t.Parallel()
	limits := Limits{Read: 2 * time.Second}
	_, own := serve(t, limits)
	s := hosted(t, func(context.Context, *Task) (string, error) { return "", nil }, limits)
	plain := &http.Server{Handler: s}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = plain.Serve(ln) }()
	t.Cleanup(func() { _ = plain.Close(); _ = s.Close() })
	for name, addr := range map[string]string{"Serve": own, "a server of one's own": ln.Addr().String()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const pieces = 6
			piece := strings.Repeat(" ", binding.ExtendAfter)
			c := dial(t, addr, pieces*binding.ExtendAfter+len(listTasks), "")
			for range pieces {
				time.Sleep(500 * time.Millisecond)
				if _, err := io.WriteString(c, piece); err != nil {
					t.Fatal(err)
				}
			}
			_, _ = io.WriteString(c, listTasks)
			if status, _, body := answer(t, c); status != http.StatusOK {
				t.Errorf("a slow upload: status %d: %s", status, body)
			}
			drip := dial(t, addr, 1000, "{")
			if status, _, body := answer(t, drip); status != http.StatusRequestTimeout || !strings.Contains(body, "too slowly") {
				t.Errorf("a drip: status %d: %s", status, body)
			}
		})
	}
}

// Of a caller who is not known nothing is read, whatever version is asked for (R188).
func TestIdentityIsCheckedBeforeTheBodyIsRead(t *testing.T) {
	t.Parallel()
	_, addr := serve(t, Limits{}, WithProxyIdentity(func(r *http.Request) (string, error) {
		if who := r.Header.Get("X-User"); who != "" {
			return who, nil
		}
		return "", errors.New("nobody")
	}))
	for _, c := range []struct {
		name, header, body string
		status             int
		want               string
	}{
		{"nobody", "A2A-Version: 1.0", "", http.StatusUnauthorized, `"id":null`},
		{"nobody, another version", "A2A-Version: 9.9", "", http.StatusOK, "-32009"},
		{"somebody", "X-User: ann", listTasks, http.StatusOK, `"totalSize":0`},
		{"somebody, another version", "X-User: ann\r\nA2A-Version: 9.9", listTasks, http.StatusOK, `"id":1,"error":{"code":-32009`},
	} {
		t.Run(c.name, func(t *testing.T) {
			length := len(c.body)
			if length == 0 {
				length = 1 << 20 // which never comes
			}
			status, _, body := answer(t, dial(t, addr, length, c.body, c.header))
			if status != c.status || !strings.Contains(body, c.want) {
				t.Errorf("status %d: %s", status, body)
			}
		})
	}
}

func TestBodiesOfAnyLengthAreReadWhole(t *testing.T) {
	t.Parallel()
	_, addr := serve(t, Limits{Body: 300 << 10})
	for _, n := range []int{0, 1, 4 << 10, 16<<10 - 1, 16 << 10, 16<<10 + 1, 100 << 10, 300<<10 - len(listTasks) - 100} {
		body := strings.Replace(listTasks, "{}", "{"+strings.Repeat(" ", n)+"}", 1)
		if status, _, got := post(t, addr, body); status != http.StatusOK || !strings.Contains(got, "totalSize") {
			t.Errorf("%d: status %d: %s", n, status, got)
		}
		resp, err := http.Post("http://"+addr, "application/json", io.MultiReader(strings.NewReader(body))) // chunked
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK || !strings.Contains(string(got), "totalSize") {
			t.Errorf("%d in chunks: status %d: %s", n, resp.StatusCode, got)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	c := dial(t, addr, 100, `{"jsonrpc"`)
	_ = c.(*net.TCPConn).CloseWrite()
	if status, _, got := answer(t, c); status != http.StatusBadRequest || !strings.Contains(got, "-32700") {
		t.Errorf("cut short: status %d: %s", status, got)
	}
}

// Objects of a few bytes need many times that when they are read.
func TestARequestWeighsWhatReadingItNeeds(t *testing.T) {
	s, addr := serve(t, Limits{Bodies: 8 << 20})
	parts := func(n int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"x"}` +
			strings.Repeat(`,{"text":""}`, n) + `]}}}`
	}
	if status, _, body := post(t, addr, parts(5_000)); status != http.StatusOK || !strings.Contains(body, "done") {
		t.Errorf("5,000 parts: %d %.200s", status, body)
	}
	if status, _, body := post(t, addr, parts(50_000)); status != http.StatusRequestEntityTooLarge || !strings.Contains(body, "objects") {
		t.Errorf("50,000 parts: %d %.200s", status, body)
	}
	s.agent.Bodies.Add(4 << 20)
	if status, header, body := post(t, addr, parts(9_000)); status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("9,000 parts beside others: %d %.200s", status, body)
	}
	s.agent.Bodies.Release(4 << 20)
	waitFor(t, "all is given back", func() bool { return s.agent.Bodies.Taken() == 0 })
}

// A handler keeps its message as long as it is at work, and a task holds it only later, if at all.
func TestMessagesAtWorkShareABudget(t *testing.T) {
	goOn := make(chan struct{})
	s := hosted(t, func(context.Context, *Task) (string, error) { <-goOn; return "done", nil }, Limits{Work: 3 << 20})
	send := func(text int) string {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":`+
			`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"`+strings.Repeat("x", text)+`"}]}}}`)))
		return w.Body.String()
	}
	first := make(chan string)
	go func() { first <- send(2 << 20) }()
	waitFor(t, "the first is at work", func() bool { return s.engine.Load().Work > 0 })
	if got := send(1 << 20); !strings.Contains(got, "RESOURCE_EXHAUSTED") {
		t.Errorf("a large message beside it: %.200s", got)
	}
	small := make(chan string)
	go func() { small <- send(1 << 10) }()
	waitFor(t, "a small one is at work beside it", func() bool { return s.engine.Load().Calls == 2 })
	close(goOn)
	for _, got := range []string{<-first, <-small, send(1 << 20)} {
		if !strings.Contains(got, "TASK_STATE_COMPLETED") {
			t.Errorf("%.300s", got)
		}
	}
	if got := s.engine.Load().Work; got != 0 {
		t.Errorf("%d bytes are kept", got)
	}
}
