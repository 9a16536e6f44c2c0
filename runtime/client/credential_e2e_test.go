package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/auth"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/grpcclient"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/testkit/authtest"
)

// startSecured runs our own server with a secured card and one skill, "forecast".
func startSecured(t *testing.T, card string, v auth.Verifier, run func(context.Context, *server.Task) (string, error), config *tls.Config) *httptest.Server {
	t.Helper()
	p := a2a.Protocol()
	skill := server.Skill{ID: "forecast", Name: "forecast", Run: func(ctx context.Context, task *server.Task, _ any) ([]byte, error) {
		text, err := run(ctx, task)
		return []byte(text), err
	}}
	var verifiers auth.Verifiers = map[string]auth.Verifier{"corp": v, "mtls": auth.Certificates(auth.CertificateConfig{})}
	if v == nil {
		delete(verifiers, "corp")
	} else {
		delete(verifiers, "mtls")
	}
	s, err := server.New(server.Config{Protocol: p, Card: decodeCard(t, card), Skills: []server.Skill{skill}},
		server.WithLogger(slog.New(slog.DiscardHandler)), grpcserver.Serve(), server.WithAuth(verifiers))
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewUnstartedServer(s)
	if config != nil {
		web.TLS, web.EnableHTTP2 = config, true
		web.StartTLS()
	} else {
		web.Start()
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		web.Close()
	})
	return web
}

// scoped is a source whose tokens have the scopes that are asked for.
type scoped struct{ asked [][]string }

func (s *scoped) Token(_ context.Context, need rpc.TokenNeed) (string, error) {
	s.asked = append(s.asked, need.Scopes)
	return "t." + strings.Join(need.Scopes, "."), nil
}

// byScopes takes those tokens.
var byScopes = auth.Func(func(_ context.Context, c auth.Credential) (auth.Caller, error) {
	scopes := strings.Split(c.Value, ".")
	if scopes[0] != "t" {
		return auth.Caller{}, auth.ErrWrong
	}
	return auth.Caller{ID: "ann", Scopes: scopes[1:]}, nil
})

func TestAnAgentThatAsksForEverMoreIsAnsweredFourTimes(t *testing.T) {
	calls, scopes := 0, []string{"s1", "s2", "s3", "s4", "s5", "s6", "s7"}
	web := startSecured(t, securedCard("http://localhost/rpc", oauthScheme, "corp:run", "-"), byScopes, func(ctx context.Context, task *server.Task) (string, error) {
		if calls++; calls > len(scopes) {
			return "fine", nil
		}
		return "", task.RequireAuth(server.AuthRequest{Prompt: "more", Scheme: "corp", Scopes: scopes[calls-1 : calls]})
	}, nil)
	c, err := rpc.New(t.Context(), a2a.Protocol(), web.URL, rpc.WithToken("corp", &scoped{}), rpc.AnswerAuth("corp", scopes...))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text, err := askText(t, c)
	if ask := (*rpc.InputRequiredError)(nil); !errors.As(err, &ask) || calls != 5 {
		t.Errorf("got %q, %v after %d calls", text, err, calls)
	}
}

