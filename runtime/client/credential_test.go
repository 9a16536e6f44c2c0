package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
)

// Schemes of cards in tests, by their names.
const (
	keyScheme    = `"key":{"apiKeySecurityScheme":{"location":"header","name":"X-API-Key"}}`
	queryScheme  = `"query":{"apiKeySecurityScheme":{"location":"query","name":"api key"}}`
	cookieScheme = `"cookie":{"apiKeySecurityScheme":{"location":"cookie","name":"session"}}`
	basicScheme  = `"basic":{"httpAuthSecurityScheme":{"scheme":"Basic"}}`
	bearerScheme = `"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer","bearerFormat":"JWT"}}`
	hobaScheme   = `"hoba":{"httpAuthSecurityScheme":{"scheme":"HOBA"}}`
	oauthScheme  = `"corp":{"oauth2SecurityScheme":{"description":"Our own.","flows":{"clientCredentials":{"tokenUrl":"https://id.example.com/token","scopes":{"run":"Run.","ask":"Ask."}}}}}`
	oidcScheme   = `"oidc":{"openIdConnectSecurityScheme":{"openIdConnectUrl":"https://id.example.com/.well-known/openid-configuration"}}`
	mtlsScheme   = `"mtls":{"mtlsSecurityScheme":{}}`
	allSchemes   = keyScheme + "," + queryScheme + "," + cookieScheme + "," + basicScheme + "," + bearerScheme + "," + hobaScheme + "," + oauthScheme + "," + oidcScheme + "," + mtlsScheme
)

// needs writes requirements as 1.0 has them: "key,corp:ask:run|bearer" is (key and corp with two scopes) or bearer.
func needs(text string) string {
	var all []string
	for _, alternative := range strings.Split(text, "|") {
		var schemes []string
		for _, need := range strings.FieldsFunc(alternative, func(r rune) bool { return r == ',' }) {
			scopes := strings.Split(need, ":")
			list := ""
			if len(scopes) > 1 {
				list = `"list":["` + strings.Join(scopes[1:], `","`) + `"]`
			}
			schemes = append(schemes, `"`+scopes[0]+`":{`+list+`}`)
		}
		all = append(all, `{"schemes":{`+strings.Join(schemes, ",")+`}}`)
	}
	return `"securityRequirements":[` + strings.Join(all, ",") + `]`
}

// securedCard is a card with schemes, and with what the agent and its skill "forecast" demand; "-" for nothing.
func securedCard(url, schemes, agent, skill string) string {
	text := cardJSON(url, "", streams+declared)
	if agent != "-" {
		text = strings.Replace(text, `"skills":[`, needs(agent)+`,"skills":[`, 1)
	}
	if skill != "-" {
		text = strings.Replace(text, `"id":"forecast",`, `"id":"forecast",`+needs(skill)+`,`, 1)
	}
	return strings.Replace(text, `"skills":[`, `"securitySchemes":{`+schemes+`},"skills":[`, 1)
}

// askForecast calls the skill of that name.
func askForecast(t *testing.T, c *rpc.Client, opts ...rpc.CallOption) error {
	t.Helper()
	skill := rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "forecast", In: rpc.PlainInput, Out: rpc.PlainOutput}
	_, err := skill.Call(t.Context(), c, rpc.Say("hi"), opts...)
	return err
}

const answered = `{"message":{"messageId":"m1","role":"ROLE_AGENT","parts":[{"text":"fine"}]}}`

// tokens is a source whose tokens count: its texts are what it was asked.
type tokens struct {
	asked []rpc.TokenNeed
	err   error
}

func (s *tokens) Token(_ context.Context, need rpc.TokenNeed) (string, error) {
	s.asked = append(s.asked, need)
	return fmt.Sprintf("token-%d", len(s.asked)), s.err
}

// shown is what a request has of credentials.
func shown(q request) string {
	var all []string
	for _, name := range []string{"Authorization", "X-Api-Key", "Cookie"} {
		for _, v := range q.Header[name] {
			all = append(all, name+": "+v)
		}
	}
	if q.Query != "" {
		all = append(all, "?"+q.Query)
	}
	return strings.Join(all, "; ")
}

