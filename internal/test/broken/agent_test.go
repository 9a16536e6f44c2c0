package broken

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/grpcserver"
	"github.com/a2agen/a2agen/runtime/server/webhooks"
)

// faces are the interfaces of the good agent: version, binding and where it is served.
var faces = []struct{ version, binding, path string }{
	{"1.0", runtime.BindingJSONRPC, "/rpc"},
	{"1.0", runtime.BindingHTTP, "/rest"},
	{"1.0", runtime.BindingGRPC, ""},
	{"0.3", runtime.BindingJSONRPC, "/rpc"},
	{"0.3", runtime.BindingHTTP, "/rest"},
	{"0.3", runtime.BindingGRPC, ""},
	{"0.2", runtime.BindingJSONRPC, "/rpc"},
	{"0.1", runtime.BindingJSONRPC, "/rpc"},
}

// newServer makes the good agent, which is at an address.
func newServer(t *testing.T, addr string, versions ...string) *server.Server {
	t.Helper()
	p := a2awires.Protocol()
	card, err := p.DecodeCard([]byte(cardText(addr, versions)))
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(
		server.Config{Protocol: p, Card: card, Skills: []server.Skill{{ID: "desk", Name: "Desk", Run: desk}}},
		grpcserver.Serve(), webhooks.Send(), server.WithPushTargets("127.0.0.1"),
		server.WithCompat(server.Compat{StrictVersion: len(versions) == 1}), server.WithClock(ticking()),
		server.WithLogger(slog.New(slog.DiscardHandler)),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// ticking is a clock on which a millisecond passes between any two readings: in a bubble no time passes by itself, and
// tasks are told apart by the times of their statuses.
func ticking() func() time.Time {
	begin, n := time.Now(), atomic.Int64{}
	return func() time.Time { return begin.Add(time.Duration(n.Add(1)) * time.Millisecond) }
}

// cardText is the card of the good agent, with every interface.
func cardText(addr string, versions []string) string {
	type face struct {
		URL             string `json:"url"`
		ProtocolBinding string `json:"protocolBinding"`
		ProtocolVersion string `json:"protocolVersion"`
	}
	var list []face
	for _, f := range faces {
		if len(versions) > 0 && !slices.Contains(versions, f.version) {
			continue
		}
		url := "http://" + addr + f.path
		if f.binding == runtime.BindingGRPC {
			url = addr
		}
		list = append(list, face{url, f.binding, f.version})
	}
	text, _ := json.Marshal(list)
	return `{"name":"Desk","description":"Answers travellers.","version":"1.0.0","supportedInterfaces":` + string(text) + `,
		"capabilities":{"streaming":true,"pushNotifications":true},
		"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],
		"skills":[{"id":"desk","name":"Desk","description":"Answers.","tags":["travel"]}]}`
}

// desk does what the first word of a message says; to any other it answers with a task that is completed.
func desk(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
	if t.Resumed() {
		return []byte("Booked for " + t.Text() + "."), nil
	}
	word, _, _ := strings.Cut(t.Text(), " ")
	switch word {
	case "message":
		return nil, t.Reply(runtime.Text("Good morning."))
	case "ask":
		return nil, t.Ask("For which day?")
	case "stream":
		w := t.Stream("words")
		return nil, errors.Join(w.Part(runtime.Text("one ")), w.Part(runtime.Text("two ")), w.Last(runtime.Text("three")))
	case "wait":
		if err := t.Progress("Waiting."); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if err := t.Progress("Looking at the map."); err != nil {
		return nil, err
	}
	return []byte("You said " + t.Text() + "."), nil
}
