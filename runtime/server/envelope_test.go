package server

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime"
)

// The envelope's members are those that a full JSON parser sees, and nothing that it refuses passes as an envelope but for what is inside params,
// which the decoder of the parameters checks.
func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}`, `{"jsonrpc":"2.0","id":"\\\"","method":"a\u0062","params":{"a":["}",{"b":"\\"}]}}`,
		` { "id" : null , "jsonrpc" : "2.0" , "method" : "m" } `, `[]`, `{`, `{"a"}`, `{"a":1,}`, `{,}`, `{"jsonrpc":"2.0","method":"m","params":{}}x`, `{"jsonrpc":"2.0","id":-,"method":"m"}`,
		`{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":[}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		env, fault := readEnvelope(body)
		var ref struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		err := json.Unmarshal(body, &ref)
		if fault != nil {
			if fault.Code == runtime.ErrParse.Code && json.Valid(body) {
				t.Fatalf("valid JSON is called malformed: %q", body)
			}
			return
		}
		if err != nil || strings.ContainsFunc(string(body), func(r rune) bool { return r == '\\' || r > 'z' }) || bytes.ContainsAny(body, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			return // escaped or differently cased names make encoding/json match other members
		}
		if env.id != nil && !bytes.Equal(env.id, ref.ID) && string(env.id) != "null" {
			t.Fatalf("id %q, want %q", env.id, ref.ID)
		}
		if string(env.method) != ref.Method {
			t.Fatalf("method %q, want %q", env.method, ref.Method)
		}
		if env.params != nil && !bytes.Equal(env.params, ref.Params) {
			t.Fatalf("params %q, want %q", env.params, ref.Params)
		}
	})
}

func TestFieldPathsComeFromPointers(t *testing.T) {
	for _, c := range []struct{ root, pointer, want string }{
		{"", "", ""}, {"", "/message/parts/0/raw", "message.parts[0].raw"}, {"input", "", "input"}, {"input", "/a~1b/c~0d", "input.a/b.c~d"}, {"input", "/3/x", "input[3].x"},
	} {
		if got := fieldPath(c.root, c.pointer); got != c.want {
			t.Errorf("fieldPath(%q, %q) is %q, want %q", c.root, c.pointer, got, c.want)
		}
	}
}

func TestWordsOfATextAreComparable(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Planning routes for the cities", "plan route city"},
		{"route_planner routePlanner", "route planner route planner"},
		{"天気予報", "天気 気予 予報"},
		{"What is it?", ""},
		{"", ""},
	} {
		if got := strings.Join(words(c.text), " "); got != c.want {
			t.Errorf("words(%q) are %q, want %q", c.text, got, c.want)
		}
	}
}

func TestMediaTypesAreMatchedWithWildcardsAndOldNames(t *testing.T) {
	for _, c := range []struct {
		modes []string
		media string
		want  bool
	}{
		{nil, "x/y", true}, {[]string{"text/plain"}, "text/plain; charset=utf-8", true}, {[]string{"TEXT/Plain"}, "text/plain", true}, {[]string{"image/*"}, "image/png", true},
		{[]string{"image/*"}, "imagex/png", false}, {[]string{"*/*"}, "a/b", true}, {[]string{"text"}, "text/plain", true}, {[]string{"data"}, "application/json", true},
		{[]string{"text/plain"}, "text/html", false}, {[]string{"text/plain"}, "", true},
	} {
		if got := accepts(c.modes, c.media); got != c.want {
			t.Errorf("accepts(%q, %q) is %v", c.modes, c.media, got)
		}
	}
}

func TestIDsDifferAndLookLikeUUIDs(t *testing.T) {
	var g ids
	seen := map[string]bool{}
	for range 1000 {
		id := g.next()
		if len(id) != 36 || id[14] != '4' || !strings.ContainsRune("89ab", rune(id[19])) || seen[id] {
			t.Fatalf("id %q", id)
		}
		seen[id] = true
	}
}
