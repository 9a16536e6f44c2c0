package client

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

// FuzzReadResponse: whatever an agent answers, reading it does not panic, and what it takes as members are JSON values of the source.
func FuzzReadResponse(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"a":[1,2]}}`, `{"id":null,"error":{"code":-32001,"message":"x","data":[{"@type":"y"}]}}`, ` { "result" : 1 , "id" : "1" } `,
		`{"result":{},"result":{}}`, `{"id":1,"error":"x"}`, `[]`, ``, `{`, `{"id":1}x`, "{\"id\":\"\xff\"}",
	} {
		f.Add([]byte(s), int64(1))
	}
	f.Fuzz(func(t *testing.T, src []byte, id int64) {
		before := bytes.Clone(src)
		resp, err := readResponse(src)
		if err == nil {
			for _, member := range [][]byte{resp.id, resp.result, resp.fault} {
				if member != nil && !json.Valid(member) {
					t.Errorf("member %q of %q", member, src)
				}
			}
			if !json.Valid(src) {
				t.Errorf("%q is taken for JSON", src)
			}
		}
		if result, err := resultOf(src, id); err != nil && result != nil {
			t.Errorf("both a result and %v", err)
		}
		if !bytes.Equal(before, src) {
			t.Error("the source was changed")
		}
	})
}

func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for s, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "-7": 0, "soon": 0, "99999999999999": 0,
		"Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second, "Fri, 02 Jan 2026 03:00:00 GMT": 0,
	} {
		if got := retryAfter(s, now); got != want {
			t.Errorf("%q is %v, want %v", s, got, want)
		}
	}
}

func TestBackoffDoublesWithinBounds(t *testing.T) {
	for attempt, most := range map[int]time.Duration{1: firstPause, 2: 2 * firstPause, 5: 16 * firstPause, 8: maxPause, 1000: maxPause} {
		for range 50 {
			if d := backoff(attempt); d > most || d < most/2 {
				t.Fatalf("attempt %d pauses %v, want %v to %v", attempt, d, most/2, most)
			}
		}
	}
}
