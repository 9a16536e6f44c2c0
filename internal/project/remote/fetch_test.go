package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const card = `{"name":"weather","skills":[]}`

// agent serves the card at a path.
func agent(t *testing.T, path string) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		_, _ = w.Write([]byte(card))
	})
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return srv
}

func TestFetchFindsTheCard(t *testing.T) {
	tests := []struct{ name, served, asked string }{
		{"below the base URL", "/.well-known/agent-card.json", ""},
		{"below a base URL with slash", "/.well-known/agent-card.json", "/"},
		{"below a base URL with path", "/agents/a/.well-known/agent-card.json", "/agents/a"},
		{"at the place of old protocols", "/.well-known/agent.json", ""},
		{"at its own URL", "/cards/x.json", "/cards/x.json"},
		{"at its own URL with query and fragment", "/cards/x.json", "/cards/x.json?v=1#top"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := agent(t, tt.served)
			data, info, err := Fetch(t.Context(), srv.URL+tt.asked, Options{AllowPrivate: true})
			if err != nil {
				t.Fatal(err)
			}
			if string(data) != card {
				t.Errorf("got %q", data)
			}
			if got, _, _ := strings.Cut(info.URL, "?"); got != srv.URL+tt.served || info.ETag != `"v1"` || info.SHA256 != digest([]byte(card)) {
				t.Errorf("info %+v", info)
			}
		})
	}
}

func TestFetchReadsFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "card.json")
	if err := os.WriteFile(path, []byte(card), 0o600); err != nil {
		t.Fatal(err)
	}
	data, info, err := Fetch(t.Context(), path, Options{})
	if err != nil || string(data) != card || info.File != path || info.URL != "" {
		t.Errorf("got %q, %+v, %v", data, info, err)
	}
	if _, _, err := Fetch(t.Context(), path, Options{MaxBytes: 5}); err == nil || !strings.Contains(err.Error(), "over 5 bytes") {
		t.Errorf("a large file gives %v", err)
	}
	if _, _, err := Fetch(t.Context(), "agent.example", Options{}); err == nil || !strings.Contains(err.Error(), "https://agent.example") {
		t.Errorf("a host name gives %v", err)
	}
}

func TestFetchRefusesPrivateAddressesWhateverTheName(t *testing.T) {
	srv := agent(t, "/.well-known/agent-card.json")
	_, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "http://"), ":")
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0"} {
		t.Run(host, func(t *testing.T) {
			_, _, err := Fetch(t.Context(), "http://"+host+":"+port, Options{})
			var private *PrivateAddressError
			if !errors.As(err, &private) {
				t.Fatalf("got %v, want a PrivateAddressError", err)
			}
			if !strings.Contains(err.Error(), "--allow-private-network") {
				t.Errorf("%v does not name the remedy", err)
			}
		})
	}
}

func TestFetchIgnoresProxies(t *testing.T) {
	asked := false
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	srv := agent(t, "/.well-known/agent-card.json")
	if _, _, err := Fetch(t.Context(), srv.URL, Options{AllowPrivate: true}); err != nil || asked {
		t.Errorf("err %v, proxy asked %v", err, asked)
	}
	if newHTTPClient(Options{}).Transport.(*http.Transport).Proxy != nil {
		t.Error("there is a proxy function")
	}
}

func TestFetchBoundsRedirects(t *testing.T) {
	hops := func(n int) *httptest.Server {
		return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			at := 0
			_, _ = fmt.Sscanf(r.URL.Path, "/%d.json", &at)
			if at >= n {
				_, _ = w.Write([]byte(card))
				return
			}
			http.Redirect(w, r, fmt.Sprintf("/%d.json", at+1), http.StatusFound)
		}))
	}
	for n, ok := range map[int]bool{3: true, 4: false} {
		srv := hops(n)
		_, info, err := Fetch(t.Context(), srv.URL+"/0.json", Options{AllowPrivate: true})
		if (err == nil) != ok {
			t.Errorf("%d redirects: %v", n, err)
		}
		if ok && info.URL != srv.URL+"/3.json" {
			t.Errorf("final URL %s", info.URL)
		}
		srv.Close()
	}
}

