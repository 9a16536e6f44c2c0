package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/internal/test/testcert"
)

// files writes a pair for a test.
func files(t *testing.T, dir string, p testcert.Pair) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for name, data := range map[string][]byte{cert: p.Cert, key: p.Key} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// trusting is a client that trusts pairs.
func trusting(t *testing.T, http2 bool, pairs ...testcert.Pair) *http.Client {
	pool := x509.NewCertPool()
	for _, p := range pairs {
		pool.AppendCertsFromPEM(p.Cert)
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: http2}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// The flags name the files, the environment does, and an agent with neither speaks clear text. The URL that is printed
// works.
func TestTheHostSpeaksTLS(t *testing.T) {
	pair := testcert.New(t, "127.0.0.1")
	cert, key := files(t, t.TempDir(), pair)
	for name, args := range map[string][]string{"flags": {"-tls-cert", cert, "-tls-key", key}, "environment": nil} {
		t.Run(name, func(t *testing.T) {
			if args == nil {
				t.Setenv(EnvTLSCert, cert)
				t.Setenv(EnvTLSKey, key)
			}
			s := hosted(t, func(context.Context, *Task) (string, error) { return "done", nil }, Limits{})
			ctx, stop := context.WithCancel(t.Context())
			var out lines
			code := make(chan int, 1)
			go func() { code <- host(ctx, s, nil, append(args, "-addr", "127.0.0.1:0"), &out) }()
			url := out.url(t)
			for proto, web := range map[string]*http.Client{
				"HTTP/1.1": trusting(t, false, pair), "HTTP/2.0": trusting(t, true, pair),
			} {
				resp, err := web.Post(url, "application/json", strings.NewReader(sendStream))
				if err != nil {
					t.Fatal(err)
				}
				b, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if resp.Proto != proto || !bytes.Contains(b, []byte("COMPLETED")) {
					t.Errorf("%s: %s", resp.Proto, b)
				}
			}
			card, err := trusting(t, false, pair).Get(url + CardPath)
			if err != nil {
				t.Fatal(err)
			}
			b, _ := io.ReadAll(card.Body)
			_ = card.Body.Close()
			if !bytes.Contains(b, []byte(`"url":"https://`)) {
				t.Errorf("the card does not say https: %s", b)
			}
			stop()
			if got := <-code; got != 0 || !strings.HasPrefix(url, "https://") {
				t.Errorf("exit code %d, %s: %s", got, url, out.String())
			}
		})
	}
}

func TestHalfACertificateIsRefused(t *testing.T) {
	pair := testcert.New(t, "127.0.0.1")
	cert, key := files(t, t.TempDir(), pair)
	for name, c := range map[string]struct{ cert, key, want string }{
		"no key":      {cert, "", EnvTLSKey},
		"no file":     {cert, key + "x", "no such file"},
		"not a key":   {cert, cert, "rather than a key"},
		"not a chain": {key, key, "may have been switched"},
	} {
		s := hosted(t, nil, Limits{})
		var out lines
		args := []string{"-tls-cert", c.cert, "-tls-key", c.key, "-addr", "127.0.0.1:0"}
		if got := host(t.Context(), s, nil, args, &out); got != exitFailed || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit code %d, %s", name, got, out.String())
		}
	}
}
