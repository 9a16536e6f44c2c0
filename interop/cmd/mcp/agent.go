package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/server/mcpserver"
)

// The contract of the typed skill, and what it asks for.
const (
	input  = `{"type":"object","properties":{"city":{"type":"string","minLength":1},"days":{"type":"integer","minimum":1,"maximum":5,"default":3}},"required":["city"]}`
	output = `{"type":"object","properties":{"text":{"type":"string"},"days":{"type":"array","items":{"type":"integer"}}},"required":["text","days"]}`
	state  = `{"type":"object","properties":{"state":{"type":"string","enum":["Illinois","Ohio"]}},"required":["state"]}`
)

const agentCard = `{"name":"weather","description":"Knows the weather.","version":"1","capabilities":{"streaming":true,"extensions":[
	{"uri":"` + runtime.SkillsExtension + `","params":{"skills":{"get_forecast":{"input":` + input + `,"output":` + output + `}}}}]},
	"supportedInterfaces":[{"url":"/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}],
	"defaultInputModes":["text/plain","application/json"],"defaultOutputModes":["text/plain","application/json"],
	"skills":[{"id":"get_forecast","name":"Forecast","description":"The weather of the next days.","tags":["weather"],"examples":["Rome, two days"]},
	{"id":"say","name":"Say","description":"Does what it is told.","tags":["chat"]}]}`

// pause is between progress and result: the SDK for TypeScript forgets progress that it reads together with the result.
const pause = 200 * time.Millisecond

// agent is the agent that all hosts use.
type agent struct {
	url      string
	close    func()
	canceled chan struct{} // gets a value for each task that was canceled
}

func startAgent() (*agent, error) {
	a := &agent{canceled: make(chan struct{}, 10)}
	p := a2a.Protocol()
	card, err := p.DecodeCard([]byte(agentCard))
	if err != nil {
		return nil, err
	}
	s, err := server.New(server.Config{Protocol: p, Card: card, Skills: []server.Skill{
		{
			ID: "get_forecast", Name: "Forecast", Description: "The weather of the next days.", Examples: []string{"Rome, two days"},
			InputSchema: input, OutputSchema: output, Run: forecast,
		},
		{ID: "say", Name: "Say", Description: "Does what it is told.", Run: a.say},
	}}, server.WithLogger(slog.New(slog.DiscardHandler)), mcpserver.Serve(a2a.ClientProtocol()))
	if err != nil {
		return nil, err
	}
	web := httptest.NewServer(s)
	a.url, a.close = web.URL, func() { _ = s.Close(); web.Close() }
	return a, nil
}

// wasCanceled waits until a task is canceled.
func (a *agent) wasCanceled() error {
	select {
	case <-a.canceled:
		return nil
	case <-time.After(time.Minute):
		return errors.New("the task of the canceled call goes on")
	}
}

func forecast(_ context.Context, t *server.Task, in any) ([]byte, error) {
	var v struct {
		City  string `json:"city"`
		Days  int    `json:"days"`
		State string `json:"state"`
	}
	if err := json.Unmarshal(in.([]byte), &v); err != nil {
		return nil, err
	}
	if v.City == "" {
		return nil, server.InvalidInput(&check.Error{Violations: []check.Violation{{Pointer: "/city", Message: "must be at least 1 character long"}}})
	}
	if t.Resumed() {
		for _, p := range t.Parts() {
			_ = json.Unmarshal(p.Data, &v) // what is no data says nothing
		}
	}
	if v.City == "Springfield" && v.State == "" {
		return nil, t.Ask("Which Springfield?", map[string]any{"skill": "get_forecast", "input": json.RawMessage(state)})
	}
	if err := t.Progress("Looking at the sky over %s.", v.City); err != nil {
		return nil, err
	}
	time.Sleep(pause)
	days := make([]int, max(v.Days, 1))
	return json.Marshal(map[string]any{"text": "Sun in " + v.City + v.State, "days": days})
}

func (a *agent) say(ctx context.Context, t *server.Task, _ any) ([]byte, error) {
	switch t.Text() {
	case "fail":
		return nil, t.Fail("no map of that")
	case "files":
		return []byte("see the files"), t.Artifact("files", runtime.File("dot.png", "image/png", []byte{0x89, 'P', 'N', 'G'}),
			runtime.File("notes.txt", "text/plain", []byte("words")), runtime.File("x.pdf", "application/pdf", []byte("%PDF")))
	case "wait":
		if err := t.Call().Begin(); err != nil {
			return nil, err
		}
		<-ctx.Done()
		a.canceled <- struct{}{}
		return nil, ctx.Err()
	case "stream":
		w := t.Stream("words")
		for _, word := range []string{"one ", "two ", "three"} {
			if _, err := io.WriteString(w, word); err != nil {
				return nil, err
			}
		}
		time.Sleep(pause)
		return nil, w.Close()
	}
	return []byte("you said " + t.Text()), nil
}
