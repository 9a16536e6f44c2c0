package server

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealthCheckAsksTheAgentThatRuns(t *testing.T) {
	status := http.StatusOK
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != HealthPath {
			t.Errorf("it asks for %s", r.URL.Path)
		}
		w.WriteHeader(status)
	})
	plain, secret := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	defer plain.Close()
	defer secret.Close()
	at := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	_, port, err := net.SplitHostPort(at(plain))
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, want int, args ...string) {
		t.Helper()
		var said strings.Builder
		code, asked := healthCheck(args, &said)
		if !asked || code != want || (code == exitFailed) != strings.Contains(said.String(), "the agent is not well: ") {
			t.Errorf("%s: %d, %v, %q; want %d", name, code, asked, said.String(), want)
		}
	}
	check("well", exitOK, "-health", "-addr", at(plain))
	check("on every address", exitOK, "-addr", ":"+port, "--health")
	check("over TLS", exitOK, "-health", "-addr", at(secret), "-tls-cert", "cert.pem", "-tls-key", "key.pem")
	check("with a flag that there is not", exitUsage, "-health", "-adr", at(plain))
	t.Setenv(EnvAddr, at(plain))
	check("where the environment says", exitOK, "-health")
	status = http.StatusServiceUnavailable
	check("while it shuts down", exitFailed, "-health", "-addr", at(plain))
	plain.Close()
	check("gone", exitFailed, "-health", "-addr", at(plain))
	if _, asked := HealthCheck([]string{"-addr", ":1"}); asked {
		t.Error("it was not asked")
	}
}