// everything are credentials for all schemes but the certificate's.
func everything() []rpc.Option {
	return []rpc.Option{
		rpc.WithAPIKey("key", "k-123"), rpc.WithAPIKey("query", "q 123&x"), rpc.WithAPIKey("cookie", "c-123"), rpc.WithBasic("basic", "ann", "s3cret:word"),
		rpc.WithToken("bearer", rpc.StaticToken("b-123")), rpc.WithAuthorization("hoba", "h-123"), rpc.WithToken("corp", rpc.StaticToken("o-123")), rpc.WithToken("oidc", rpc.StaticToken("i-123")),
	}
}

// TestEveryKindOfCredentialIsSentWhereTheCardSays, over every binding that has the place.
func TestEveryKindOfCredentialIsSentWhereTheCardSays(t *testing.T) {
	for demand, want := range map[string]string{
		"key": "X-Api-Key: k-123", "query": "?api+key=q+123%26x", "cookie": "Cookie: session=c-123", "basic": "Authorization: Basic YW5uOnMzY3JldDp3b3Jk",
		"bearer": "Authorization: Bearer b-123", "hoba": "Authorization: hoba h-123", "corp:ask": "Authorization: Bearer o-123", "oidc": "Authorization: Bearer i-123",
		"key,corp": "Authorization: Bearer o-123; X-Api-Key: k-123", "key,cookie,query": "X-Api-Key: k-123; Cookie: session=c-123; ?api+key=q+123%26x",
	} {
		for _, binding := range []string{runtime.BindingJSONRPC, runtime.BindingHTTP, runtime.BindingGRPC} {
			t.Run(demand+" over "+binding, func(t *testing.T) {
				f := newFake(t, binding, map[string][]reply{"SendMessage": {result(answered)}})
				c := f.dialCard(securedCard(f.url, allSchemes, demand, "-"), everything()...)
				err := askForecast(t, c)
				if binding == runtime.BindingGRPC && (strings.Contains(demand, "query") || strings.Contains(demand, "cookie")) {
					var none *rpc.CredentialError
					if !errors.As(err, &none) || !strings.Contains(err.Error(), "GRPC has no place for an API key in a") || f.methods() != "" {
						t.Errorf("got %v, sent %q", err, f.methods())
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if got := shown(f.call(0)); got != want {
					t.Errorf("sent %q, want %q", got, want)
				}
			})
		}
	}
}

// TestCardsOfEarlierVersionsDemandTheSame: requirements of 0.2 and 0.3 stand in "security", and schemes have a type.
func TestCardsOfEarlierVersionsDemandTheSame(t *testing.T) {
	for version, scopes := range map[string][]string{"0.3.0": {"run", "ask"}, "0.2.6": {"run"}} { // skills of 0.2 demand nothing

		f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"message/send": {result(`{"kind":"message","messageId":"m1","role":"agent","parts":[{"kind":"text","text":"fine"}]}`)}})
		card := `{"name":"weather","description":"d","version":"1","protocolVersion":"` + version + `","url":"` + f.url + `","preferredTransport":"JSONRPC","capabilities":{},
			"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
			"securitySchemes":{"key":{"type":"apiKey","in":"header","name":"X-API-Key"},"corp":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"https://id.example.com/token","scopes":{}}}}},
			"security":[{"corp":["run"],"key":[]}],
			"skills":[{"id":"forecast","name":"Forecast","description":"d","tags":["weather"],"security":[{"corp":["ask"]}]}]}`
		source := &tokens{}
		c := f.dialCard(card, rpc.WithAPIKey("key", "k-123"), rpc.WithToken("corp", source))
		if err := askForecast(t, c); err != nil {
			t.Fatal(version, err)
		}
		if got := shown(f.call(0)); got != "Authorization: Bearer token-1; X-Api-Key: k-123" || !slices.Equal(source.asked[0].Scopes, scopes) {
			t.Errorf("%s: sent %q for %v", version, got, source.asked)
		}
	}
}