// TestAnAuthorizationIsAnsweredWhereTheUserAllowsIt: once, with a token of the scopes that the agent asks for, if all of them are allowed and the
// scheme is one that the user has a credential for. The URL is not opened.
func TestAnAuthorizationIsAnsweredWhereTheUserAllowsIt(t *testing.T) {
	opened := 0
	page := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { opened++ }))
	defer page.Close()
	for name, tt := range map[string]struct {
		asks     []string // scopes of "calendar"
		never    bool     // the agent is not content with what it gets
		opts     []rpc.Option
		answered bool
	}{
		"allowed":             {[]string{"calendar"}, false, []rpc.Option{rpc.AnswerAuth("corp", "calendar", "mail")}, true},
		"not allowed":         {[]string{"calendar"}, false, nil, false},
		"another scope":       {[]string{"calendar", "admin"}, false, []rpc.Option{rpc.AnswerAuth("corp", "calendar")}, false},
		"another scheme":      {[]string{"calendar"}, false, []rpc.Option{rpc.AnswerAuth("key", "calendar")}, false},
		"asked for it again":  {[]string{"calendar"}, true, []rpc.Option{rpc.AnswerAuth("corp", "calendar")}, false},
		"asked for nothing":   {nil, true, []rpc.Option{rpc.AnswerAuth("corp")}, false},
		"a scheme of nowhere": {[]string{"calendar"}, false, []rpc.Option{rpc.AnswerAuth("other", "calendar")}, false},
	} {
		for _, how := range []string{"call", "stream"} {
			if how == "stream" && !tt.answered {
				continue // it stays open until somebody else grants it
			}
			t.Run(name+" in a "+how, func(t *testing.T) {
				calls := 0
				web := startSecured(t, securedCard("http://localhost/rpc", oauthScheme, "corp:run", "-"), byScopes, func(ctx context.Context, task *server.Task) (string, error) {
					caller := server.CallerFrom(ctx)
					if calls++; caller.Has("calendar") && !tt.never {
						return "fine", nil
					}
					return "", task.RequireAuth(server.AuthRequest{Prompt: "your calendar", Scheme: "corp", Scopes: tt.asks, Visit: func(string) string { return page.URL }})
				}, nil)
				source := &scoped{}
				c, err := rpc.New(t.Context(), a2a.Protocol(), web.URL, append(tt.opts, rpc.WithToken("corp", source))...)
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				text := ""
				if how == "call" {
					text, err = askText(t, c)
				} else {
					text, err = streamText(t, c)
				}
				var ask *rpc.InputRequiredError
				switch {
				case tt.answered && (err != nil || text != "fine" || !slices.Contains(source.asked[len(source.asked)-1], "calendar")):
					t.Errorf("got %q, %v; asked %v", text, err, source.asked)
				case !tt.answered && (!errors.As(err, &ask) || ask.Auth == nil || calls > 2):
					t.Errorf("got %q, %v after %d calls", text, err, calls)
				}
			})
		}
	}
	if opened > 0 {
		t.Error("the URL of an authorization was opened")
	}
}

var plain = rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "forecast", In: rpc.PlainInput, Out: rpc.PlainOutput}

func askText(t *testing.T, c *rpc.Client) (string, error) {
	t.Helper()
	r, err := plain.Call(t.Context(), c, rpc.Say("hi"))
	if err != nil {
		return "", err
	}
	return r.Text(), nil
}

func streamText(t *testing.T, c *rpc.Client) (text string, err error) {
	t.Helper()
	for step, err := range plain.Stream(t.Context(), c, rpc.Say("hi")) {
		if err != nil {
			return "", err
		}
		if step.Done {
			text = step.Output.Text()
		}
	}
	return text, nil
}

