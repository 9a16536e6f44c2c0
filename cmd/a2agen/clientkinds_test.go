package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
)

// agentOf VAR VERSION/BINDING... starts an agent that speaks nothing else and sets VAR to its URL.
func agentOf(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: agentOf VAR VERSION/BINDING...")
	}
	opts := []server.Option{server.WithLogger(slog.New(slog.DiscardHandler)), server.WithoutAuth()}
	if strings.HasSuffix(args[1], "/"+runtime.BindingGRPC) {
		opts = append(opts, grpcserver.Serve())
	}
	s, err := server.New(configOf(ts, args[1:]), opts...)
	ts.Check(err)
	if args[1] == "0.1/JSONRPC" {
		srv := httptest.NewServer(earliest(s))
		ts.Defer(srv.Close)
		ts.Setenv(args[0], srv.URL)
		return
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, ln) }()
	ts.Defer(func() { cancel(); <-served })
	ts.Setenv(args[0], "http://"+ln.Addr().String())
}

// configOf is an agent of one skill at some interfaces, whose card lists them in that order.
func configOf(ts *testscript.TestScript, interfaces []string) server.Config {
	p := a2awires.Protocol()
	p.Whole = p.Versions[0]
	var list, names []string
	for _, i := range interfaces {
		version, binding, _ := strings.Cut(i, "/")
		names = append(names, version)
		list = append(list, fmt.Sprintf(`{"url":"/","protocolBinding":%q,"protocolVersion":%q}`, binding, version))
	}
	card, err := p.DecodeCard([]byte(`{"name":"tester","description":"d","version":"1","capabilities":{"streaming":true},"supportedInterfaces":[` +
		strings.Join(list, ",") + `],"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"skills":[{"id":"chat","name":"Chat","description":"Talks.","tags":["chat"]}]}`))
	ts.Check(err)
	p.Versions = slices.DeleteFunc(p.Versions, func(v *runtime.Version) bool { return !slices.Contains(names, v.Name) })
	chat := func(_ context.Context, t *server.Task, _ any) ([]byte, error) {
		return []byte("you said " + t.Text()), t.Progress("looking")
	}
	return server.Config{Protocol: p, Card: card, Skills: []server.Skill{{ID: "chat", Name: "Chat", Run: chat}}}
}

// earliest has the card at the one path that 0.1 has, with the member by which a card of 0.1 is known from one of 0.3.
func earliest(agent http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/.well-known/agent-card.json":
			http.NotFound(w, r)
		case "/.well-known/agent.json":
			card := httptest.NewRecorder()
			agent.ServeHTTP(card, r)
			fmt.Fprint(w, strings.Replace(card.Body.String(), "{", `{"authentication":{"schemes":[]},`, 1))
		default:
			agent.ServeHTTP(w, r)
		}
	})
}