// TestTheFirstAlternativeThatCanBeMetIsTaken: alternatives of the agent, with those of the skill on top.
func TestTheFirstAlternativeThatCanBeMetIsTaken(t *testing.T) {
	key, bearer, corp := rpc.WithAPIKey("key", "k-123"), rpc.WithToken("bearer", rpc.StaticToken("b-123")), rpc.WithToken("corp", rpc.StaticToken("o-123"))
	basic := rpc.WithBasic("basic", "ann", "s3cret:word")
	for name, tt := range map[string]struct {
		agent, skill string
		given        []rpc.Option
		sent, lacks  string // lacks is "scheme skill"
	}{
		"the first":                                {"bearer|key", "-", []rpc.Option{key, bearer}, "Authorization: Bearer b-123", ""},
		"the one that was given":                   {"bearer|key", "-", []rpc.Option{key}, "X-Api-Key: k-123", ""},
		"all of one":                               {"bearer,key|basic", "-", []rpc.Option{bearer, basic}, "Authorization: Basic YW5uOnMzY3JldDp3b3Jk", ""},
		"none, for nothing was given":              {"|key", "-", nil, "", ""},
		"what was given, before none":              {"|key", "-", []rpc.Option{key}, "X-Api-Key: k-123", ""},
		"the agent's and the skill's":              {"key", "bearer", []rpc.Option{key, bearer}, "Authorization: Bearer b-123; X-Api-Key: k-123", ""},
		"two that share no place":                  {"bearer|key", "corp", []rpc.Option{key, bearer, corp}, "Authorization: Bearer o-123; X-Api-Key: k-123", ""},
		"the skill's alone":                        {"-", "corp:ask", []rpc.Option{corp}, "Authorization: Bearer o-123", ""},
		"the agent's lacks":                        {"key", "-", nil, "", "key "},
		"the skill's lacks":                        {"key", "corp:ask", []rpc.Option{key}, "", "corp forecast"},
		"the one that lacks least":                 {"bearer,basic|key,corp", "-", []rpc.Option{corp}, "", "key "},
		"two in one place":                         {"bearer", "basic", []rpc.Option{basic, bearer}, "", "basic forecast"},
		"a scheme that the card does not have":     {"none", "-", []rpc.Option{basic}, "", "none "},
		"a key for a scheme that takes a password": {"basic", "-", []rpc.Option{rpc.WithAPIKey("basic", "k-123")}, "", "basic "},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {result(answered)}})
			c := f.dialCard(securedCard(f.url, allSchemes, tt.agent, tt.skill), tt.given...)
			err := askForecast(t, c)
			if tt.lacks == "" {
				if err != nil || shown(f.call(0)) != tt.sent {
					t.Errorf("sent %q, want %q: %v", shown(f.call(0)), tt.sent, err)
				}
				return
			}
			var none *rpc.CredentialError
			if !errors.As(err, &none) || none.Scheme.Name+" "+none.Skill != tt.lacks || f.methods() != "" {
				t.Errorf("got %v, sent %q", err, f.methods())
			}
		})
	}
}

// TestAMissingCredentialSaysWhatToDo: which scheme, where to get it, and how to give it.
func TestAMissingCredentialSaysWhatToDo(t *testing.T) {
	for demand, want := range map[string]string{
		"corp:ask": `skill "forecast": SendMessage: the agent demands a token of OAuth 2 (security scheme "corp") with the scopes ask, and none was given; the card says that https://id.example.com/token gives it out; ` +
			`give it by rpc.WithToken("corp", source); or set A2A_CLIENT_WEATHER__CORP or A2A_CLIENT_WEATHER__CORP_FILE or A2A_CLIENT_WEATHER__CORP_ISSUER or A2A_CLIENT_WEATHER__CORP_TOKEN_URL`,
		"key": `skill "forecast": SendMessage: the agent demands an API key in the header X-API-Key (security scheme "key"), and none was given; give it by rpc.WithAPIKey("key", key); ` +
			`or set A2A_CLIENT_WEATHER__KEY or A2A_CLIENT_WEATHER__KEY_FILE`,
	} {
		f := newFake(t, runtime.BindingJSONRPC, nil)
		err := askForecast(t, f.dialCard(securedCard(f.url, allSchemes, demand, "-"), rpc.FromEnvironment("weather", nil)))
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// TestWhatAHeaderHasIsNotAddedTwice: a credential that the user puts into a header counts, and stands.
func TestWhatAHeaderHasIsNotAddedTwice(t *testing.T) {
	f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {result(answered)}})
	card := securedCard(f.url, allSchemes, "bearer,key,cookie", "-")
	for name, c := range map[string]*rpc.Client{
		"of the client": f.dialCard(card, rpc.DefaultHeader("Authorization", "Bearer mine"), rpc.DefaultHeader("x-api-key", "mine"), rpc.DefaultHeader("Cookie", "a=b; session=mine")),
		"of the call":   f.dialCard(card, everything()...),
	} {
		opts := []rpc.CallOption{rpc.Header("Authorization", "Bearer mine"), rpc.Header("X-API-Key", "mine"), rpc.Header("Cookie", "a=b; session=mine")}
		if name == "of the client" {
			opts = nil
		}
		if err := askForecast(t, c, opts...); err != nil {
			t.Fatal(name, err)
		}
		if got := shown(f.call(len(f.got) - 1)); got != "Authorization: Bearer mine; X-Api-Key: mine; Cookie: a=b; session=mine" {
			t.Errorf("%s: sent %q", name, got)
		}
	}
}

