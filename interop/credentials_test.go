package interop

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	peer "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/a2a/a2aclient"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

// guarded is how an agent of the official SDK, which checks nothing itself, is commonly run: behind something that does.
type guarded struct {
	name  string
	card  map[peer.SecuritySchemeName]peer.SecurityScheme
	fits  func(r *http.Request) bool
	right []rpc.Option
	wrong []rpc.Option // nil where a program cannot have a wrong one
}

// startGuarded serves the peer's agent. Its card is written by the SDK, and demands all schemes.
func startGuarded(t *testing.T, g guarded, binding peer.TransportProtocol) (url string, calls *int) {
	t.Helper()
	calls = new(int)
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	all := peer.SecurityRequirements{}
	for name := range g.card {
		all[name] = peer.SecuritySchemeScopes{}
	}
	card := &peer.AgentCard{
		Name: "Peer Desk", Description: "Answers travellers.", Version: "2.0.0",
		SupportedInterfaces: []*peer.AgentInterface{peer.NewAgentInterface(srv.URL+"/a2a", binding)},
		Capabilities:        peer.AgentCapabilities{Streaming: true},
		DefaultInputModes:   []string{"text/plain"}, DefaultOutputModes: []string{"text/plain"},
		Skills:          []peer.AgentSkill{{ID: "desk", Name: "Desk", Description: "Answers.", Tags: []string{"travel"}}},
		SecuritySchemes: g.card, SecurityRequirements: peer.SecurityRequirementsOptions{all},
	}
	h := a2asrv.NewHandler(&peerDesk{release: make(chan struct{})}, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	agent := http.StripPrefix("/a2a", a2asrv.NewRESTHandler(h))
	if binding == peer.TransportProtocolJSONRPC {
		agent = a2asrv.NewJSONRPCHandler(h)
	}
	guard := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*calls++
		if !g.fits(r) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		agent.ServeHTTP(w, r)
	})
	mux.Handle("/a2a", guard)
	mux.Handle("/a2a/", guard)
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	return srv.URL, calls
}

// TestOurClientShowsWhatTheirCardsDemand, of each kind, over both bindings: what is right is taken, what is wrong is an error that says so, and without
// it nothing is sent.
func TestOurClientShowsWhatTheirCardsDemand(t *testing.T) {
	for _, g := range guards(t) {
		for _, binding := range []peer.TransportProtocol{peer.TransportProtocolJSONRPC, peer.TransportProtocolHTTPJSON} {
			t.Run(g.name+" "+string(binding), func(t *testing.T) {
				url, calls := startGuarded(t, g, binding)
				client := func(opts []rpc.Option) *a2aclient.Client {
					c := ok[*a2aclient.Client](t)(a2aclient.New(t.Context(), url, opts...))
					t.Cleanup(c.Close)
					return c
				}
				c := client(g.right)
				if _, err := c.SendMessage(t.Context(), ask("hello")); err != nil {
					t.Errorf("right: %v", err)
				}
				for _, err := range c.SendStreamingMessage(t.Context(), ask("hello")) {
					if err != nil {
						t.Errorf("right, a stream: %v", err)
					}
				}
				if g.wrong != nil {
					if _, err := client(g.wrong).SendMessage(t.Context(), ask("hello")); !errors.Is(err, a2a.ErrUnauthenticated) {
						t.Errorf("wrong: %v", err)
					}
				}
				before := *calls
				var none *rpc.CredentialError
				if _, err := client(nil).SendMessage(t.Context(), ask("hello")); !errors.As(err, &none) || *calls != before {
					t.Errorf("missing: %v, %d calls", err, *calls-before)
				}
			})
		}
	}
}

// guards has a row for each kind of scheme that the SDK knows, but for certificates.
func guards(t *testing.T) []guarded {
	type schemes = map[peer.SecuritySchemeName]peer.SecurityScheme
	key := func(in peer.APIKeySecuritySchemeLocation) schemes {
		return schemes{"key": peer.APIKeySecurityScheme{Location: in, Name: "X-Desk-Key"}}
	}
	bearer := func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer t0ken" }
	keys := [2][]rpc.Option{{rpc.WithAPIKey("key", "k3y-of-ann")}, {rpc.WithAPIKey("key", "another")}}
	tokens := [2][]rpc.Option{{rpc.WithToken("idp", rpc.StaticToken("t0ken"))}, {rpc.WithToken("idp", rpc.StaticToken("another"))}}
	issuer := startIssuer(t)
	source, err := oauth.Config{Issuer: issuer, ClientID: "app", Secret: "app-secret"}.Source()
	if err != nil {
		t.Fatal(err)
	}
	byIssuer := []rpc.Option{rpc.WithToken("idp", source)}
	openID := peer.OpenIDConnectSecurityScheme{OpenIDConnectURL: issuer + "/.well-known/openid-configuration"}
	oauth2 := peer.OAuth2SecurityScheme{Flows: peer.ClientCredentialsOAuthFlow{TokenURL: issuer + "/token", Scopes: map[string]string{}}}
	return []guarded{
		{"API key, header", key("header"), func(r *http.Request) bool { return r.Header.Get("X-Desk-Key") == "k3y-of-ann" }, keys[0], keys[1]},
		{"API key, query", key("query"), func(r *http.Request) bool { return r.URL.Query().Get("X-Desk-Key") == "k3y-of-ann" }, keys[0], keys[1]},
		{"API key, cookie", key("cookie"), func(r *http.Request) bool {
			c, err := r.Cookie("X-Desk-Key")
			return err == nil && c.Value == "k3y-of-ann"
		}, keys[0], keys[1]},
		{"Basic", schemes{"basic": peer.HTTPAuthSecurityScheme{Scheme: "Basic"}}, func(r *http.Request) bool {
			user, password, _ := r.BasicAuth()
			return user == "ann" && password == "pässw:ord"
		}, []rpc.Option{rpc.WithBasic("basic", "ann", "pässw:ord")}, []rpc.Option{rpc.WithBasic("basic", "ann", "another")}},
		{"Bearer", schemes{"idp": peer.HTTPAuthSecurityScheme{Scheme: "Bearer"}}, bearer, tokens[0], tokens[1]},
		{"OAuth 2", schemes{"idp": oauth2}, bearer, byIssuer, tokens[1]},
		{"OpenID Connect", schemes{"idp": openID}, bearer, byIssuer, tokens[1]},
		{"key and Bearer", schemes{"key": peer.APIKeySecurityScheme{Location: "header", Name: "X-Desk-Key"}, "idp": peer.HTTPAuthSecurityScheme{Scheme: "Bearer"}},
			func(r *http.Request) bool { return bearer(r) && r.Header.Get("X-Desk-Key") == "k3y-of-ann" },
			append(keys[0][:1:1], tokens[0]...), append(keys[0][:1:1], tokens[1]...)},
	}
}

// startIssuer serves an issuer that has one token.
func startIssuer(t *testing.T) string {
	var srv *httptest.Server
	srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/token" {
			_ = json.NewEncoder(w).Encode(map[string]string{"issuer": srv.URL, "token_endpoint": srv.URL + "/token"})
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"access_token": "t0ken", "token_type": "Bearer", "expires_in": 600})
	}))
	t.Cleanup(srv.Close)
	return srv.URL
}
