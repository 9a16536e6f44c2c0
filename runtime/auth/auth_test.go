package auth_test

import (
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime/auth"
	"github.com/a2agen/a2agen/runtime/internal/guard"
	"github.com/a2agen/a2agen/testkit/authtest"
)

// guardOf makes a guard of what a card says.
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
	return guard.New(d, vs, guard.Options{Realm: "Test", Getenv: func(name string) string { return env[name] }, Now: time.Now})
}

// request makes a request with header lines "Name: value".
func request(header ...string) *http.Request {
	r, err := http.NewRequest(http.MethodPost, "http://localhost/rpc", nil)
	if err != nil {
		panic(err)
	}
	r.RemoteAddr = "192.0.2.1:4711"
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// whoIs is the caller's principal, or the status with which it is refused.
func whoIs(g *guard.Guard, r *http.Request) string {
	t, denial := g.Check(r)
	if denial != nil {
		return fmt.Sprint(denial.Status)
	}
	return t.Caller.Principal()
}

const (
	bearerCard = `{"securitySchemes":{"t":{"httpAuthSecurityScheme":{"scheme":"bearer"}}},"securityRequirements":[{"schemes":{"t":{}}}]}`
	basicCard  = `{"securitySchemes":{"b":{"httpAuthSecurityScheme":{"scheme":"Basic"}}},"securityRequirements":[{"schemes":{"b":{}}}]}`
	mtlsCard   = `{"securitySchemes":{"m":{"mtlsSecurityScheme":{}}},"securityRequirements":[{"schemes":{"m":{}}}]}`
)

// TestCardsOfAllVersionsSayTheSame: what is demanded does not depend on how a version writes it.
func TestCardsOfAllVersionsSayTheSame(t *testing.T) {
	const want = `[{api 4 query k <nil>} {basic 2 basic <nil>} {cert 3 <nil>} {id 0 https://i/.well-known/openid-configuration <nil>} {o 1 https://o <nil>}] ` +
		`[[{id [a b]} {cert []}] [{api []}] []] map[x:[[{o [c]}]]]`
	for version, card := range map[string]string{
		"1.0": `{"securitySchemes":{"api":{"apiKeySecurityScheme":{"location":"query","name":"k"}},"basic":{"httpAuthSecurityScheme":{"scheme":"Basic"}},
			"cert":{"mtlsSecurityScheme":{}},"id":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://i/.well-known/openid-configuration"}},
			"o":{"oauth2SecurityScheme":{"flows":{},"oauth2MetadataUrl":"https://o"}}},
			"securityRequirements":[{"schemes":{"cert":{"list":[]},"id":{"list":["a","b"]}}},{"schemes":{"api":{}}},{}],
			"skills":[{"id":"x","securityRequirements":[{"schemes":{"o":{"list":["c"]}}}]},{"id":"y"}]}`,
		"0.3": `{"securitySchemes":{"api":{"type":"apiKey","in":"query","name":"k"},"basic":{"type":"http","scheme":"basic"},
			"cert":{"type":"mutualTLS"},"id":{"type":"openIdConnect","openIdConnectUrl":"https://i/.well-known/openid-configuration"},
			"o":{"type":"oauth2","flows":{},"oauth2MetadataUrl":"https://o"}},
			"security":[{"cert":[],"id":["a","b"]},{"api":[]},{}],"skills":[{"id":"x","security":[{"o":["c"]}]},{"id":"y"}]}`,
	} {
		d, err := auth.ReadCard([]byte(card))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(d.Demanded()); got != "[api cert id o]" {
			t.Errorf("%s: demanded are %s", version, got)
		}
		got := strings.ReplaceAll(fmt.Sprint(d.Schemes, " ", d.Agent, " ", d.Skills), "  ]", " ]")
		if strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%s\ngot  %s\nwant %s", version, got, want)
		}
	}
	d, err := auth.ReadCard([]byte(`{"authentication":{"schemes":["Bearer"]}}`)) // 0.1
	if err != nil || fmt.Sprint(d.Agent) != "[[{Bearer []}]]" || fmt.Sprint(d.Demanded()) != "[Bearer]" {
		t.Errorf("0.1: %v %v", d, err)
	}
}