// TestATransportOfOnesOwnMayAuthenticate: nobody here sees what it adds. So may SendAnyway, for a card that demands more than its agent checks.
func TestATransportOfOnesOwnMayAuthenticate(t *testing.T) {
	f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {result(answered)}})
	for name, o := range map[string]rpc.Option{
		"a transport": rpc.HTTPClient(&http.Client{Transport: roundTrip(http.DefaultTransport.RoundTrip)}), "anyway": rpc.SendAnyway(),
	} {
		if err := askForecast(t, f.dialCard(securedCard(f.url, allSchemes, "bearer", "-"), o)); err != nil {
			t.Error(name, err)
		}
	}
	if err := askForecast(t, f.dialCard(securedCard(f.url, allSchemes, "bearer", "-"), rpc.HTTPClient(&http.Client{}))); err == nil {
		t.Error("a transport that adds nothing counts as one that does")
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestKeysGoNowhereElse: a card that has its key where it would change what else the request says gets none.
func TestKeysGoNowhereElse(t *testing.T) {
	for _, name := range []string{
		"Host", "Content-Length", "Authorization", "A2A-Version", "a2a-extensions", "X\\r\\nEvil: 1", "X Y", "Transfer-Encoding", "Cookie", "X-Forwarded-For", "Connection", "", "Grpc-Timeout", "é",
	} {
		for _, in := range []string{"header", "cookie"} {
			f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {result(answered)}})
			scheme := `"key":{"apiKeySecurityScheme":{"location":"` + in + `","name":"` + name + `"}}`
			card, err := rpc.ParseCard(a2a.Protocol(), []byte(securedCard(f.url, scheme, "key", "-")))
			if err != nil {
				t.Fatal(err)
			}
			c, err := rpc.FromCard(a2a.Protocol(), card, rpc.WithAPIKey("key", "k-123"))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			err = askForecast(t, c)
			if in == "cookie" && !strings.ContainsAny(name, " é\\") && name != "" {
				continue // a cookie may have that name
			}
			var none *rpc.CredentialError
			if !errors.As(err, &none) || f.methods() != "" || strings.ContainsAny(err.Error(), "\r\n") || strings.Contains(err.Error(), "k-123") {
				t.Errorf("%s %q: %v", in, name, err)
			}
		}
	}
}

// TestAKeyThatIsNoMetadataIsNotSentOverGRPC: gRPC has fewer characters in names than HTTP, and decodes values of names that end in -bin.
func TestAKeyThatIsNoMetadataIsNotSentOverGRPC(t *testing.T) {
	for _, name := range []string{"X!Key", "X-Key-Bin"} {
		f := newFake(t, runtime.BindingGRPC, nil)
		scheme := `"key":{"apiKeySecurityScheme":{"location":"header","name":"` + name + `"}}`
		err := askForecast(t, f.dialCard(securedCard(f.url, scheme, "key", "-"), rpc.WithAPIKey("key", "k-123")))
		var none *rpc.CredentialError
		if !errors.As(err, &none) || !strings.Contains(err.Error(), "gRPC ") || len(f.got) != 0 {
			t.Errorf("%s: %v after %s", name, err, f.methods())
		}
	}
}

