package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/observe"
)

// changing is an agent without a network, whose card changes while a client runs. Paths have answers; others are 404.
type changing struct {
	card     string
	tag      bool // the card has an ETag
	answers  map[string]string
	asked    []string
	fetched  int // times that the card was sent as a whole
	observed []string
}

func (a *changing) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	where := r.URL.Scheme + "://" + r.URL.Host + r.URL.Path
	a.asked = append(a.asked, where)
	answer, ok := a.answers[where]
	switch {
	case strings.HasSuffix(where, "/agent-card.json"):
		if a.tag {
			w.Header().Set("ETag", `"`+a.card[:min(len(a.card), 200)]+`"`)
		}
		if tag := w.Header().Get("ETag"); tag != "" && r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			break
		}
		a.fetched++
		_, _ = io.WriteString(w, a.card)
	case ok:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, answer)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	if r.Body != nil {
		_ = r.Body.Close()
	}
	return w.Result(), nil
}

// Begin, End and CardChanged observe.
func (a *changing) Begin(ctx context.Context, _ *observe.Activity) context.Context { return ctx }
func (a *changing) End(context.Context, *observe.Activity)                         {}
func (a *changing) CardChanged(_ context.Context, c *observe.CardChange) {
	a.observed = append(a.observed, strings.Join(c.Changes, ", "))
}

func (a *changing) dial(t *testing.T, url string, opts ...rpc.Option) *rpc.Client {
	t.Helper()
	c, err := rpc.New(t.Context(), a2a.Protocol(), url, append([]rpc.Option{rpc.HTTPClient(&http.Client{Transport: a}), rpc.WithObserver(a)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// cardWith is a card with interfaces and skills, which have an input and an output: "forecast:in:out".
func cardWith(description, interfaces string, skills ...string) string {
	var contracts, list []string
	for _, s := range skills {
		f := strings.Split(s, ":")
		list = append(list, `{"id":"`+f[0]+`","name":"n","description":"`+description+`","tags":[]}`)
		contracts = append(contracts, `"`+f[0]+`":{"input":{"title":"`+f[1]+`"},"output":{"title":"`+f[2]+`"}}`)
	}
	return `{"name":"weather","description":"` + description + `","version":"1","supportedInterfaces":[` + interfaces + `],
	"capabilities":{"extensions":[{"uri":"` + runtime.SkillsExtension + `","params":{"skills":{` + strings.Join(contracts, ",") + `}}}]},
	"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[` + strings.Join(list, ",") + `]}`
}

var (
	atOld    = iface("https://a/old", "JSONRPC", "1.0", "")
	atNew    = iface("https://a/new", "JSONRPC", "1.0", "")
	badInput = `{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"Invalid parameters"}}`
	blueSky  = `{"jsonrpc":"2.0","id":null,"result":` + finished("COMPLETED", "", artifact(`{"data":{"sky":"blue"}}`, "")) + `}`
	noSky    = `{"jsonrpc":"2.0","id":null,"result":` + finished("COMPLETED", "", artifact(`{"data":{}}`, "")) + `}`
)

func TestAChangedCardIsNoticedByTheCallsThatFail(t *testing.T) {
	for name, tt := range map[string]struct {
		card, answer string // afterwards, at the old place
		changes      string // in the error; "" for the error as it is
		warning      string // and event; "" for none
	}{
		"a skill is gone": {cardWith("d", atOld, "other:i:o"), badInput, `skill gone: "forecast"`, `skill added: "other", skill gone: "forecast"`},
		"its input is another": {
			cardWith("d", atOld, "forecast:i2:o"), badInput, `input of a skill changed: "forecast"`, `input of a skill changed: "forecast"`,
		},
		"its output is another":          {cardWith("d", atOld, "forecast:i:o2"), noSky, `output of a skill changed: "forecast"`, `output of a skill changed: "forecast"`},
		"the other skill's is another":   {cardWith("d", atOld, "forecast:i:o", "other:i:o"), badInput, "", `skill added: "other"`},
		"words are others":               {cardWith("other words", atOld, "forecast:i:o"), badInput, "", ""},
		"nothing":                        {cardWith("d", atOld, "forecast:i:o"), badInput, "", ""},
		"to what is no card":             {"<html>", badInput, "", ""},
		"to an interface in clear text":  {cardWith("d", strings.Replace(atNew, "https", "http", 1), "forecast:i:o"), "", "", "!clear text"},
		"to one that is not spoken here": {cardWith("d", iface("https://a/x", "SOAP", "1.0", ""), "forecast:i:o"), "", "interface gone", "!no interface that this client speaks"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &changing{card: cardWith("d", atOld, "forecast:i:o"), answers: map[string]string{"https://a/old": blueSky}}
				c := a.dial(t, "https://a")
				if _, err := forecast.Call(t.Context(), c, &input{"Rome"}); err != nil {
					t.Fatal(err)
				}
				a.card, a.fetched = tt.card, 0
				if a.answers["https://a/old"] = tt.answer; tt.answer == "" {
					delete(a.answers, "https://a/old")
				}
				for i := range 3 {
					_, err := forecast.Call(t.Context(), c, &input{"Rome"})
					var changed *rpc.CardChangedError
					refused := strings.HasPrefix(tt.warning, "!")
					if want := tt.changes != "" || refused; err == nil || errors.As(err, &changed) != want || want && (!strings.Contains(err.Error(), tt.changes) || !strings.Contains(err.Error(), "a2agen update clients")) {
						t.Errorf("call %d: %v", i, err)
					}
					if changed != nil && (changed.Err == nil || changed.Agent != "weather" || (changed.Refused != nil) != refused) {
						t.Errorf("call %d: %+v", i, changed)
					}
				}
				if strings.Count(strings.Join(a.asked, " "), "agent-card.json") != 2 {
					t.Errorf("asked %v", a.asked)
				}
				warnings := c.Warnings()
				if word := strings.TrimPrefix(tt.warning, "!"); word == "" && len(warnings)+len(a.observed) > 0 ||
					word != "" && (len(warnings) != 1 || len(a.observed) != 1 || !strings.Contains(warnings[0], word)) {
					t.Errorf("warnings %q, events %q", warnings, a.observed)
				}
				time.Sleep(2 * time.Minute)
				_, _ = forecast.Call(t.Context(), c, &input{"Rome"})
				if len(c.Warnings()) != len(warnings) || len(a.observed) != len(warnings) {
					t.Errorf("it says it again: %q", c.Warnings())
				}
			})
		})
	}
}

// TestAClientGoesOnByTheNewCard where the agent moved, with the call that found nothing at the old place.
func TestAClientGoesOnByTheNewCard(t *testing.T) {
	for how, call := range map[string]func(ctx context.Context, c *rpc.Client) error{
		"call": func(ctx context.Context, c *rpc.Client) error {
			_, err := forecast.Call(ctx, c, &input{"Rome"})
			return err
		},
		"stream": func(ctx context.Context, c *rpc.Client) error {
			_, _, err := steps(forecast.Stream(ctx, c, &input{"Rome"}))
			return err
		},
	} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &changing{card: cardWith("d", atOld, "forecast:i:o"), answers: map[string]string{"https://a/old": blueSky}}
				c := a.dial(t, "https://a")
				a.card, a.answers = cardWith("d", atNew, "forecast:i:o"), map[string]string{"https://a/new": blueSky}
				for range 2 {
					if err := call(t.Context(), c); err != nil {
						t.Error(err)
					}
				}
				if got := c.Interface().URL; got != "https://a/new" || len(c.Warnings()) != 1 || len(a.observed) != 1 {
					t.Errorf("it uses %s, warns %q", got, c.Warnings())
				}
				if want := []string{"https://a/old", "https://a/.well-known/agent-card.json", "https://a/new", "https://a/new"}; !slices.Equal(a.asked[1:], want) {
					t.Errorf("asked %v", a.asked[1:])
				}
			})
		})
	}
}

