// Package interop holds tests of the wire against a real peer: the official Go SDK's client drives our server, and our
// client drives its server.
package interop

import (
	"context"
	"errors"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// What both agents of these tests say, ours and the peer's.
const (
	greeting = "Good morning."
	progress = "Looking at the map."
	forecast = "Dry until ten, then \"showers\" – 11 °C."
	question = "For which day?"
	chunks   = 5
)

func chunk(i int) string { return "line " + strconv.Itoa(i) + "\n" }

// wholeText is what a streamed artifact says in the end.
func wholeText() string {
	var b strings.Builder
	for i := range chunks {
		b.WriteString(chunk(i))
	}
	return b.String()
}

// desk is our agent. It has one skill that does what the first word of a message says.
type desk struct {
	release chan struct{} // closed to end the work on "wait"
}

// startDesk serves the agent and returns its URL.
func startDesk(t *testing.T) (*desk, string) {
	t.Helper()
	return serveDesk(t, a2a.Protocol())
}

// serveDesk serves the agent in all versions of the protocol package. capabilities are members of the card's beside
// streaming.
func serveDesk(t *testing.T, p *runtime.Protocol, capabilities ...string) (*desk, string) {
	t.Helper()
	var interfaces []string
	for _, v := range p.Versions {
		interfaces = append(interfaces, `{"url":"http://localhost/","protocolBinding":"JSONRPC","protocolVersion":"`+v.Name+`"}`)
	}
	card, err := p.DecodeCard([]byte(`{"name":"Travel Desk","description":"Answers travellers.","version":"1.2.3",
		"supportedInterfaces":[` + strings.Join(interfaces, ",") + `],
		"capabilities":{` + strings.Join(append(capabilities, `"streaming":true`), ",") + `},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"skills":[{"id":"desk","name":"Desk","description":"Answers.","tags":["travel"]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{release: make(chan struct{})}
	s, err := server.New(server.Config{
		Protocol: p, Card: card,
		Skills: []server.Skill{{ID: "desk", Name: "Desk", Description: "Answers.", Tags: []string{"travel"}, Run: d.run}},
	}, server.WithLogger(slog.New(slog.DiscardHandler)), webhooks.Send(), server.WithPushTargets("127.0.0.1"))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(s)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // what still runs is not waited for
		s.Shutdown(ctx)
		srv.Close()
	})
	return d, srv.URL
}

func (d *desk) run(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
	if t.Resumed() {
		return nil, t.Artifact("booking", runtime.Text("Booked for "+t.Text()+"."))
	}
	switch t.Text() {
	case "hello":
		return nil, t.Reply(runtime.Text(greeting))
	case "forecast":
		if err := t.Progress(progress); err != nil {
			return nil, err
		}
		return nil, t.Artifact("forecast", runtime.Text(forecast), runtime.Data(map[string]any{"celsius": 11}),
			runtime.File("radar.bin", "application/octet-stream", []byte{0, 1, 2, 255}))
	case "tell":
		return nil, d.tell(t)
	case "wait":
		return nil, d.wait(ctx, t)
	case "book":
		return nil, t.Ask(question)
	case "break":
		return nil, errors.New("the database password is secret")
	}
	return nil, t.Reject("I do not know this word.")
}

func (d *desk) tell(t *server.Task) error {
	if err := t.Progress(progress); err != nil {
		return err
	}
	w := t.Stream("story")
	for i := range chunks {
		if _, err := w.WriteString(chunk(i)); err != nil {
			return err
		}
	}
	return w.Close()
}

func (d *desk) wait(ctx context.Context, t *server.Task) error {
	if err := t.Progress(progress); err != nil {
		return err
	}
	select {
	case <-d.release:
		return t.Artifact("late", runtime.Text(forecast))
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// equal fails unless got is want.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// sequence fails unless got is want.
func sequence[T comparable](t *testing.T, what string, got []T, want ...T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s are %v, want %v", what, got, want)
	}
}

func ok[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
