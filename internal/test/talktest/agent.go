// Package talktest has an agent of all protocol versions to talk to in tests.
package talktest

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/server"
)

const card = `{"name":"tester","description":"d","version":"1","capabilities":{"streaming":true,"extensions":[{"uri":"` + runtime.SkillsExtension + `"}]},
"supportedInterfaces":[INTERFACES],
"defaultInputModes":["text/plain","application/json"],"defaultOutputModes":["text/plain","application/json"],
"skills":[{"id":"chat","name":"Chat","description":"d","tags":["chat"]},{"id":"forecast","name":"Forecast","description":"d","tags":["weather"]}]}`

const input = `{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city","days"]}`

// Agent starts an agent on this machine. stop ends it.
func Agent() (url string, stop func(), err error) {
	p := a2awires.Protocol()
	var interfaces []string
	for _, v := range p.Versions {
		interfaces = append(interfaces, `{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"`+v.Name+`"}`)
	}
	c, err := p.DecodeCard([]byte(strings.Replace(card, "INTERFACES", strings.Join(interfaces, ","), 1)))
	if err != nil {
		return "", nil, err
	}
	skills := []server.Skill{
		{ID: "chat", Name: "Chat", Run: chat},
		{ID: "forecast", Name: "Forecast", InputSchema: input, OutputSchema: `{"type":"object"}`, Run: forecast},
	}
	s, err := server.New(server.Config{Protocol: p, Card: c, Skills: skills}, server.WithLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return "", nil, err
	}
	web := httptest.NewServer(guard(s))
	return web.URL, func() { _ = s.Close(); web.Close() }, nil // a test that failed may have left tasks
}

// guard asks for a key below /locked and for a token below /token, and serves there what is at the root. Who is refused is
// told what was shown. Below /forbidden there is nothing for anybody.
func guard(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", next)
	for at, want := range map[string]struct{ header, value, challenge string }{
		"/locked": {"X-Key", "k", "Key"}, "/token": {"Authorization", "Bearer s3cr-t", "Bearer"},
	} {
		free := http.StripPrefix(at, next)
		mux.HandleFunc(at+"/", func(w http.ResponseWriter, r *http.Request) {
			if shown := r.Header.Get(want.header); shown != want.value {
				w.Header().Set("WWW-Authenticate", want.challenge)
				http.Error(w, "who is "+shown+"?", http.StatusUnauthorized)
				return
			}
			free.ServeHTTP(w, r)
		})
	}
	mux.HandleFunc("/forbidden/", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "not you", http.StatusForbidden) })
	return mux
}

// chat does what it is told.
func chat(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
	switch text := t.Text(); {
	case t.Resumed():
		return []byte("for " + text), nil
	case text == "ask":
		return nil, t.Ask("For which day?")
	case text == "pick":
		return nil, t.Ask("Which one?", map[string]any{"choices": []string{"train", "plane"}})
	case text == "report":
		return []byte("see the report"), t.Artifact("report", runtime.Text("page one"), runtime.Data(map[string]any{"pages": 1}))
	case text == "closing", text == "twice":
		last := map[string]string{"closing": "that is all", "twice": "a map"}[text]
		if err := t.Artifact("map", runtime.Text("a map")); err != nil {
			return nil, err
		}
		return nil, t.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text(last)))
	case text == "auth":
		return nil, t.RequireAuth(server.AuthRequest{Prompt: "log in"})
	case text == "fail":
		return nil, t.Fail("no map")
	case text == "reply":
		return nil, t.Reply(runtime.Text("at once"))
	case text == "file":
		return []byte("see the file"), t.Artifact("map", runtime.File("../../map.txt", "text/plain", []byte("a map\n")))
	case text == "escape":
		return []byte("\x1b[2Jred"), nil
	case text == "wait":
		if err := t.Call().Begin(); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	case text == "stream":
		w := t.Stream("words")
		for _, word := range []string{"one ", "two ", "three"} {
			if _, err := io.WriteString(w, word); err != nil {
				return nil, err
			}
		}
		return nil, w.Close()
	case len(t.Parts()) > 1:
		return []byte(text + " and " + t.Parts()[1].Filename), nil
	}
	if err := t.Progress("looking"); err != nil {
		return nil, err
	}
	return []byte("you said " + t.Text()), nil
}

func forecast(_ context.Context, t *server.Task, in any) ([]byte, error) {
	var v struct {
		City string
		Days int
	}
	if err := json.Unmarshal(in.([]byte), &v); err != nil {
		return nil, invalid("/city", err.Error())
	}
	if v.Days == 0 {
		return nil, invalid("/days", "required, but missing")
	}
	if v.City == "Paris" {
		if err := t.Artifact("note", runtime.Text("it is Paris")); err != nil {
			return nil, err
		}
	}
	return json.Marshal(map[string]any{"city": v.City, "sky": []string{"blue", "grey"}})
}

func invalid(pointer, message string) error {
	return server.InvalidInput(&check.Error{Violations: []check.Violation{{Pointer: pointer, Message: message}}})
}
