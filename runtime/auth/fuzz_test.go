package auth_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/guard"
	"github.com/a2agen/a2agen/testkit/authtest"
)

// FuzzHeaders: whatever headers, query and cookies say, nobody comes in who has no good credential, and nothing that was
// sent is in what is told and logged.
func FuzzHeaders(f *testing.F) {
	for _, s := range []string{"Bearer abc", "bearer  x==", "Basic YTpi", "Basic " + strings.Repeat("A", 99), "", " ", "Bearer", "\x00", "a=b; k=c", "k=%zz&k=1"} {
		f.Add(s, s, s)
	}
	none := auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) {
		if c.Value == "" && c.User == "" {
			return auth.Caller{}, errors.New("a verifier is asked about nothing")
		}
		return auth.Caller{}, auth.ErrWrong
	})
	const card = `{"securitySchemes":{"t":{"httpAuthSecurityScheme":{"scheme":"bearer"}},"b":{"httpAuthSecurityScheme":{"scheme":"basic"}},
		"q":{"apiKeySecurityScheme":{"location":"query","name":"k"}},"c":{"apiKeySecurityScheme":{"location":"cookie","name":"k"}},
		"h":{"apiKeySecurityScheme":{"location":"header","name":"K"}}},
		"securityRequirements":[{"schemes":{"t":{}}},{"schemes":{"b":{}}},{"schemes":{"q":{}}},{"schemes":{"c":{}}},{"schemes":{"h":{}}}]}`
	d, err := auth.ReadCard([]byte(card))
	if err != nil {
		f.Fatal(err)
	}
	g, err := guard.New(d, auth.Verifiers{"t": none, "b": none, "q": none, "c": none, "h": none}, guard.Options{Realm: "Test"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, authorization, query, cookie string) {
		r := request()
		r.Header["Authorization"], r.Header["K"] = []string{authorization}, []string{query}
		r.Header["Cookie"], r.URL.RawQuery = []string{cookie}, query
		grant, denial := g.Check(r)
		if denial == nil {
			t.Fatalf("%+v comes in", grant.Caller)
		}
		said := denial.Error() + strings.Join(denial.Challenges, "")
		if strings.Contains(said, "asked about nothing") || len(authorization) > 12 && strings.Contains(said, authorization) {
			t.Errorf("said is %q", said)
		}
	})
}

// FuzzCards: whatever a card demands, a guard of it can be made or says why not, and who brings nothing comes in only
// where the card has an alternative without schemes.
func FuzzCards(f *testing.F) {
	for _, s := range []string{
		bearerCard, basicCard, mtlsCard, `{}`, `{"authentication":{"schemes":["Bearer",""]}}`,
		`{"securitySchemes":{"k":{"type":"apiKey","in":"query","name":"k"}},"security":[{"k":[]},{}],"skills":[{"id":"x","security":[{"k":["a"]}]}]}`,
		`{"securitySchemes":{"":{"apiKeySecurityScheme":{"location":"header","name":":"}}},"securityRequirements":[{"schemes":{"":{"list":["\r\n"]}}},{"schemes":null}]}`,
		`{"securitySchemes":{"a":{"httpAuthSecurityScheme":{"scheme":""}},"a":{"mtlsSecurityScheme":{}}},"securityRequirements":[null]}`,
	} {
		f.Add(s)
	}
	none := auth.Func(func(context.Context, auth.Credential) (auth.Caller, error) { return auth.Caller{}, auth.ErrNone })
	f.Fuzz(func(t *testing.T, card string) {
		d, err := auth.ReadCard([]byte(card))
		if err != nil {
			return
		}
		vs := auth.Verifiers{}
		for _, s := range d.Schemes {
			vs[s.Name] = none
		}
		g, err := guard.New(d, vs, guard.Options{Realm: "Test"})
		if err != nil && strings.Contains(err.Error(), "belongs to both") {
			return
		}
		if err != nil {
			t.Fatalf("%v, although all schemes have verifiers", err)
		}
		open := len(d.Agent) == 0 || slices.ContainsFunc(d.Agent, func(r auth.Requirement) bool { return len(r) == 0 })
		grant, denial := g.Check(request())
		if (denial == nil) != open {
			t.Fatalf("who brings nothing: %v", denial)
		}
		if denial != nil {
			wantClean(t, denial)
			return
		}
		for id, rs := range d.Skills {
			denial := grant.Skill(id, "")
			if (denial == nil) != slices.ContainsFunc(rs, func(r auth.Requirement) bool { return len(r) == 0 }) {
				t.Errorf("skill %q: %v", id, denial)
			} else if denial != nil {
				wantClean(t, denial)
			}
		}
	})
}

