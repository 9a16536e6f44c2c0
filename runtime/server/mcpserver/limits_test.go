package mcpserver_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/mcpserver"
)

func TestWhatIsTooMuchIsRefused(t *testing.T) {
	limits := server.Limits{Body: 1 << 20, Bodies: 2 << 20, Streams: 2 * 8}
	a := serve(t, newServer(t, config(t, openCard, blue("do")), server.WithLimits(limits)))
	arguments := func(value string) string { return `"name":"do","arguments":{"city":` + value + `}` }
	large, header := modern("tools/call", "do", arguments(`"`+strings.Repeat("x", 2<<20)+`"`))
	objects, _ := modern("tools/call", "do", arguments("["+strings.Repeat("{},", 200_000)+"0]"))
	deep, _ := modern("tools/call", "do", arguments(strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)))
	fits, _ := modern("tools/call", "do", arguments(`"`+strings.Repeat("x", 100_000)+`"`))
	for name, test := range map[string]struct {
		body   string
		status int
	}{
		"a large body": {large, http.StatusRequestEntityTooLarge}, "many objects": {objects, http.StatusRequestEntityTooLarge},
		"deep nesting": {deep, http.StatusBadRequest}, "a batch": {"[" + fits + "," + fits + "]", http.StatusBadRequest},
		"no JSON": {"{", http.StatusBadRequest}, "nothing": {"", http.StatusBadRequest}, "what fits": {fits, http.StatusOK},
	} {
		if status, _, answer := a.post("/mcp", test.body, header...); status != test.status {
			t.Errorf("%s: %d, %.200s", name, status, answer)
		}
	}
	if status, _, _ := a.post("/mcp", fits, append(header, "Content-Encoding: gzip")...); status != http.StatusUnsupportedMediaType {
		t.Errorf("a compressed body: %d", status)
	}
	// Two of sixteen streams are for sessions.
	for range 2 {
		a.session()
	}
	if status, h, answer := a.post("/mcp", initialize); status != http.StatusServiceUnavailable || h.Get("Retry-After") == "" {
		t.Errorf("one session too many: %d %s", status, answer)
	}
	if status, _, _ := a.post("/mcp", fits, header...); status != http.StatusOK {
		t.Errorf("who needs no session gets %d", status)
	}
}

// TestWhatASessionKeepsIsCounted: it is given back when the session ends.
func TestWhatASessionKeepsIsCounted(t *testing.T) {
	a := serve(t, newServer(t, config(t, openCard, blue("do")), server.WithLimits(server.Limits{Bodies: 3 << 19})))
	of := func(size int) string {
		return strings.Replace(initialize, `"name":"raw"`, `"name":"`+strings.Repeat("x", size)+`"`, 1)
	}
	if status, _, answer := a.post("/mcp", of(100_000)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a host that says much of itself: %d %s", status, answer)
	}
	const busy = "too many large requests"
	_, h, answer := a.post("/mcp", of(40_000)) // of which the budget has room for one
	if strings.Contains(answer, busy) {
		t.Fatal(answer)
	}
	if _, _, answer := a.post("/mcp", of(40_000)); !strings.Contains(answer, busy) {
		t.Errorf("another one: %s", answer)
	}
	if status, _, _ := a.do(http.MethodDelete, "/mcp", "", "Mcp-Session-Id: "+h.Get("Mcp-Session-Id")); status != http.StatusNoContent {
		t.Fatalf("DELETE: %d", status)
	}
	answer = busy
	for until := time.Now().Add(patience); strings.Contains(answer, busy); time.Sleep(time.Millisecond) {
		if _, _, answer = a.post("/mcp", of(40_000)); time.Now().After(until) {
			t.Fatal("the room of a session that has ended is not given back")
		}
	}
}

func TestAnEndedSessionMakesRoom(t *testing.T) {
	a := serve(t, newServer(t, config(t, openCard, blue("do")), server.WithLimits(server.Limits{Streams: 8})))
	for range 3 {
		session := a.session()
		if status, _, _ := a.do(http.MethodDelete, "/mcp", "", session...); status != http.StatusNoContent {
			t.Fatalf("DELETE: %d", status)
		}
		if status, _, _ := a.post("/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, session...); status != http.StatusNotFound {
			t.Errorf("a session that has ended: %d", status)
		}
	}
}

func TestOpenStreamsAreCounted(t *testing.T) {
	a := serve(t, newServer(t, config(t, openCard, blue("do")), server.WithLimits(server.Limits{Streams: 1})))
	session := a.session()
	stream := a.stream(session)
	defer func() { _ = stream.Close() }()
	if status, _, _ := a.post("/mcp", `{"jsonrpc":"2.0","id":2,"method":"ping"}`, session...); status != http.StatusServiceUnavailable {
		t.Errorf("one stream too many: %d", status)
	}
}

func TestHostsAndOriginsAreThoseOfTheAgent(t *testing.T) {
	a := serve(t, newServer(t, config(t, openCard, blue("do")), server.WithOrigins("https://page.example"), server.WithHosts("agent.test")))
	body, header := modern("tools/list", "", "")
	for more, want := range map[string]int{
		"Host: evil.example": http.StatusForbidden, "Host: agent.test": http.StatusOK,
		"Origin: https://evil.example": http.StatusForbidden, "Origin: https://page.example": http.StatusOK,
	} {
		if status, _, answer := a.post("/mcp", body, append(header, more)...); status != want {
			t.Errorf("%s: %d %s", more, status, answer)
		}
	}
	status, h, _ := a.do(http.MethodOptions, "/mcp", "", "Origin: https://page.example", "Access-Control-Request-Method: POST")
	if status != http.StatusNoContent || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "Mcp-Protocol-Version") {
		t.Errorf("a preflight: %d %v", status, h)
	}
	if _, h, _ := a.post("/mcp", initialize, "Origin: https://page.example"); !strings.Contains(h.Get("Access-Control-Expose-Headers"), "Mcp-Session-Id") {
		t.Errorf("the page cannot read its session: %v", h)
	}
}

