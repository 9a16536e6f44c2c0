package client_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
)

// TestOneHostIsNotLeft: of the interfaces on a card those on its host are called, by whatever binding, and in clear text only if the
// card is.
func TestOneHostIsNotLeft(t *testing.T) {
	const away = "the card sends calls to "
	for name, tt := range map[string]struct {
		interfaces []string // "BINDING URL"
		url, err   string
	}{
		"another path":        {[]string{"JSONRPC http://127.0.0.1:1/rpc"}, "http://127.0.0.1:1/rpc", ""},
		"another port":        {[]string{"GRPC 127.0.0.1:50051"}, "127.0.0.1:50051", ""},
		"another host":        {[]string{"JSONRPC http://evil.example/rpc"}, "", away + "http://evil.example/rpc"},
		"another, before":     {[]string{"JSONRPC http://evil.example/rpc", "JSONRPC http://127.0.0.1:1/rpc"}, "http://127.0.0.1:1/rpc", ""},
		"another name":        {[]string{"JSONRPC http://localhost:1/rpc"}, "", away + "http://localhost:1/rpc"},
		"as a user":           {[]string{"JSONRPC http://127.0.0.1@evil.example/"}, "", away},
		"below the name":      {[]string{"JSONRPC http://127.0.0.1.evil.example/"}, "", away},
		"another over gRPC":   {[]string{"GRPC evil.example:443"}, "", away + "evil.example:443"},
		"another resolver":    {[]string{"GRPC dns://127.0.0.1/evil.example:443"}, "", away},
		"another, by a name":  {[]string{"GRPC dns:127.0.0.1"}, "", away},
		"in a URL over gRPC":  {[]string{"GRPC grpc://127.0.0.1:1"}, "grpc://127.0.0.1:1", ""},
		"a literal over gRPC": {[]string{"GRPC [::1]:1"}, "", away},
	} {
		t.Run(name, func(t *testing.T) {
			var list []string
			for _, i := range tt.interfaces {
				binding, url, _ := strings.Cut(i, " ")
				list = append(list, `{"url":"`+url+`","protocolBinding":"`+binding+`","protocolVersion":"1.0"}`)
			}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = w.Write([]byte(withInterfaces(strings.Join(list, ","))))
			}))
			defer srv.Close()
			c, err := rpc.New(t.Context(), a2a.Protocol(), srv.URL, rpc.OneHost(), rpc.Use(grpcclient.Binding()))
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if c.Interface().URL != tt.url {
				t.Errorf("calls %v", c.Interface())
			}
		})
	}
}

// TestOneHostDoesNotGoBackToClearText, and a client of a card stays at the host of its first interface.
func TestOneHostDoesNotGoBackToClearText(t *testing.T) {
	const list = `{"url":"http://127.0.0.1:1/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}`
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(withInterfaces(list))) }))
	defer srv.Close()
	if c, err := rpc.New(t.Context(), a2a.Protocol(), srv.URL, rpc.OneHost(), rpc.HTTPClient(srv.Client())); err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:1/rpc in clear text") {
		t.Errorf("calls %v; %v", c, err)
	}
	c, err := rpc.FromCard(a2a.Protocol(), decodeCard(t, withInterfaces(list+`,{"url":"http://evil.example/","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}`)), rpc.OneHost())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	method := rpc.Method{Role: runtime.RoleList, RPC: "ListTasks"}
	if _, err := c.Call(t.Context(), method, &a2a.ListTasksRequest{}); err == nil || strings.Contains(err.Error(), "evil") {
		t.Errorf("what cannot be reached was tried elsewhere: %v", err)
	}
}

// TestOneHostFollowsNoRedirect, also where it stays: neither for the card nor for a call.
func TestOneHostFollowsNoRedirect(t *testing.T) {
	for name, opts := range map[string][]rpc.Option{"free": nil, "at one host": {rpc.OneHost()}} {
		got := map[string]string{}
		mux := http.NewServeMux()
		srv := httptest.NewServer(mux)
		defer srv.Close()
		mux.HandleFunc("/a/.well-known/agent-card.json", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/card.json", http.StatusTemporaryRedirect)
		})
		mux.HandleFunc("/card.json", func(w http.ResponseWriter, r *http.Request) {
			got["card"] = r.Header.Get("Authorization")
			_, _ = w.Write([]byte(cardJSON(srv.URL+"/rpc", "", streams)))
		})
		mux.HandleFunc("/rpc", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/moved", http.StatusTemporaryRedirect)
		})
		mux.HandleFunc("/moved", func(_ http.ResponseWriter, r *http.Request) { got["call"] = r.Header.Get("Authorization") })
		opts = append(opts, rpc.DefaultHeader("Authorization", "Bearer secret"))
		if c, err := rpc.New(t.Context(), a2a.Protocol(), srv.URL+"/a", opts...); err == nil {
			c.Close()
		} else if !strings.Contains(err.Error(), "a redirect is not followed with credentials: if it is right, use "+srv.URL+"/card.json") {
			t.Errorf("%s: the card: %v", name, err)
		}
		c, err := rpc.FromCard(a2a.Protocol(), decodeCard(t, cardJSON(srv.URL+"/rpc", "", streams)), opts...)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Call(t.Context(), rpc.Method{Role: runtime.RoleList, RPC: "ListTasks"}, &a2a.ListTasksRequest{})
		c.Close()
		if err == nil {
			t.Errorf("%s: the call: no error", name)
		}
		if free := name == "free"; free != (got["card"] == "Bearer secret") || free != (got["call"] == "Bearer secret") {
			t.Errorf("%s: %v", name, got)
		}
	}
}
