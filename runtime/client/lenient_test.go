package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

const blue = `{"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"a","parts":[{"data":{"sky":"blue"}}]}}}`

// reportOutput is an output of which the agent has a newer schema than the client.
type reportOutput struct {
	Sky  string `json:"sky"`
	Wind int    `json:"wind"`
}

func (v *reportOutput) UnmarshalJSON(src []byte) error {
	type plain output
	var part plain
	if err := (*output)(&part).UnmarshalJSON(src); err != nil {
		return err
	}
	v.Sky = part.Sky
	return violation("/wind", "required, but missing")
}

var report = rpc.Skill[*input, *reportOutput]{ID: "report", In: rpc.DataInput[input], Out: rpc.DataOutput[reportOutput]}

func TestAnOutputThatBreaksItsSchemaIsNotThrownAway(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		done := finished("COMPLETED", "", artifact(`{"data":{"sky":"blue"}}`, ""))
		f := newFake(t, binding, map[string][]reply{"SendMessage": {result(done)}})
		_, err := report.Call(t.Context(), f.dial(), &input{"Rome"})
		var broken *rpc.OutputError
		var why *check.Error
		if !errors.As(err, &broken) || !errors.As(err, &why) || !errors.Is(err, runtime.ErrInvalidAgentResponse) {
			t.Fatalf("error %v", err)
		}
		var data struct{ Sky string }
		if err := broken.Result.Data(&data); err != nil || data.Sky != "blue" || broken.Skill != "report" {
			t.Errorf("result %+v, %v", data, err)
		}
		if broken.Result.Task == nil || broken.Result.TaskID != "t1" {
			t.Errorf("task %v", broken.Result.Task)
		}
		out, err := report.Call(t.Context(), f.dial(), &input{"Rome"}, rpc.Lenient())
		if err != nil || out.Sky != "blue" || out.Wind != 0 {
			t.Errorf("lenient: %+v, %v", out, err)
		}
	})
}

func TestALenientCallTakesNoOutputOfWhichNothingCanBeDecoded(t *testing.T) {
	f := newFake(t, "JSONRPC", map[string][]reply{"SendMessage": {result(finished("COMPLETED", "", artifact(`{"data":{"air":"thin"}}`, "")))}})
	var broken *rpc.OutputError
	if out, err := forecast.Call(t.Context(), f.dial(), &input{"Rome"}, rpc.Lenient()); !errors.As(err, &broken) {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestAnAnswerTakesOptionsAndIsAStream(t *testing.T) {
	f := newFake(t, "JSONRPC", map[string][]reply{
		"SendMessage":          {result(finished("INPUT_REQUIRED", `{"text":"unit?"}`, "")), result(finished("COMPLETED", "", artifact(`{"data":{"sky":"blue"}}`, "")))},
		"SendStreamingMessage": {events(taskWorking, blue, completed)},
	})
	c := f.dial()
	_, err := forecast.Call(t.Context(), c, &input{"Rome"})
	var ask *rpc.InputRequiredError
	if !errors.As(err, &ask) {
		t.Fatal(err)
	}
	if out, err := forecast.Answer(t.Context(), c, ask.With(rpc.Header("X-Trace", "7")), runtime.Text("C")); err != nil || out.Sky != "blue" {
		t.Fatalf("%+v, %v", out, err)
	}
	if got := f.call(1).Header.Get("X-Trace"); got != "7" {
		t.Errorf("X-Trace is %q", got)
	}
	_, last, err := steps(forecast.AnswerStream(t.Context(), c, ask.With(rpc.Header("X-Trace", "8")), runtime.Text("C")))
	if err != nil || !last.Done || last.Output.Sky != "blue" {
		t.Fatalf("%+v, %v", last, err)
	}
	if sent := f.call(2); sent.Header.Get("X-Trace") != "8" || !strings.Contains(string(sent.Params), `"contextId":"c1","taskId":"t1"`) {
		t.Errorf("sent %s, X-Trace %q", sent.Params, sent.Header.Get("X-Trace"))
	}
}

func TestACardAtHandIsReadWithItsFaults(t *testing.T) {
	card, err := rpc.ParseCard(a2a.ClientProtocol(), []byte(`{"name":"n","supportedInterfaces":[{"url":"https://x.example","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`))
	if err != nil || card.CardInfo().Name != "n" {
		t.Errorf("card %v, %v", card, err)
	}
	if _, err := rpc.ParseCard(a2a.ClientProtocol(), []byte(`{"url":"https://x.example","protocolVersion":"0.3.0"}`)); err == nil {
		t.Error("a card of 0.3 is read as one of 1.0")
	}
}