// TestAuthorizationHeaders: what is a bearer token and what is not (RFC 6750 §2, RFC 9110 §11).
func TestAuthorizationHeaders(t *testing.T) {
	known := auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) {
		if c.Value == "abc-._~+/==" {
			return auth.Caller{ID: "ann"}, nil
		}
		return auth.Caller{}, fmt.Errorf("%w: %q", auth.ErrWrong, "not this one")
	})
	g := guardOf(t, bearerCard, auth.Verifiers{"t": known})
	const good = "Authorization: Bearer abc-._~+/=="
	for name, c := range map[string]struct {
		header []string
		want   string
	}{
		"good":                {[]string{good}, "t|ann"},
		"lower case, padded":  {[]string{"Authorization: bearer   abc-._~+/==  "}, "t|ann"},
		"twice":               {[]string{good, good}, "invalid_request"},
		"with Basic":          {[]string{good, "Authorization: Basic YTpi"}, "invalid_request"},
		"another scheme":      {[]string{"Authorization: Basic YTpi"}, ""},
		"none":                {nil, ""},
		"nothing behind":      {[]string{"Authorization: Bearer"}, "invalid_request"},
		"no space":            {[]string{"Authorization: Bearerabc-._~+/=="}, ""},
		"a tab":               {[]string{"Authorization: Bearer\tabc-._~+/=="}, ""},
		"two tokens":          {[]string{"Authorization: Bearer abc-._~+/==, Bearer x"}, "invalid_request"},
		"padding within":      {[]string{"Authorization: Bearer a=b"}, "invalid_request"},
		"quotes":              {[]string{`Authorization: Bearer "abc"`}, "invalid_request"},
		"not ASCII":           {[]string{"Authorization: Bearer äbc"}, "invalid_request"},
		"wrong":               {[]string{"Authorization: Bearer abd"}, "invalid_token"},
		"64 kB":               {[]string{"Authorization: Bearer " + strings.Repeat("x", 64<<10)}, "invalid_request"},
		"gRPC's binary twin":  {[]string{"Authorization-Bin: Bearer abc-._~+/=="}, ""},
		"as the proxy's twin": {[]string{"Proxy-Authorization: Bearer abc-._~+/=="}, ""},
	} {
		r := request(c.header...)
		grant, denial := g.Check(r)
		if denial == nil {
			if got := grant.Caller.Principal(); got != c.want {
				t.Errorf("%s: %s", name, got)
			}
			continue
		}
		want := `Bearer realm="Test"`
		if c.want != "" {
			want += `, error="` + c.want + `"`
		}
		if len(denial.Challenges) != 1 || denial.Challenges[0] != want || denial.Status != 401 {
			t.Errorf("%s: %d %q", name, denial.Status, denial.Challenges)
		}
		if strings.Contains(denial.Error(), "abc") || strings.Contains(denial.Error(), "xxx") {
			t.Errorf("%s: the log says %v", name, denial)
		}
	}
}

// TestSeveralSchemesTogether: all of one requirement, any of several, and who calls then.
func TestSeveralSchemesTogether(t *testing.T) {
	const card = `{"securitySchemes":{"t":{"httpAuthSecurityScheme":{"scheme":"bearer"}},"k":{"apiKeySecurityScheme":{"location":"header","name":"K"}},
		"l":{"apiKeySecurityScheme":{"location":"header","name":"L"}}},
		"securityRequirements":[{"schemes":{"k":{"list":[]},"t":{"list":["x"]}}},{"schemes":{"k":{"list":[]},"l":{"list":["y"]}}}]}`
	echo := auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) {
		switch c.Value {
		case "":
			return auth.Caller{}, auth.ErrNone
		case "bad":
			return auth.Caller{}, auth.ErrWrong
		case "down":
			return auth.Caller{}, &auth.Unavailable{Err: errors.New("no answer")}
		}
		id, scopes, _ := strings.Cut(c.Value, ".")
		return auth.Caller{ID: id, Scopes: strings.Split(scopes, ".")}, nil
	})
	g := guardOf(t, card, auth.Verifiers{"t": echo, "k": echo, "l": echo})
	for header, want := range map[string]string{
		"K: ken|Authorization: Bearer tom.x":          "t|tom",
		"K: ken|L: lea.y":                             "k|ken",
		"K: ken|L: lea.y|Authorization: Bearer bad":   "k|ken",
		"K: ken|L: lea.y|Authorization: Bearer tom.x": "t|tom",
		"K: ken":                                   "401",
		"Authorization: Bearer tom.x":              "401",
		"K: bad|Authorization: Bearer tom.x":       "401",
		"K: ken|Authorization: Bearer tom.yx":      "403",
		"K: ken|Authorization: Bearer tom":         "403",
		"K: ken|Authorization: Bearer down":        "503",
		"K: bad|Authorization: Bearer down":        "401",
		"K: ken|L: down|Authorization: Bearer bad": "503",
	} {
		if got := whoIs(g, request(strings.Split(header, "|")...)); got != want {
			t.Errorf("%s: %s, want %s", header, got, want)
		}
	}
}

