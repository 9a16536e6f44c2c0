package grpcserver_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/internal/test/testcert"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/internal/binding"
	"github.com/a2agen/a2agen/testkit/authtest"
)

// authCard demands a token, and for the skill "run" the scope "run".
var authCard = strings.Replace(testCard, `"skills":[]`, `"securitySchemes":{"idp":{"httpAuthSecurityScheme":{"scheme":"bearer"}},
	"key":{"apiKeySecurityScheme":{"location":"query","name":"key"}}},
	"securityRequirements":[{"schemes":{"idp":{"list":[]}}},{"schemes":{"key":{"list":[]}}}],
	"skills":[{"id":"run","name":"run","description":"","tags":[],"securityRequirements":[{"schemes":{"idp":{"list":["run"]}}}]}]`, 1)

func guards() server.Option {
	return server.WithAuth(auth.Verifiers{"key": auth.Keys(auth.Key{Caller: "ci", SHA256: auth.HashKey("secret")}), "idp": auth.Func(
		func(_ context.Context, c auth.Credential) (auth.Caller, error) {
			switch c.Value {
			case "ann":
				return auth.Caller{ID: "ann", Scopes: []string{"run"}}, nil
			case "brief":
				return auth.Caller{ID: "brief", Scopes: []string{"run"}, Expires: time.Now().Add(100 * time.Millisecond)}, nil
			case "eve", "bob":
				return auth.Caller{ID: c.Value}, nil
			case "down":
				return auth.Caller{}, &auth.Unavailable{Err: errors.New("no answer")}
			}
			return auth.Caller{}, auth.ErrWrong
		})})
}

// TestCallsWantWhatTheCardDemands: codes 16, 7 and 14, with the challenges as metadata.
func TestCallsWantWhatTheCardDemands(t *testing.T) {
	a := startCard(t, authCard, []server.Skill{run("run", func(ctx context.Context, _ *server.Task) (string, error) {
		return server.CallerFrom(ctx).ID, nil
	})}, guards())
	c := a.dial()
	challenge := func(params string) string {
		return `Bearer realm="Test"` + params + `|ApiKey realm="Test", in="query", name="key"`
	}
	for name, tt := range map[string]struct {
		md   []string
		code codes.Code
		want string
	}{
		"none":        {nil, codes.Unauthenticated, challenge("")},
		"wrong":       {[]string{"authorization", "Bearer nobody"}, codes.Unauthenticated, challenge(`, error="invalid_token"`)},
		"twice":       {[]string{"authorization", "Bearer ann", "authorization", "Bearer ann"}, codes.Unauthenticated, challenge(`, error="invalid_request"`)},
		"binary":      {[]string{"authorization-bin", "Bearer ann"}, codes.Unauthenticated, challenge("")},
		"a query's":   {[]string{"key", "secret"}, codes.Unauthenticated, challenge("")},
		"without":     {[]string{"authorization", "Bearer eve"}, codes.PermissionDenied, `Bearer realm="Test", error="insufficient_scope", scope="run"`},
		"unavailable": {[]string{"authorization", "Bearer down"}, codes.Unavailable, ""},
		"upper case":  {[]string{"AUTHORIZATION", "BEARER ann"}, codes.OK, ""},
		"right":       {[]string{"authorization", "Bearer ann"}, codes.OK, ""},
	} {
		for _, role := range []runtime.Role{runtime.RoleSend, runtime.RoleStream} {
			ctx := metadata.AppendToOutgoingContext(t.Context(), tt.md...)
			var trailer metadata.MD
			var err error
			if role == runtime.RoleSend {
				_, err = send(ctx, c, operation(t, "1.0", role), message("go"), grpc.Trailer(&trailer))
			} else {
				st := open(ctx, t, c, "1.0", role, message("go"))
				_, err = st.rest()
				trailer = st.Trailer()
			}
			if grpcstatus.Code(err) != tt.code || strings.Join(trailer["www-authenticate"], "|") != tt.want {
				t.Errorf("%d %s: %v %q", role, name, err, trailer["www-authenticate"])
			}
		}
	}
}

// TestAStreamEndsWithItsCredential, with code OK.
func TestAStreamEndsWithItsCredential(t *testing.T) {
	a := startCard(t, authCard, []server.Skill{run("run", func(ctx context.Context, t *server.Task) (string, error) {
		if err := t.Progress("on it"); err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
		return "", nil
	})}, guards(), server.WithStreamGrace(0), server.WithLimits(server.Limits{Grace: 50 * time.Millisecond}))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer brief")
	began := time.Now()
	_, err := open(ctx, t, a.dial(), "1.0", runtime.RoleStream, message("go")).rest()
	if took := time.Since(began); err != nil || took > 4*time.Second {
		t.Errorf("after %v: %v", took, err)
	}
}

// mtlsCard demands a client certificate.
var mtlsCard = strings.Replace(testCard, `"skills":[]`, `"securitySchemes":{"mtls":{"mtlsSecurityScheme":{}}},
	"securityRequirements":[{"schemes":{"mtls":{"list":[]}}}],"skills":[]`, 1)