// TestACertificateIsShownOverEveryBinding, given by an option or by the environment; without one nothing is sent.
func TestACertificateIsShownOverEveryBinding(t *testing.T) {
	authority := authtest.NewAuthority(t)
	certFile, keyFile := authority.Server()
	own, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		t.Fatal(err)
	}
	cert := authority.Client(func(c *x509.Certificate) { c.DNSNames = []string{"ann.example.com"} })
	t.Setenv(auth.EnvClientCA, authority.File())
	config := func() *tls.Config { return &tls.Config{RootCAs: authority.Pool()} }
	for _, binding := range []string{runtime.BindingJSONRPC, runtime.BindingHTTP, runtime.BindingGRPC} {
		t.Run(binding, func(t *testing.T) {
			text := strings.Replace(securedCard("https://localhost/rpc", mtlsScheme, "mtls", "-"), `"JSONRPC"`, `"`+binding+`"`, 1)
			web := startSecured(t, text, nil, func(ctx context.Context, _ *server.Task) (string, error) {
				return server.CallerFrom(ctx).ID, nil
			}, &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: authority.Pool(), ClientAuth: tls.VerifyClientCertIfGiven})
			at := web.URL + "/rpc"
			if binding == runtime.BindingGRPC {
				at = strings.TrimPrefix(web.URL, "https://")
			}
			card := decodeCard(t, strings.Replace(text, "https://localhost/rpc", at, 1))
			dial := func(opts ...rpc.Option) *rpc.Client {
				c, err := rpc.FromCard(a2a.Protocol(), card, append([]rpc.Option{
					rpc.HTTPClient(&http.Client{Transport: &http.Transport{TLSClientConfig: config()}}), rpc.Use(grpcclient.Binding(grpcclient.TLS(config()))),
				}, opts...)...)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				return c
			}
			if who, err := askText(t, dial(rpc.WithCertificate("mtls", cert))); err != nil || !strings.Contains(who, "ann.example.com") {
				t.Errorf("by an option: %q, %v", who, err)
			}
			dir := t.TempDir()
			key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("A2A_CLIENT_CALENDAR__MTLS_CERT", writePEM(t, dir, "CERTIFICATE", cert.Certificate[0]))
			t.Setenv("A2A_CLIENT_CALENDAR__MTLS_KEY", writePEM(t, dir, "PRIVATE KEY", key))
			if who, err := askText(t, dial(rpc.FromEnvironment("calendar", nil))); err != nil || !strings.Contains(who, "ann.example.com") {
				t.Errorf("by the environment: %q, %v", who, err)
			}
			var none *rpc.CredentialError
			if _, err := askText(t, dial()); !errors.As(err, &none) {
				t.Errorf("without: %v", err)
			}
		})
	}
}

func writePEM(t *testing.T, dir, kind string, der []byte) string {
	t.Helper()
	file := filepath.Join(dir, strings.ReplaceAll(kind, " ", ""))
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestATokenOfTheCallerIsNotPassedOn: an agent that calls another one sends what was given for that one, whoever called it.
func TestATokenOfTheCallerIsNotPassedOn(t *testing.T) {
	f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {result(answered)}, "SendStreamingMessage": {events(answered)}})
	open := f.dialCard(cardJSON(f.url, "", declared))
	closed := f.dialCard(securedCard(f.url, oauthScheme, "corp", "-"), rpc.WithToken("corp", rpc.StaticToken("mine")))
	web := startSecured(t, securedCard("http://localhost/rpc", oauthScheme, "corp:run", "-"), byScopes, func(ctx context.Context, _ *server.Task) (string, error) {
		for _, c := range []*rpc.Client{open, closed} {
			if _, err := plain.Call(ctx, c, rpc.Say("hi")); err != nil {
				return "", err
			}
		}
		return "fine", nil
	}, nil)
	c, err := rpc.New(t.Context(), a2a.Protocol(), web.URL, rpc.WithToken("corp", &scoped{}))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := askText(t, c); err != nil {
		t.Fatal(err)
	}
	if one, other := shown(f.call(0)), shown(f.call(1)); one != "" || other != "Authorization: Bearer mine" {
		t.Errorf("sent %q and %q", one, other)
	}
}

