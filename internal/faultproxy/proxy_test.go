package faultproxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// startProxy starts a proxy before a handler, and returns its URL and what it warned of.
func startProxy(t *testing.T, agent http.Handler) (url string, warned func() []string) {
	t.Helper()
	behind := httptest.NewServer(agent)
	t.Cleanup(behind.Close)
	var list []string
	p, err := New(t.Context(), behind.URL, func(text string) { list = append(list, text) })
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(p.Handler())
	t.Cleanup(front.Close)
	return front.URL, func() []string { return list }
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// cardAt serves a card, and the path of any other request.
func cardAt(card string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if strings.HasSuffix(r.URL.Path, "/agent-card.json") {
			_, _ = io.WriteString(w, strings.ReplaceAll(card, "SELF", "http://"+r.Host))
			return
		}
		_, _ = io.WriteString(w, r.Method+" "+r.RequestURI)
	})
}

// TestEachShapeOfACardGetsTheProxysAddresses, from 0.1 to 1.0, and nothing else of it changes.
func TestEachShapeOfACardGetsTheProxysAddresses(t *testing.T) {
	for name, tt := range map[string]struct {
		card string
		want []string
	}{
		"1.0": {
			`{"supportedInterfaces":[{"url":"SELF/rpc","protocolBinding":"JSONRPC"},{"url":"SELF/rest?x=1","protocolBinding":"HTTP+JSON"},{"url":"SELF","protocolBinding":"HTTP+JSON"}]}`,
			[]string{"PROXY/rpc", "PROXY/rest?x=1", "PROXY"},
		},
		"relative": {`{"supportedInterfaces":[{"url":"/rpc","protocolBinding":"JSONRPC"}]}`, []string{"PROXY/rpc"}},
		"0.3": {
			`{"protocolVersion":"0.3.0","url":"SELF/a%2Fb","preferredTransport":"HTTP+JSON","additionalInterfaces":[{"url":"SELF/rpc","transport":"JSONRPC"}]}`,
			[]string{"PROXY/a%2Fb", "PROXY/rpc"},
		},
		"0.1":      {`{"url":"SELF/"}`, []string{"PROXY/"}},
		"both":     {`{"url":"SELF/old","supportedInterfaces":[{"url":"SELF/new","protocolBinding":"JSONRPC"}]}`, []string{"PROXY/old", "PROXY/new"}},
		"in proto": {`{"supported_interfaces":[{"url":"SELF/rpc","protocol_binding":"JSONRPC"}]}`, []string{"PROXY/rpc"}},
		"elsewhere": {
			`{"supportedInterfaces":[{"url":"http://one.test/rpc","protocolBinding":"JSONRPC"},{"url":"https://two.test:444","protocolBinding":"HTTP+JSON"},{"url":"http://ONE.test/more","protocolBinding":"JSONRPC"}]}`,
			[]string{"PROXY/~1/rpc", "PROXY/~2", "PROXY/~1/more"},
		},
		"gRPC": {
			`{"supportedInterfaces":[{"url":"127.0.0.1:81","protocolBinding":"GRPC"},{"url":"dns:///127.0.0.1:81","protocolBinding":"GRPC"},{"url":"http://127.0.0.1:81","protocolBinding":"GRPC"}]}`,
			[]string{"HOST", "HOST", "http://HOST"},
		},
		"gRPC of 0.3": {`{"url":"127.0.0.1:81","preferredTransport":"GRPC"}`, []string{"HOST"}},
	} {
		t.Run(name, func(t *testing.T) {
			url, warned := startProxy(t, cardAt(`{"name":"x","n":12345678901234567890,`+tt.card[1:]))
			status, body := get(t, url+"/.well-known/agent-card.json")
			card, err := object([]byte(body))
			if err != nil || status != http.StatusOK || card["name"] != "x" || card["n"] != json.Number("12345678901234567890") {
				t.Fatalf("%d %s, %v", status, body, err)
			}
			var got []string
			for _, a := range addressesIn(card) {
				got = append(got, a.in["url"].(string))
			}
			for i, w := range tt.want {
				tt.want[i] = strings.NewReplacer("PROXY", url, "HOST", strings.TrimPrefix(url, "http://")).Replace(w)
			}
			if !slices.Equal(got, tt.want) || len(warned()) > 0 {
				t.Errorf("got  %q, %q\nwant %q", got, warned(), tt.want)
			}
		})
	}
}

