package signedcard_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/a2agen/a2agen/internal/test/growth"
	"github.com/a2agen/a2agen/runtime/signedcard"
	"github.com/a2agen/a2agen/runtime/wire"
)

// plain has the same bytes in all forms, guarded has an API key, which the clean form does not cover.
const (
	head    = `{"name":"A","description":"d","version":"1","supportedInterfaces":[{"url":"https://a.example/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],"capabilities":{"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[{"id":"s","name":"S","description":"s","tags":["t"]}]`
	plain   = head + `}`
	guarded = head + `,"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}},"securityRequirements":[{"schemes":{"key":{}}}]}`
)

func newKey(t testing.TB, alg string) *signedcard.Key {
	t.Helper()
	key, err := signedcard.NewKey(alg)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, key *signedcard.Key, card string) string {
	t.Helper()
	signed, err := key.Sign([]byte(card))
	if err != nil {
		t.Fatal(err)
	}
	return string(signed)
}

func public(t testing.TB, keys ...*signedcard.Key) (set []byte) {
	t.Helper()
	for _, key := range keys {
		var err error
		if set, err = key.Public(set); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

func verifier(t testing.TB, c signedcard.Config) *signedcard.Verifier {
	t.Helper()
	v, err := signedcard.NewVerifier(c)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestASignedCardVerifiesWithEveryAlgorithm, and equal cards have equal signatures but for PSS, which needs chance.
func TestASignedCardVerifiesWithEveryAlgorithm(t *testing.T) {
	for _, alg := range signedcard.Algorithms() {
		key := newKey(t, alg)
		first, second := sign(t, key, guarded), sign(t, key, guarded)
		if again := first == second; again == strings.HasPrefix(alg, "PS") {
			t.Errorf("%s: signed again equals: %v", alg, again)
		}
		got, err := verifier(t, signedcard.Config{Keys: public(t, key), Strict: true}).Verify(context.Background(), []byte(sign(t, key, guarded)))
		if err != nil {
			t.Errorf("%s: %v", alg, err)
			continue
		}
		if got.Form != "presence" || got.KeyID != key.ID() || got.Thumbprint != key.Thumbprint() || got.Algorithm != alg {
			t.Errorf("%s: %+v", alg, got)
		}
	}
}

// R126: the first signature is over the specification's form; the SDKs verify the second one.
func TestTwoSignaturesWhereTheFormsDiffer(t *testing.T) {
	key := newKey(t, "ES256")
	for card, want := range map[string]int{plain: 1, guarded: 2} {
		signed := []byte(sign(t, key, card))
		var got struct {
			Signatures []struct{ Protected, Signature string }
		}
		if err := json.Unmarshal(signed, &got); err != nil || len(got.Signatures) != want {
			t.Fatalf("%d signatures, want %d (%v): %s", len(got.Signatures), want, err, signed)
		}
		header, err := base64.RawURLEncoding.DecodeString(got.Signatures[0].Protected)
		if want := fmt.Sprintf(`{"alg":"ES256","kid":%q,"typ":"JOSE"}`, key.ID()); err != nil || string(header) != want {
			t.Errorf("header %s (%v), want %s", header, err, want)
		}
		again, err := key.Sign(signed) // replaces its own
		if err != nil || strings.Count(string(again), `"protected"`) != want {
			t.Errorf("signed again: %s (%v)", again, err)
		}
		other := newKey(t, "EdDSA")
		both := sign(t, other, string(signed))
		for _, k := range []*signedcard.Key{key, other} {
			if _, err := verifier(t, signedcard.Config{Keys: public(t, k)}).Verify(context.Background(), []byte(both)); err != nil {
				t.Errorf("signed by two keys: %v", err)
			}
		}
	}
	lone := strings.Replace(sign(t, key, guarded), `"signatures":[{`, `"signatures":[{"protected":"","signature":""},{`, 1)
	if got, err := verifier(t, signedcard.Config{Keys: public(t, key)}).Verify(context.Background(), []byte(lone)); err != nil || got.Form != "presence" {
		t.Errorf("%+v %v", got, err)
	}
}

// R141: the card that comes back has nothing of what a signature does not cover, and stays what it was
// when the received bytes change: what was verified is what is used.
func TestOnlyWhatIsSignedIsHandedOut(t *testing.T) {
	key := newKey(t, "ES256")
	v := verifier(t, signedcard.Config{Keys: public(t, key)})
	signed := []byte(strings.Replace(sign(t, key, guarded), `{"name"`, `{"url":"https://evil.example/","extra":{"a":1},"name"`, 1))
	got, err := v.Verify(context.Background(), signed)
	if err != nil {
		t.Fatal(err)
	}
	want, err := signedcard.Payload([]byte(guarded), signedcard.Presence)
	if err != nil {
		t.Fatal(err)
	}
	clear(signed)
	if !bytes.Equal(got.Card, want) {
		t.Errorf("got %s, want %s", got.Card, want)
	}
	anonymous := strings.Replace(sign(t, key, guarded), `"securityRequirements":[`, `"securityRequirements":[{},`, 1)
	got, err = v.Verify(context.Background(), []byte(anonymous))
	if err != nil || got.Form != "clean" || strings.Contains(string(got.Card), "{}") {
		t.Errorf("an anonymous alternative was added: %+v %s %v", got, got.Card, err)
	}
	if _, err := verifier(t, signedcard.Config{Keys: public(t, key), Strict: true}).Verify(context.Background(), []byte(anonymous)); !errors.Is(err, signedcard.ErrNotVerified) {
		t.Errorf("strict: %v", err)
	}
}

// TestHostileCardsAreRefused tries what readers differ on, and what would let the card choose how it is verified.
func TestHostileCardsAreRefused(t *testing.T) {
	key := newKey(t, "ES256")
	v := verifier(t, signedcard.Config{Keys: public(t, key)})
	good := sign(t, key, plain)
	protected := func(header string) string {
		return strings.Replace(good, strings.Split(strings.Split(good, `"protected":"`)[1], `"`)[0], base64.RawURLEncoding.EncodeToString([]byte(header)), 1)
	}
	header := func(more string) string {
		return protected(fmt.Sprintf(`{"alg":"ES256","kid":%q,"typ":"JOSE"%s}`, key.ID(), more))
	}
	for name, test := range map[string]struct {
		card string
		want error
		says string
	}{
		"no signatures":              {plain, signedcard.ErrUnsigned, "a2agen card sign"},
		"no list":                    {head + `,"signatures":{}}`, signedcard.ErrInvalid, "not a list"},
		"not an object":              {`[]`, signedcard.ErrInvalid, "an object"},
		"a member twice":             {`{"name":"B",` + good[1:], signedcard.ErrInvalid, "more than once"},
		"a member twice, deep":       {strings.Replace(good, `{"id":"s"`, `{"id":"t","id":"s"`, 1), signedcard.ErrInvalid, "more than once"},
		"two names of one member":    {`{"default_input_modes":[],` + good[1:], signedcard.ErrInvalid, "one member"},
		"a number without end":       {`{"x":1e400,` + good[1:], signedcard.ErrInvalid, "too large"},
		"a lone surrogate":           {`{"x":"\ud800",` + good[1:], signedcard.ErrInvalid, "escape"},
		"too deep":                   {`{"x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `,` + good[1:], signedcard.ErrInvalid, "deep"},
		"too large":                  {`{"x":"` + strings.Repeat("x", signedcard.MaxCard) + `",` + good[1:], signedcard.ErrInvalid, "bytes"},
		"a name that is a number":    {strings.Replace(good, `"name":"A"`, `"name":1`, 1), signedcard.ErrInvalid, "/name is not a string"},
		"a name changed":             {strings.Replace(good, `"name":"A"`, `"name":"B"`, 1), signedcard.ErrNotVerified, "did not make it"},
		"an address changed":         {strings.Replace(good, "a.example", "b.example", 1), signedcard.ErrNotVerified, "did not make it"},
		"padding":                    {strings.Replace(good, `","signature"`, `=","signature"`, 1), signedcard.ErrNotVerified, "base64url"},
		"a line break":               {strings.Replace(good, `","signature"`, `\n","signature"`, 1), signedcard.ErrNotVerified, "base64url"},
		"no protected header":        {strings.Replace(good, `"protected"`, `"other"`, 1), signedcard.ErrNotVerified, "base64url"},
		"an empty header":            {protected(``), signedcard.ErrNotVerified, "base64url"},
		"a header that is no object": {protected(`[]`), signedcard.ErrNotVerified, "an object"},
		"a header member twice":      {header(`,"alg":"none"`), signedcard.ErrNotVerified, "more than once"},
		"a huge header":              {header(`,"x":"` + strings.Repeat("x", 5000) + `"`), signedcard.ErrNotVerified, "header"},
		"crit":                       {header(`,"crit":["x"]`), signedcard.ErrNotVerified, `"crit"`},
		"b64":                        {header(`,"b64":false`), signedcard.ErrNotVerified, `"b64"`},
		"jwk":                        {header(`,"jwk":{}`), signedcard.ErrNotVerified, `"jwk"`},
		"x5c":                        {header(`,"x5c":[]`), signedcard.ErrNotVerified, `"x5c"`},
		"jwk beside":                 {strings.Replace(good, `{"protected"`, `{"header":{"jwk":{}},"protected"`, 1), signedcard.ErrNotVerified, `"jwk"`},
		"both headers":               {strings.Replace(good, `{"protected"`, `{"header":{"kid":"x"},"protected"`, 1), signedcard.ErrNotVerified, "both"},
		"no key":                     {protected(`{"alg":"ES256"}`), signedcard.ErrNotVerified, "names no key"},
		"an unknown key":             {protected(`{"alg":"ES256","kid":"x"}`), signedcard.ErrNotVerified, "not among those"},
		"a key that is a number":     {protected(`{"alg":"ES256","kid":7}`), signedcard.ErrNotVerified, "no text"},
		"none":                       {protected(fmt.Sprintf(`{"alg":"none","kid":%q}`, key.ID())), signedcard.ErrNotVerified, "not taken"},
		"a shared secret":            {protected(fmt.Sprintf(`{"alg":"HS256","kid":%q}`, key.ID())), signedcard.ErrNotVerified, "not taken"},
		"another algorithm":          {protected(fmt.Sprintf(`{"alg":"RS256","kid":%q}`, key.ID())), signedcard.ErrNotVerified, "is for ES256"},
		"a jku that is not listed":   {protected(`{"alg":"ES256","kid":"x","jku":"http://169.254.169.254/"}`), signedcard.ErrNotVerified, "nothing was fetched"},
	} {
		got, err := v.Verify(context.Background(), []byte(test.card))
		if got != nil || !errors.Is(err, test.want) || !strings.Contains(fmt.Sprint(err), test.says) {
			t.Errorf("%s: %v %v, want %v with %q", name, got, err, test.want, test.says)
		}
	}
}

// R142: one of the first eight has to verify; the ninth is good, and counts for nothing.
func TestAtMostEightSignaturesAreTried(t *testing.T) {
	key := newKey(t, "ES256")
	v := verifier(t, signedcard.Config{Keys: public(t, key)})
	good, bad := sign(t, key, plain), `{"protected":"e30","signature":""},`
	for n, want := range map[int]bool{7: true, 8: false, 5000: false} {
		card := strings.Replace(good, `"signatures":[`, `"signatures":[`+strings.Repeat(bad, n), 1)
		if _, err := v.Verify(context.Background(), []byte(card)); (err == nil) != want {
			t.Errorf("after %d bad ones: %v", n, err)
		} else if !want && (!strings.Contains(err.Error(), "more were not tried") || len(err.Error()) > 2000) {
			t.Error(err)
		}
	}
}

func TestKeysThatAreNone(t *testing.T) {
	key := newKey(t, "ES256")
	secret, err := key.Private()
	if err != nil {
		t.Fatal(err)
	}
	set := string(public(t, key))
	one := strings.TrimSpace(set[strings.Index(set, "[")+1 : strings.LastIndex(set, "]")])
	for name, test := range map[string]struct{ set, says string }{
		"nothing":         {``, "needs keys"},
		"no JSON":         {`x`, "no JSON Web Key Set"},
		"no keys":         {`{"keys":[]}`, "no key that verifies"},
		"something else":  {`{"a":1}`, "neither"},
		"a member twice":  {`{"keys":[],"keys":[]}`, "more than once"},
		"two of one id":   {`{"keys":[` + one + `,` + one + `]}`, "two keys"},
		"a private key":   {string(secret), "is secret"},
		"a shared secret": {`{"kty":"oct","k":"c2VjcmV0LXNlY3JldA"}`, "is secret"},
		"of another kind": {strings.Replace(one, "ES256", "RS256", 1), `not for the algorithm`},
		"a short RSA key": {`{"kty":"RSA","kid":"x","n":"xEUwzA5wasOfKwfkbNoehZuYnrtSX6PeinUiStE","e":"AQAB"}`, "2048"},
		"too many":        {`{"keys":[` + strings.Repeat(`{},`, 64) + `{}]}`, "more than 64"},
	} {
		_, err := signedcard.NewVerifier(signedcard.Config{Keys: []byte(test.set)})
		if !errors.Is(err, signedcard.ErrNoKeys) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %q", name, err, test.says)
		}
		if err != nil && strings.Contains(err.Error(), "c2VjcmV0") {
			t.Errorf("%s: the error tells the secret", name)
		}
	}
}

// publisher serves key sets, and counts requests.
type publisher struct {
	*httptest.Server
	asked atomic.Int64
	set   atomic.Pointer[[]byte] // nil: 500
}

func newPublisher(t *testing.T, set []byte) *publisher {
	p := &publisher{}
	p.set.Store(&set)
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.asked.Add(1)
		set := p.set.Load()
		switch {
		case r.URL.Path == "/away":
			http.Redirect(w, r, "/jwks.json", http.StatusFound)
		case set == nil:
			w.WriteHeader(http.StatusInternalServerError)
		default:
			_, _ = w.Write(*set)
		}
	}))
	t.Cleanup(p.Close)
	return p
}

func TestKeysAreFetchedOnceFromListedURLsAlone(t *testing.T) {
	key := newKey(t, "ES256")
	p := newPublisher(t, public(t, key))
	v := verifier(t, signedcard.Config{URLs: []string{p.URL + "/jwks.json"}})
	card := []byte(sign(t, key, plain))
	for range 3 {
		if _, err := v.Verify(context.Background(), card); err != nil {
			t.Fatal(err)
		}
	}
	if n := p.asked.Load(); n != 1 {
		t.Errorf("the keys were fetched %d times", n)
	}
	stranger := newKey(t, "ES256")
	if _, err := v.Verify(context.Background(), []byte(sign(t, stranger, plain))); !errors.Is(err, signedcard.ErrNotVerified) {
		t.Error(err)
	}
	other := newPublisher(t, public(t, stranger))
	jku := func(url string) []byte {
		b64 := base64.RawURLEncoding.EncodeToString([]byte(fmt.Sprintf(`{"alg":"ES256","kid":%q,"jku":%q}`, stranger.ID(), url)))
		return []byte(plain[:len(plain)-1] + `,"signatures":[{"protected":"` + b64 + `","signature":""}]}`)
	}
	if _, err := v.Verify(context.Background(), jku(other.URL+"/jwks.json")); !errors.Is(err, signedcard.ErrNotVerified) || other.asked.Load() != 0 {
		t.Errorf("a card had keys fetched from its own address: %v", err)
	}
	if _, err := v.Verify(context.Background(), jku(p.URL+"/jwks.json")); !errors.Is(err, signedcard.ErrNotVerified) {
		t.Error(err)
	}
}

// TestKeysThatCannotBeHadAreAnErrorOfTheirOwn: of a card nothing is known then.
func TestKeysThatCannotBeHadAreAnErrorOfTheirOwn(t *testing.T) {
	key := newKey(t, "ES256")
	card := []byte(sign(t, key, plain))
	huge := append(public(t, key), bytes.Repeat([]byte(" "), 300<<10)...)
	secret, err := key.Private()
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*publisher{"gone": newPublisher(t, nil), "huge": newPublisher(t, huge), "private": newPublisher(t, secret)} {
		if name == "gone" {
			p.set.Store(nil)
		}
		for range 2 {
			_, err := verifier(t, signedcard.Config{URLs: []string{p.URL + "/jwks.json"}}).Verify(context.Background(), card)
			if !errors.Is(err, signedcard.ErrNoKeys) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	p := newPublisher(t, public(t, key))
	if _, err := verifier(t, signedcard.Config{URLs: []string{p.URL + "/away"}}).Verify(context.Background(), card); !errors.Is(err, signedcard.ErrNoKeys) || p.asked.Load() != 1 {
		t.Errorf("a redirect was followed: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := verifier(t, signedcard.Config{URLs: []string{p.URL + "/jwks.json"}}).Verify(ctx, card); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for _, url := range []string{"http://keys.example/", "file:///etc/passwd", "https://user:secret@keys.example/", "https:///x"} { // R143
		if _, err := signedcard.NewVerifier(signedcard.Config{URLs: []string{url}}); !errors.Is(err, signedcard.ErrNoKeys) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// TestCardsThatAreNotSigned: of an address that a server fills in, or of an older version, and with requirements that have another
// form than the specification's.
func TestCardsThatAreNotSigned(t *testing.T) {
	key := newKey(t, "ES256")
	for name, test := range map[string]struct{ card, says string }{
		"a path":             {strings.Replace(plain, "https://a.example/", "/", 1), "write the public one in full"},
		"no address":         {strings.Replace(plain, "https://a.example/", "", 1), "write the public one in full"},
		"no host":            {strings.Replace(plain, "https://a.example/", "https:///x", 1), "write the public one in full"},
		"an older version":   {`{"name":"A","url":"https://a.example/","protocolVersion":"0.3.0"}`, "older versions"},
		"plain scopes":       {strings.Replace(guarded, `{"key":{}}}]`, `{"key":[]}}]`, 1), "/securityRequirements/0/schemes/key is not an object"},
		"a broken signature": {head + `,"signatures":[7]}`, "take it out first"},
	} {
		if _, err := key.Sign([]byte(test.card)); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// openssl is an Ed25519 key as OpenSSL writes it. It is of no use but in these tests.
const openssl = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIIYF/jL1jaCNXPWFkexxfDxS0vDOM4XRoJbRc7dqG7rx\n-----END PRIVATE KEY-----\n"

func TestPrivateKeysAreReadAndNotTold(t *testing.T) {
	key := newKey(t, "ES256")
	private, err := key.Private()
	if err != nil {
		t.Fatal(err)
	}
	again, err := signedcard.ReadKey(private)
	if err != nil || again.ID() != key.ID() || again.Thumbprint() != key.Thumbprint() {
		t.Fatal(again, err)
	}
	if key, err := signedcard.ReadKey([]byte(openssl)); err != nil || key.Algorithm() != "EdDSA" || key.ID() != key.Thumbprint() {
		t.Errorf("PEM: %v", err)
	}
	for name, src := range map[string]string{
		"public": string(public(t, key)), "text": "top secret", "PEM": "-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0\n-----END RSA PRIVATE KEY-----\n",
		"shared": `{"kty":"oct","k":"c2VjcmV0LXNlY3JldA"}`, "nothing": ``, "huge": strings.Repeat(" ", 300<<10),
	} {
		if _, err := signedcard.ReadKey([]byte(src)); err == nil || strings.Contains(err.Error(), "top secret") || strings.Contains(err.Error(), "c2VjcmV0") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestVerifyingTakesLinearTime(t *testing.T) {
	key := newKey(t, "ES256")
	v := verifier(t, signedcard.Config{Keys: public(t, key)})
	for name, filler := range map[string]func(n int) string{
		"members": func(n int) string {
			return members(n, func(i int) string { return fmt.Sprintf(`"m%07d":1`, (i*7919)%n) })
		},
		"lists": func(n int) string { return `"x":[` + members(n, func(int) string { return "[[]]" }) + `]` },
		"text":  func(n int) string { return `"x":"` + strings.Repeat(`\u00e9`, n) + `"` },
		"signatures": func(n int) string {
			return `"signatures":[` + strings.TrimSuffix(strings.Repeat(`{"protected":"e30","signature":""},`, n/30), ",") + `]`
		},
	} {
		t.Run(name, func(t *testing.T) {
			growth.Linear(t, 5000, func(n int) func() {
				card := []byte(plain[:len(plain)-1] + "," + filler(n) + "}")
				return func() { _, _ = v.Verify(context.Background(), card) }
			})
		})
	}
}

func members(n int, one func(i int) string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = one(i)
	}
	return strings.Join(list, ",")
}

// FuzzVerify: what verifies is what was signed, and the card that comes of it is one that reads as itself.
func FuzzVerify(f *testing.F) {
	key, err := signedcard.ReadKey([]byte(openssl)) // whose signatures, and so the seeds, are the same each time
	if err != nil {
		f.Fatal(err)
	}
	v := verifier(f, signedcard.Config{Keys: public(f, key)})
	payloads := map[string]bool{}
	for _, card := range []string{plain, guarded} {
		f.Add([]byte(sign(f, key, card)))
		for _, form := range []signedcard.Form{signedcard.Presence, signedcard.Clean} {
			signed, err := signedcard.Payload([]byte(card), form)
			if err != nil {
				f.Fatal(err)
			}
			whole, err := signedcard.Payload(signed, signedcard.Presence)
			if err != nil {
				f.Fatal(err)
			}
			payloads[string(whole)] = true
		}
	}
	f.Add([]byte(`{"signatures":[{"protected":"e30","signature":"","header":{"a":[1e9,"\ud83d\ude00"]}}]}`))
	f.Fuzz(func(t *testing.T, card []byte) {
		for _, form := range []signedcard.Form{signedcard.Presence, signedcard.Clean, signedcard.Raw} {
			once, err := signedcard.Payload(card, form)
			if err != nil {
				continue
			}
			if again, err := signedcard.Payload(once, form); err != nil || !bytes.Equal(once, again) {
				t.Fatalf("%s form of itself: %s, then %s (%v)", form, once, again, err)
			}
			if _, err := wire.ParseObject(once); err != nil {
				t.Fatalf("%s form: %v: %s", form, err, once)
			}
		}
		if got, err := v.Verify(context.Background(), card); err == nil && !payloads[string(got.Card)] {
			t.Fatalf("a card that nobody signed was verified: %s", got.Card)
		}
	})
}
