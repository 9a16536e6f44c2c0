package record_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/testkit/record"
)

// secrets are all that is given to the client of [TestNoSecretIsWritten].
var secrets = []string{
	"key-of-header", "key of query&1", "key-of-cookie", "pa55:word", "bearer-of-corp", "value-of-hoba", "own-header-token", "own-header-9fA83kd03kdl2",
	"call-header-secret", "push-token", "push-credentials", "hook-password", "hook-parameter", "skill-api-key", "plain-secret", "default-password", "cookie-of-agent",
}

const schemes = `"securitySchemes":{
	"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Weather"}},
	"query":{"apiKeySecurityScheme":{"location":"query","name":"w"}},
	"cookie":{"apiKeySecurityScheme":{"location":"cookie","name":"c"}},
	"basic":{"httpAuthSecurityScheme":{"scheme":"Basic"}},
	"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}},
	"hoba":{"httpAuthSecurityScheme":{"scheme":"HOBA"}}},
	"securityRequirements":[{"schemes":{"key":{"list":[]},"query":{"list":[]},"cookie":{"list":[]},"SCHEME":{"list":[]}}}],`

// parrot is an agent that says all it hears, in every way: in its answers, errors and headers.
func parrot(scheme string) handler {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			answer(w, "", card(strings.ReplaceAll(schemes, "SCHEME", scheme)))
			return
		}
		body, _ := io.ReadAll(r.Body)
		heard := r.URL.String() + " " + r.URL.Query().Get("w") + " " + string(body)
		for _, values := range r.Header {
			heard += " " + strings.Join(values, " ")
		}
		if _, password, ok := r.BasicAuth(); ok {
			heard += " " + password
		}
		quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ").Replace(heard)
		w.Header().Set("Set-Cookie", "session=cookie-of-agent")
		w.Header().Set("WWW-Authenticate", `Bearer realm="`+strings.ReplaceAll(heard, "\n", " ")+`"`)
		if strings.Contains(heard, "be wrong") {
			http.Error(w, heard+" cookie-of-agent", http.StatusUnauthorized)
			return
		}
		answer(w, "1", `{"jsonrpc":"2.0","id":1,"result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"`+quoted+` cookie-of-agent"},{"data":{"`+quoted+`":["`+quoted+`"]}}]}}}`)
	}
}

// TestNoSecretIsWritten: neither where the client sent it, nor where the agent repeats it, nor in the error of a
// request that does not match.
func TestNoSecretIsWritten(t *testing.T) {
	for _, scheme := range []string{"basic", "bearer", "hoba"} {
		t.Run(scheme, func(t *testing.T) {
			opts := []record.Option{record.Secret("plain-secret"), record.Mask("pin")}
			given := []rpc.Option{
				rpc.WithAPIKey("key", "key-of-header"), rpc.WithAPIKey("query", "key of query&1"), rpc.WithAPIKey("cookie", "key-of-cookie"),
				rpc.WithBasic("basic", "ann", "pa55:word"), rpc.WithToken("bearer", rpc.StaticToken("bearer-of-corp")), rpc.WithAuthorization("hoba", "value-of-hoba"),
				rpc.DefaultHeader("X-Own-Token", "own-header-token"), rpc.DefaultHeader("X-Own", "own-header-9fA83kd03kdl2"),
			}
			talk := func(words string) func(http.RoundTripper) {
				return func(over http.RoundTripper) {
					c := dial(t, agentURL, over, given...)
					pin, err := a2a.Data(map[string]any{"apiKey": "skill-api-key", "pin": "12"})
					if err != nil {
						t.Fatal(err)
					}
					message := a2a.NewMessage(a2a.RoleUser, a2a.Text(words+" plain-secret http://ann:default-password@db.test/x"), pin)
					_, _ = c.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: message, Configuration: &a2a.SendMessageConfiguration{
						TaskPushNotificationConfig: &a2a.TaskPushNotificationConfig{
							URL: "https://me:hook-password@hook.test/in?sig=hook-parameter", Token: "push-token",
							Authentication: &a2a.AuthenticationInfo{Scheme: "Bearer", Credentials: "push-credentials"},
						},
					}}, rpc.Header("X-Secret", "call-header-secret"))
				}
			}
			file := save(t, parrot(scheme), func(over http.RoundTripper) {
				talk("hello")(over)
				talk("be wrong")(over)
			}, opts...)
			p := open(t, file, opts...)
			talk("something else")(p)
			if len(p.Mismatches()) != 1 {
				t.Fatalf("%d mismatches", len(p.Mismatches()))
			}
			written := text(t, file)
			if n := strings.Count(written, "hello"); n < 4 || !strings.Contains(written, "be wrong") {
				t.Fatalf("the conversation is not in the file (%d):\n%s", n, written)
			}
			if !strings.Contains(written, "http://masked@db.test/x") {
				t.Errorf("a URL with a password is not there without it:\n%s", written)
			}
			expectNone(t, "the file", written)
			expectNone(t, "the error", p.Mismatches()[0].Details())
			open(t, file, opts...)
		})
	}
}

