package grpcserver_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"github.com/a2agen/a2agen/internal/testcert"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

func exitGoroutine() { goruntime.Goexit() }

const rpcBody = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}}`

// One port answers gRPC and JSON over HTTP/1 and HTTP/2, in clear text and over TLS.
func TestAllBindingsShareThePort(t *testing.T) {
	pair := testcert.New(t, "127.0.0.1")
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	for name, data := range map[string][]byte{cert: pair.Cert, key: pair.Key} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
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