// TestWhatDoesNotGoThroughTheProxyIsSaid, once.
func TestWhatDoesNotGoThroughTheProxyIsSaid(t *testing.T) {
	url, warned := startProxy(t, cardAt(`{"url":"mailto:agent","signatures":[{}],"supportedInterfaces":[
		{"url":"127.0.0.1:81","protocolBinding":"GRPC"},{"url":"127.0.0.1:82","protocolBinding":"GRPC"},{"url":"unix:/x","protocolBinding":"GRPC"}]}`))
	_, body := get(t, url+"/.well-known/agent-card.json")
	if all := strings.Join(warned(), "\n"); len(warned()) != 4 || !strings.Contains(all, `"mailto:agent"`) || !strings.Contains(all, `"127.0.0.1:82"`) ||
		!strings.Contains(all, `"unix:/x"`) || !strings.Contains(all, "without its signatures") || strings.Contains(body, "signatures") {
		t.Errorf("%s\n%s", all, body)
	}
}

// TestRequestsGoWhereTheCardSays: below their own path, on another host, encoded as they came.
func TestRequestsGoWhereTheCardSays(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "other "+r.RequestURI) }))
	defer other.Close()
	url, _ := startProxy(t, cardAt(`{"supportedInterfaces":[{"url":"SELF/rest","protocolBinding":"HTTP+JSON"},{"url":"`+other.URL+`/rest","protocolBinding":"HTTP+JSON"}]}`))
	for path, want := range map[string]string{
		"/rest/tasks/a%2Fb?n=1": "GET /rest/tasks/a%2Fb?n=1", "/": "GET /", "/~1/rest/tasks/a%2Fb": "other /rest/tasks/a%2Fb", "/~1": "other /",
		"/~2/x": "GET /~2/x", "/~0/x": "GET /~0/x", "/~-1/x": "GET /~-1/x", "/~x": "GET /~x",
	} {
		if status, got := get(t, url+path); got != want || status != http.StatusOK {
			t.Errorf("%s: %d %q, want %q", path, status, got, want)
		}
	}
}

// TestTheExtendedCardHasTheProxysAddresses, over JSON-RPC and HTTP+JSON; other answers and large cards pass as they are.
func TestTheExtendedCardHasTheProxysAddresses(t *testing.T) {
	large := `{"url":"http://x.test","pad":"` + strings.Repeat("x", maxCard) + `"}`
	url, warned := startProxy(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		card := `{"url":"http://` + r.Host + `/rpc"}`
		switch {
		case r.URL.Path == "/v1/card":
			_, _ = io.WriteString(w, large)
		case r.Method == http.MethodPost:
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":7,"result":`+card+`}`)
		default:
			_, _ = io.WriteString(w, card)
		}
	}))
	if _, body := get(t, url+"/extendedAgentCard"); body != `{"url":"`+url+`/rpc"}` {
		t.Error(body)
	}
	for method, rewritten := range map[string]bool{"GetExtendedAgentCard": true, "agent/getAuthenticatedExtendedCard": true, "GetTask": false} {
		resp, err := http.Post(url+"/rpc", "application/json", strings.NewReader(`{"method":"`+method+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if strings.Contains(string(body), url+"/rpc") != rewritten {
			t.Errorf("%s: %s", method, body)
		}
	}
	if _, body := get(t, url+"/v1/card"); body != large || !strings.Contains(strings.Join(warned(), ""), "passes as it is") {
		t.Errorf("%d bytes, %q", len(body), warned())
	}
}

// roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestAnAgentThatDoesNotAnswerIsSaid, after ten seconds.
func TestAnAgentThatDoesNotAnswerIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := newProxy("http://agent.test", nil)
		if err != nil {
			t.Fatal(err)
		}
		p.plain = roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		})
		ctx, cancel := context.WithTimeout(t.Context(), startTime)
		defer cancel()
		begun := time.Now()
		err = p.start(ctx)
		if err == nil || err.Error() != "the agent at http://agent.test/.well-known/agent-card.json did not answer within 10s" || time.Since(begun) != startTime {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}

