package client_test

import (
	"strings"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

func TestAClientIsNotMadeOfAServersProtocol(t *testing.T) {
	p := a2a.ServerProtocol()
	card, err := p.DecodeCard([]byte(`{"name":"n","description":"d","version":"1","capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"s","description":"d","tags":["t"]}],"supportedInterfaces":[{"url":"https://x.example","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rpc.FromCard(p, card); err == nil || !strings.Contains(err.Error(), "a2a.ClientProtocol()") {
		t.Errorf("a client without codecs: %v", err)
	}
}
