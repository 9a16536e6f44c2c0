package equivalence

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/runtime"
)

// sendHello is a request that would be carried out.
const sendHello = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"book"}]}}`

// overRPC puts a body into a request of JSON-RPC, with further lines of its header.
func overRPC(body string, header ...string) string { return post("/rpc", body, header...) }

// callOf is a body of JSON-RPC.
func callOf(method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
}

// post is a POST over HTTP/1.1 as it travels. A line of the header without a value takes that line away.
func post(path, body string, header ...string) string {
	return request("POST", path, body, append([]string{"Content-Type: application/json", fmt.Sprintf("Content-Length: %d", len(body))}, header...)...)
}

// request is a request over HTTP/1.1 as it travels. Of lines with one name the last counts.
func request(method, path, body string, header ...string) string {
	lines := append([]string{"Host: localhost", "Authorization: Bearer bad", "A2A-Version: 1.0", "Connection: close"}, header...)
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", method, path)
	for i, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		again := false
		for _, later := range lines[i+1:] {
			again = again || strings.HasPrefix(later, name+":")
		}
		if !again && strings.TrimSpace(value) != "" {
			b.WriteString(line + "\r\n")
		}
	}
	return b.String() + "\r\n" + body
}

// chunked is a body in chunks, as it travels.
func chunked(body string) string { return fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body) }

var large = strings.Repeat("x", 70<<10)

// badRequests get an error of their binding, and nothing comes of them: a status of HTTP, and what the body has.
var badRequests = []struct {
	name, request string
	status        int
	body          string
}{
	// JSON-RPC.
	{"RPC: wrong content type", overRPC(callOf("SendMessage", sendHello), "Content-Type: text/plain"), 415, `"code":-32005`},
	{"RPC: a form", overRPC(callOf("SendMessage", sendHello), "Content-Type: application/x-www-form-urlencoded"), 415, `"code":-32005`},
	{"RPC: no content", overRPC(""), 200, `"code":-32700`},
	{"RPC: a body that is cut", overRPC(callOf("SendMessage", sendHello)[:60], "Content-Length: 200"), 400, `"code":-32700`},
	{"RPC: JSON that is cut", overRPC(callOf("SendMessage", sendHello)[:60]), 200, `"code":-32700`},
	{"RPC: no JSON", overRPC(`hello`), 200, `"code":-32700`},
	{"RPC: no text", overRPC("{\"id\":\"\xff\"}"), 200, `"code":-32700`},
	{"RPC: a batch", overRPC(`[` + callOf("SendMessage", sendHello) + `]`), 200, `"code":-32600`},
	{"RPC: no object", overRPC(`1`), 200, `"code":-32600`},
	{"RPC: a member twice", overRPC(`{"jsonrpc":"2.0","id":1,"method":"ListTasks","method":"SendMessage","params":` + sendHello + `}`), 200, `"code":-32600`},
	{"RPC: an id that is none", overRPC(`{"jsonrpc":"2.0","id":{},"method":"SendMessage","params":` + sendHello + `}`), 200, `"code":-32600`},
	{"RPC: another version of JSON-RPC", overRPC(`{"jsonrpc":"1.0","id":1,"method":"SendMessage","params":` + sendHello + `}`), 200, `"code":-32600`},
	{"RPC: an unknown method", overRPC(callOf("DropTasks", "{}")), 200, `"code":-32601`},
	{"RPC: params that are a list", overRPC(callOf("SendMessage", "[]")), 200, `"code":-32602`},
	{"RPC: params that are no request", overRPC(callOf("SendMessage", `{"message":7}`)), 200, `"code":-32602`},
	{"RPC: deeper than anybody reads", overRPC(callOf("SendMessage", `{"metadata":{"a":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)+`}}`)), 200, `"code":-32700`},
	{"RPC: too large", overRPC(callOf("SendMessage", `{"x":"`+large+`"}`)), 413, `"code":-32600`},
	{"RPC: too large, in chunks", overRPC(chunked(callOf("SendMessage", `{"x":"`+large+`"}`)), "Transfer-Encoding: chunked", "Content-Length:"), 413, `"code":-32600`},
	{"RPC: a chunk that is none", overRPC("zz\r\n", "Transfer-Encoding: chunked", "Content-Length:"), 400, `"code":-32700`},
	{"RPC: another method of HTTP", request("PUT", "/rpc", ""), 405, "POST"},
	{"RPC: a version that is none", overRPC(callOf("SendMessage", sendHello), "A2A-Version: \x01one"), 400, ""},
	{"RPC: an unknown version", overRPC(callOf("SendMessage", sendHello), "A2A-Version: one"), 200, `"code":-32009`},
	{"RPC: a large header", overRPC(callOf("SendMessage", sendHello), "X-Large: "+large), 431, ""},
	{"RPC: another host", overRPC(callOf("SendMessage", sendHello), "Host: evil.example"), 403, ""},
	{"RPC: a page of another origin", overRPC(callOf("SendMessage", sendHello), "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"), 403, ""},

	// HTTP+JSON.
	{"REST: wrong content type", post("/rest/message:send", sendHello, "Content-Type: text/plain"), 415, `"reason":"CONTENT_TYPE_NOT_SUPPORTED"`},
	{"REST: a form", post("/rest/message:send", sendHello, "Content-Type: multipart/form-data"), 415, `"reason":"CONTENT_TYPE_NOT_SUPPORTED"`},
	{"REST: wrong content type, 0.3", post("/rest/v1/message:send", sendHello, "Content-Type: text/plain", "A2A-Version:"), 415, `"code":-32005`},
	{"REST: a body that is cut", post("/rest/message:send", sendHello[:40], "Content-Length: 200"), 400, `"reason":"PARSE_ERROR"`},
	{"REST: JSON that is cut", post("/rest/message:send", sendHello[:40]), 400, `"reason":"PARSE_ERROR"`},
	{"REST: JSON that is cut, for a tenant", post("/rest/acme/message:send", sendHello[:40]), 400, `"reason":"PARSE_ERROR"`},
	{"REST: JSON that is cut, 0.3", post("/rest/v1/message:send", sendHello[:40], "A2A-Version:"), 400, `"code":-32700`},
	{"REST: no text", post("/rest/message:send", "{\"a\":\"\xff\"}"), 400, `"reason":"PARSE_ERROR"`},
	{"REST: no object", post("/rest/message:send", "[1]"), 400, `"reason":"INVALID_PARAMS"`},
	{"REST: two values", post("/rest/message:send", sendHello+sendHello), 400, `"reason":"PARSE_ERROR"`},
	{"REST: too large", post("/rest/message:send", `{"x":"`+large+`"}`), 413, `"reason":"INVALID_REQUEST"`},
	{"REST: too large, in chunks", post("/rest/message:send", chunked(`{"x":"`+large+`"}`), "Transfer-Encoding: chunked", "Content-Length:"), 413, `"reason":"INVALID_REQUEST"`},
	{"REST: an unknown path", request("GET", "/rest/nowhere/at/all/x", ""), 404, `"reason":"METHOD_NOT_FOUND"`},
	{"REST: an unknown path of 0.3", request("GET", "/rest/v1/nowhere", "", "A2A-Version: 0.3"), 404, `"code":-32601`},
	{"REST: no path", request("GET", "/rest", ""), 404, ""},
	{"REST: a path with a dot", request("GET", "/rest/./tasks", ""), 404, `"reason":"METHOD_NOT_FOUND"`},
	{"REST: a path with an encoded dot", request("GET", "/rest/%2e/tasks", ""), 404, `"reason":"METHOD_NOT_FOUND"`},
	{"REST: a path with dots", post("/rest/x/../message:send", sendHello), 404, `"reason":"METHOD_NOT_FOUND"`},
	{"REST: a path that is encoded", post("/rest/message%3Asend", sendHello), 404, `"reason":"METHOD_NOT_FOUND"`},
	{"REST: a path with another encoding", request("GET", "/rest/tasks/%ff", ""), 400, `"reason":"INVALID_PARAMS"`},
	{"REST: a path that is no encoding", request("GET", "/rest/tasks/%zz", ""), 400, ""},
	{"REST: a zero in a path", request("GET", "/rest/tasks/%00", ""), 404, `"reason":"TASK_NOT_FOUND"`},
	{"REST: a query that is no encoding", request("GET", "/rest/tasks?pageToken=%zz", ""), 400, `"reason":"INVALID_PARAMS"`},
	{"REST: a query with another encoding", request("GET", "/rest/tasks?contextId=%ff", ""), 400, `"reason":"INVALID_PARAMS"`},
	{"REST: a query that says something else", request("GET", "/rest/acme/tasks?tenant=other", ""), 400, `"reason":"INVALID_PARAMS"`},
	{"REST: a body that says something else", post("/rest/acme/message:send", `{"tenant":"other",`+sendHello[1:]), 400, `"reason":"INVALID_PARAMS"`},
	{"REST: a header that says something else", post("/rest/acme/message:send", sendHello, "A2A-Tenant: other"), 400, `"reason":"INVALID_PARAMS"`},
	{"REST: an unknown verb", request("BREW", "/rest/tasks", ""), 405, `"reason":"METHOD_NOT_FOUND"`},
	{"REST: another verb", request("DELETE", "/rest/tasks/x", ""), 405, `"reason":"METHOD_NOT_FOUND"`},
	{"REST: an unknown version", post("/rest/message:send", sendHello, "A2A-Version: one"), 400, `"reason":"VERSION_NOT_SUPPORTED"`},
	{"REST: a large header", request("GET", "/rest/tasks", "", "X-Large: "+large), 431, ""},
	{"REST: a large path", request("GET", "/rest/tasks/"+large, ""), 431, ""},
	{"REST: another host", post("/rest/message:send", sendHello, "Host: evil.example"), 403, ""},
	{"REST: a page of another origin", post("/rest/message:send", sendHello, "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"), 403, ""},
	{"REST: a subscription from a page", request("GET", "/rest/tasks/x:subscribe", "", "Origin: https://evil.example", "Sec-Fetch-Site: cross-site"), 403, ""},
	{"REST: the stream of a broken body", post("/rest/message:stream", sendHello[:40], "Accept: text/event-stream"), 400, `"reason":"PARSE_ERROR"`},

	// What is no HTTP.
	{"no HTTP", "hello\r\n\r\n", 400, ""},
	{"another version of HTTP", "GET /rest/tasks HTTP/9.9\r\n\r\n", 505, ""},
	{"two hosts", "GET /rest/tasks HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, ""},
}

