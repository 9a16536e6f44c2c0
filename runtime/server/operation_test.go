package server_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// ping and pong are what an operation that nobody knows takes and answers.
type ping struct{ text string }
type pong struct{ text string }

// strange is the protocol with two operations more, one of them a stream.
func strange() *runtime.Protocol {
	p := a2a.Protocol()
	row := func(name string, stream bool) *runtime.Operation {
		return &runtime.Operation{
			RPC: name, Stream: stream,
			Decode: func(src []byte) (any, error) { return &ping{string(src)}, nil },
			Append: func(dst []byte, v any) ([]byte, error) { return append(dst, v.(*pong).text...), nil },
		}
	}
	v := p.Versions[0]
	v.Operations = append(v.Operations, row("Ping", false), row("Watch", true))
	return p
}

func TestOperationsThatTheRuntimeDoesNotKnow(t *testing.T) {
	answer := func(out *pong, err error) server.Operation {
		return server.NewOperation(func(ctx context.Context, in *ping) (*pong, error) {
			if _, ok := ctx.Deadline(); !ok || in.text != `{"a":1}` {
				return nil, fmt.Errorf("request %v", in)
			}
			return out, err
		})
	}
	tests := []struct {
		name, method string
		operation    server.Operation
		want         string
	}{
		{"nobody carries it out", "Ping", nil, `"code":-32004`},
		{"it is carried out", "Ping", answer(&pong{`{"b":2}`}, nil), `"result":{"b":2}`},
		{"an error of the protocol is answered", "Ping", answer(nil, runtime.ErrTaskNotFound), `"code":-32001`},
		{"another error stays inside", "Ping", answer(nil, errors.New("secret")), `"code":-32603`},
		{"an error of another agent stays inside", "Ping", answer(nil, fmt.Errorf("%w", runtime.ErrTaskNotFound.AsReceived())), `"code":-32603,"message":"Internal error","data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"INTERNAL_ERROR"`},
		{"an end of its own is not the client's", "Ping", answer(nil, context.DeadlineExceeded), `"reason":"INTERNAL_ERROR"`},
		{"an error of another agent that ends a stream stays inside", "Watch", server.NewStreamOperation(func(context.Context, *ping) iter.Seq2[*pong, error] {
			return func(yield func(*pong, error) bool) { yield(nil, runtime.ErrTaskNotFound.AsReceived()) }
		}), `"reason":"INTERNAL_ERROR"`},
		{"no result is an error", "Ping", answer(nil, nil), `"code":-32603`},
		{"a panic is contained", "Ping", func(context.Context, any) (any, error) { panic("secret") }, `"code":-32603`},
		{"a stream that nobody carries out", "Watch", nil, `"code":-32004`},
		{"a stream that is answered once", "Watch", answer(&pong{"{}"}, nil), `"code":-32603`},
		{"what the runtime knows is not replaced", "GetTask", answer(&pong{"{}"}, nil), `"code":-32602`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := server.Config{Protocol: strange(), Card: readCard(t, testCard), Operations: map[string]server.Operation{}}
			if tt.operation != nil {
				cfg.Operations[tt.method] = tt.operation
			}
			s, err := server.New(cfg, server.WithLogger(slog.New(slog.DiscardHandler)))
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodPost, "/rpc", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+tt.method+`","params":{"a":1}}`))
			r.Header.Set("A2A-Version", "1.0")
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if got := w.Body.String(); !strings.Contains(got, tt.want) || strings.Contains(got, "secret") {
				t.Errorf("answered %s, want %s", got, tt.want)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