// TestNoCardIsReadWithoutLimit: one without an end is refused when it is over the limit.
func TestNoCardIsReadWithoutLimit(t *testing.T) {
	read := 0
	p, err := newProxy("http://agent.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	p.plain = roundTrip(func(r *http.Request) (*http.Response, error) {
		endless := readFunc(func(b []byte) (int, error) { read += len(b); clear(b); return len(b), nil })
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(endless), Request: r}, nil
	})
	if err := p.start(t.Context()); err == nil || !strings.Contains(err.Error(), "is over 1048576 bytes") || read > 2*maxCard {
		t.Errorf("%v after %d bytes", err, read)
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(b []byte) (int, error) { return f(b) }

// TestAnAgentThatGoesIsABadGateway, and the caller is not told what only the operator should know.
func TestAnAgentThatGoesIsABadGateway(t *testing.T) {
	behind := httptest.NewServer(cardAt(`{"url":"SELF/rpc"}`))
	var warned []string
	p, err := New(t.Context(), behind.URL, func(text string) { warned = append(warned, text) })
	if err != nil {
		t.Fatal(err)
	}
	behind.Close()
	front := httptest.NewServer(p.Handler())
	defer front.Close()
	if status, body := get(t, front.URL+"/rpc"); status != http.StatusBadGateway || strings.Contains(body, "127.0.0.1") || len(warned) != 1 {
		t.Errorf("%d %s, %q", status, body, warned)
	}
	r, _ := http.NewRequest(http.MethodPost, front.URL+"/a2a.v1.A2AService/GetTask", nil)
	r.Header.Set("Content-Type", "application/grpc")
	resp, err := http.DefaultClient.Do(r)
	if err != nil || resp.StatusCode != http.StatusNotFound || resp.Body.Close() != nil {
		t.Errorf("gRPC: %v, %v", resp, err)
	}
}

// TestURLsThatAreNone are refused before anything is sent.
func TestURLsThatAreNone(t *testing.T) {
	for _, url := range []string{"", "agent", "localhost:8080", "ftp://agent", "http://", "http://user:secret@agent", "http://a b"} {
		_, err := New(t.Context(), url, nil)
		if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "is no URL of an agent") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestACardNamesSoManyHosts: those beyond the limit are left as they are, and said; nothing grows with a hostile card.
func TestACardNamesSoManyHosts(t *testing.T) {
	var list []string
	for i := range 500 {
		list = append(list, fmt.Sprintf(`{"url":"http://host%d.test/","protocolBinding":"JSONRPC"}`, i))
	}
	url, warned := startProxy(t, cardAt(`{"supportedInterfaces":[`+strings.Join(list, ",")+`]}`))
	_, body := get(t, url+"/.well-known/agent-card.json")
	if n := strings.Count(body, url+"/~"); n != maxOrigins-1 || !strings.Contains(body, "http://host499.test/") {
		t.Errorf("%d addresses of the proxy", n)
	}
	if n := len(warned()); n < 100 || n > 101 {
		t.Errorf("%d warnings", n)
	}
}

// TestWhatIsNoObjectIsSaidInWords, not in those of the JSON reader.
func TestWhatIsNoObjectIsSaidInWords(t *testing.T) {
	for text, want := range map[string]string{
		"": "it is empty", `{"name":`: "it ends too early", "[]": "it is no object, but JSON of the kind array", `"x"`: "it is no object, but JSON of the kind string", "null": "it is null",
	} {
		if _, err := object([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