func TestMCPIsBelowThePathOfThePublicURL(t *testing.T) {
	a := serve(t, newServer(t, config(t, openCard, blue("do")), server.WithURL("https://host.example/agents/one")))
	body, header := modern("tools/call", "do", `"name":"do","arguments":{"city":"Rome"}`)
	for _, path := range []string{"/mcp", "/agents/one/mcp"} {
		if status, _, answer := a.post(path, body, header...); status != http.StatusOK || !strings.Contains(answer, "blue") {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	if status, _, _ := a.post("/mcp/other", body, header...); status != http.StatusNotFound {
		t.Errorf("below it: %d", status)
	}
}

func TestAnAgentThatToolsCannotCallDoesNotStart(t *testing.T) {
	for card, want := range map[string]string{
		strings.Replace(openCard, `"url":"/rpc"`, `"url":"/mcp"`, 1):                                                                       "give the interface another path",
		strings.Replace(openCard, `{"url":"/rpc","protocolBinding":"JSONRPC"`, `{"url":"https://host.example","protocolBinding":"OWN"`, 1): "offers neither JSONRPC nor HTTP+JSON",
	} {
		if _, err := server.New(config(t, card, blue("do")), mcpserver.Serve(a2a.ClientProtocol())); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// stream opens the stream of a session, and returns it when it has begun.
func (a *agent) stream(header []string) io.ReadCloser {
	a.t.Helper()
	resp, err := a.web.Do(a.request(a.t.Context(), http.MethodGet, "/mcp", "", header...))
	if err != nil {
		a.t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		a.t.Fatalf("GET: %d", resp.StatusCode)
	}
	if line, err := bufio.NewReader(resp.Body).ReadString('\n'); err != nil || line != ": ok\n" {
		a.t.Fatalf("the stream begins with %q, %v", line, err)
	}
	return resp.Body
}

func TestAShutdownEndsWhatIsOpen(t *testing.T) {
	begun, asked := make(chan string, 2), make(chan struct{})
	s := newServer(t, config(t, openCard, skill("do", func(ctx context.Context, task *server.Task, in []byte) (string, error) {
		if strings.Contains(string(in), "ask") {
			return "", task.Ask("Which day?")
		}
		begun <- task.Call().TaskID()
		<-ctx.Done()
		return `{"sky":"late"}`, nil
	})))
	a := serve(t, s)
	stream := a.stream(a.session())
	defer func() { _ = stream.Close() }()
	ended := make(chan error, 2)
	calls := func(version, city string, o sdk.ClientOptions) {
		host := a.connect(version, a.web, o)
		go func() {
			_, err := host.CallTool(context.Background(), &sdk.CallToolParams{Name: "do", Arguments: map[string]any{"city": city}})
			ended <- err
		}()
	}
	calls(newest, "Rome", sdk.ClientOptions{})
	wait(t, begun)
	nobody := make(chan struct{}) // answers
	defer close(nobody)
	calls(older, "ask", sdk.ClientOptions{ElicitationHandler: func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
		close(asked)
		<-nobody
		return nil, errors.New("the host has left")
	}})
	wait(t, asked)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Shutdown(over); !errors.Is(err, context.Canceled) { // the handler at work was canceled
		t.Errorf("shutdown: %v", err)
	}
	wait(t, ended)
	wait(t, ended)
	if _, err := io.ReadAll(stream); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the stream ends with %v", err)
	}
}

func TestACallThatEndsWithinAShutdownHasItsResult(t *testing.T) {
	for _, version := range []string{newest, older} {
		begun, goOn := make(chan struct{}), make(chan struct{})
		s := newServer(t, config(t, openCard, skill("do", func(context.Context, *server.Task, []byte) (string, error) {
			close(begun)
			<-goOn
			return `{"sky":"blue"}`, nil
		})))
		host := serve(t, s).connect(version, &http.Client{Transport: server.InProcess(s)}, sdk.ClientOptions{})
		results, ended := make(chan string, 1), make(chan error, 1)
		go func() {
			r, err := host.CallTool(context.Background(), &sdk.CallToolParams{Name: "do", Arguments: map[string]any{"city": "Rome"}})
			if err != nil {
				results <- err.Error()
				return
			}
			results <- text(r)
		}()
		wait(t, begun)
		go func() { ended <- s.Shutdown(context.Background()) }()
		close(goOn)
		if got := wait(t, results); got != `{"sky":"blue"}` {
			t.Errorf("%s: got %s", version, got)
		}
		if err := wait(t, ended); err != nil {
			t.Errorf("%s: shutdown: %v", version, err)
		}
	}
}

func TestReadingARequestIsLinear(t *testing.T) {
	s := newServer(t, config(t, openCard, blue("do")))
	t.Cleanup(func() { _ = s.Close() })
	growth.Linear(t, 100_000, func(n int) func() {
		body, header := modern("tools/list", "", `"more":[`+strings.Repeat(`"",`, n)+`0]`)
		return func() {
			r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			for _, h := range header {
				name, value, _ := strings.Cut(h, ": ")
				r.Header.Set(name, value)
			}
			w := httptest.NewRecorder()
			if s.ServeHTTP(w, r); w.Code != http.StatusOK {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		}
	})
}
