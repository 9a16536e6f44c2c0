package grpcserver_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc/metadata"
	grpcstatus "google.golang.org/grpc/status"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// demanding is a card that demands the scope "run" of callers of the agent, or of its skill.
func demanding(agent, skill string) string {
	return strings.NewReplacer(
		`"protocolVersion":"1.0"}`, `"protocolVersion":"1.0"},{"url":"http://localhost/rest","protocolBinding":"HTTP+JSON","protocolVersion":"1.0"}`,
		`"skills":[]`, `"securitySchemes":{"idp":{"httpAuthSecurityScheme":{"scheme":"bearer"}},"key":{"apiKeySecurityScheme":{"location":"query","name":"key"}}},
			"securityRequirements":[{"schemes":{"idp":{"list":[`+agent+`]}}}],
			"skills":[{"id":"run","name":"run","description":"","tags":[],"securityRequirements":[{"schemes":{"idp":{"list":[`+skill+`]}}}]}]`,
	).Replace(testCard)
}

// refusals are how an agent tells a caller without the scope, over each binding of two versions.
func (a *agent) refusals() map[string]string {
	a.t.Helper()
	const (
		message1 = `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]}}`
		rest03   = `{"message":{"messageId":"m","role":"ROLE_USER","content":[{"text":"go"}]}}`
		rpc03    = `{"message":{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"go"}]}}`
	)
	told := map[string]string{}
	for name, r := range map[string]struct{ path, version, body string }{
		"JSON-RPC 1.0":  {"/rpc", "1.0", `{"jsonrpc":"2.0","id":null,"method":"SendMessage","params":` + message1 + `}`},
		"JSON-RPC 0.3":  {"/rpc", "", `{"jsonrpc":"2.0","id":null,"method":"message/send","params":` + rpc03 + `}`},
		"HTTP+JSON 1.0": {"/rest/message:send", "1.0", message1},
		"HTTP+JSON 0.3": {"/rest/v1/message:send", "", rest03},
	} {
		req, err := http.NewRequestWithContext(a.t.Context(), http.MethodPost, "http://"+a.addr+r.path, strings.NewReader(r.body))
		if err != nil {
			a.t.Fatal(err)
		}
		req.Header = http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer eve"}, "A2a-Version": {r.version}}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			a.t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		told[name] = resp.Status + " " + resp.Header.Get("WWW-Authenticate") + " " + string(body)
	}
	ctx := metadata.AppendToOutgoingContext(a.t.Context(), "authorization", "Bearer eve")
	for _, version := range []string{"1.0", "0.3"} {
		_, err := send(ctx, a.dial(), operation(a.t, version, runtime.RoleSend), message("go"))
		told["gRPC "+version] = grpcstatus.Convert(err).Proto().String()
	}
	return told
}

// TestARefusalIsToldAsTheVersionHasIt, whoever finds out: the agent before it reads the message, or the skill.
func TestARefusalIsToldAsTheVersionHasIt(t *testing.T) {
	skills := []server.Skill{run("run", func(context.Context, *server.Task) (string, error) { return "done", nil })}
	byAgent := startCard(t, demanding(`"run"`, ""), skills, guards()).refusals()
	bySkill := startCard(t, demanding("", `"run"`), skills, guards()).refusals()
	for name, want := range bySkill {
		if got := byAgent[name]; got != want {
			t.Errorf("%s\nby the agent %s\nby the skill %s", name, got, want)
		}
	}
	if got := byAgent["HTTP+JSON 0.3"]; !strings.Contains(got, `{"code":-31403,`) {
		t.Errorf("HTTP+JSON 0.3: %s", got)
	}
	if got := byAgent["gRPC 0.3"]; !strings.Contains(got, "PermissionDeniedError: ") {
		t.Errorf("gRPC 0.3: %s", got)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
}
