package client_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

func iface(url, binding, version, tenant string) string {
	return `{"url":"` + url + `","protocolBinding":"` + binding + `","protocolVersion":"` + version + `","tenant":"` + tenant + `"}`
}

func TestTheInterfaceIsChosenByVersionWishAndOrder(t *testing.T) {
	var (
		rest1 = iface("https://a.example/rest", "HTTP+JSON", "1.0", "")
		json1 = iface("https://a.example/rpc", "JSONRPC", "1.0", "")
		json3 = iface("https://a.example/old", "JSONRPC", "0.3", "")
		grpc1 = iface("a.example:443", "GRPC", "1.0", "")
		own   = iface("https://a.example/own", "https://example.com/own", "1.0", "")
	)
	for _, tt := range []struct {
		name   string
		card   []string
		prefer []string
		want   string // URL, or the error
	}{
		{"by the card's order", []string{rest1, json1}, nil, "https://a.example/rest"},
		{"whatever the version", []string{json3, rest1, json1}, nil, "https://a.example/old"},
		{"an older version when there is no other", []string{own, json3}, nil, "https://a.example/old"},
		{"as wished", []string{rest1, json1}, []string{"jsonrpc", "HTTP+JSON"}, "https://a.example/rpc"},
		{"only what is wished", []string{rest1, json3}, []string{"JSONRPC"}, "https://a.example/old"},
		{"what is wished and not linked", []string{grpc1, rest1}, []string{"GRPC", "HTTP+JSON"}, "https://a.example/rest"},
		{"nothing that is linked", []string{grpc1, rest1}, []string{"GRPC"}, "that this client speaks (none of GRPC); it offers GRPC 1.0 at a.example:443, HTTP+JSON 1.0 at https://a.example/rest"},
		{"a bad URL beside a good one", []string{iface("/rpc", "JSONRPC", "1.0", ""), rest1}, nil, "https://a.example/rest"},
		{"a bad URL and an older version", []string{iface("/rpc", "JSONRPC", "1.0", ""), json3}, nil, "https://a.example/old"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			card, err := a2a.Protocol().DecodeCard([]byte(withInterfaces(strings.Join(tt.card, ","))))
			if err != nil {
				t.Fatal(err)
			}
			c, err := rpc.FromCard(a2a.Protocol(), card, rpc.Prefer(tt.prefer...))
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v", err)
				}
				return
			}
			defer c.Close()
			if got := c.Interface().URL; got != tt.want {
				t.Errorf("chose %s", got)
			}
		})
	}
}

// network answers for hosts without a network. A host may refuse connections, or drop them.
type network struct {
	down, drop map[string]bool
	asked      []string
}

