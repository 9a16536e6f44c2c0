package token_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/auth/token"
	"github.com/a2agen/a2agen/runtime/internal/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	idp   = "https://idp.example"
	agent = "https://agent.example/a"
	card  = `{"securitySchemes":{"idp":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://idp.example/.well-known/openid-configuration"}}},
		"securityRequirements":[{"schemes":{"idp":{"list":["ask"]}}}]}`
)

var b64 = base64.RawURLEncoding

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// jwk is a public key as issuers publish it, with further members.
func jwk(kid string, key crypto.PublicKey, more ...string) string {
	extra := strings.Join(append([]string{""}, more...), ",")
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		point, err := key.Bytes()
		if err != nil {
			panic(err)
		}
		return fmt.Sprintf(`{"kty":"EC","crv":"P-256","x":%q,"y":%q,"kid":%q%s}`, b64.EncodeToString(point[1:33]), b64.EncodeToString(point[33:]), kid, extra)
	case *rsa.PublicKey:
		return fmt.Sprintf(`{"kty":"RSA","n":%q,"e":%q,"kid":%q%s}`, b64.EncodeToString(key.N.Bytes()), b64.EncodeToString(big.NewInt(int64(key.E)).Bytes()), kid, extra)
	}
	panic(key)
}

// sign makes a JWT of a header and a payload as they are: with ES256 or RS256, by the key.
func sign(key crypto.Signer, header, payload string) string {
	text := b64.EncodeToString([]byte(header)) + "." + b64.EncodeToString([]byte(payload))
	sum := sha256.Sum256([]byte(text))
	if key, ok := key.(*ecdsa.PrivateKey); ok {
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			panic(err)
		}
		return text + "." + b64.EncodeToString(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
	}
	sig, err := key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		panic(err)
	}
	return text + "." + b64.EncodeToString(sig)
}

// mac makes a JWT by HS256.
func mac(secret []byte, header, payload string) string {
	text := b64.EncodeToString([]byte(header)) + "." + b64.EncodeToString([]byte(payload))
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(text))
	return text + "." + b64.EncodeToString(h.Sum(nil))
}

const good = `{"alg":"ES256","typ":"at+jwt","kid":"one"}`

// claims is the payload of a good token, with some members changed; nil takes one away.
func claims(change map[string]any) string {
	now := time.Now().Unix()
	c := map[string]any{"iss": idp, "aud": agent, "sub": "ann", "client_id": "app", "iat": now, "exp": now + 300, "jti": "x", "scope": "ask run"}
	maps.Copy(c, change)
	for name, v := range change {
		if v == nil {
			delete(c, name)
		}
	}
	out, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// issuer is one that answers as a test likes.
type issuer struct {
	mu      sync.Mutex
	name    string
	set     []string
	answer  func(*http.Request) (*http.Response, error) // in place of all that is below; nil, nil: as usual
	asked   func(form url.Values) string                // introspection
	fetches map[string]int
	forms   []string
}

func newIssuer(set ...string) *issuer {
	return &issuer{name: idp, set: set, fetches: map[string]int{}}
}

func (i *issuer) publish(set ...string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.set, i.answer = set, nil
}

func (i *issuer) fail(answer func(*http.Request) (*http.Response, error)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = answer
}

// count is how often a path was asked for.
func (i *issuer) count(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches[path]
}

func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(10 * time.Millisecond)
	i.mu.Lock()
	i.fetches[r.URL.Path]++
	answer := i.answer
	i.mu.Unlock()
	if answer != nil {
		if resp, err := answer(r); resp != nil || err != nil {
			return resp, err
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	switch r.URL.String() {
	case i.name + "/.well-known/openid-configuration":
		return respond(200, fmt.Sprintf(`{"issuer":%q,"jwks_uri":"https://keys.example/jwks","introspection_endpoint":"%s/ask"}`, i.name, i.name)), nil
	case "https://keys.example/jwks":
		return respond(200, `{"keys":[`+strings.Join(i.set, ",")+`]}`), nil
	case i.name + "/ask":
		body, _ := io.ReadAll(r.Body)
		form, _ := url.ParseQuery(string(body))
		user, password, _ := r.BasicAuth()
		i.forms = append(i.forms, user+":"+password)
		return respond(200, i.asked(form)), nil
	}
	return respond(404, ""), nil
}

func respond(status int, text string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(text))}
}

// client is an HTTP client whose every request an issuer answers.
func (i *issuer) client() *http.Client { return &http.Client{Transport: i} }

// guardOf makes a guard of the card with one verifier.
func guardOf(t testing.TB, card string, vs auth.Verifiers) *guard.Guard {
	t.Helper()
	g, err := newGuard(card, vs, nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func newGuard(card string, vs auth.Verifiers, env map[string]string) (*guard.Guard, error) {
	d, err := auth.ReadCard([]byte(card))
	if err != nil {
		return nil, err
	}
	return guard.New(d, vs, guard.Options{
		Realm: "Test", URL: agent, Getenv: func(name string) string { return env[name] }, Now: time.Now,
	})
}

// jwts is a guard that takes JWTs of an issuer.
func jwts(t testing.TB, i *issuer, change ...func(*token.Config)) *guard.Guard {
	t.Helper()
	c := token.Config{HTTP: i.client(), Skew: 30 * time.Second}
	for _, f := range change {
		f(&c)
	}
	return guardOf(t, card, auth.Verifiers{"idp": token.JWT(c)})
}

// with is a request with a token.
func with(value string) *http.Request {
	r, err := http.NewRequest(http.MethodPost, "http://localhost/rpc", nil)
	if err != nil {
		panic(err)
	}
	r.Header.Set("Authorization", "Bearer "+value)
	return r
}

// verdict is the caller's principal, or the status and why.
func verdict(g *guard.Guard, r *http.Request) string {
	t, denial := g.Check(r)
	if denial != nil {
		return fmt.Sprint(denial.Status, " ", denial)
	}
	return t.Caller.Principal()
}