// TestBadInputChangesNothing sends what is no good request, over each binding (R35, R101, R218, R219, R240, T61).
func TestBadInputChangesNothing(t *testing.T) {
	a := startAgent(t, "small")
	for _, tt := range badRequests {
		status, body := a.exchange(t, tt.request)
		if status != tt.status || !strings.Contains(body, tt.body) {
			t.Errorf("%s: %d %.300s, want %d and %s", tt.name, status, body, tt.status, tt.body)
		}
	}
	for _, tt := range badCalls() {
		if got := a.callRaw(t, tt); got != tt.status && (tt.status != hungUp || !saysHungUp(got)) {
			t.Errorf("gRPC: %s: status %s, want %s", tt.name, got, tt.status)
		}
	}
	if status, body := a.exchange(t, request("GET", "/rest/tasks", "")); status != http.StatusOK || !strings.Contains(body, `"totalSize":0`) {
		t.Errorf("something was carried out: %d %s", status, body)
	}
}

// exchange sends bytes, and no more of them, and returns what comes back.
func (a *agent) exchange(t *testing.T, request string) (status int, body string) {
	t.Helper()
	c, err := net.Dial("tcp", a.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	go func() { // the agent may answer before it has read everything
		_, _ = io.WriteString(c, request)
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Errorf("%.80q: %v", request, err)
		return 0, ""
	}
	defer func() { _ = resp.Body.Close() }()
	b, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b)
}