// TestAGoodCredentialBesideAWrongOne lets its caller in, in whatever order the card has them, also into an agent that
// demands nothing (docs/decisions/19); a wrong one adds nothing, and is refused where it is needed.
func TestAGoodCredentialBesideAWrongOne(t *testing.T) {
	const schemes = `"securitySchemes":{"t":{"httpAuthSecurityScheme":{"scheme":"bearer"}},"k":{"apiKeySecurityScheme":{"location":"header","name":"K"}}}`
	const key, token = `{"schemes":{"k":{}}}`, `{"schemes":{"t":{}}}`
	looked := map[string]int{}
	of := func(name string) auth.Verifier {
		return auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) {
			looked[name]++
			if c.Value != "good" {
				return auth.Caller{}, auth.ErrWrong
			}
			return auth.Caller{ID: "ann"}, nil
		})
	}
	for card, want := range map[string]map[string]string{
		`{` + schemes + `,"securityRequirements":[` + key + `,` + token + `]}`: {
			"K: bad|Authorization: Bearer good": "t|ann", "K: good|Authorization: Bearer bad": "k|ann", "K: bad|Authorization: Bearer bad": "401"},
		`{` + schemes + `,"securityRequirements":[` + token + `,` + key + `]}`: {
			"K: bad|Authorization: Bearer good": "t|ann", "K: good|Authorization: Bearer bad": "k|ann", "K: bad|Authorization: Bearer bad": "401"},
		`{` + schemes + `}`: {
			"K: bad|Authorization: Bearer good": "t|ann", "K: good|Authorization: Bearer bad": "k|ann", "K: bad": "401", "Authorization: Bearer bad": "401"},
		`{` + schemes + `,"securityRequirements":[{"schemes":{"k":{},"t":{}}}]}`: {
			"K: bad|Authorization: Bearer good": "401", "K: good|Authorization: Bearer bad": "401"},
	} {
		g := guardOf(t, card, auth.Verifiers{"t": of("t"), "k": of("k")})
		for header, want := range want {
			if got := whoIs(g, request(strings.Split(header, "|")...)); got != want {
				t.Errorf("%s\n%s: %s, want %s", card, header, got, want)
			}
		}
	}
	g := guardOf(t, `{`+schemes+`,"securityRequirements":[`+token+`,`+key+`],"skills":[{"id":"vault","securityRequirements":[`+key+`]}]}`,
		auth.Verifiers{"t": of("t"), "k": of("k")})
	clear(looked)
	grant, denial := g.Check(request("K: bad", "Authorization: Bearer good"))
	if denial != nil || looked["k"] != 0 {
		t.Fatalf("%v, the key was looked at %d times", denial, looked["k"])
	}
	if denial := grant.Skill("vault", ""); denial == nil || denial.Status != http.StatusUnauthorized {
		t.Errorf("the skill that demands the key: %v", denial)
	}
}

