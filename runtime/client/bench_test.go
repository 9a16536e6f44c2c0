package client_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// canned answers every JSON-RPC request with one message, without a network.
func canned(r *http.Request) (*http.Response, error) {
	var in struct{ ID json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		return nil, err
	}
	text := append(append([]byte(`{"jsonrpc":"2.0","id":`), in.ID...), `,"result":`+answered+`}`...)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(text)),
		Body: io.NopCloser(bytes.NewReader(text)), Request: r,
	}, nil
}

// benchCalls measures calls of an operation by a client of a card.
func benchCalls(b *testing.B, card string, opts ...rpc.Option) {
	hub, err := a2a.Protocol().DecodeCard([]byte(card))
	if err != nil {
		b.Fatal(err)
	}
	c, err := rpc.FromCard(a2a.Protocol(), hub, append(opts, rpc.HTTPClient(&http.Client{Transport: roundTrip(canned)}))...)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Call(b.Context(), rpc.Method{Role: runtime.RoleSend}, hello()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCall(b *testing.B) { benchCalls(b, cardJSON("http://127.0.0.1:1", "", declared)) }

func BenchmarkCallWithAKey(b *testing.B) {
	benchCalls(b, securedCard("http://127.0.0.1:1", keyScheme, "key", "-"), rpc.WithAPIKey("key", "k-123"))
}

func BenchmarkCallWithAToken(b *testing.B) {
	benchCalls(b, securedCard("http://127.0.0.1:1", oauthScheme, "corp:ask", "-"), rpc.WithToken("corp", rpc.StaticToken("t-123")))
}