// A message is sent once, whatever becomes of the card while its task is at work.
func TestAMessageThatWasTakenOnIsNotSentToANewPlace(t *testing.T) {
	const working = `{"jsonrpc":"2.0","id":null,"result":{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}}`
	const refused = `{"jsonrpc":"2.0","id":null,"error":{"code":-32004,"message":"not here"}}`
	streaming := strings.Replace(cardWith("d", atOld, "forecast:i:o"), `"capabilities":{`, `"capabilities":{"streaming":true,`, 1)
	for name, tt := range map[string]struct {
		card    string
		answers []string // at the old place; then there is nothing
		call    func(ctx context.Context, c *rpc.Client) error
	}{
		"which is asked for": {cardWith("d", atOld, "forecast:i:o"), []string{working}, func(ctx context.Context, c *rpc.Client) error {
			_, err := forecast.Call(ctx, c, &input{"Rome"})
			return err
		}},
		"whose steps came": {streaming, []string{"data: " + working + "\n\ndata: " + refused + "\n\n"}, func(ctx context.Context, c *rpc.Client) error {
			_, _, err := steps(forecast.Stream(ctx, c, &input{"Rome"}))
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &changing{card: tt.card, answers: map[string]string{"https://a/new": blueSky}}
				c := a.dial(t, "https://a", rpc.HTTPClient(&http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					if r.URL.Path != "/old" || len(tt.answers) == 0 {
						return a.RoundTrip(r)
					}
					w := httptest.NewRecorder()
					w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[strings.HasPrefix(tt.answers[0], "data:")])
					_, _ = io.WriteString(w, tt.answers[0])
					tt.answers = tt.answers[1:]
					a.card = cardWith("d", atNew, "forecast:i:o")
					return w.Result(), r.Body.Close()
				})}))
				if err := tt.call(t.Context(), c); err == nil {
					t.Error("no error")
				}
				if slices.Contains(a.asked, "https://a/new") {
					t.Errorf("asked %v", a.asked)
				}
			})
		})
	}
}

// pinned verifies the card that it is.
type pinned string