// wantClean wants challenges that can stand in a header.
func wantClean(t *testing.T, denial *guard.Denial) {
	t.Helper()
	for _, c := range denial.Challenges {
		if strings.ContainsFunc(c, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("challenge %q", c)
		}
	}
}

// FuzzQueries: of a key in a URL nothing is left behind the guard, of what else can be read all is.
func FuzzQueries(f *testing.F) {
	for _, s := range []string{"k=secret", "a=1&k=secret&b=2", "%6b=secret", "k=a&k=b", "k", "a=%zz&k=secret", "k;a=secret", "+k=secret", "K=secret", "k%00=1", "a=b=k=c"} {
		f.Add(s)
	}
	const card = `{"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"query","name":"k"}}},"securityRequirements":[{"schemes":{"k":{}}},{}]}`
	good := auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) { return auth.Caller{ID: c.Value}, nil })
	d, err := auth.ReadCard([]byte(card))
	if err != nil {
		f.Fatal(err)
	}
	g, err := guard.New(d, auth.Verifiers{"k": good}, guard.Options{Realm: "Test"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := request()
		r.URL.RawQuery = query
		grant, denial := g.Check(r)
		if denial != nil {
			return
		}
		before, err := url.ParseQuery(query)
		after, failed := url.ParseQuery(grant.Request.URL.RawQuery)
		if err == nil && failed != nil || after.Has("k") {
			t.Fatalf("%q becomes %q", query, grant.Request.URL.RawQuery)
		}
		if delete(before, "k"); err == nil && before.Encode() != after.Encode() {
			t.Errorf("%q becomes %q", query, grant.Request.URL.RawQuery)
		}
		if r.URL.RawQuery != query {
			t.Error("the caller's request was changed")
		}
	})
}

// words are those of errors, in which there may be what somebody guessed.
var words = regexp.MustCompile(`pbkdf2-sha256|\$?(iterations|salt|hash)\$?|hexadecimal|[a-z]{1,12} |A2A_AUTH_.`)

// FuzzEnvironment: whatever stands in A2A_AUTH_…, what is no hash is refused without being repeated, and nobody comes in
// by it.
func FuzzEnvironment(f *testing.F) {
	for _, s := range []string{"ci=" + auth.HashKey("x"), "a=b,c=d", "=", ",", "ada=pbkdf2-sha256$100000$c2FsdHNhbHQ$" + strings.Repeat("A", 43), "ada=pbkdf2-sha256$-1$$", "supersecret", "c3VwZXIgc2VjcmV0IGtleQ==", "ci=" + auth.HashKey("x") + "?scope=a&tenant=b", "ci?tenant=%zz", "bob=x,c3VwZXIgc2VjcmV0IGtleQ=="} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		env := map[string]string{"A2A_AUTH_B": value, "A2A_AUTH_T": value}
		for card, v := range map[string]auth.Verifiers{bearerCard: {"t": auth.Keys()}, basicCard: {"b": auth.Passwords()}} {
			g, err := newGuard(card, v, env)
			if err != nil {
				if text := words.ReplaceAllString(err.Error(), ""); slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return r == '=' || r == ',' }), func(piece string) bool {
					return len(piece) > 12 && strings.Contains(text, piece) && !strings.Contains(text, "have the same key")
				}) {
					t.Errorf("%q: %s", value, text)
				}
				continue
			}
			if card == basicCard {
				continue // each guess takes long
			}
			for _, guess := range []string{value, "", "x=", strings.Trim(value, "=,")} {
				if got := whoIs(g, request("Authorization: Bearer "+guess)); got != "401" {
					t.Errorf("%s comes in with %q", got, guess)
				}
			}
		}
	})
}

// FuzzClientCert: nobody comes in by a certificate that no authority has signed, however the proxy's header looks.
func FuzzClientCert(f *testing.F) {
	t := testing.TB(f)
	ours, others := authtest.NewAuthority(t), authtest.NewAuthority(t)
	b64 := base64.StdEncoding.EncodeToString
	f.Add(":"+b64(others.Client(nil).Leaf.Raw)+":", ":"+b64(ours.Client(nil).Leaf.Raw)+":")
	f.Add("::", ":,:")
	f.Add(":AAAA:", "")
	g, err := newGuard(mtlsCard, auth.Verifiers{"m": auth.Certificates(auth.CertificateConfig{CAFile: ours.File(), Proxies: []string{"192.0.2.1"}})}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, own, chain string) {
		r := request()
		r.Header["Client-Cert"], r.Header["Client-Cert-Chain"] = []string{own}, []string{chain}
		if got := whoIs(g, r); got != "401" {
			t.Errorf("%s comes in", got)
		}
	})
}
