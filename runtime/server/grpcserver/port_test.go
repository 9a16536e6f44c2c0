package grpcserver_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/internal/test/testcert"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

func exitGoroutine() { goruntime.Goexit() }

const rpcBody = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}}`

// One port answers gRPC and JSON over HTTP/1 and HTTP/2, in clear text and over TLS.
func TestAllBindingsShareThePort(t *testing.T) {
	pair := testcert.New(t, "127.0.0.1")
	cert, key := pairFiles(t, pair)
	t.Run("clear text", func(t *testing.T) {
		a := start(t, []server.Skill{echo()})
		a.answersAll("http://", nil)
	})
	t.Run("TLS", func(t *testing.T) {
		overTLS := 0
		identity := server.WithProxyIdentity(func(r *http.Request) (string, error) {
			if r.TLS != nil && r.TLS.HandshakeComplete {
				overTLS++
			}
			return "ann", nil
		})
		a := start(t, []server.Skill{echo()}, server.WithTLS(cert, key), identity)
		a.answersAll("https://", trusting(pair), secure(pair))
		if overTLS != 5 {
			t.Errorf("%d of 5 requests were seen to come over TLS", overTLS)
		}
		resp, err := http.Post("http://"+a.addr+"/rpc", "application/json", strings.NewReader(rpcBody))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if b, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(b), "HTTPS") {
			t.Errorf("clear text where TLS is spoken: %s %s", resp.Status, b)
		}
	})
}

// pairFiles writes a pair.
func pairFiles(t *testing.T, pair testcert.Pair) (cert, key string) {
	t.Helper()
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	for name, data := range map[string][]byte{cert: pair.Cert, key: pair.Key} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// answersAll calls over every binding and version of HTTP: one call of gRPC, two of JSON over each.
func (a *agent) answersAll(scheme string, config *tls.Config, opts ...grpc.DialOption) {
	t := a.t.(*testing.T)
	t.Helper()
	if _, err := send(t.Context(), a.dial(opts...), operation(t, "1.0", runtime.RoleSend), message("hello")); err != nil {
		t.Error(err)
	}
	for name, protocols := range map[string]*http.Protocols{"HTTP/1.1": one(true), "HTTP/2.0": one(false)} {
		web := &http.Client{Transport: &http.Transport{Protocols: protocols, TLSClientConfig: config}}
		for range 2 {
			resp, err := web.Post(scheme+a.addr+"/rpc", "application/json", strings.NewReader(rpcBody))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			b, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.Proto != name || !strings.Contains(string(b), "you said hello") {
				t.Errorf("%s: %s", resp.Proto, b)
			}
		}
		web.CloseIdleConnections()
	}
}

// A server that is mounted in somebody's own answers gRPC over net/http's HTTP/2, beside JSON on the same connection.
func TestAMountedServerAnswersGRPC(t *testing.T) {
	s := newServer(t, testCard, []server.Skill{echo(), count()})
	h := httptest.NewUnstartedServer(s)
	h.EnableHTTP2 = true
	h.StartTLS()
	defer func() {
		h.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	pool := x509.NewCertPool()
	pool.AddCert(h.Certificate())
	config := &tls.Config{RootCAs: pool}
	a := &agent{Server: s, t: t, addr: h.Listener.Addr().String()}
	c := a.dial(grpc.WithTransportCredentials(credentials.NewTLS(config)))
	skill := messageFor("echo", "hello")
	if got, err := send(t.Context(), c, operation(t, "1.0", runtime.RoleSend), skill); err != nil {
		t.Errorf("%v, %v", got, err)
	}
	all, err := open(t.Context(), t, c, "1.0", runtime.RoleStream, messageFor("count", "go")).rest()
	if err != nil || all[len(all)-1].EventInfo().State != runtime.StateCompleted {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := send(t.Context(), c, operation(t, "1.0", runtime.RoleGet), taskRequest(runtime.RoleGet, "none")); status.Code(err) != codes.NotFound {
		t.Error(err)
	}
}

// A connection that began with JSON is net/http's, where a call would be outside of what watches calls: it is refused, and
// the connection ends, so that the next one may begin with a call.
func TestAConnectionOfJSONDoesNotCallGRPC(t *testing.T) {
	a := start(t, []server.Skill{echo()})
	web := &http.Client{Transport: &http.Transport{Protocols: one(false)}}
	defer web.CloseIdleConnections()
	resp, err := web.Post("http://"+a.addr+"/rpc", "application/json", strings.NewReader(rpcBody))
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	op := operation(t, "1.0", runtime.RoleSend)
	in, err := op.AppendRequest(nil, message("hello"))
	if err != nil {
		t.Fatal(err)
	}
	frame := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(in))), in...)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+a.addr+op.GRPC, bytes.NewReader(frame))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/grpc")
	req.Header.Set("TE", "trailers")
	if resp, err = web.Do(req); err != nil {
		t.Fatal(err)
	}
	b, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusUnsupportedMediaType || !strings.Contains(string(b), "connections of its own") {
		t.Errorf("%s: %q with %v", resp.Status, b, resp.Trailer)
	}
	req = req.Clone(t.Context())
	req.Body = io.NopCloser(bytes.NewReader(frame))
	if resp, err = web.Do(req); err != nil {
		t.Fatal(err)
	}
	b, _ = io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if !strings.Contains(string(b), "you said hello") || resp.Trailer.Get("Grpc-Status") != "0" {
		t.Errorf("the next connection: %s: %q with %v", resp.Status, b, resp.Trailer)
	}
}

// A client may connect before it has anything to ask.
func TestAConnectionMayBeReadyBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	pair := testcert.New(t, "127.0.0.1")
	cert, key := pairFiles(t, pair)
	const patience = 500 * time.Millisecond
	for name, tt := range map[string]struct {
		server []server.Option
		client []grpc.DialOption
	}{
		"clear text": {nil, nil},
		"TLS":        {[]server.Option{server.WithTLS(cert, key)}, []grpc.DialOption{secure(pair)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := start(t, []server.Skill{echo()}, append(tt.server, server.WithLimits(server.Limits{Header: patience}))...)
			c := a.dial(tt.client...)
			for state := c.GetState(); state != connectivity.Ready; state = c.GetState() {
				c.Connect() // again, if a busy machine took too long: an idle connection does not change by itself
				if !c.WaitForStateChange(t.Context(), state) {
					t.Fatal(state)
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
			defer cancel()
			if c.WaitForStateChange(ctx, connectivity.Ready) {
				t.Errorf("the connection is %v", c.GetState())
			}
			if _, err := send(t.Context(), c, operation(t, "1.0", runtime.RoleSend), message("hello")); err != nil {
				t.Error(err)
			}
		})
	}
}

// A listener that fails ends everything.
func TestAListenerThatFailsEndsTheServer(t *testing.T) {
	s := newServer(t, testCard, []server.Skill{echo()})
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(context.Background(), ln) }()
	a := &agent{Server: s, t: t, addr: ln.Addr().String()}
	if _, err := send(t.Context(), a.dial(), operation(t, "1.0", runtime.RoleSend), message("hello")); err != nil {
		t.Fatal(err)
	}
	_ = ln.Close()
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

// one is HTTP/1 or HTTP/2.
func one(first bool) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(first)
	p.SetHTTP2(!first)
	p.SetUnencryptedHTTP2(!first)
	return p
}

func TestConnectionsThatSayNothingHoldNothingUp(t *testing.T) {
	a := start(t, []server.Skill{echo()})
	for _, first := range []string{"", "P", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"} {
		c, err := net.Dial("tcp", a.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		if _, err := io.WriteString(c, first); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := send(t.Context(), a.dial(), operation(t, "1.0", runtime.RoleSend), message("hello")); err != nil {
		t.Error(err)
	}
}
