package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// startStories starts an agent of all versions in this process that tells webhooks on this machine about its tasks.
func startStories() (url string, stop func(), err error) {
	p := a2awires.Protocol()
	var interfaces []string
	for _, v := range p.Versions {
		interfaces = append(interfaces, `{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"`+v.Name+`"}`)
	}
	card, err := p.DecodeCard([]byte(`{"name":"Travel Desk","description":"Answers travellers.","version":"1.0.0",
		"supportedInterfaces":[` + strings.Join(interfaces, ",") + `],
		"capabilities":{"streaming":true,"pushNotifications":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"skills":[{"id":"desk","name":"Desk","description":"Answers.","tags":["travel"]}]}`))
	if err != nil {
		return "", nil, err
	}
	s, err := server.New(server.Config{Protocol: p, Card: card, Skills: []server.Skill{{ID: "desk", Name: "Desk", Run: answer}}},
		webhooks.Send(), server.WithPushTargets("127.0.0.1"), server.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return "", nil, err
	}
	web := httptest.NewServer(http.Handler(s))
	return web.URL, func() { _ = s.Close(); web.Close() }, nil
}

// answer does what the first word of a message says: tell a story, ask for a day, or wait until it is canceled.
func answer(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
	switch {
	case t.Resumed():
		return nil, t.Artifact("booking", runtime.Text("Booked for "+t.Text()+"."))
	case t.Text() == "book":
		return nil, t.Ask("For which day?")
	}
	if err := t.Progress("Looking at the map."); err != nil {
		return nil, err
	}
	if t.Text() == "wait" {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	w := t.Stream("story")
	for i := range storyLines {
		if _, err := fmt.Fprint(w, storyLine(i)); err != nil {
			return nil, err
		}
	}
	return nil, w.Close()
}

const storyLines = 5

func storyLine(i int) string { return fmt.Sprintf("line %d\n", i) }
