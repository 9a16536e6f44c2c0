package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/gen/check"
	"github.com/a2agen/a2agen/runtime/server"
)

// place is an input as generated code has one.
type place struct {
	Name   string
	Others map[string]float64
}

var keysPlace = map[string]*check.Keys{
	"closed": {Names: []string{"name", "country", "postcode"}, Closed: true}, "open": {Names: []string{"name", "country", "postcode"}}, "map": {Names: []string{"name"}},
}

func readPlace(kind string) func(r *check.Reader) place {
	k := keysPlace[kind]
	return func(r *check.Reader) (v place) {
		if !r.IsObject() {
			return v
		}
		var seen [3]bool
		others := 0
		for key, ok := r.Object(); ok; key, ok = r.Next() {
			switch {
			case string(key) == "name":
				if r.Field(&seen[0]) {
					v.Name = r.String()
				}
			case kind == "map":
				check.Extra(r, &v.Others, key, (*check.Reader).Number)
			default:
				others++
				r.Unknown(key, k)
			}
		}
		r.Keys(k, seen[:len(k.Names)], others, nil)
		return v
	}
}

func checkPlace(c *check.Checker, v *place) {
	check.EachName(c, keysPlace["map"], v.Others)
	for k, e := range check.Entries(c, v.Others) {
		c.Enter(k)
		c.Finite(e)
		c.Leave()
	}
}

// BenchmarkManyKeys sends a million keys to a skill with a typed input, over HTTP.
func BenchmarkManyKeys(b *testing.B) {
	const n = 1_000_000
	var keys strings.Builder
	for i := range n {
		fmt.Fprintf(&keys, `,"k%06d":1`, i)
	}
	for _, kind := range []string{"closed", "open", "map"} {
		b.Run(kind, func(b *testing.B) {
			read := readPlace(kind)
			sk := server.Skill{ID: "x", Name: "x", InputSchema: `{"type":"object"}`,
				Decode: func(input []byte) (any, error) {
					var v place
					err := check.Decode(input, &v, read, checkPlace)
					return &v, server.InvalidInput(err)
				},
				Run: func(context.Context, *server.Task, any) ([]byte, error) { return nil, nil },
			}
			s := newServer(b, testCard, []server.Skill{sk})
			b.Cleanup(func() { _ = s.Close() })
			body := rpcBody("SendMessage", `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"name":"x"`+keys.String()+`}}]}}`)
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, "/rpc", strings.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				r.Header.Set("A2A-Version", "1.0")
				w := httptest.NewRecorder()
				s.ServeHTTP(w, r)
				if got := w.Body.String(); strings.Contains(got, "error") != (kind == "closed") {
					b.Fatalf("%.500s", got)
				}
			}
		})
	}
}