// TestSecretsThatCannotBeSentAreRefused, and are in no error.
func TestSecretsThatCannotBeSentAreRefused(t *testing.T) {
	for demand, o := range map[string]rpc.Option{
		"key": rpc.WithAPIKey("key", "k-123\r\nEvil: 1"), "bearer": rpc.WithToken("bearer", rpc.StaticToken("k-123 x")), "cookie": rpc.WithAPIKey("cookie", "k-123;x"),
		"basic": rpc.WithBasic("basic", "ann:x", "k-123"), "hoba": rpc.WithAuthorization("hoba", "k-123\n"), "corp": rpc.WithToken("corp", rpc.StaticToken("")),
	} {
		f := newFake(t, runtime.BindingJSONRPC, nil)
		err := askForecast(t, f.dialCard(securedCard(f.url, allSchemes, demand, "-"), o))
		var none *rpc.CredentialError
		if !errors.As(err, &none) || f.methods() != "" || strings.Contains(err.Error(), "k-123") {
			t.Errorf("%s: %v", demand, err)
		}
	}
}

// TestATokenIsAskedForWithWhatItIsFor: scopes of the agent and of the skill, and for whom.
func TestATokenIsAskedForWithWhatItIsFor(t *testing.T) {
	f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {result(answered)}})
	source := &tokens{}
	if err := askForecast(t, f.dialCard(securedCard(f.url, allSchemes, "corp:run", "corp:ask:run"), rpc.WithToken("corp", source))); err != nil {
		t.Fatal(err)
	}
	got := source.asked[0]
	if got.Scheme != "corp" || !slices.Equal(got.Scopes, []string{"run", "ask"}) || got.Resource != f.url || got.Rejected != "" {
		t.Errorf("%+v", got)
	}
	if c := got.Card; c.Kind != rpc.SchemeOAuth2 || c.Description != "Our own." || len(c.Flows) != 1 || c.Flows[0].Name != "clientCredentials" || c.Flows[0].TokenURL != "https://id.example.com/token" || c.Flows[0].Scopes["ask"] != "Ask." {
		t.Errorf("%+v", c)
	}
}

// TestASourceWithoutATokenEndsTheCall: nothing is sent, and its error is the cause.
func TestASourceWithoutATokenEndsTheCall(t *testing.T) {
	f := newFake(t, runtime.BindingJSONRPC, nil)
	down := errors.New("the issuer does not answer")
	err := askForecast(t, f.dialCard(securedCard(f.url, allSchemes, "corp", "-"), rpc.WithToken("corp", &tokens{err: down})))
	var none *rpc.CredentialError
	if !errors.As(err, &none) || !errors.Is(err, down) || f.methods() != "" {
		t.Errorf("got %v", err)
	}
}

// unauthorized answers with 401 and a challenge.
func unauthorized(w http.ResponseWriter, r *http.Request, _ request) {
	w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", resource_metadata="http://169.254.169.254/latest"`)
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write([]byte("go away with " + r.Header.Get("Authorization") + r.Header.Get("X-Api-Key")))
}

const refusedJSON = `{"code":-31401,"message":"who are you"}`

