package client_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/check"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// input and output are what emitted skill types look like to the runtime.
type input struct {
	City string `json:"city"`
}

func (v *input) AppendJSON(dst []byte) ([]byte, error) {
	if v.City == "" {
		return nil, violation("/city", "must not be empty")
	}
	b, err := json.Marshal(v)
	return append(dst, b...), err
}

type output struct {
	Sky string `json:"sky"`
}

func (v *output) UnmarshalJSON(src []byte) error {
	type plain output
	if err := json.Unmarshal(src, (*plain)(v)); err != nil || v.Sky == "" {
		return violation("/sky", "required, but missing")
	}
	return nil
}

// sky is an output whose schema is a string.
type sky string

func (v *sky) UnmarshalJSON(src []byte) error { return json.Unmarshal(src, (*string)(v)) }

func violation(pointer, message string) error {
	return &check.Error{Violations: []check.Violation{{Pointer: pointer, Message: message}}}
}

var (
	forecast = rpc.Skill[*input, *output]{ID: "forecast", In: rpc.DataInput[input], Out: rpc.DataOutput[output]}
	describe = rpc.Skill[*input, *sky]{ID: "describe", In: rpc.DataInput[input], Out: rpc.DataOutput[sky]}
	chat     = rpc.Skill[[]runtime.Part, *rpc.Result]{ID: "chat", In: rpc.PlainInput, Out: rpc.PlainOutput}
)

const mark = `"metadata":{"` + runtime.SkillsExtension + `":{"skill":"forecast"}}`

// finished is a send result: a task in a state with artifacts.
func finished(state, message, artifacts string) string {
	if message != "" {
		message = `,"message":{"messageId":"m","role":"ROLE_AGENT","parts":[` + message + `]}`
	}
	return `{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_` + state + `"` + message + `},"artifacts":[` + artifacts + `]}}`
}

func artifact(parts, rest string) string {
	return `{"artifactId":"a","parts":[` + parts + `]` + rest + `}`
}

func TestASkillIsCalledByTheExtensionWhereTheCardDeclaresIt(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{"SendMessage": {result(finished("COMPLETED", "", `{"artifactId":"result","parts":[{"data":{"sky":"blue"}}],`+mark+`}`))}})
		opts := []rpc.CallOption{
			rpc.InContext("c1"), rpc.InTask("t1"), rpc.MessageID("m1"), rpc.References("t0"), rpc.WithMetadata("k", 1), rpc.WithRequestMetadata("r", "x"),
			rpc.AcceptModes("application/json"), rpc.HistoryLength(0),
		}
		tests := []struct{ name, card, params, extensions string }{
			{"declared", cardJSON(f.url, `,"tenant":"acme"`, declared),
				`{"tenant":"acme","message":{"messageId":"m1","contextId":"c1","taskId":"t1","role":"ROLE_USER","parts":[{"data":{"city":"Rome"},"mediaType":"application/json"}],
			"metadata":{"k":1,"` + runtime.SkillsExtension + `":{"skill":"forecast"}},"extensions":["` + runtime.SkillsExtension + `"],"referenceTaskIds":["t0"]},
			"configuration":{"acceptedOutputModes":["application/json"],"historyLength":0},"metadata":{"r":"x"}}`, runtime.SkillsExtension},
			{"declared under its former address", cardJSON(f.url, "", `"extensions":[{"uri":"`+runtime.FormerSkillsExtension+`"}],`),
				`{"message":{"messageId":"m1","contextId":"c1","taskId":"t1","role":"ROLE_USER","parts":[{"data":{"city":"Rome"},"mediaType":"application/json"}],
			"metadata":{"k":1,"` + runtime.FormerSkillsExtension + `":{"skill":"forecast"}},"extensions":["` + runtime.FormerSkillsExtension + `"],"referenceTaskIds":["t0"]},
			"configuration":{"acceptedOutputModes":["application/json"],"historyLength":0},"metadata":{"r":"x"}}`, runtime.FormerSkillsExtension},
			{"not declared", cardJSON(f.url, "", ""),
				`{"message":{"messageId":"m1","contextId":"c1","taskId":"t1","role":"ROLE_USER","parts":[{"data":{"city":"Rome"},"mediaType":"application/json"}],
			"metadata":{"k":1,"skillId":"forecast"},"referenceTaskIds":["t0"]},
			"configuration":{"acceptedOutputModes":["application/json"],"historyLength":0},"metadata":{"r":"x"}}`, ""},
		}
		for i, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				out, err := forecast.Call(t.Context(), f.dialCard(tt.card), &input{"Rome"}, opts...)
				if err != nil || out.Sky != "blue" {
					t.Fatalf("got %+v, %v", out, err)
				}
				var want, got any
				if err := errors.Join(json.Unmarshal([]byte(tt.params), &want), json.Unmarshal(f.call(i).Params, &got)); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("params (-want +got):\n%s", diff)
				}
				if got := f.call(i).Header.Get("A2A-Extensions"); got != tt.extensions {
					t.Errorf("A2A-Extensions %q", got)
				}
			})
		}
	})
}

