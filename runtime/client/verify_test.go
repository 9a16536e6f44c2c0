package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/signedcard"
)

// publisher signs cards, and verifies them.
type publisher struct {
	t   *testing.T
	key *signedcard.Key
}

func newPublisher(t *testing.T) *publisher {
	key, err := signedcard.NewKey("ES256")
	if err != nil {
		t.Fatal(err)
	}
	return &publisher{t, key}
}

func (p *publisher) sign(card string) string {
	p.t.Helper()
	signed, err := p.key.Sign([]byte(card))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(signed)
}

// trust is the option by which a client takes cards of the publisher alone.
func (p *publisher) trust(strict bool) rpc.Option {
	p.t.Helper()
	set, err := p.key.Public(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	v, err := signedcard.NewVerifier(signedcard.Config{Keys: set, Strict: strict})
	if err != nil {
		p.t.Fatal(err)
	}
	return rpc.VerifyCard(v)
}

// cardServer serves a card, and counts what is asked of it.
type cardServer struct {
	*httptest.Server
	card  atomic.Pointer[string]
	asked atomic.Int64
}

func serveCard(t *testing.T, card string) *cardServer {
	s := &cardServer{}
	s.card.Store(&card)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.asked.Add(1)
		_, _ = io.WriteString(w, *s.card.Load())
	}))
	t.Cleanup(s.Close)
	return s
}

