package client_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/a2awires/a2aclient"
	"github.com/a2agen/a2agen/internal/test/a2amore"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// polyglot serves an agent of all versions, and returns its URL and the header of the last request.
func polyglot(t *testing.T, binding string, opts ...server.Option) (url string, last *http.Header) {
	t.Helper()
	p := a2amore.AllVersions()
	text := strings.Replace(cardJSON("/rpc", "", streams+declared), "JSONRPC", binding, 1)
	card, err := p.DecodeCard([]byte(strings.Replace(text, `"pushNotifications":false`, `"pushNotifications":true`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	chat := server.Skill{ID: "chat", Name: "chat", Run: func(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
		switch {
		case t.Resumed():
			return []byte("for " + t.Text()), nil
		case t.Text() == "ask":
			return nil, t.Ask("For which day?")
		case t.Text() == "fail":
			return nil, t.Fail("no map")
		case t.Text() == "reply":
			return nil, t.Reply(runtime.Text("at once"))
		}
		if err := t.Progress("looking"); err != nil {
			return nil, err
		}
		return []byte("dry"), nil
	}}
	own := map[string]server.Operation{"Inspect": server.NewOperation(inspect), "Watch": server.NewStreamOperation(watch)}
	s, err := server.New(server.Config{Protocol: p, Card: card, Skills: []server.Skill{chat}, Operations: own},
		append(opts, server.WithLogger(slog.New(slog.DiscardHandler)), grpcserver.Serve(), webhooks.Send(), server.WithPushTargets("127.0.0.1"))...)
	if err != nil {
		t.Fatal(err)
	}
	last = new(http.Header)
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*last = r.Header
		s.ServeHTTP(w, r)
	}))
	web.Config.Protocols = new(http.Protocols)
	web.Config.Protocols.SetHTTP1(true)
	web.Config.Protocols.SetUnencryptedHTTP2(true)
	web.Start()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the server: %v", err)
		}
		web.Close()
	})
	return web.URL + "/rpc", last
}

// speak makes a client that has to speak a version, from a card as that version has it.
func speak(t *testing.T, url, version, binding string, opts ...rpc.Option) *a2aclient.Client {
	t.Helper()
	p := a2a.Protocol()
	i := slices.IndexFunc(p.Versions, func(v *runtime.Version) bool { return v.Name == version })
	newest, err := p.DecodeCard([]byte(strings.NewReplacer(`"protocolVersion":"1.0"`, `"protocolVersion":"`+version+`"`, "JSONRPC", binding, `"pushNotifications":false`, `"pushNotifications":true`).
		Replace(cardJSON(url, "", streams+declared))))
	if err != nil {
		t.Fatal(err)
	}
	src, err := p.Versions[i].AppendCard(nil, newest)
	if err != nil {
		t.Fatal(err)
	}
	card, err := p.Versions[i].ReadCard(src) // a card of 0.1 does not always tell that it is one
	if err != nil {
		t.Fatal(err)
	}
	typed, err := a2aclient.FromCard(card.Generated().(*a2a.AgentCard), withGRPC(opts)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(typed.Close)
	c := typed.RPC()
	if got := c.Interface(); got.Version != version || got.URL != url {
		t.Fatalf("interface %+v", got)
	}
	return typed
}

// TestTheClientSpeaksEveryVersion calls one agent in the words of each (R71, R245).
func TestTheClientSpeaksEveryVersion(t *testing.T) {
	chat := rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "chat", In: rpc.PlainInput, Out: rpc.PlainOutput}
	over(t, func(t *testing.T, binding string) {
		for _, v := range a2a.Protocol().Versions {
			version := v.Name
			if v.Over(binding) == nil {
				continue
			}
			t.Run(version, func(t *testing.T) {
				url, last := polyglot(t, binding)
				c, ctx := speak(t, url, version, binding).RPC(), t.Context()
				r, err := chat.Call(ctx, c, rpc.Say("forecast"))
				if err != nil || r.Text() != "dry" {
					t.Fatalf("call: %v %v", r, err)
				}
				if got := last.Get("A2A-Version"); got != version {
					t.Errorf("the request says version %q", got)
				}
				if got, old := last.Get("X-A2A-Extensions") != "", version == "0.3" || version == "0.2"; got != old {
					t.Errorf("the old name of the extensions header: %v", got)
				}
				if r, err := c.Await(ctx, r.TaskID); err != nil || r.Text() != "dry" {
					t.Errorf("await an ended task: %v %v", r, err)
				}
				if r, err := chat.Call(ctx, c, rpc.Say("reply")); err != nil || r.Text() != "at once" {
					t.Errorf("reply: %v %v", r, err)
				}
				var ask *rpc.InputRequiredError
				if _, err := chat.Call(ctx, c, rpc.Say("ask")); !errors.As(err, &ask) {
					t.Fatalf("ask: %v", err)
				}
				if r, err := chat.Answer(ctx, c, ask, runtime.Text("Friday")); err != nil || r.Text() != "for Friday" {
					t.Errorf("answer: %v %v", r, err)
				}
				var failed *rpc.TaskError
				if _, err := chat.Call(ctx, c, rpc.Say("fail")); !errors.As(err, &failed) {
					t.Errorf("fail: %v", err)
				}
				if _, err := c.Await(ctx, "nobody"); !errors.Is(err, runtime.ErrTaskNotFound) {
					t.Errorf("await an unknown task: %v", err)
				}
			})
		}
	})
}
