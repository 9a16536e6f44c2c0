package mcpserver_test

import (
	"io"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/mcpserver"
)

// TestToolsCallAgentsOfAllKinds: whatever the card offers, tools find a way.
func TestToolsCallAgentsOfAllKinds(t *testing.T) {
	over := func(binding, version string) string {
		return strings.Replace(openCard, `"protocolBinding":"JSONRPC","protocolVersion":"1.0"`, `"protocolBinding":"`+binding+`","protocolVersion":"`+version+`"`, 1)
	}
	for name, card := range map[string]string{
		"without streams": strings.Replace(openCard, `"streaming":true`, `"streaming":false`, 1),
		"over HTTP+JSON":  over("HTTP+JSON", "1.0"),
		"of 0.3":          over("JSONRPC", "0.3"),
		"of 0.3, HTTP":    over("HTTP+JSON", "0.3"),
		"of 0.2":          over("JSONRPC", "0.2"),
	} {
		t.Run(name, func(t *testing.T) {
			p := a2awires.Protocol()
			c, err := p.DecodeCard([]byte(card))
			if err != nil {
				t.Fatal(err)
			}
			s, err := server.New(server.Config{Protocol: p, Card: c, Skills: []server.Skill{named()}},
				server.WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))), mcpserver.Serve(a2awires.Protocol()))
			if err != nil {
				t.Fatal(err)
			}
			a := serve(t, s)
			for _, version := range []string{newest, older} {
				if r := call(t, a.connect(version, a.web, sdk.ClientOptions{}), "do", "Rome"); r.IsError || text(r) != `{"sky":""}` {
					t.Errorf("%s: got %s", version, text(r))
				}
			}
		})
	}
}

func TestMCPIsServedOverHTTP2(t *testing.T) {
	s := newServer(t, config(t, openCard, blue("do")))
	h := httptest.NewUnstartedServer(s)
	h.EnableHTTP2 = true
	h.StartTLS()
	t.Cleanup(func() { _ = s.Close(); h.Close() })
	a := &agent{s, t, h.URL, h.Client()}
	for _, version := range []string{newest, older} {
		if r := call(t, a.connect(version, a.web, sdk.ClientOptions{}), "do", "Rome"); text(r) != `{"sky":"blue"}` {
			t.Errorf("%s: got %s", version, text(r))
		}
	}
}