// badCall is a call of gRPC as it travels over HTTP/2.
type badCall struct {
	name, path, contentType string
	body                    []byte
	header                  []string // name, value
	status                  string   // of gRPC, or of HTTP where there is no other
}

// frameOf is a message of gRPC as it travels.
func frameOf(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

const serviceOf10 = "/lf.a2a.v1.A2AService/"

// badCalls are those that get an error.
func badCalls() []badCall {
	send := a2amore.AllVersions().Versions[0].Over(runtime.BindingGRPC).Operations[0]
	request, err := a2amore.AllVersions().Versions[0].Operations[0].Decode([]byte(sendHello))
	if err != nil {
		panic(err)
	}
	good, err := send.AppendRequest(nil, request.(*runtime.SendRequest).Source)
	if err != nil {
		panic(err)
	}
	const grpc = "application/grpc"
	long := binary.BigEndian.AppendUint32([]byte{0}, 1<<31)
	return []badCall{
		{"a message that is cut", serviceOf10 + "SendMessage", grpc, frameOf(good)[:len(good)], nil, "13"},
		{"a head that is cut", serviceOf10 + "SendMessage", grpc, frameOf(good)[:3], nil, "13"},
		{"a message that is declared too large", serviceOf10 + "SendMessage", grpc, long, nil, "8"},
		{"a message that is too large", serviceOf10 + "SendMessage", grpc, frameOf(make([]byte, 70<<10)), nil, "8"},
		{"a message that is compressed, they say", serviceOf10 + "SendMessage", grpc, append([]byte{1}, frameOf(good)[1:]...), nil, "13"},
		{"a compression that nobody knows", serviceOf10 + "SendMessage", grpc, append([]byte{1}, frameOf(good)[1:]...), []string{"grpc-encoding", "nope"}, "12"},
		{"no protobuf", serviceOf10 + "SendMessage", grpc, frameOf([]byte("hello")), nil, "3"},
		{"no text", serviceOf10 + "GetTask", grpc, frameOf([]byte{2<<3 | 2, 1, 0xff}), nil, "3"},
		{"a message in itself", serviceOf10 + "SendMessage", grpc, frameOf(bytes.Repeat([]byte{2<<3 | 2, 0x7f}, 100)), nil, "3"},
		{"an unknown method", serviceOf10 + "DropTasks", grpc, frameOf(good), nil, "12"},
		{"an unknown service", "/lf.a2a.v9.A2AService/SendMessage", grpc, frameOf(good), nil, "12"},
		{"no method", "/", grpc, frameOf(good), nil, "12"},
		{"an unknown version", serviceOf10 + "SendMessage", grpc, frameOf(good), []string{"a2a-version", "one"}, "9"},
		{"another version", serviceOf10 + "SendMessage", grpc, frameOf(good), []string{"a2a-version", "0.3"}, "9"},
		{"no credentials", serviceOf10 + "SendMessage", grpc, frameOf(good), []string{"authorization", ""}, "16"},
		{"a time that is none", serviceOf10 + "SendMessage", grpc, frameOf(good), []string{"grpc-timeout", "soon"}, "13"},
		{"another tenant beside", serviceOf10 + "ListTasks", grpc, frameOf([]byte{1<<3 | 2, 1, 'x'}), []string{"a2a-tenant", "y"}, "3"},
		{"two keys of a message", serviceOf10 + "SendMessage", grpc, frameOf(good), []string{"idempotency-key", "one", "idempotency-key", "two"}, "3"},
		{"a large header", serviceOf10 + "SendMessage", grpc, frameOf(good), []string{"x-large", large}, hungUp},
		{"a large header of many lines", serviceOf10 + "SendMessage", grpc, frameOf(good), manyLines(), hungUp},
		{"fields that nobody knows", serviceOf10 + "ListTasks", grpc, frameOf([]byte{0xc0, 0x3e, 7, 0xca, 0x3e, 1, 'x'}), nil, "0"},
		{"wrong content type", serviceOf10 + "SendMessage", "text/plain", frameOf(good), nil, "HTTP 404"},
		{"JSON", serviceOf10 + "SendMessage", "application/json", []byte(sendHello), nil, "HTTP 404"},
	}
}

// hungUp stands for a connection that the agent ends instead of answering.
const hungUp = "GOAWAY"

// saysHungUp reports whether a client's error says so. One that still writes may find the connection closed before it reads the GOAWAY.
func saysHungUp(said string) bool {
	return slices.ContainsFunc([]string{hungUp, "EOF", "reset by peer", "broken pipe"}, func(s string) bool { return strings.Contains(said, s) })
}

// manyLines are as much as no header may be.
func manyLines() (header []string) {
	for i := range 20 {
		header = append(header, fmt.Sprintf("x-%d", i), large[:4<<10])
	}
	return header
}

// callRaw sends a call as it is, and returns its status.
func (a *agent) callRaw(t *testing.T, c badCall) string {
	t.Helper()
	var clearText http.Protocols
	clearText.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &clearText, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, a.addr)
	}}
	defer transport.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost"+c.path, bytes.NewReader(c.body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", c.contentType)
	req.Header.Set("Te", "trailers")
	req.Header.Set("Authorization", "Bearer bad")
	req.Header.Set("A2a-Version", "1.0")
	for i := 0; i+1 < len(c.header); i += 2 {
		req.Header.Del(c.header[i])
	}
	for i := 0; i+1 < len(c.header); i += 2 {
		req.Header.Add(c.header[i], c.header[i+1])
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, resp.Body)
	for _, h := range []http.Header{resp.Header, resp.Trailer} {
		if s := h.Get("Grpc-Status"); s != "" {
			return s
		}
	}
	return fmt.Sprintf("HTTP %d", resp.StatusCode)
}