func (p pinned) Verify(_ context.Context, card []byte) (*runtime.VerifiedCard, error) {
	if string(card) != string(p) {
		return nil, errors.New("not signed by anybody that is trusted")
	}
	return &runtime.VerifiedCard{Card: card}, nil
}

// TestAChangedCardIsVerifiedBeforeItIsFollowed, and one from anywhere leads to no other host.
func TestAChangedCardIsVerifiedBeforeItIsFollowed(t *testing.T) {
	first := cardWith("d", atOld, "forecast:i:o")
	for name, tt := range map[string]struct {
		at   string
		card string
		opts []rpc.Option
		want error
	}{
		"not signed":    {"https://a", cardWith("d", atNew, "forecast:i:o"), []rpc.Option{rpc.VerifyCard(pinned(first))}, new(rpc.CardError)},
		"another host":  {"http://a", cardWith("d", iface("https://b/new", "JSONRPC", "1.0", ""), "forecast:i:o"), nil, nil},
		"not its host":  {"https://a", cardWith("d", iface("https://b/new", "JSONRPC", "1.0", ""), "forecast:i:o"), []rpc.Option{rpc.OneHost()}, nil},
		"another owner": {"https://a", cardWith("d", iface("https://a/new", "JSONRPC", "1.0", "acme"), "forecast:i:o"), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &changing{card: first, answers: map[string]string{"https://a/old": blueSky}}
				c := a.dial(t, tt.at, tt.opts...)
				a.card, a.answers = tt.card, map[string]string{"https://a/new": blueSky, "https://b/new": blueSky}
				_, err := forecast.Call(t.Context(), c, &input{"Rome"})
				var changed *rpc.CardChangedError
				var untrusted *rpc.CardError
				if !errors.As(err, &changed) || changed.Refused == nil || errors.As(err, &untrusted) != (tt.want != nil) {
					t.Errorf("got %v", err)
				}
				if got := strings.Join(a.asked, " "); strings.Contains(got, "/new") || len(c.Warnings()) != 1 || len(a.observed) != 1 {
					t.Errorf("asked %s, warns %q", got, c.Warnings())
				}
			})
		})
	}
}

// TestACardIsCheckedWhenTheClientIsToldTo: by conditional requests, and it follows what is offered by then.
func TestACardIsCheckedWhenTheClientIsToldTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &changing{card: cardWith("d", atOld, "forecast:i:o"), tag: true, answers: map[string]string{"https://a/old": blueSky, "https://a/new": blueSky}}
		c := a.dial(t, "https://a", rpc.CheckCards(10*time.Minute))
		call := func(fetched int, at string) {
			t.Helper()
			if _, err := forecast.Call(t.Context(), c, &input{"Rome"}); err != nil || a.fetched != fetched || c.Interface().URL != at {
				t.Errorf("%v; %d cards, at %s", err, a.fetched, c.Interface().URL)
			}
		}
		call(1, "https://a/old")
		time.Sleep(time.Hour)
		call(1, "https://a/old") // it is the same
		a.card = cardWith("x", atNew, "forecast:i:o")
		call(1, "https://a/old") // not yet
		time.Sleep(time.Hour)
		call(2, "https://a/new")
		changes, err := c.CheckCard(t.Context())
		if err != nil || len(changes) != 2 || a.fetched != 2 {
			t.Errorf("changes %v, %v", changes, err)
		}
		card, err := rpc.FromCard(a2a.Protocol(), decodeCard(t, a.card), rpc.HTTPClient(&http.Client{Transport: a}))
		if err != nil {
			t.Fatal(err)
		}
		defer card.Close()
		if _, err := card.CheckCard(t.Context()); err == nil || !strings.Contains(err.Error(), "CardAt") {
			t.Errorf("without an address: %v", err)
		}
	})
}

// TestACardChangesUnderManyCalls at once: each is made by the old card or by the new one.
func TestACardChangesUnderManyCalls(t *testing.T) {
	var moved atomic.Bool
	mux := http.NewServeMux()
	srv := httptest.NewServer(mux)
	defer srv.Close()
	card := func(path string) string {
		return cardWith("d", iface(srv.URL+path, "JSONRPC", "1.0", ""), "forecast:i:o")
	}
	mux.HandleFunc("/.well-known/agent-card.json", func(w http.ResponseWriter, _ *http.Request) {
		path := "/old"
		if moved.Load() {
			path = "/new"
		}
		_, _ = io.WriteString(w, card(path))
	})
	answer := func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/old") && moved.Load() {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, blueSky)
	}
	mux.HandleFunc("/old", answer)
	mux.HandleFunc("/new", answer)
	c, err := rpc.New(t.Context(), a2a.Protocol(), srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 20 {
				if i == 10 {
					moved.Store(true)
				}
				_, err := forecast.Call(t.Context(), c, &input{"Rome"})
				if err != nil {
					t.Error(err)
				}
				_, _, _ = c.Warnings(), c.Interface(), c.Card()
			}
		})
	}
	all.Wait()
	if _, err := forecast.Call(t.Context(), c, &input{"Rome"}); err != nil || len(c.Warnings()) != 1 {
		t.Errorf("%v, warns %q", err, c.Warnings())
	}
}