// TestARejectedTokenIsReplacedOnce, whatever the binding says it with; the source learns which one it was.
func TestARejectedTokenIsReplacedOnce(t *testing.T) {
	for name, refusal := range map[string]reply{"401": unauthorized, "in an answer of 200": fault(refusedJSON)} {
		for _, binding := range []string{runtime.BindingJSONRPC, runtime.BindingHTTP, runtime.BindingGRPC} {
			if binding == runtime.BindingGRPC && name == "401" {
				continue // the gateway has no such status
			}
			t.Run(name+" over "+binding, func(t *testing.T) {
				f := newFake(t, binding, map[string][]reply{"SendMessage": {refusal, result(answered), refusal, refusal}})
				source := &tokens{}
				c := f.dialCard(securedCard(f.url, allSchemes, "corp", "-"), rpc.WithToken("corp", source))
				if err := askForecast(t, c); err != nil {
					t.Fatal(err)
				}
				if got := shown(f.call(1)); got != "Authorization: Bearer token-2" || source.asked[1].Rejected != "token-1" {
					t.Errorf("sent %q; asked %+v", got, source.asked)
				}
				err := askForecast(t, c)
				var rejected *rpc.RejectedError
				if !errors.As(err, &rejected) || !slices.Equal(rejected.Schemes, []string{"corp"}) || !errors.Is(err, runtime.ErrUnauthenticated) || len(f.got) != 4 {
					t.Errorf("got %v after %s", err, f.methods())
				}
				if strings.Contains(fmt.Sprintf("%v %+v", err, err), "token-4") {
					t.Errorf("the error has the token: %v", err)
				}
			})
		}
	}
}

// TestWhatCannotBeReplacedIsNotSentAgain: a key, a password, a token that does not change.
func TestWhatCannotBeReplacedIsNotSentAgain(t *testing.T) {
	for _, demand := range []string{"key", "basic", "bearer"} {
		f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {unauthorized}})
		err := askForecast(t, f.dialCard(securedCard(f.url, allSchemes, demand, "-"), everything()...))
		var rejected *rpc.RejectedError
		var status *rpc.HTTPError
		if !errors.As(err, &rejected) || !errors.As(err, &status) || len(f.got) != 1 || !strings.HasPrefix(rejected.Challenge, "Bearer error=") {
			t.Errorf("%s: %v after %s", demand, err, f.methods())
		}
		for _, secret := range []string{"k-123", "b-123", "s3cret:word", "YW5uOnMzY3JldDp3b3Jk"} {
			if status != nil && (strings.Contains(status.Body, secret) && len(secret) > 5 || len(secret) > 5 && strings.Contains(err.Error(), secret)) {
				t.Errorf("%s: the error has the secret: %v", demand, err)
			}
		}
	}
}

// TestASecretThatTheAgentRepeatsIsInNoError, also in an error that is none of credentials.
func TestASecretThatTheAgentRepeatsIsInNoError(t *testing.T) {
	f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {fault(`{"code":-32603,"message":"k-123456 is odd"}`)}})
	err := askForecast(t, f.dialCard(securedCard(f.url, keyScheme, "key", "-"), rpc.WithAPIKey("key", "k-123456")))
	if err == nil || !errors.Is(err, runtime.ErrInternal) || strings.Contains(err.Error(), "k-123456") {
		t.Errorf("got %v", err)
	}
}

// TestACredentialIsForTheKindOfSchemeThatItWasGivenFor: a card may call another kind by the same name.
func TestACredentialIsForTheKindOfSchemeThatItWasGivenFor(t *testing.T) {
	f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {result(answered)}})
	err := askForecast(t, f.dialCard(securedCard(f.url, basicScheme, "basic", "-"), rpc.WithAPIKey("basic", "ann:k-123456")))
	var missing *rpc.CredentialError
	if !errors.As(err, &missing) || !strings.Contains(err.Error(), "another kind of scheme") || len(f.got) != 0 {
		t.Errorf("got %v after %s", err, f.methods())
	}
}

// stubborn has one token, also after it was rejected.
type stubborn struct{}

func (stubborn) Token(context.Context, rpc.TokenNeed) (string, error) { return "token-1", nil }

func TestARejectedTokenIsNotSentAgainThoughItsSourceReturnsIt(t *testing.T) {
	f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {unauthorized}})
	err := askForecast(t, f.dialCard(securedCard(f.url, oauthScheme, "corp", "-"), rpc.WithToken("corp", stubborn{})))
	var rejected *rpc.RejectedError
	if !errors.As(err, &rejected) || len(f.got) != 1 {
		t.Errorf("got %v after %s", err, f.methods())
	}
}