func (n *network) RoundTrip(r *http.Request) (*http.Response, error) {
	n.asked = append(n.asked, r.URL.Host)
	switch {
	case n.down[r.URL.Host] || r.URL.Path == "/moved":
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	case r.URL.Host == "moves" && r.URL.Path != "/moved":
		header := http.Header{"Location": {"https://moves/moved"}}
		return &http.Response{StatusCode: 307, Header: header, Body: http.NoBody, Request: r}, nil
	case n.drop[r.URL.Host]:
		return nil, io.ErrUnexpectedEOF
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodPost {
		_, _ = io.WriteString(w, `{"result":`+taskT1+`}`)
	} else {
		_, _ = io.WriteString(w, taskT1)
	}
	return w.Result(), nil
}

func (n *network) dial(t *testing.T, interfaces ...string) *a2aclient.Client {
	t.Helper()
	card := decodeCard(t, withInterfaces(strings.Join(interfaces, ","))).Generated().(*a2a.AgentCard)
	c, err := a2aclient.FromCard(card, rpc.HTTPClient(&http.Client{Transport: n}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestAnotherInterfaceStandsInForOneThatIsDown, and only where nothing was sent (R90).
func TestAnotherInterfaceStandsInForOneThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{down: map[string]bool{"a": true}}
		c := n.dial(t, iface("https://a/", "JSONRPC", "1.0", ""), iface("https://b/", "HTTP+JSON", "1.0", ""), iface("https://c/", "JSONRPC", "1.0", ""))
		call := func(want string, bindings string) {
			t.Helper()
			n.asked = nil
			if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"}); err != nil {
				t.Error(err)
			}
			if got := strings.Join(n.asked, " "); got != want || c.RPC().Interface().Binding != bindings {
				t.Errorf("asked %s, uses %+v; want %s", got, c.RPC().Interface(), want)
			}
		}
		if got := c.RPC().Interface().URL; got != "https://a/" {
			t.Errorf("begins with %s", got)
		}
		call("a b", "HTTP+JSON")
		call("b", "HTTP+JSON") // a is remembered
		n.down["b"] = true
		call("b c", "JSONRPC")
		n.down = nil
		call("c", "JSONRPC")
		time.Sleep(time.Minute)
		call("a", "JSONRPC")
		n.down = map[string]bool{"a": true, "b": true, "c": true}
		if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"}); err == nil || strings.Count(err.Error(), "refused") != 3 {
			t.Errorf("with all down: %v", err)
		}
		n.down = map[string]bool{"b": true}
		n.asked = nil
		if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"}); err != nil || len(n.asked) != 1 {
			t.Errorf("with all down of late: %v after %v", err, n.asked)
		}
	})
}

func TestNothingStandsInWhereItMustNot(t *testing.T) {
	for name, interfaces := range map[string][]string{
		"after a request was sent": {iface("https://drops/", "JSONRPC", "1.0", ""), iface("https://b/", "JSONRPC", "1.0", "")},
		"after a redirect":         {iface("https://moves/", "JSONRPC", "1.0", ""), iface("https://b/", "JSONRPC", "1.0", "")},
		"for another tenant":       {iface("https://a/", "JSONRPC", "1.0", "acme"), iface("https://b/", "JSONRPC", "1.0", "")},
		"in clear text":            {iface("https://a/", "JSONRPC", "1.0", ""), iface("http://b/", "JSONRPC", "1.0", "")},
		"of another version":       {iface("https://a/", "JSONRPC", "1.0", ""), iface("https://b/", "JSONRPC", "0.3", "")},
	} {
		t.Run(name, func(t *testing.T) {
			n := &network{down: map[string]bool{"a": true}, drop: map[string]bool{"drops": true}}
			c, once := n.dial(t, interfaces...), rpc.PolicyCall(rpc.CallPolicy{Attempts: 1})
			if _, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t1"}, once); err == nil || slices.Contains(n.asked, "b") {
				t.Errorf("%v, asked %v", err, n.asked)
			}
		})
	}
}

// TestAStreamGoesOnOverAnotherInterface: ids of one are none of another's.
func TestAStreamGoesOnOverAnotherInterface(t *testing.T) {
	first := newFake(t, runtime.BindingJSONRPC, nil)
	second := newFake(t, runtime.BindingHTTP, map[string][]reply{"SubscribeToTask": {events(taskWorking, chunk1, completed)}})
	srv := httptest.NewServer(first)
	first.replies = map[string][]reply{"SendStreamingMessage": {stream(func(http.ResponseWriter, *http.Request) {
		go srv.Close()
		_ = srv.Listener.Close()
		drop(nil, nil)
	}, withID("1", taskWorking))}}
	card := decodeCard(t, withInterfaces(iface(srv.URL, "JSONRPC", "1.0", "")+","+iface(second.url, "HTTP+JSON", "1.0", ""))).Generated().(*a2a.AgentCard)
	c, err := a2aclient.FromCard(card)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	want(t, c.SendStreamingMessage(t.Context(), hello()), "task TASK_STATE_WORKING", "task TASK_STATE_WORKING", "artifact sun", "status TASK_STATE_COMPLETED")
	if q := second.call(0); q.Header.Get("Last-Event-ID") != "" {
		t.Errorf("it was asked for what follows %q", q.Header.Get("Last-Event-ID"))
	}
}