func TestFetchRefuses(t *testing.T) {
	answer := func(status int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
			_, _ = w.Write([]byte(body))
		}
	}
	tests := []struct {
		name    string
		handler http.HandlerFunc
		want    string
	}{
		{"a page", answer(200, "<html>", "Content-Type", "text/html"), `no JSON object (content type "text/html")`},
		{"an array", answer(200, "[]"), "no JSON object"},
		{"cut JSON", answer(200, `{"name":`), "no JSON object"},
		{"a large answer", answer(200, `{"a":"`+strings.Repeat("x", 2000)+`"}`), "over 1000 bytes"},
		{"a missing card", answer(404, ""), "HTTP 404 Not Found"},
		{"a card that is not public", answer(401, ""), "save it to a file"},
		{"a broken server", answer(500, card), "HTTP 500"},
		{"a redirect to a file", answer(302, "", "Location", "file:///etc/passwd"), "not an http or https URL"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(tt.handler)
			defer srv.Close()
			_, _, err := Fetch(t.Context(), srv.URL, Options{AllowPrivate: true, MaxBytes: 1000})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	for _, tt := range []struct{ url, want string }{
		{"ftp://agent.example", "not an http or https URL"},
		{"file:///etc/passwd", "not an http or https URL"},
		{"https://", "names no host"},
		{"https://me:secret@agent.example", "holds credentials"},
		{"http://a b", "invalid character"},
	} {
		t.Run(tt.url, func(t *testing.T) {
			_, _, err := Fetch(t.Context(), tt.url, Options{})
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestFetchRefusesRedirectsFromHTTPS(t *testing.T) {
	plain := agent(t, "/x.json")
	secure := httptest.NewTLSServer(http.RedirectHandler(plain.URL+"/x.json", http.StatusFound))
	defer secure.Close()
	client := newHTTPClient(Options{AllowPrivate: true})
	client.Transport = secure.Client().Transport
	_, _, err := get(t.Context(), client, secure.URL, Options{MaxBytes: MaxBytes})
	if err == nil || !strings.Contains(err.Error(), "leads from https to http:") {
		t.Errorf("got %v", err)
	}
}

func TestFetchGivesUpInTime(t *testing.T) {
	drip := func(w io.Writer, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, " "); err != nil {
				return
			}
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
			time.Sleep(time.Millisecond)
		}
	}
	for name, agent := range map[string]http.HandlerFunc{
		"says nothing": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"begins and waits": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "{")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		},
		"drips":           func(w http.ResponseWriter, r *http.Request) { drip(w, r) },
		"drips a failure": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNotFound); drip(w, r) },
		"drips a redirect": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", r.URL.Path)
			w.WriteHeader(http.StatusFound)
			drip(w, r)
		},
		"drips its header": func(w http.ResponseWriter, r *http.Request) {
			c, buf, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer c.Close()
			_, _ = buf.WriteString("HTTP/1.1 200 OK\r\nX:")
			for buf.Flush() == nil {
				_, _ = buf.WriteString(" ")
				time.Sleep(time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(agent)
			defer srv.Close()
			_, _, err := Fetch(t.Context(), srv.URL, Options{AllowPrivate: true, Timeout: 50 * time.Millisecond})
			var status *StatusError
			if errors.As(err, &status) && name == "drips a failure" {
				return // its status says enough
			}
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "within 50ms") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestPublic(t *testing.T) {
	for _, s := range []string{"1.1.1.1", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"} {
		if !public(netip.MustParseAddr(s)) {
			t.Errorf("%s counts as private", s)
		}
	}
	for _, s := range []string{
		"0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.168.0.1",
		"192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "255.255.255.255",
		"::", "::1", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1", "64:ff9b::7f00:1", "64:ff9b:1::1", "fe80::1", "fe80::1%eth0", "fec0::1",
		"fc00::1", "fd12:3456::1", "ff02::1", "2001:db8::1", "2001::1", "2002:7f00:1::1", "3fff::1", "5f00::1", "100::1", "::127.0.0.1", "4000::1",
	} {
		if public(netip.MustParseAddr(s)) {
			t.Errorf("%s counts as public", s)
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address counts as public")
	}
}

func TestGetReadsWhateverIsThere(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/a2a.proto" {
			http.Redirect(w, r, "/a2a.proto", http.StatusFound)
			return
		}
		_, _ = w.Write([]byte("syntax"))
	}))
	defer srv.Close()
	data, info, err := Get(t.Context(), srv.URL+"/latest", Options{AllowPrivate: true})
	if err != nil || string(data) != "syntax" || info.URL != srv.URL+"/a2a.proto" || info.SHA256 != digest(data) {
		t.Errorf("got %q, %+v, %v", data, info, err)
	}
	tests := []struct {
		name, url, want string
		o               Options
	}{
		{"http", srv.URL, "only https is safe; allow http with --allow-private-network", Options{}},
		{"a private address", "https" + strings.TrimPrefix(srv.URL, "http"), "127.0.0.1 is a private or local address", Options{}},
		{"a large answer", srv.URL, "over 5 bytes", Options{AllowPrivate: true, MaxBytes: 5}},
		{"a file", "/etc/passwd", "not an http or https URL", Options{AllowPrivate: true}},
		{"credentials", "https://me:secret@a.example", "holds credentials", Options{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, _, err := Get(t.Context(), tt.url, tt.o); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}