// TestAStreamGetsANewToken: where it opens, where its token ends while it is open, and where it is taken up again.
func TestAStreamGetsANewToken(t *testing.T) {
	ended := `!data: {"jsonrpc":"2.0","id":$ID,"error":` + refusedJSON + "}\n\n"
	for name, tt := range map[string]struct {
		replies map[string][]reply
		sent    []string
	}{
		"at the opening": {map[string][]reply{"SendStreamingMessage": {unauthorized, events(taskWorking, completed)}}, []string{"token-1", "token-2"}},
		"in the middle":  {map[string][]reply{"SendStreamingMessage": {events(taskWorking, ended)}, "SubscribeToTask": {events(taskWorking, completed)}}, []string{"token-1", "token-2"}},
		"when it is taken up again": {map[string][]reply{
			"SendStreamingMessage": {stream(drop, taskWorking)}, "SubscribeToTask": {unauthorized, events(taskWorking, completed)},
		}, []string{"token-1", "token-2", "token-3"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t, runtime.BindingJSONRPC, tt.replies)
			source := &tokens{}
			c := f.dialCard(securedCard(f.url, allSchemes, "corp", "-"), rpc.WithToken("corp", source))
			for _, err := range c.Stream(t.Context(), rpc.Method{Role: runtime.RoleStream}, hello()) {
				if err != nil {
					t.Fatal(err)
				}
			}
			var sent []string
			for i := range f.got {
				sent = append(sent, strings.TrimPrefix(f.call(i).Header.Get("Authorization"), "Bearer "))
			}
			if !slices.Equal(sent, tt.sent) {
				t.Errorf("sent %v, want %v", sent, tt.sent)
			}
			for i, need := range source.asked {
				if i > 0 && need.Rejected != "" && need.Rejected != fmt.Sprintf("token-%d", i) {
					t.Errorf("%d: rejected is %q", i, need.Rejected)
				}
			}
		})
	}
}

// TestAnOpenedURLIsOneThatTheUserNamed: neither a challenge nor the card has anything fetched.
func TestAnOpenedURLIsOneThatTheUserNamed(t *testing.T) {
	var others int
	evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { others++ }))
	defer evil.Close()
	f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {func(w http.ResponseWriter, _ *http.Request, _ request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+evil.URL+`/.well-known/oauth-protected-resource"`)
		w.WriteHeader(http.StatusUnauthorized)
	}}})
	card := strings.ReplaceAll(securedCard(f.url, allSchemes, "corp", "-"), "https://id.example.com", evil.URL)
	if err := askForecast(t, f.dialCard(card, rpc.WithToken("corp", &tokens{}))); !errors.Is(err, runtime.ErrUnauthenticated) {
		t.Errorf("got %v", err)
	}
	if others != 0 {
		t.Errorf("%d requests went to a URL that nobody named", others)
	}
}

// TestCredentialsStayWithTheHostThatTheUserNamed, in what is encrypted or on this machine, and follow no redirect.
func TestCredentialsStayWithTheHostThatTheUserNamed(t *testing.T) {
	var got []string
	evil := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Header.Get("X-Api-Key")) }))
	defer evil.Close()
	away := strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)
	var card string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/call":
			http.Redirect(w, r, evil.URL, http.StatusTemporaryRedirect)
		case "/moved/.well-known/agent-card.json":
			http.Redirect(w, r, evil.URL, http.StatusTemporaryRedirect)
		default:
			_, _ = w.Write([]byte(card))
		}
	}))
	defer srv.Close()
	key := rpc.WithAPIKey("key", "k-123")
	for name, tt := range map[string]struct{ url, iface, want string }{
		"another host":                  {srv.URL, away, "and what is sent is for 127.0.0.1 alone"},
		"a redirect of a call":          {srv.URL, srv.URL + "/call", "a redirect is not followed with credentials"},
		"a redirect of the card":        {srv.URL + "/moved", srv.URL, "a redirect is not followed with credentials"},
		"in clear text":                 {"http://agent.example.com", "https://agent.example.com", "comes in clear text, and credentials were given"},
		"clear text, by the card":       {"", "http://agent.example.com", "in clear text, and credentials go there: use https"},
		"clear text over gRPC":          {"", "grpc://agent.example.com:80", "in clear text, and credentials go there: use https"},
		"a name that looks like itself": {"http://127.0.0.1.evil.example", "", "comes in clear text"},
	} {
		t.Run(name, func(t *testing.T) {
			card = securedCard(tt.iface, keyScheme, "key", "-")
			if strings.HasPrefix(tt.iface, "grpc:") {
				card = strings.Replace(card, `"JSONRPC"`, `"GRPC"`, 1)
			}
			opts := []rpc.Option{key, rpc.Use(grpcclient.Binding())}
			var c *rpc.Client
			var err error
			if tt.url == "" {
				c, err = rpc.FromCard(a2a.Protocol(), decodeCard(t, card), opts...)
			} else {
				c, err = rpc.New(t.Context(), a2a.Protocol(), tt.url, opts...)
			}
			if err == nil {
				defer c.Close()
				err = askForecast(t, c)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "k-123") {
				t.Errorf("got %v", err)
			}
		})
	}
	if len(got) > 0 {
		t.Errorf("elsewhere came %q", got)
	}
	card = securedCard(away, keyScheme, "key", "-")
	c, err := rpc.New(t.Context(), a2a.Protocol(), srv.URL, key, rpc.Endpoint(away)) // which the user names
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _ = askForecast(t, c); !slices.Equal(got, []string{"k-123"}) {
		t.Errorf("at the endpoint came %q", got)
	}
	_, err = rpc.FromCard(a2a.Protocol(), decodeCard(t, card), key, rpc.Endpoint("http://weather.internal:8080"))
	if err == nil || !strings.Contains(err.Error(), "calls go to http://weather.internal:8080 in clear text") {
		t.Errorf("an endpoint in clear text: %v", err)
	}
}

