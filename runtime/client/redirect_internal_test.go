package client

import (
	"net/http"
	"testing"
)

// TestOnlyACardIsFetchedByHTTPSInstead: a call that reads has the headers of its caller.
func TestOnlyACardIsFetchedByHTTPSInstead(t *testing.T) {
	for _, tt := range []struct {
		from, to string
		card, ok bool
	}{
		{"http://a.example/x", "https://a.example/x", true, true},
		{"http://a.example/x", "https://a.example/x", false, false},
		{"http://a.example/x", "http://a.example/y", false, true},
		{"https://a.example/x", "http://a.example/x", true, false},
		{"http://a.example:8080/x", "https://a.example/x", true, false},
	} {
		from, err := http.NewRequest(http.MethodGet, tt.from, nil)
		if err != nil {
			t.Fatal(err)
		}
		to, err := http.NewRequest(http.MethodGet, tt.to, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := &network{header: http.Header{"X-Key": {"k"}}}
		if err := n.checkRedirect(to, []*http.Request{from}, tt.card); (err == nil) != tt.ok {
			t.Errorf("%s to %s, card %v: %v", tt.from, tt.to, tt.card, err)
		}
	}
}