func expectNone(t *testing.T, where, text string) {
	t.Helper()
	for _, s := range secrets {
		for _, form := range []string{s, url.QueryEscape(s), url.PathEscape(s), base64.StdEncoding.EncodeToString([]byte(s)), base64.StdEncoding.EncodeToString([]byte("ann:" + s))} {
			if i := strings.Index(text, form); i >= 0 {
				t.Errorf("%s has %q: …%s…", where, form, text[max(0, i-80):min(len(text), i+80)])
			}
		}
	}
}

// TestRequestsForTokensPassAndAreNotWritten, nor is what one must know to make them.
func TestRequestsForTokensPassAndAreNotWritten(t *testing.T) {
	issuer := handler(func(w http.ResponseWriter, _ *http.Request) { answer(w, "", `{"access_token":"issued"}`) })
	file := save(t, issuer, func(over http.RoundTripper) {
		req, _ := http.NewRequest(http.MethodPost, agentURL+"/token", strings.NewReader("grant_type=client_credentials&client_secret=s3cret"))
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		resp, err := over.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := io.ReadAll(resp.Body); !strings.Contains(string(b), "issued") {
			t.Errorf("the token does not come: %s", b)
		}
		for _, path := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration", "/jwks.json"} {
			if _, err := over.RoundTrip(must(http.NewRequest(http.MethodGet, agentURL+path, nil))); err != nil {
				t.Error(err)
			}
		}
		if _, err := post(t, over, "/", `{}`); err != nil {
			t.Error(err)
		}
	})
	if written := text(t, file); strings.Contains(written, "s3cret") || strings.Contains(written, "issued") || strings.Count(written, "\n") != 3 {
		t.Errorf("written: %s", written)
	}
	if _, err := open(t, file).RoundTrip(must(http.NewRequest(http.MethodGet, agentURL+"/jwks.json", nil))); err == nil || !strings.Contains(err.Error(), "rpc.WithoutCredentials()") {
		t.Errorf("played: %v", err)
	}
}

func must(r *http.Request, err error) *http.Request {
	if err != nil {
		panic(err)
	}
	return r
}

// TestAPlainValueIsKeptWhenAsked: names that look secret, and parameters that nobody knows.
func TestAPlainValueIsKeptWhenAsked(t *testing.T) {
	agent := handler(func(w http.ResponseWriter, _ *http.Request) { answer(w, "", `{"token":"day one"}`) })
	talk := func(over http.RoundTripper) {
		body := strings.NewReader(`{"password":"on paper","team":"acme-corp"}`)
		req := must(http.NewRequest(http.MethodPost, agentURL+"/plans?filter=open&historyLength=2&key=abcdefgh", body))
		req.Header.Set("X-Tenant", "acme-corp")
		resp, err := over.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
	}
	masked := text(t, save(t, agent, talk))
	kept := text(t, save(t, agent, talk, record.Keep("token", "password", "filter", "key", "x-tenant")))
	for plain, hidden := range map[string]string{`"token":"day one"`: `"token":"[masked]"`, `"password":"on paper"`: `"password":"[masked]"`, `"acme-corp"`: `"team":"[masked]"`, "filter=open": "filter=%5Bmasked%5D", "key=abcdefgh": "key=%5Bmasked%5D"} {
		if !strings.Contains(kept, plain) || strings.Contains(masked, plain) || !strings.Contains(masked, hidden) {
			t.Errorf("%s: kept:\n%s\nmasked:\n%s", plain, kept, masked)
		}
	}
	if !strings.Contains(masked, "historyLength=2") {
		t.Errorf("a parameter of the protocol is masked: %s", masked)
	}
}
