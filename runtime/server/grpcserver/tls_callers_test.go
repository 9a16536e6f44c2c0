package grpcserver_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/internal/test/testcert"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/testkit/authtest"
)

// TestTLSNamesItsCaller: in TLS 1.2 and 1.3, on a session that was resumed, and over both versions of HTTP; older TLS and clear text
// get nowhere (RFC 6750 §5.3, RFC 8705 §2, RFC 9325 §3.1.1).
func TestTLSNamesItsCaller(t *testing.T) {
	pair, ours := testcert.New(t, "127.0.0.1"), authtest.NewAuthority(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if err := errors.Join(os.WriteFile(cert, pair.Cert, 0o600), os.WriteFile(key, pair.Key, 0o600)); err != nil {
		t.Fatal(err)
	}
	a := startCard(t, mtlsCard, []server.Skill{run("who", func(ctx context.Context, _ *server.Task) (string, error) {
		c := server.CallerFrom(ctx)
		return c.Principal(), nil
	})}, server.WithTLS(cert, key), server.WithAuth(auth.Verifiers{"mtls": auth.Certificates(auth.CertificateConfig{CAFile: ours.File()})}))
	config := func(version uint16, certs ...tls.Certificate) *tls.Config {
		c := trusting(pair)
		c.MinVersion, c.MaxVersion, c.Certificates = version, version, certs
		c.ClientSessionCache = tls.NewLRUClientSessionCache(8)
		return c
	}
	ann := ours.Client(nil)
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for _, http2 := range []bool{false, true} {
			web := &http.Transport{TLSClientConfig: config(version, ann), ForceAttemptHTTP2: http2}
			for i := range 2 {
				resp, text, err := a.ask(web, "https")
				if err != nil || resp.StatusCode != 200 || !strings.Contains(text, "mtls|dns:ci.example") {
					t.Fatalf("%s, HTTP/2 %v: %v %s", tls.VersionName(version), http2, err, text)
				}
				if resumed := resp.TLS.DidResume; resumed != (i == 1) || resp.ProtoMajor == 2 != http2 {
					t.Errorf("%s, HTTP/2 %v: resumed %v over %s", tls.VersionName(version), http2, resumed, resp.Proto)
				}
			}
		}
		resp, text, err := a.ask(&http.Transport{TLSClientConfig: config(version)}, "https")
		if err != nil || resp.StatusCode != 401 {
			t.Errorf("without a certificate: %v %s", err, text)
		}
		conn := a.dial(grpc.WithTransportCredentials(credentials.NewTLS(config(version, ann))))
		if _, err := send(t.Context(), conn, operation(t, "1.0", runtime.RoleSend), message("hi")); grpcstatus.Code(err) != codes.OK {
			t.Errorf("gRPC over %s: %v", tls.VersionName(version), err)
		}
	}
	if resp, _, err := a.ask(&http.Transport{TLSClientConfig: config(tls.VersionTLS11, ann)}, "https"); err == nil {
		t.Errorf("over TLS 1.1: %s", resp.Status)
	}
	if resp, text, err := a.ask(&http.Transport{}, "http"); err == nil && resp.StatusCode < 400 {
		t.Errorf("in clear text: %s %s", resp.Status, text)
	}
}

// ask calls by JSON-RPC, on a connection of its own.
func (a *agent) ask(web *http.Transport, scheme string) (*http.Response, string, error) {
	a.t.Helper()
	defer web.CloseIdleConnections()
	const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`
	req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, scheme+"://"+a.addr+"/rpc", strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("A2A-Version", "1.0")
	resp, err := web.RoundTrip(req)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}
