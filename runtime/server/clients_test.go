package server_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/observe"
	"github.com/a2agen/a2agen/runtime/server"
)

// silent is an observer that does nothing.
type silent struct{ name string }

func (silent) Begin(ctx context.Context, _ *observe.Activity) context.Context { return ctx }
func (silent) End(context.Context, *observe.Activity)                         {}

func callingConfig(t *testing.T) server.Config {
	return server.Config{Protocol: a2a.Protocol(), Card: readCard(t, testCard), Skills: []server.Skill{
		{ID: "plan", Run: func(context.Context, *server.Task, any) ([]byte, error) { return nil, nil }},
	}}
}

func TestClientsHaveTheObserversThatAreAddedAfterThem(t *testing.T) {
	var log bytes.Buffer
	var given []observe.Observer
	closed := 0
	srv, err := server.New(callingConfig(t),
		server.WithObserver(silent{"generated"}),
		server.WithClients(func(list []observe.Observer) (func(), error) {
			given = list
			return func() { closed++ }, nil
		}),
		server.WithLogger(slog.New(slog.NewTextHandler(&log, nil))), server.WithObserver(silent{"mine"}))
	if err != nil {
		t.Fatal(err)
	}
	if len(given) != 2 || given[0] != observe.Observer(silent{"mine"}) {
		t.Fatalf("got %v, want mine and one that logs", given)
	}
	given[1].End(t.Context(), &observe.Activity{Kind: observe.Call, Peer: "weather:80", Skill: "forecast"})
	if log.Len() > 0 {
		t.Errorf("a call that went well is logged at level info: %s", log.String())
	}
	given[1].End(t.Context(), &observe.Activity{
		Kind: observe.Call, Peer: "weather:80", Skill: "forecast", Reason: "UNAVAILABLE",
	})
	for _, want := range []string{"level=INFO", "weather:80", "forecast", "UNAVAILABLE"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log of a call that failed has no %q: %s", want, log.String())
		}
	}
	if strings.Contains(log.String(), "task=") {
		t.Errorf("the log has a task, and the call never had one: %s", log.String())
	}
	change := &observe.CardChange{Agent: "Weather", Changes: []string{"skill gone"}}
	given[1].(observe.CardWatcher).CardChanged(t.Context(), change)
	if !strings.Contains(log.String(), "skill gone") {
		t.Errorf("the log does not say that a card changed: %s", log.String())
	}
	if closed > 0 {
		t.Error("the clients are closed while the server runs")
	}
	if err := srv.Close(); err != nil || closed != 1 {
		t.Errorf("closed %d times with the server, %v", closed, err)
	}
}

func TestClientsAreClosedWhenTheServerCannotStart(t *testing.T) {
	closed := 0
	open := func([]observe.Observer) (func(), error) { return func() { closed++ }, nil }
	cfg := callingConfig(t)
	cfg.Card = nil
	if _, err := server.New(cfg, server.WithClients(open)); err == nil || closed != 1 {
		t.Errorf("closed %d times, %v", closed, err)
	}
}

func TestAnAgentDoesNotStartWithoutItsClients(t *testing.T) {
	cause := errors.New("no such binding")
	open := func([]observe.Observer) (func(), error) { return nil, cause }
	_, err := server.New(callingConfig(t), server.WithClients(open))
	if !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
}