// R249: what is called is the address that was signed, whatever else the card says, and a card
// that changes after it was verified changes nothing.
func TestACardIsVerifiedBeforeAnythingIsCalled(t *testing.T) {
	p, good := newPublisher(t), newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {result(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"hi"}]}}`)}})
	evil := newFake(t, runtime.BindingJSONRPC, nil)
	signed := p.sign(cardJSON(good.url, "", ""))
	s := serveCard(t, strings.Replace(signed, `{"name"`, `{"url":"`+evil.url+`","preferredTransport":"JSONRPC","name"`, 1))
	c, err := a2aclient.New(t.Context(), s.URL, p.trust(true))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	changed := strings.ReplaceAll(signed, good.url, evil.url)
	s.card.Store(&changed)
	if _, err := c.SendMessage(t.Context(), hello()); err != nil {
		t.Fatal(err)
	}
	if v := c.RPC().Verified(); v == nil || v.Form != "presence" || v.KeyID != p.key.ID() || v.Thumbprint != p.key.Thumbprint() {
		t.Errorf("verified: %+v", v)
	}
	if good.methods() != "SendMessage" || s.asked.Load() != 1 {
		t.Errorf("called %q, fetched the card %d times", good.methods(), s.asked.Load())
	}
	if len(c.RPC().Card().Generated().(*a2a.AgentCard).Signatures) != 0 {
		t.Error("the card has signatures, which nothing covers")
	}
}

// unreachable is a verifier whose keys are not to be had.
func unreachable(t *testing.T) rpc.Option {
	srv := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(srv.Close)
	v, err := signedcard.NewVerifier(signedcard.Config{URLs: []string{srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	return rpc.VerifyCard(v)
}

func TestACardThatIsNotVerifiedMakesNoClient(t *testing.T) {
	p, stranger := newPublisher(t), newPublisher(t)
	card := strings.Replace(cardJSON("https://a.example/", "", ""), `"skills":[`, `"securitySchemes":{"key":{"apiKeySecurityScheme":{"location":"header","name":"X-Key"}}},"securityRequirements":[{"schemes":{"key":{}}}],"skills":[`, 1)
	signed := p.sign(card)
	for name, test := range map[string]struct {
		card string
		opt  rpc.Option
		want error
	}{
		"unsigned":      {card, p.trust(false), signedcard.ErrUnsigned},
		"by a stranger": {stranger.sign(card), p.trust(false), signedcard.ErrNotVerified},
		"changed":       {strings.Replace(signed, "a.example", "b.example", 1), p.trust(false), signedcard.ErrNotVerified},
		"anonymous callers allowed, in the presence form": {strings.Replace(signed, `"securityRequirements":[`, `"securityRequirements":[{},`, 1), p.trust(true), signedcard.ErrNotVerified},
		"of 0.3":             {`{"name":"x","url":"https://a.example/","protocolVersion":"0.3.0","signatures":[{"protected":"e30","signature":""}]}`, p.trust(false), signedcard.ErrNotVerified},
		"a member twice":     {`{"name":"y",` + signed[1:], p.trust(false), signedcard.ErrInvalid},
		"no card":            {`[]`, p.trust(false), signedcard.ErrInvalid},
		"keys that are gone": {signed, unreachable(t), signedcard.ErrNoKeys},
	} {
		s := serveCard(t, test.card)
		c, err := rpc.New(t.Context(), a2a.Protocol(), s.URL, test.opt)
		var untrusted *rpc.CardError
		if c != nil || !errors.Is(err, test.want) || !errors.As(err, &untrusted) || !strings.HasPrefix(untrusted.Card, s.URL) {
			t.Errorf("%s: %v", name, err)
		}
		if n := s.asked.Load(); n != 1 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
	s := serveCard(t, strings.Replace(signed, `"securityRequirements":[`, `"securityRequirements":[{},`, 1))
	c, err := rpc.New(t.Context(), a2a.Protocol(), s.URL, p.trust(false))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if requirements := c.Card().Generated().(*a2a.AgentCard).SecurityRequirements; len(requirements) > 0 || len(c.Warnings()) != 1 || !strings.Contains(c.Warnings()[0], "does not cover") {
		t.Errorf("anonymous callers were added in the clean form: %v, warnings %q", requirements, c.Warnings())
	}
}

// TestAGivenCardIsVerified: it keeps its signatures when it is read, and they are of it.
func TestAGivenCardIsVerified(t *testing.T) {
	p := newPublisher(t)
	signed := p.sign(cardJSON("https://a.example/", "", streams))
	c, err := rpc.FromCard(a2a.Protocol(), decodeCard(t, signed), p.trust(true))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Verified() == nil {
		t.Error("not verified")
	}
	card := decodeCard(t, signed)
	card.Generated().(*a2a.AgentCard).SupportedInterfaces[0].URL = "https://b.example/"
	if _, err := rpc.FromCard(a2a.Protocol(), card, p.trust(false)); !errors.Is(err, signedcard.ErrNotVerified) {
		t.Error(err)
	}
	if _, err := rpc.FromCard(a2a.Protocol(), decodeCard(t, cardJSON("https://a.example/", "", "")), p.trust(false)); !errors.Is(err, signedcard.ErrUnsigned) {
		t.Error(err)
	}
}

// R249: so is the extended card, over every binding.
func TestTheExtendedCardIsVerifiedOverEveryBinding(t *testing.T) {
	p := newPublisher(t)
	for _, binding := range []string{runtime.BindingJSONRPC, runtime.BindingHTTP, runtime.BindingGRPC} {
		extended := p.sign(strings.Replace(cardJSON("https://a.example/", "", ""), `"name":"weather"`, `"name":"weather, all of it"`, 1))
		f := newFake(t, binding, map[string][]reply{"GetExtendedAgentCard": {
			result(extended), result(strings.Replace(extended, "all of it", "changed", 1)), result(cardJSON("https://a.example/", "", "")),
		}})
		card := p.sign(f.card(cardJSON(f.url, "", `"extendedAgentCard":true,`)))
		client, err := a2aclient.FromCard(decodeCard(t, card).Generated().(*a2a.AgentCard), withGRPC([]rpc.Option{p.trust(true)})...)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		got, err := client.GetExtendedAgentCard(t.Context(), nil)
		if err != nil || got.Name != "weather, all of it" || len(got.Signatures) != 0 {
			t.Errorf("%s: %+v %v", binding, got, err)
		}
		for _, want := range []error{signedcard.ErrNotVerified, signedcard.ErrUnsigned} {
			var untrusted *rpc.CardError
			if got, err := client.GetExtendedAgentCard(t.Context(), nil); got != nil || !errors.Is(err, want) || !errors.As(err, &untrusted) || untrusted.Card != "the extended card" {
				t.Errorf("%s: %v %v", binding, got, err)
			}
		}
	}
}

// TestVerifyingEndsWithItsContext: keys that hang hold up no caller for longer than it allows.
func TestVerifyingEndsWithItsContext(t *testing.T) {
	p := newPublisher(t)
	hung, asked := make(chan struct{}), make(chan struct{}, 8)
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-hung }))
	v, err := signedcard.NewVerifier(signedcard.Config{URLs: []string{srv.URL}})
	if err != nil {
		t.Fatal(err)
	}
	s := serveCard(t, p.sign(cardJSON("https://a.example/", "", "")))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := rpc.New(ctx, a2a.Protocol(), s.URL, rpc.VerifyCard(v)); !errors.Is(err, context.Canceled) || !errors.Is(err, signedcard.ErrNoKeys) {
		t.Error(err)
	}
	close(hung)
	srv.Close()
}
