package conform_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/testkit/a2atest"
	"github.com/a2agen/a2agen/testkit/conform"
)

// card is that of an agent of ours; its one skill says itself what conformance can be tried with.
const card = `{"name":"Desk","description":"for tests","version":"1.0.0","capabilities":{"streaming":true},"supportedInterfaces":[INTERFACES],
"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
"skills":[{"id":"desk","name":"Desk","description":"Answers.","tags":["travel"],"examples":["hello"]}]}`

// contract is what the skill does.
var contract = conform.Contract{
	Ask: &conform.Step{Text: "ask", Answer: "today"}, Long: &conform.Step{Text: "wait"}, Auth: &conform.Step{Text: "auth"},
	Reply: &conform.Step{Text: "reply"}, Stream: &conform.Step{Text: "stream"},
}

// desk serves an agent of ours, of all versions over all bindings.
func desk(t *testing.T, change func(card string) string, opts ...server.Option) *a2atest.Agent {
	t.Helper()
	p := a2awires.Protocol()
	var interfaces []string
	for _, v := range p.Versions {
		for _, b := range []string{runtime.BindingJSONRPC, runtime.BindingHTTP} {
			if v.Over(b) != nil {
				path := map[string]string{runtime.BindingJSONRPC: "/rpc", runtime.BindingHTTP: "/rest"}[b]
				interfaces = append(interfaces, `{"url":"`+path+`","protocolBinding":"`+b+`","protocolVersion":"`+v.Name+`"}`)
			}
		}
	}
	text := strings.Replace(card, "INTERFACES", strings.Join(interfaces, ","), 1)
	if change != nil {
		text = change(text)
	}
	c, err := p.DecodeCard([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	cfg := server.Config{Protocol: p, Card: c, Skills: []server.Skill{{ID: "desk", Name: "Desk", Run: work}}}
	s, err := server.New(cfg, append([]server.Option{server.WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return a2atest.Serve(t, s)
}

// TestCallsWithoutAVersionAreNoFindingForAnAgentOfAnOldOne, as callers of 0.2 never say which they speak.
func TestCallsWithoutAVersionAreNoFindingForAnAgentOfAnOldOne(t *testing.T) {
	all := desk(t, nil)
	to, err := url.Parse(all.URL())
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", &httputil.ReverseProxy{Transport: all.HTTPClient().Transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }})
	mux.HandleFunc("/.well-known/agent-card.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		at := `{"url":"https://agent.test/rpc","protocolBinding":"JSONRPC","protocolVersion":`
		_, _ = io.WriteString(w, strings.Replace(card, "INTERFACES", at+`"1.0"},`+at+`"0.2"}`, 1))
	})
	a := a2atest.Serve(t, mux)
	report, err := conform.Run(t.Context(), conform.Config{URL: a.URL(), Dial: a.Dial, Only: []string{"version.none"}})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Interfaces) != 2 || len(report.Results) != 1 || report.Results[0].Outcome != conform.NotTried ||
		report.Results[0].Reason != "the agent speaks 0.2, which is tried by itself" {
		t.Errorf("%+v\n%+v", report.Interfaces, report.Results)
	}
}

func work(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
	switch text := t.Text(); {
	case t.Resumed():
		return []byte("for " + text), nil
	case text == "ask":
		return nil, t.Ask("For which day?")
	case text == "auth":
		return nil, t.RequireAuth(server.AuthRequest{Prompt: "log in"})
	case text == "reply":
		return nil, t.Reply(runtime.Text("at once"))
	case text == "wait":
		if err := t.Call().Begin(); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	case text == "stream":
		w := t.Stream("words")
		for _, word := range []string{"one ", "two ", "three"} {
			if _, err := w.Write([]byte(word)); err != nil {
				return nil, err
			}
		}
		return nil, w.Close()
	}
	return []byte("you said " + t.Text()), nil
}

// run tries an agent of the test.
func run(t *testing.T, a *a2atest.Agent, opts ...conform.Option) *conform.Report {
	t.Helper()
	c := conform.Config{URL: a.URL(), Dial: a.Dial, Contract: &contract}
	for _, o := range opts {
		o(&c)
	}
	r, err := conform.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestAnAgentOfOursHasNoFinding tries every version over every binding.
func TestAnAgentOfOursHasNoFinding(t *testing.T) {
	r := run(t, desk(t, nil))
	for _, x := range r.Results {
		if x.Outcome == conform.Failed {
			t.Errorf("%s", x)
		}
	}
	if n := r.Count(conform.Passed, conform.Must); n < 150 {
		t.Errorf("%d checks passed", n)
	}
	t.Logf("%d requests", r.Requests)
}

// TestAnAgentIsTriedInABubble: with virtual time, and nothing that is left running.
func TestAnAgentIsTriedInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := desk(t, nil)
		conform.Test(t, a.URL(), conform.WithDial(a.Dial), conform.WithContract(contract))
	})
}
