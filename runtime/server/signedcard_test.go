package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/signedcard"
)

// keyFile is a new key that signs cards, in a file that A2A_CARD_KEY names, and what verifies by it.
func keyFile(t *testing.T) *signedcard.Verifier {
	t.Helper()
	key, err := signedcard.NewKey("ES256")
	if err != nil {
		t.Fatal(err)
	}
	private, err := key.Private()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key.json")
	if err := os.WriteFile(file, private, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv(server.EnvCardKey, file)
	set, err := key.Public(nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := signedcard.NewVerifier(signedcard.Config{Keys: set, Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// counted signs, and counts how often.
type counted struct {
	server.CardSigner
	n *atomic.Int64
}

func (c counted) Sign(card []byte) ([]byte, error) {
	c.n.Add(1)
	return c.CardSigner.Sign(card)
}

// R126: that of 1.0, and the one for 1.0 and older versions at once; not those of older versions alone.
// The Host header of a request is not in them.
func TestCardsAreSignedOnceForThePublicURL(t *testing.T) {
	v, signings := keyFile(t), new(atomic.Int64)
	read := func(file []byte) (counted, error) {
		key, err := signedcard.ReadKey(file)
		return counted{key, signings}, err
	}
	a := extendedAgent(t, server.WithURL("https://desk.example/"), server.WithProxyIdentity(caller), server.SignCards(read))
	base := strings.TrimSuffix(a.url, "/rpc")
	get := func(path, version string) []byte {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = "localhost"
		if version != "" {
			req.Header.Set("A2A-Version", version)
		}
		resp, err := a.web.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != 200 {
			t.Fatal(resp.Status, string(body), err)
		}
		return body
	}
	for _, version := range []string{"1.0", ""} {
		got, err := v.Verify(t.Context(), get(server.CardPath, version))
		if err != nil {
			t.Fatalf("version %q: %v", version, err)
		}
		if !strings.Contains(string(got.Card), `"https://desk.example/rpc"`) || strings.Contains(string(got.Card), "localhost") {
			t.Errorf("version %q: %s", version, got.Card)
		}
	}
	for _, at := range [][2]string{{server.CardPath, "0.3"}, {server.CardPath, "0.2"}, {server.OldCardPath, ""}} {
		if body := get(at[0], at[1]); strings.Contains(string(body), "signatures") {
			t.Errorf("%v has signatures: %s", at, body)
		}
	}
	for name, ask := range a.asks() {
		status, body := ask("Who: alice")
		signed := strings.Contains(body, `"signatures"`)
		if status != 200 || signed != strings.HasPrefix(name, "1.0") {
			t.Errorf("%s: %d, signed %v: %s", name, status, signed, body)
			continue
		}
		if !signed {
			continue
		}
		var answer struct{ Result json.RawMessage }
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Result == nil {
			answer.Result = json.RawMessage(body)
		}
		got, err := v.Verify(t.Context(), answer.Result)
		if err != nil || !strings.Contains(string(got.Card), "For some.") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := signings.Load(); n != 2 {
		t.Errorf("cards were signed %d times, want the card and the extended card once each", n)
	}
}

// TestAServerThatCannotSignDoesNotStart, and says what to do.
func TestAServerThatCannotSignDoesNotStart(t *testing.T) {
	const card = `{"name":"x","description":"x","version":"1","capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[],
		"supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`
	url, sign := server.WithURL("https://desk.example"), server.SignCards(signedcard.ReadKey)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		key  string // "": a good one
		opts []server.Option
		says string
	}{
		"not linked":              {"", []server.Option{url}, `write "cards: {sign: true}" in a2agen.yaml`},
		"no public URL":           {"", []server.Option{sign}, "set A2A_PUBLIC_URL"},
		"addresses of proxies":    {"", []server.Option{sign, server.WithForwarded()}, "set A2A_PUBLIC_URL"},
		"requirements as lists":   {"", []server.Option{sign, url, server.WithCompat(server.Compat{RequirementLists: true})}, "leave out one of the two"},
		"no file":                 {"/nowhere/key.json", []server.Option{sign, url}, "A2A_CARD_KEY: open /nowhere/key.json"},
		"a file that is no key":   {secret, []server.Option{sign, url}, "a2agen card keygen"},
		"a signer of one's own":   {"unset", []server.Option{server.WithCardSigner(failing{})}, "set A2A_PUBLIC_URL"},
		"a signer that cannot":    {"unset", []server.Option{url, server.WithCardSigner(failing{})}, "sign the card: the vault is closed"},
		"everything as it should": {"", []server.Option{sign, url}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			keyFile(t)
			if test.key != "" {
				t.Setenv(server.EnvCardKey, strings.TrimPrefix(test.key, "unset"))
			}
			s, err := newServerOf(t, card, test.opts...)
			if s != nil {
				_ = s.Close()
			}
			if (err == nil) != (test.says == "") || err != nil && (!strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("%v, want %q", err, test.says)
			}
		})
	}
}

type failing struct{}

func (failing) Sign([]byte) ([]byte, error) { return nil, fmt.Errorf("the vault is closed") }