// TestAKeyInAQueryIsInNoError: net/http has the URL in its errors.
func TestAKeyInAQueryIsInNoError(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	url := srv.URL
	srv.Close()
	c, err := rpc.FromCard(a2a.Protocol(), decodeCard(t, securedCard(url, allSchemes, "query", "-")), everything()...)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := askForecast(t, c); err == nil || strings.Contains(err.Error(), "123") || strings.Contains(err.Error(), "api") {
		t.Errorf("got %v", err)
	}
}

// TestThePlaceOfACredentialFollowsNoWish: an agent that answers 401 and wants less gets no less.
func TestThePlaceOfACredentialFollowsNoWish(t *testing.T) {
	f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {func(w http.ResponseWriter, _ *http.Request, _ request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="give me your password"`)
		w.WriteHeader(http.StatusUnauthorized)
	}}})
	source := &tokens{}
	err := askForecast(t, f.dialCard(securedCard(f.url, allSchemes, "corp|basic", "-"), rpc.WithToken("corp", source), rpc.WithBasic("basic", "ann", "secret")))
	if !errors.Is(err, runtime.ErrUnauthenticated) || len(f.got) != 2 {
		t.Fatalf("got %v after %s", err, f.methods())
	}
	for i := range f.got {
		if got := f.call(i).Header.Get("Authorization"); !strings.HasPrefix(got, "Bearer token-") {
			t.Errorf("sent %q", got)
		}
	}
}

// TestRequirementsAsOtherServersWriteThem: a2a-go 2.4.0 writes the scopes without the object around them, and null for none; the
// sample card of A2A 1.0 (§8.5) has them as in 0.3.
func TestRequirementsAsOtherServersWriteThem(t *testing.T) {
	for _, written := range []string{`"securityRequirements":[{"schemes":{"corp":["ask"],"key":null}}]`, `"security":[{"corp":["ask"],"key":[]}]`} {
		f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {result(answered)}})
		card, err := rpc.ParseCard(a2a.Protocol(), []byte(strings.Replace(securedCard(f.url, allSchemes, "key", "-"), needs("key"), written, 1)))
		if err != nil {
			t.Fatal(err)
		}
		source := &tokens{}
		c, err := rpc.FromCard(a2a.Protocol(), card, rpc.WithToken("corp", source), rpc.WithAPIKey("key", "k-123"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := askForecast(t, c); err != nil || shown(f.call(0)) != "Authorization: Bearer token-1; X-Api-Key: k-123" || !slices.Equal(source.asked[0].Scopes, []string{"ask"}) {
			t.Errorf("%s: sent %q, %v", written, shown(f.call(0)), err)
		}
	}
}