func TestTheOutputIsFoundWhereverTheAgentPutIt(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		file := `{"raw":"aGk=","filename":"f","mediaType":"text/plain"}`
		tests := []struct{ name, result string }{
			{"in the marked artifact", finished("COMPLETED", "", artifact(`{"data":{"sky":"no"}}`, "")+`,{"artifactId":"result","parts":[{"data":{"sky":"blue"}}],`+mark+`}`)},
			{"in the artifact marked under the former address", finished("COMPLETED", "", artifact(`{"data":{"sky":"no"}}`, "")+
				`,{"artifactId":"result","parts":[{"data":{"sky":"blue"}}],"metadata":{"`+runtime.FormerSkillsExtension+`":{"skill":"forecast"}}}`)},
			{"in the marked artifact as text", finished("COMPLETED", "", `{"artifactId":"result","parts":[{"text":"{\"sky\":"},{"text":"\"blue\"}"}],`+mark+`}`)},
			{"in the first data part", finished("COMPLETED", `{"text":"done"}`, `{"artifactId":"1","parts":[`+file+`,{"text":"x"}]},{"artifactId":"2","parts":[{"data":{"sky":"blue"}},{"data":{"sky":"no"}}]}`)},
			{"in text that is JSON", finished("COMPLETED", "", artifact(`{"text":"{\"sky\":\"blue\"}"}`, ""))},
			{"in the status message", finished("COMPLETED", `{"data":{"sky":"blue"}}`, "")},
			{"in a plain message", `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"see"},{"data":{"sky":"blue"}}]}}`},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				f := newFake(t, binding, map[string][]reply{"SendMessage": {result(tt.result)}})
				out, err := forecast.Call(t.Context(), f.dial(), &input{"Rome"})
				if err != nil || out.Sky != "blue" {
					t.Errorf("got %+v, %v", out, err)
				}
			})
		}
		t.Run("as a plain text when the output is a string", func(t *testing.T) {
			f := newFake(t, binding, map[string][]reply{"SendMessage": {result(finished("COMPLETED", "", artifact(`{"text":"deep blue"}`, "")))}})
			out, err := describe.Call(t.Context(), f.dial(), &input{"Rome"})
			if err != nil || *out != "deep blue" {
				t.Errorf("got %v, %v", out, err)
			}
		})
	})
}

func TestBothEndsValidate(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		t.Run("the input before anything is sent", func(t *testing.T) {
			f := newFake(t, binding, nil)
			_, err := forecast.Call(t.Context(), f.dial(), &input{})
			var v *check.Error
			if !errors.As(err, &v) || v.Violations[0].Pointer != "/city" || f.methods() != "" {
				t.Errorf("got %v; sent %q", err, f.methods())
			}
			if _, err := forecast.Call(t.Context(), f.dial(), nil); err == nil {
				t.Error("no input is accepted")
			}
			if _, err := chat.Call(t.Context(), f.dial(), nil); err == nil {
				t.Error("no parts are accepted")
			}
			if _, err := chat.Call(t.Context(), f.dial(), []runtime.Part{runtime.Data(func() {})}); err == nil || f.methods() != "" {
				t.Errorf("a part that is no JSON: %v", err)
			}
			if _, err := chat.Call(t.Context(), f.dial(), rpc.Say("x"), rpc.WithMetadata("f", func() {})); err == nil || f.methods() != "" {
				t.Errorf("metadata that is no JSON: %v", err)
			}
			for _, err := range forecast.Stream(t.Context(), f.dial(), &input{}) {
				if !errors.As(err, &v) || f.methods() != "" {
					t.Errorf("stream: got %v; sent %q", err, f.methods())
				}
			}
		})
		t.Run("the output after it came", func(t *testing.T) {
			for name, parts := range map[string]string{"wrong": `{"data":{"sky":""}}`, "no data": `{"text":"blue"}`, "neither data nor text": `{"url":"https://x.example"}`} {
				f := newFake(t, binding, map[string][]reply{"SendMessage": {result(finished("COMPLETED", "", artifact(parts, "")))}})
				if _, err := forecast.Call(t.Context(), f.dial(), &input{"Rome"}); !errors.Is(err, runtime.ErrInvalidAgentResponse) {
					t.Errorf("%s: got %v", name, err)
				}
			}
		})
	})
}