// TestBasic (RFC 7617): a colon in a password, bad base64, bad UTF-8; who is not known costs as much as who is.
func TestBasic(t *testing.T) {
	hash, err := auth.HashPassword("se:cr:ët")
	if err != nil || strings.Contains(hash, "se:cr") {
		t.Fatal(hash, err)
	}
	hashed := auth.CountHashes(t)
	g, err := newGuard(basicCard, auth.Verifiers{"b": auth.Passwords(auth.Password{User: "ada", Hash: hash, Scopes: []string{"x"}})}, map[string]string{"A2A_AUTH_B": "bob=" + hash})
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.StdEncoding.EncodeToString
	for _, c := range []struct {
		name, value, want string
		hashes            int
	}{
		{"right", "Basic " + b64([]byte("ada:se:cr:ët")), "b|ada", 1},
		{"right again", "bAsIc  " + b64([]byte("ada:se:cr:ët")), "b|ada", 0},
		{"another user with the password", "Basic " + b64([]byte("bob:se:cr:ët")), "b|bob", 1},
		{"wrong", "Basic " + b64([]byte("ada:se:cr")), "401", 1},
		{"wrong again", "Basic " + b64([]byte("ada:se:cr")), "401", 1},
		{"unknown user", "Basic " + b64([]byte("eve:se:cr:ët")), "401", 1},
		{"no colon", "Basic " + b64([]byte("ada")), "401", 0},
		{"no user", "Basic " + b64([]byte(":se:cr:ët")), "401", 0},
		{"bad base64", "Basic " + b64([]byte("ada:se:cr:ët"))[1:], "401", 0},
		{"no padding", "Basic " + strings.TrimRight(b64([]byte("ada:se:cr:ët!")), "="), "401", 0},
		{"bad UTF-8", "Basic " + b64([]byte("ada:\xff")), "401", 0},
		{"control character", "Basic " + b64([]byte("ada:se:cr:ët\x00")), "401", 0},
		{"Bearer", "Bearer " + b64([]byte("ada:se:cr:ët")), "401", 0},
	} {
		before := hashed()
		if got := whoIs(g, request("Authorization: "+c.value)); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
		if n := hashed() - before; n != c.hashes {
			t.Errorf("%s: %d passwords were hashed, want %d", c.name, n, c.hashes)
		}
	}
	_, denial := g.Check(request())
	if denial == nil || denial.Challenges[0] != `Basic realm="Test", charset="UTF-8"` {
		t.Errorf("got %v", denial)
	}
	for _, bad := range []string{"", "secret", "pbkdf2-sha256$1$c2FsdHNhbHQ$" + strings.Repeat("A", 43), "pbkdf2-sha256$600000$c2FsdHNhbHQ$AAAA"} {
		if _, err := newGuard(basicCard, auth.Verifiers{"b": auth.Passwords(auth.Password{User: "ada", Hash: bad})}, nil); err == nil {
			t.Errorf("hash %q is taken", bad)
		}
	}
}

// TestAPasswordOfManyRequestsIsHashedOnce: those that wait for their turn find that it is known by then.
func TestAPasswordOfManyRequestsIsHashedOnce(t *testing.T) {
	sum, err := pbkdf2.Key(sha256.New, "secret", []byte("saltsalt"), 100_000, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawStdEncoding.EncodeToString
	hash := "pbkdf2-sha256$100000$" + b64([]byte("saltsalt")) + "$" + b64(sum)
	hashed := auth.CountHashes(t)
	g := guardOf(t, basicCard, auth.Verifiers{"b": auth.Passwords(auth.Password{User: "ada", Hash: hash, Scopes: []string{"x"}})})
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			if got := whoIs(g, request("Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("ada:secret")))); got != "b|ada" {
				t.Error(got)
			}
		})
	}
	all.Wait()
	if most := max(1, runtime.GOMAXPROCS(0)/2); hashed() > most {
		t.Errorf("the password was hashed %d times, %d at a time", hashed(), most)
	}
}

// TestAPIKeys: twice, empty, in the wrong place; found by hash alone.
func TestAPIKeys(t *testing.T) {
	card := func(in string) string {
		return `{"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"` + in + `","name":"key"}}},"securityRequirements":[{"schemes":{"k":{}}}]}`
	}
	at := func(in string) *guard.Guard {
		return guardOf(t, card(in), auth.Verifiers{"k": auth.Keys(auth.Key{Caller: "ci", SHA256: auth.HashKey("s3cret")})})
	}
	send := map[string]func(value string) *http.Request{
		"header": func(v string) *http.Request { return request("KEY: " + v) },
		"query":  func(v string) *http.Request { r := request(); r.URL.RawQuery = "a=b&key=" + v; return r },
		"cookie": func(v string) *http.Request {
			r := request("A2A-Version: 1.0", "Cookie: a=b")
			r.AddCookie(&http.Cookie{Name: "key", Value: v})
			return r
		},
	}
	for in, g := range map[string]*guard.Guard{"header": at("header"), "query": at("query"), "cookie": at("cookie")} {
		for from, r := range send {
			want := "401"
			if from == in {
				want = "k|ci"
			}
			if got := whoIs(g, r("s3cret")); got != want {
				t.Errorf("in %s, sent as %s: %s", in, from, got)
			}
			for _, wrong := range []string{"", "S3cret", "s3cret%00", auth.HashKey("s3cret"), strings.Repeat("x", 20<<10)} {
				if got := whoIs(g, r(wrong)); got != "401" {
					t.Errorf("in %s, %.20q: %s", in, wrong, got)
				}
			}
		}
	}
	if got := whoIs(at("header"), request("Key: s3cret", "Key: s3cret")); got != "401" {
		t.Errorf("twice: %s", got)
	}
	if _, err := newGuard(card("header"), auth.Verifiers{"k": auth.Keys()}, map[string]string{"A2A_AUTH_K": "s3cret"}); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("a key in the place of its hash: %v", err)
	}
}

