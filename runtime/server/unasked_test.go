package server_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
)

// A client that names no version was hardly written for the newest one.
func TestARequestThatNamesNoVersionIsOfTheOldestThatHasItsMethod(t *testing.T) {
	answering := func(name, text string, methods ...string) *runtime.Version {
		v := *a2a.Protocol().Versions[0]
		v.Name, v.Operations = name, nil
		for _, m := range methods {
			v.Operations = append(v.Operations, &runtime.Operation{
				RPC:    m,
				Decode: func([]byte) (any, error) { return &ping{}, nil },
				Append: func(dst []byte, _ any) ([]byte, error) { return append(dst, text...), nil },
			})
		}
		return &v
	}
	old, older := answering("0.3", `"0.3"`, "ping"), answering("0.2", `"0.2"`, "ping")
	old.Rules.PlainErrors, older.Rules.PlainErrors = true, true
	tests := []struct {
		name, method, version string
		strict                bool
		want                  string
	}{
		{"two versions have the method", "Ping", "", false, `"result":"1.0"`},
		{"only the newest has it", "Pause", "", false, `"result":"1.1"`},
		{"versions before the header have it", "ping", "", false, `"result":"0.3"`},
		{"it is named", "Ping", "1.1", false, `"result":"1.1"`},
		{"a strict server", "Ping", "", true, `"code":-32601`},
		{"a strict server and a version before the header", "ping", "", true, `"result":"0.3"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := a2a.Protocol()
			p.Versions = []*runtime.Version{answering("1.1", `"1.1"`, "Ping", "Pause"), answering("1.0", `"1.0"`, "Ping"), old, older}
			do := server.NewOperation(func(context.Context, *ping) (*pong, error) { return &pong{}, nil })
			opts := []server.Option{server.WithLogger(slog.New(slog.DiscardHandler))}
			if tt.strict {
				opts = append(opts, server.WithCompat(server.Compat{StrictVersion: true}))
			}
			s, err := server.New(server.Config{Protocol: p, Card: readCard(t, testCard), Operations: map[string]server.Operation{"Ping": do, "Pause": do, "ping": do}}, opts...)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodPost, "/rpc", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"`+tt.method+`"}`))
			if tt.version != "" {
				r.Header.Set("A2A-Version", tt.version)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			if got := w.Body.String(); !strings.Contains(got, tt.want) {
				t.Errorf("answered %s, want %s", got, tt.want)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
