package route

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/wire"
)

// TestAChoiceSaysWhichRuleDecided and what the others would have said.
func TestAChoiceSaysWhichRuleDecided(t *testing.T) {
	decode := func(in []byte) (any, error) {
		if string(in) != `{"city":"Rome"}` {
			return nil, errors.New("no city")
		}
		return nil, nil
	}
	k, err := New([]Skill{
		{ID: "forecast", Name: "Forecast", Tags: []string{"weather", "rain"}, Decode: decode, InputModes: []string{"application/json", "text/plain"}},
		{ID: "routes", Name: "Routes", Tags: []string{"travel"}, Examples: []string{"a route in the rain"}},
		{ID: "chat", Name: "Chat", Default: true, InputModes: []string{"text/plain", "application/json"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	choose := func(m Message) string {
		m.Choice = &Choice{}
		if _, err := k.Route(t.Context(), &m); err != nil {
			m.Choice.Error = "refused"
		}
		text, err := json.Marshal(m.Choice)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	say := func(text string) []runtime.Part { return []runtime.Part{runtime.Text(text)} }
	data := func(text string) []runtime.Part { return []runtime.Part{runtime.Data(json.RawMessage(text))} }
	silent := `{"skill":"forecast","media":true,"score":0},{"skill":"routes","media":true,"score":0},{"skill":"chat","media":true,"score":0}`
	for name, tt := range map[string]struct {
		m    Message
		want string
	}{
		"words": {Message{Parts: say("Rain tomorrow?")}, `{"rule":"words","skill":"forecast","candidates":[{"skill":"forecast","media":true,"score":1.5,"words":{"rain":1.5}},` +
			`{"skill":"routes","media":true,"score":0.5,"words":{"rain":0.5}},{"skill":"chat","media":true,"score":0}]}`},
		"schema": {Message{Parts: data(`{"city":"Rome"}`)}, `{"rule":"schema","skill":"forecast","candidates":[{"skill":"forecast","media":true,"schema":"fits","score":0},` +
			`{"skill":"routes","media":true,"score":0},{"skill":"chat","media":true,"score":0}]}`},
		"media": {Message{Parts: []runtime.Part{runtime.File("x.png", "image/png", []byte("x"))}}, `{"rule":"media","skill":"routes","candidates":[{"skill":"forecast","media":false,"score":0},` +
			`{"skill":"routes","media":true,"score":0},{"skill":"chat","media":false,"score":0}]}`},
		"default":  {Message{Parts: say("hello")}, `{"rule":"default","skill":"chat","candidates":[` + silent + `]}`},
		"router":   {Message{Parts: say("hello"), Router: func() (string, error) { return "routes", nil }}, `{"rule":"router","skill":"routes","candidates":[` + silent + `]}`},
		"metadata": {Message{Parts: say("hello"), Metadata: wire.Object(`{"skillId":"chat"}`)}, `{"rule":"metadata","skill":"chat","candidates":[` + silent + `]}`},
		"data": {Message{Parts: data(`{"skill":"chat","input":{}}`)}, `{"rule":"data","skill":"chat","candidates":[{"skill":"forecast","media":true,"schema":"no city","score":0},` +
			`{"skill":"routes","media":true,"score":0},{"skill":"chat","media":true,"score":0}]}`},
		"none": {Message{Parts: data(`{"x":1}`)}, `{"error":"refused","candidates":[{"skill":"forecast","media":true,"schema":"no city","score":0},` +
			`{"skill":"routes","media":true,"score":0},{"skill":"chat","media":true,"score":0}]}`},
	} {
		if got := choose(tt.m); got != tt.want {
			t.Errorf("%s:\n%s\nnot\n%s", name, got, tt.want)
		}
	}
}