func TestAPlainSkillGivesTextDataAndFiles(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{"SendMessage": {result(finished("COMPLETED", `{"text":"bye"}`,
			`{"artifactId":"1","parts":[{"text":"a"},{"text":"b"},{"raw":"aGk=","filename":"f.txt","mediaType":"text/plain"}]},{"artifactId":"2","parts":[{"text":"c"},{"data":{"n":3}},{"url":"https://x.example/y","mediaType":"image/png"}]}`))}})
		r, err := chat.Call(t.Context(), f.dial(), rpc.Say("hi", runtime.File("q.txt", "text/plain", []byte("?"))))
		if err != nil {
			t.Fatal(err)
		}
		if r.Text() != "ab\nc" {
			t.Errorf("text %q", r.Text())
		}
		var data struct{ N int }
		if err := r.Data(&data); err != nil || data.N != 3 {
			t.Errorf("data %+v, %v", data, err)
		}
		want := []rpc.File{{Name: "f.txt", MediaType: "text/plain", Content: []byte("hi")}, {MediaType: "image/png", URL: "https://x.example/y"}}
		if diff := cmp.Diff(want, r.Files()); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
		if r.TaskID != "t1" || r.ContextID != "c1" || r.State != runtime.StateCompleted || r.Task == nil {
			t.Errorf("result %+v", r)
		}
		if got := string(f.call(0).Params); !strings.Contains(got, `"parts":[{"text":"hi"},{"raw":"Pw==","filename":"q.txt","mediaType":"text/plain"}]`) {
			t.Errorf("sent %s", got)
		}
	})
}

func TestATaskWithoutResultIsATaskError(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		for _, tt := range []struct {
			wire  string
			state runtime.State
		}{{"FAILED", runtime.StateFailed}, {"REJECTED", runtime.StateRejected}, {"CANCELED", runtime.StateCanceled}} {
			f := newFake(t, binding, map[string][]reply{"SendMessage": {result(finished(tt.wire, `{"text":"no luck"}`, artifact(`{"text":"part"}`, "")))}})
			_, err := forecast.Call(t.Context(), f.dial(), &input{"Rome"})
			var e *rpc.TaskError
			if !errors.As(err, &e) || e.TaskID != "t1" || e.State != tt.state || e.Message != "no luck" || e.Result.Text() != "part" {
				t.Errorf("%s: got %v", tt.wire, err)
			}
		}
	})
}

func TestAQuestionIsAnsweredInTheSameTask(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{"SendMessage": {
			result(finished("INPUT_REQUIRED", `{"text":"which unit?"},{"data":{"skill":"forecast","input":{"type":"string"}}},{"data":["C","F"]}`, "")),
			result(finished("AUTH_REQUIRED", `{"text":"log in"}`, "")),
			result(finished("COMPLETED", "", artifact(`{"data":{"sky":"blue"}}`, ""))),
		}})
		c := f.dial()
		_, err := forecast.Call(t.Context(), c, &input{"Rome"})
		var ask *rpc.InputRequiredError
		if !errors.As(err, &ask) || ask.Auth != nil || ask.TaskID != "t1" || ask.ContextID != "c1" || ask.Prompt != "which unit?" ||
			string(ask.Schema) != `{"type":"string"}` || string(ask.Data) != `["C","F"]` {
			t.Fatalf("got %+v, %v", ask, err)
		}
		_, err = forecast.Answer(t.Context(), c, ask, runtime.Data(map[string]string{"unit": "C"}))
		if !errors.As(err, &ask) || ask.Auth == nil || ask.Prompt != "log in" {
			t.Fatalf("got %+v, %v", ask, err)
		}
		out, err := forecast.Answer(t.Context(), c, ask, runtime.Text("done"))
		if err != nil || out.Sky != "blue" {
			t.Fatalf("got %+v, %v", out, err)
		}
		for i, part := range []string{`{"data":{"unit":"C"}`, `{"text":"done"`} {
			p := string(f.call(i + 1).Params)
			for _, want := range []string{`"taskId":"t1"`, `"contextId":"c1"`, part, `{"skill":"forecast"}`} {
				if !strings.Contains(p, want) {
					t.Errorf("answer %d lacks %s: %s", i, want, p)
				}
			}
		}
	})
}