// TestACookieOverTLSIsOfAPageOverTLS: one in clear text may be anybody's who sits on the way.
func TestACookieOverTLSIsOfAPageOverTLS(t *testing.T) {
	const card = `{"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"cookie","name":"sid"}}},"securityRequirements":[{"schemes":{"k":{}}}]}`
	g := guardOf(t, card, auth.Verifiers{"k": auth.Keys(auth.Key{Caller: "ci", SHA256: auth.HashKey("s3cret")})})
	for origin, want := range map[string][2]string{"http://localhost": {"k|ci", "401"}, "https://localhost": {"k|ci", "k|ci"}, "http://localhost:80": {"401", "401"}, "null": {"401", "401"}} {
		for i, state := range []*tls.ConnectionState{nil, {}} {
			if got := whoIs(g, withCertificates(request("Cookie: sid=s3cret", "Origin: "+origin), state)); got != want[i] {
				t.Errorf("%s, TLS %v: %s", origin, state != nil, got)
			}
		}
	}
}

// TestNothingBreaksOutOfAChallenge: quotes, line breaks and what is no ASCII (RFC 9110 §5.6.4).
func TestNothingBreaksOutOfAChallenge(t *testing.T) {
	const card = `{"securitySchemes":{"t":{"httpAuthSecurityScheme":{"scheme":"bearer"}},"k":{"apiKeySecurityScheme":{"location":"header","name":"K"}},
		"x":{"httpAuthSecurityScheme":{"scheme":"od\"d\r\nSet-Cookie: a"}}},
		"securityRequirements":[{"schemes":{"t":{"list":["a\"b","c\r\nSet-Cookie: x=y","ü\\"]}}},{"schemes":{"x":{}}}]}`
	none := auth.Func(func(context.Context, auth.Credential) (auth.Caller, error) { return auth.Caller{}, auth.ErrNone })
	d, err := auth.ReadCard([]byte(card))
	if err != nil {
		t.Fatal(err)
	}
	g, err := guard.New(d, auth.Verifiers{"t": none, "k": none, "x": none}, guard.Options{Realm: "An \"agent\"\r\nX: y 🤖", Metadata: "https://a/\"b"})
	if err != nil {
		t.Fatal(err)
	}
	_, denial := g.Check(request())
	want := []string{`Bearer realm="An \"agent\"X: y ", scope="a\"b cSet-Cookie: x=y \\", resource_metadata="https://a/\"b"`, `oddset-cookiea realm="An \"agent\"X: y "`}
	if fmt.Sprint(denial.Challenges) != fmt.Sprint(want) {
		t.Errorf("got %q", denial.Challenges)
	}
}

// TestPrincipalsAreOfOneCallerEach: nobody can take a name that is another's principal, and what is stored can be read back.
func TestPrincipalsAreOfOneCallerEach(t *testing.T) {
	seen := map[string]auth.Caller{}
	for _, from := range []string{"a", "a|b", "https://i", "https://i|b", "%7C", ""} {
		for _, id := range []string{"x", "b|x", "x|client", "%7C", "|", "%25"} {
			for _, machine := range []bool{false, true} {
				c := auth.Caller{ID: id, Machine: machine, Scheme: from}
				if strings.Contains(from, "://") {
					c.Issuer, c.Scheme = from, ""
				}
				p := c.Principal()
				if other, twice := seen[p]; twice {
					t.Errorf("%+v and %+v are both %s", other, c, p)
				}
				seen[p] = c
				if back := auth.CallerOf(p); fmt.Sprint(back) != fmt.Sprint(c) {
					t.Errorf("%s is read as %+v, was %+v", p, back, c)
				}
			}
		}
	}
	if p := (*auth.Caller)(nil).Principal(); p != "" {
		t.Errorf("nobody is %q", p)
	}
}

