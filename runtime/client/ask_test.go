package client_test

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	a2a "github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// other is a skill of the same agent.
var other = rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "forecast", In: rpc.PlainInput, Out: rpc.PlainOutput}

// faultIs fails the test unless an error is an *AskError of the fault.
func faultIs(t *testing.T, err error, want rpc.AskFault) *rpc.AskError {
	t.Helper()
	var fault *rpc.AskError
	if !errors.As(err, &fault) || fault.Fault != want || err.Error() == "" {
		t.Fatalf("got %v, want %s", err, want)
	}
	return fault
}

// TestAQuestionIsAnsweredDaysLater by another client, over another binding, from a text that is kept meanwhile.
func TestAQuestionIsAnsweredDaysLater(t *testing.T) {
	for _, version := range []string{"1.0", "0.3"} {
		over(t, func(t *testing.T, binding string) {
			later := bindings[(slices.Index(bindings, binding)+1)%len(bindings)]
			t.Run(version+"/"+later, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := startFaulty(t, binding, version)
					defer f.stop()
					first := f.dial(f.card(keyed))
					_, err := chat.Call(t.Context(), first, rpc.Say("ask"))
					var ask *rpc.InputRequiredError
					if !errors.As(err, &ask) {
						t.Fatal(err)
					}
					token := ask.Token()
					first.Close()
					if token == "" || len(token) > 300 || strings.Trim(token, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") != "" {
						t.Fatalf("the token %q", token)
					}
					time.Sleep(72 * time.Hour)
					f.binding = later
					c := f.dial(f.card(keyed))
					defer c.Close()
					again, err := c.Ask(t.Context(), token)
					if err != nil || again.Prompt != "which one?" || again.TaskID != ask.TaskID || again.ContextID != ask.ContextID || again.Token() == "" {
						t.Fatalf("%+v, %v", again, err)
					}
					_, err = other.Answer(t.Context(), c, again, runtime.Text("b"))
					if fault := faultIs(t, err, rpc.AskOtherSkill); fault.Skill != "chat" {
						t.Errorf("got %+v", fault)
					}
					r, err := chat.Answer(t.Context(), c, again, runtime.Text("b"))
					if err != nil || r.Text() != "you said b" {
						t.Errorf("%+v, %v", r, err)
					}
					_, err = c.Ask(t.Context(), token)
					if fault := faultIs(t, err, rpc.AskEnded); fault.Result.Text() != "you said b" {
						t.Errorf("got %+v", fault)
					}
					time.Sleep(100 * time.Hour)
					_, err = c.Ask(t.Context(), token)
					faultIs(t, err, rpc.AskGone)
				})
			})
		})
	}
}

// question is a task that waits, as it was asked by a message.
func question(state, message string) string {
	return `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_` + state + `","message":{"messageId":"` + message + `","role":"ROLE_AGENT","parts":[{"text":"which?"}]}}}`
}

func TestAQuestionThatIsNoLongerAskedIsNamed(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{
			"SendMessage": {result(`{"task":` + question("INPUT_REQUIRED", "q1") + `}`)},
			"GetTask":     {result(question("WORKING", "m")), result(question("INPUT_REQUIRED", "q2")), result(question("INPUT_REQUIRED", "q1")), result(question("AUTH_REQUIRED", "q1"))},
		})
		c := f.dial()
		_, err := chat.Call(t.Context(), c, rpc.Say("hi"))
		var ask *rpc.InputRequiredError
		if !errors.As(err, &ask) {
			t.Fatal(err)
		}
		token := ask.Token()
		_, err = c.Ask(t.Context(), token)
		faultIs(t, err, rpc.AskAnswered)
		_, err = c.Ask(t.Context(), token)
		if fault := faultIs(t, err, rpc.AskChanged); fault.Now == nil || fault.Now.Token() == token {
			t.Errorf("got %+v", fault)
		}
		for range 2 {
			if again, err := c.Ask(t.Context(), " "+token+"\n"); err != nil || again.Token() != token {
				t.Errorf("got %+v, %v", again, err)
			}
		}
		for what, card := range map[string]string{
			"another agent":  strings.Replace(f.card(cardJSON("http://elsewhere.example", "", declared)), `"name":"weather"`, `"name":"travel"`, 1),
			"another tenant": f.card(cardJSON(f.url, `,"tenant":"acme"`, declared)),
		} {
			if binding == runtime.BindingGRPC && what == "another agent" {
				card = strings.Replace(card, "http://elsewhere.example", "elsewhere.example:443", 1)
			}
			stranger, err := rpc.FromCard(a2a.Protocol(), decodeCard(t, card), withGRPC(nil)...)
			if err != nil {
				t.Fatal(err)
			}
			_, err = stranger.Ask(t.Context(), token)
			if fault := faultIs(t, err, rpc.AskOtherAgent); fault.Agent != "weather" || fault.TaskID != "t1" {
				t.Errorf("%s: %+v", what, fault)
			}
			stranger.Close()
		}
		renamed := f.dialCard(strings.Replace(cardJSON(f.url, "", declared), `"name":"weather"`, `"name":"skies"`, 1))
		if _, err := renamed.Ask(t.Context(), token); err != nil {
			t.Errorf("of an agent that was renamed: %v", err)
		}
	})
}

func TestATokenIsReadStrictly(t *testing.T) {
	c := newFake(t, runtime.BindingJSONRPC, nil).dial()
	text := func(json string) string { return "ask1." + base64.RawURLEncoding.EncodeToString([]byte(json)) }
	whole := text(`{"t":"t1","s":"chat"}`)
	for name, token := range map[string]string{
		"nothing": "", "no token": "t1", "another version": "ask2." + whole[5:], "cut": whole[:len(whole)-4], "cut in a byte": whole[:len(whole)-1],
		"a member more": text(`{"t":"t1","x":1}`), "no task": text(`{"s":"chat"}`), "two": text(`{"t":"t1"}{}`), "no object": text(`["t1"]`), "padded": whole + "==",
		"another alphabet": whole + "+/+/", "too long": text(`{"t":"` + strings.Repeat("x", 4000) + `"}`),
		"changed": whole[:10] + "*" + whole[11:],
	} {
		t.Log(name)
		_, err := c.Ask(t.Context(), token)
		if fault := faultIs(t, err, rpc.AskMalformed); strings.Contains(err.Error(), "chat") || fault.Err == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	long := &rpc.InputRequiredError{TaskID: strings.Repeat("x", 513)}
	if got := long.Token(); got != "" {
		t.Errorf("a task with a long id gives %.20s…", got)
	}
}