// What an agent says of an authorization is a stranger's word.
func TestAnAuthorizationOfAStranger(t *testing.T) {
	for says, want := range map[string]*runtime.Authorization{
		`{"authorization":{"url":"https://idp.example/x","scheme":"s"}}`: {URL: "https://idp.example/x", Scheme: "s"},
		`{"authorization":{"url":"javascript:alert(1)","scheme":"s"}}`:   {Scheme: "s"},
		`{"authorization":{"url":"file:///etc/passwd"}}`:                 {},
		`{"authorization":{"url":"https:///x"}}`:                         {},
		`{"authorization":{"url":"//idp.example"}}`:                      {},
		`{"authorization":{"url":7}}`:                                    {},
		`{"authorization":"now"}`:                                        {},
		`{"authorization":{"expires":"soon","url":"https://x.example"}}`: {},
		`{"authorization":null}`:                                         {},
		`7`:                                                              {},
	} {
		marked := `"metadata":{"` + runtime.SkillsExtension + `":` + says + `},"parts":`
		f := newFake(t, runtime.BindingJSONRPC, map[string][]reply{"SendMessage": {
			result(strings.Replace(finished("AUTH_REQUIRED", `{"text":"log in"}`, ""), `"parts":`, marked, 1)),
		}})
		_, err := chat.Call(t.Context(), f.dial(), rpc.Say("hi"))
		var ask *rpc.InputRequiredError
		if !errors.As(err, &ask) || !reflect.DeepEqual(ask.Auth, want) || ask.Prompt != "log in" {
			t.Errorf("%s: got %+v, %v", says, ask.Auth, err)
		}
	}
}

func TestAnAgentThatAnswersEarlyIsWaitedFor(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		t.Parallel()
		early := result(finished("WORKING", "", ""))
		done := finished("COMPLETED", "", artifact(`{"data":{"sky":"blue"}}`, ""))
		task := strings.TrimSuffix(strings.TrimPrefix(done, `{"task":`), "}")
		t.Run("by its stream", func(t *testing.T) {
			f := newFake(t, binding, map[string][]reply{"SendMessage": {early}, "SubscribeToTask": {events(taskWorking, `{"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"a","parts":[{"data":{"sky":"blue"}}]}}}`, completed)}})
			if out, err := forecast.Call(t.Context(), f.dial(), &input{"Rome"}); err != nil || out.Sky != "blue" {
				t.Errorf("got %+v, %v", out, err)
			}
		})
		t.Run("by asking, when it was over at once", func(t *testing.T) {
			f := newFake(t, binding, map[string][]reply{"SendMessage": {early}, "SubscribeToTask": {fault(`{"code":-32004,"message":"over"}`)}, "GetTask": {result(task)}})
			if out, err := forecast.Call(t.Context(), f.dial(), &input{"Rome"}); err != nil || out.Sky != "blue" {
				t.Errorf("got %+v, %v", out, err)
			}
		})
		t.Run("by asking, when it has no streams", func(t *testing.T) {
			f := newFake(t, binding, map[string][]reply{"SendMessage": {early}, "GetTask": {result(`{"id":"t1","status":{"state":"TASK_STATE_WORKING"}}`), result(task)}})
			if out, err := forecast.Call(t.Context(), f.dialCard(cardJSON(f.url, "", "")), &input{"Rome"}); err != nil || out.Sky != "blue" || f.methods() != "SendMessage GetTask GetTask" {
				t.Errorf("got %+v, %v, calls %s", out, err, f.methods())
			}
		})
		t.Run("unless the caller does not want to", func(t *testing.T) {
			f := newFake(t, binding, map[string][]reply{"SendMessage": {early}, "SubscribeToTask": {events(taskWorking, completed)}})
			c := f.dial()
			_, err := forecast.Call(t.Context(), c, &input{"Rome"}, rpc.ReturnImmediately())
			var pending *rpc.PendingError
			if !errors.As(err, &pending) || pending.TaskID != "t1" || !strings.Contains(string(f.call(0).Params), `"returnImmediately":true`) {
				t.Fatalf("got %v, sent %s", err, f.call(0).Params)
			}
			if r, err := c.Await(t.Context(), pending.TaskID); err != nil || r.State != runtime.StateCompleted {
				t.Errorf("waiting gives %+v, %v", r, err)
			}
		})
	})
}