// withCertificates is a request over TLS.
func withCertificates(r *http.Request, state *tls.ConnectionState) *http.Request {
	r.TLS = state
	return r
}

// TestNoneOfSeveralCredentialsCountsForMore than the others: who has to show two may act for the tenants of both, until
// the first expires; that goes for what a skill demands, too.
func TestNoneOfSeveralCredentialsCountsForMore(t *testing.T) {
	const card = `{"securitySchemes":{"t":{"httpAuthSecurityScheme":{"scheme":"bearer"}},"k":{"apiKeySecurityScheme":{"location":"header","name":"K"}}},
		"securityRequirements":[%s],"skills":[{"id":"run","securityRequirements":[{"schemes":{"t":{"list":["run"]}}}]}]}`
	early, late := time.Now().Add(time.Minute), time.Now().Add(time.Hour)
	known := map[string]auth.Caller{
		"any": {ID: "ann", Scopes: []string{"run"}}, "ab": {ID: "ann", Scopes: []string{"run"}, Tenants: []string{"a", "b"}, Expires: late},
		"bc": {ID: "ann", Scopes: []string{"run"}, Tenants: []string{"b", "c"}, Expires: early},
	}
	verify := auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) { return known[c.Value], nil })
	both := guardOf(t, fmt.Sprintf(card, `{"schemes":{"t":{},"k":{}}}`), auth.Verifiers{"t": verify, "k": verify})
	for name, c := range map[string]struct {
		token, key, tenants string
		expires             time.Time
	}{
		"neither is bound": {"any", "any", "[]", time.Time{}}, "the token is": {"ab", "any", "[a b]", late}, "the key is": {"any", "bc", "[b c]", early},
		"both are": {"ab", "bc", "[b]", early},
	} {
		grant, denial := both.Check(request("Authorization: Bearer "+c.token, "K: "+c.key))
		if denial != nil {
			t.Fatalf("%s: %v", name, denial)
		}
		if got := grant.Caller; fmt.Sprint(got.Tenants) != c.tenants || got.MayActFor("z") != (c.tenants == "[]") || !got.Expires.Equal(c.expires) || !grant.Until.Equal(c.expires) {
			t.Errorf("%s: for %v until %v, %v", name, got.Tenants, got.Expires, grant.Until)
		}
	}
	if got := known["ab"].Tenants; fmt.Sprint(got) != "[a b]" {
		t.Errorf("what the verifier says has become %v", got)
	}
	key := guardOf(t, fmt.Sprintf(card, `{"schemes":{"k":{}}}`), auth.Verifiers{"t": verify, "k": verify})
	for tenant, want := range map[string]bool{"b": true, "a": false, "": false} {
		grant, denial := key.Check(request("Authorization: Bearer bc", "K: any"))
		if denial != nil || grant.Caller.Scheme != "k" || !grant.Until.IsZero() {
			t.Fatalf("by the key alone: %v", denial)
		}
		switch denial := grant.Skill("run", tenant); {
		case (denial == nil) != want:
			t.Errorf("for tenant %q: %v", tenant, denial)
		case want && !grant.Until.Equal(early):
			t.Errorf("for tenant %q: until %v", tenant, grant.Until)
		case !want && (denial.Status != 403 || !grant.Until.IsZero()):
			t.Errorf("for tenant %q: %d until %v", tenant, denial.Status, grant.Until)
		}
	}
}

// TestWhatDemandsNothing: an empty requirement, whatever stands beside it.
func TestWhatDemandsNothing(t *testing.T) {
	const key = `{"schemes":{"k":{}}}`
	for demand, want := range map[string]bool{
		`"securityRequirements":[]`: false, `"securityRequirements":[{}]`: false, `"securityRequirements":[{"schemes":{}}]`: false,
		`"securityRequirements":[` + key + `,{}]`: false, `"securityRequirements":[` + key + `]`: true,
		`"skills":[{"id":"a"},{"id":"b","securityRequirements":[` + key + `]}]`:                  true,
		`"skills":[{"id":"b","securityRequirements":[` + key + `,{}]}]`:                          false,
		`"securityRequirements":[{}],"skills":[{"id":"b","securityRequirements":[` + key + `]}]`: true,
	} {
		d, err := auth.ReadCard([]byte(`{"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"K"}}},` + demand + `}`))
		if err != nil || d.Any() != want {
			t.Errorf("%s: %v %v", demand, d.Any(), err)
		}
	}
}