// TestClientCertificatesCountInAllBindings: of our authority they name the caller; without one the card can be read, and
// nothing else; a bad one ends the connection.
func TestClientCertificatesCountInAllBindings(t *testing.T) {
	pair, ours := testcert.New(t, "127.0.0.1"), authtest.NewAuthority(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	if err := errors.Join(os.WriteFile(cert, pair.Cert, 0o600), os.WriteFile(key, pair.Key, 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("A2A_TLS_CLIENT_CA", ours.File())
	seen := make(chan string, 1)
	a := startCard(t, mtlsCard, []server.Skill{run("who", func(ctx context.Context, _ *server.Task) (string, error) {
		c := server.CallerFrom(ctx)
		seen <- c.Principal()
		return "done", nil
	})}, server.WithTLS(cert, key), server.WithAuth(auth.Verifiers{"mtls": auth.Certificates(auth.CertificateConfig{})}))
	late := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	}
	for name, c := range map[string]struct {
		certs        []tls.Certificate
		status, card int // 0: no connection
		code         codes.Code
	}{
		"ours":                 {[]tls.Certificate{ours.Client(nil)}, 200, 200, codes.OK},
		"none":                 {nil, 401, 200, codes.Unauthenticated},
		"of another authority": {[]tls.Certificate{authtest.NewAuthority(t).Client(nil)}, 0, 0, codes.Unavailable},
		"expired":              {[]tls.Certificate{ours.Client(late)}, 0, 0, codes.Unavailable},
	} {
		config := trusting(pair)
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { // whoever is asked for
			if len(c.certs) == 0 {
				return new(tls.Certificate), nil
			}
			return &c.certs[0], nil
		}
		web := &http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		status := func(resp *http.Response, err error) int {
			if err != nil {
				return 0
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			return resp.StatusCode
		}
		if got := status(web.Get("https://" + a.addr + server.CardPath)); got != c.card {
			t.Errorf("%s: the card: %d", name, got)
		}
		const body = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}}`
		if got := status(web.Post("https://"+a.addr+"/rpc", "application/json", strings.NewReader(body))); got != c.status {
			t.Errorf("%s: JSON-RPC: %d", name, got)
		} else if got == 200 {
			if who := <-seen; who != "mtls|dns:ci.example" {
				t.Errorf("%s: JSON-RPC by %s", name, who)
			}
		}
		web.CloseIdleConnections()
		conn := a.dial(grpc.WithTransportCredentials(credentials.NewTLS(config)))
		_, err := send(t.Context(), conn, operation(t, "1.0", runtime.RoleSend), message("hi"))
		if status := grpcstatus.Code(err); status != c.code {
			t.Errorf("%s: gRPC: %v", name, err)
		} else if err == nil {
			if who := <-seen; who != "mtls|dns:ci.example" {
				t.Errorf("%s: gRPC by %s", name, who)
			}
		}
	}
}

// TestCallsOverNetHTTPStayAtHome, too, where an agent demands nothing: that way is no way around.
func TestCallsOverNetHTTPStayAtHome(t *testing.T) {
	s := newServer(t, testCard, []server.Skill{echo()})
	t.Cleanup(func() { _ = s.Close() })
	for ip, want := range map[string]int{"192.0.2.1": http.StatusForbidden, "127.0.0.1": http.StatusOK} {
		ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, net.Addr(&net.TCPAddr{IP: net.ParseIP(ip), Port: 80}))
		r := httptest.NewRequestWithContext(ctx, "POST", "http://localhost"+operation(t, "1.0", runtime.RoleList).GRPC, strings.NewReader("\x00\x00\x00\x00\x00"))
		r.Header.Set("Content-Type", "application/grpc")
		r.ProtoMajor, r.ProtoMinor, r.Proto = 2, 0, "HTTP/2.0"
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d %s", ip, w.Code, w.Body)
		}
	}
}

// quiet is the skill of authCard.
func quiet() server.Skill {
	return run("run", func(context.Context, *server.Task) (string, error) { return "done", nil })
}

// TestCredentialsAreCheckedBeforeTheMessage: who sends none is answered all the same, over a connection and over net/http.
func TestCredentialsAreCheckedBeforeTheMessage(t *testing.T) {
	a := startCard(t, authCard, []server.Skill{quiet()}, guards())
	c := a.dial()
	for _, op := range []string{operation(t, "1.0", runtime.RoleSend).GRPC, operation(t, "1.0", runtime.RoleStream).GRPC} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		st, err := c.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, op)
		if err == nil {
			err = st.RecvMsg(&[]byte{})
		}
		if grpcstatus.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: %v", op, err)
		}
		cancel()
	}
	for token, want := range map[string]string{"": "16", "Bearer wrong": "16", "Bearer ann": "3"} { // there is no message
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost"+operation(t, "1.0", runtime.RoleSend).GRPC, strings.NewReader("\x00\x00\x00\x00\x00"))
		r.Header.Set("Content-Type", "application/grpc")
		r.Header.Set("Authorization", token)
		r.ProtoMajor, r.ProtoMinor, r.Proto = 2, 0, "HTTP/2.0"
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if got := w.Header().Get("Grpc-Status"); got != want {
			t.Errorf("over net/http, %q: status %q", token, got)
		}
	}
}

// TestMetadataThatAreTooLarge end the call, and nothing else: the next one is answered.
func TestMetadataThatAreTooLarge(t *testing.T) {
	a := startCard(t, authCard, []server.Skill{quiet()}, guards())
	c := a.dial()
	for _, size := range []int{20 << 10, 1 << 20} {
		ctx := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+strings.Repeat("x", size))
		_, err := send(ctx, c, operation(t, "1.0", runtime.RoleSend), message("go"))
		if code := grpcstatus.Code(err); err == nil || size < binding.MaxHeader && code != codes.Unauthenticated {
			t.Errorf("%d bytes: %v", size, err)
		}
		ctx = metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer ann")
		if _, err := send(ctx, c, operation(t, "1.0", runtime.RoleSend), message("go")); err != nil {
			t.Errorf("after %d bytes: %v", size, err)
		}
	}
}