// TestCredentialsOfTheEnvironment: by the client's name, by kind; an option comes first, and no card gets what is meant for another scheme.
func TestCredentialsOfTheEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte("f-123\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	made := func(s rpc.SchemeInfo, env func(string) string) (rpc.TokenSource, error) {
		return rpc.StaticToken("of-" + s.Name + "-" + env(rpc.EnvID)), nil
	}
	const named = `"corp_secret":{"apiKeySecurityScheme":{"location":"header","name":"X-API-Key"}}`
	for name, tt := range map[string]struct {
		env     map[string]string
		client  string
		schemes string
		demand  string
		opts    []rpc.Option
		want    string // "" for none
	}{
		"a key":                     {map[string]string{"A2A_CLIENT_KEY": "k-123"}, "", allSchemes, "key", nil, "X-Api-Key: k-123"},
		"of a client":               {map[string]string{"A2A_CLIENT_MY_WEATHER__KEY": "k-123"}, "my-weather", allSchemes, "key", nil, "X-Api-Key: k-123"},
		"of another client":         {map[string]string{"A2A_CLIENT_OTHER__KEY": "k-123", "A2A_CLIENT_KEY": "k-123"}, "weather", allSchemes, "key", nil, ""},
		"a client's, by its scheme": {map[string]string{"A2A_CLIENT_WEATHER__KEY": "k-123"}, "", `"weather__key":{"apiKeySecurityScheme":{"location":"header","name":"X-API-Key"}}`, "weather__key", nil, ""},
		"a file":                    {map[string]string{"A2A_CLIENT_BEARER_FILE": file}, "", allSchemes, "bearer", nil, "Authorization: Bearer f-123"},
		"a password":                {map[string]string{"A2A_CLIENT_BASIC": "ann:s3cret:word"}, "", allSchemes, "basic", nil, "Authorization: Basic YW5uOnMzY3JldDp3b3Jk"},
		"an issuer":                 {map[string]string{"A2A_CLIENT_CORP_ISSUER": "https://id.example.com", "A2A_CLIENT_CORP_ID": "app"}, "", allSchemes, "corp", nil, "Authorization: Bearer of-corp-app"},
		"a token before an issuer":  {map[string]string{"A2A_CLIENT_CORP_ISSUER": "https://id.example.com", "A2A_CLIENT_CORP": "t-123"}, "", allSchemes, "corp", nil, "Authorization: Bearer t-123"},
		"an option before it":       {map[string]string{"A2A_CLIENT_KEY": "k-123"}, "", allSchemes, "key", []rpc.Option{rpc.WithAPIKey("key", "mine")}, "X-Api-Key: mine"},
		"a secret of another":       {map[string]string{"A2A_CLIENT_CORP_SECRET": "s-123", "A2A_CLIENT_CORP_ID": "app"}, "", named, "corp_secret", nil, ""},
		"a scheme with such a name": {map[string]string{"A2A_CLIENT_CORP_SECRET": "s-123"}, "", named, "corp_secret", nil, "X-Api-Key: s-123"},
	} {
		t.Run(name, func(t *testing.T) {
			for variable, value := range tt.env {
				t.Setenv(variable, value)
			}
			f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {result(answered)}})
			c := f.dialCard(securedCard(f.url, tt.schemes, tt.demand, "-"), append(tt.opts, rpc.FromEnvironment(tt.client, made))...)
			err := askForecast(t, c)
			var none *rpc.CredentialError
			switch {
			case tt.want == "" && (!errors.As(err, &none) || f.methods() != "" || strings.Contains(err.Error(), "-123")):
				t.Errorf("got %v after %q", err, f.methods())
			case tt.want != "" && (err != nil || shown(f.call(0)) != tt.want):
				t.Errorf("sent %q, %v", shown(f.call(0)), err)
			}
		})
	}
}

// TestAFileWithATokenIsReadAgain when the agent rejects what it had.
func TestAFileWithATokenIsReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old-token")
	f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {result(answered), unauthorized, result(answered)}})
	c := f.dialCard(securedCard(f.url, bearerScheme, "bearer", "-"), rpc.WithToken("bearer", rpc.TokenFile(file)))
	for range 2 {
		if err := askForecast(t, c); err != nil {
			t.Fatal(err)
		}
		write("new-token")
	}
	if got := shown(f.call(2)); got != "Authorization: Bearer new-token" {
		t.Errorf("sent %q", got)
	}
	write(strings.Repeat("x", 1<<20))
	if _, err := rpc.TokenFile(file).Token(t.Context(), rpc.TokenNeed{}); err == nil {
		t.Error("a file of a megabyte is no token")
	}
}