// TestTheEnvironmentTellsSchemesApart: two schemes that share a variable keep the agent from starting.
func TestTheEnvironmentTellsSchemesApart(t *testing.T) {
	for names, want := range map[string]string{
		"my-key my_key": "A2A_AUTH_MY_KEY", "Key key": "A2A_AUTH_KEY", "é ü": "A2A_AUTH__", "idp idp.issuer": "A2A_AUTH_IDP_ISSUER",
		"idp-client-secret idp": "A2A_AUTH_IDP_CLIENT_SECRET", "idp idp2 issuer client_id": "",
	} {
		vs, schemes := auth.Verifiers{}, []string{}
		for name := range strings.FieldsSeq(names) {
			vs[name] = auth.Func(nil)
			schemes = append(schemes, fmt.Sprintf(`%q:{"mtlsSecurityScheme":{}}`, name))
		}
		_, err := newGuard(`{"securitySchemes":{`+strings.Join(schemes, ",")+`}}`, vs, nil)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want+" belongs to both security schemes ") {
			t.Errorf("%s: %v", names, err)
		}
	}
}

// TestTheEnvironmentSaysWhatHoldersMayDo: keys, users and certificates that the environment lists have scopes and tenants
// as those of a2agen.yaml.
func TestTheEnvironmentSaysWhatHoldersMayDo(t *testing.T) {
	ca := authtest.NewAuthority(t)
	const rounds = "pbkdf2-sha256$100000$c2FsdHNhbHQ$"
	schemes := `{"securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"x-key"}},
		"b":{"httpAuthSecurityScheme":{"scheme":"basic"}},"m":{"mtlsSecurityScheme":{}}}}`
	vs := func() auth.Verifiers {
		return auth.Verifiers{
			"k": auth.Keys(), "b": auth.Passwords(), "m": auth.Certificates(auth.CertificateConfig{CAFile: "of a2agen.yaml"}),
		}
	}
	const rights = "?scope=read&scope=a%2Cb&tenant=acme"
	sum, err := pbkdf2.Key(sha256.New, "open sesame", []byte("saltsalt"), 100_000, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"A2A_AUTH_K": "bob=" + auth.HashKey("other") + ", ci=" + auth.HashKey("open sesame") + rights,
		"A2A_AUTH_B": "ada=" + rounds + base64.RawStdEncoding.EncodeToString(sum) + rights,
		"A2A_AUTH_M": "dns:ci.example" + rights, "A2A_TLS_CLIENT_CA": ca.File(),
	}
	g, err := newGuard(schemes, vs(), env)
	if err != nil {
		t.Fatal(err)
	}
	state := &tls.ConnectionState{PeerCertificates: []*x509.Certificate{ca.Client(nil).Leaf}}
	for want, r := range map[string]*http.Request{
		"k|ci":             request("X-Key: open sesame"),
		"b|ada":            request("Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("ada:open sesame"))),
		"m|dns:ci.example": withCertificates(request(), state),
	} {
		grant, denial := g.Check(r)
		if denial != nil {
			t.Errorf("%s: %v", want, denial)
			continue
		}
		c := grant.Caller
		if c.Principal() != want || !slices.Equal(c.Scopes, []string{"read", "a,b"}) || !slices.Equal(c.Tenants, []string{"acme"}) {
			t.Errorf("%+v, want %s with its rights", c, want)
		}
	}
	for name, wrong := range map[string]string{
		"A2A_AUTH_K": "ci=s3cret?scopes=read", "A2A_AUTH_B": "ada?scope=s3cret", "A2A_AUTH_M": "dns:ci.example=s3cret",
	} {
		broken := maps.Clone(env)
		broken[name] = wrong
		if _, err := newGuard(schemes, vs(), broken); err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s=%s: %v", name, wrong, err)
		}
	}
}
