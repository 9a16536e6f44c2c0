package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/a2agen/a2agen/runtime"
	rpc "github.com/a2agen/a2agen/runtime/client"
)

// steps describes a streamed call.
func steps[T any](seq func(func(rpc.Event[T], error) bool)) (list []string, last rpc.Event[T], err error) {
	for e, fail := range seq {
		if fail != nil {
			return list, e, fail
		}
		s := e.State.String()
		switch {
		case e.Done:
			s += " done"
		case e.Artifact != nil:
			s += " chunk " + e.Text()
		case e.Progress != "":
			s += " says " + e.Text()
		}
		list, last = append(list, s), e
	}
	return list, last, nil
}

// R50: without streams on the card none is asked for.
func TestAStreamedCallYieldsItsStepsAndTheOutput(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		t.Parallel()
		const outputPart = `{"artifactUpdate":{"taskId":"t1","contextId":"c1","artifact":{"artifactId":"result","parts":[{"data":{"sky":"blue"}}],` + mark + `}}}`
		all := []string{"working", "working says half way", "working chunk sun", "working chunk ny", "working chunk ", "completed", "completed done"}
		tests := []struct {
			name    string
			replies map[string][]reply
			want    []string
		}{
			{"in one stream", map[string][]reply{"SendStreamingMessage": {events(taskWorking, working, chunk1, chunk2, outputPart, completed)}}, all},
			{"without a task at the start", map[string][]reply{"SendStreamingMessage": {events(working, outputPart, completed)}}, []string{"working says half way", "working chunk ", "completed", "completed done"}},
			{"over a broken connection", map[string][]reply{"SendStreamingMessage": {stream(drop, withID("1", taskWorking), withID("2", working), withID("3", chunk1))}, "SubscribeToTask": {events(chunk2, outputPart, completed)}}, all},
			{"with the task again instead of events", map[string][]reply{"SendStreamingMessage": {stream(drop, taskWorking)}, "SubscribeToTask": {stream(drop, taskAgain("sun")), stream(drop, taskAgain("sun", "ny")), events(taskAgain("sun", "ny"), outputPart, completed)}},
				[]string{"working", "working says half way", "working chunk sun", "working", "working chunk ny", "working", "working chunk ", "completed", "completed done"}},
			{"with the task again, its chunks joined", map[string][]reply{"SendStreamingMessage": {stream(drop, taskWorking, working, chunk1)}, "SubscribeToTask": {events(taskAgain("sunny"), outputPart, completed)}},
				[]string{"working", "working says half way", "working chunk sun", "working", "working chunk ny", "working chunk ", "completed", "completed done"}},
			{"with the task again, an artifact replaced", map[string][]reply{"SendStreamingMessage": {events(taskWorking, working, chunk1, taskAgain("rain"), outputPart, completed)}},
				[]string{"working", "working says half way", "working chunk sun", "working", "working chunk rain", "working chunk ", "completed", "completed done"}},
			{"as a message", map[string][]reply{"SendStreamingMessage": {events(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":{"sky":"blue"}}]}}`)}}, []string{"unspecified", "completed done"}},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				f := newFake(t, binding, tt.replies)
				list, last, err := steps(forecast.Stream(t.Context(), f.dial(), &input{"Rome"}))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, list); diff != "" {
					t.Errorf("steps (-want +got):\n%s", diff)
				}
				if last.Output == nil || last.Output.Sky != "blue" || last.Result == nil {
					t.Errorf("last step %+v", last)
				}
			})
		}
		t.Run("in one go when the agent has no streams", func(t *testing.T) {
			f := newFake(t, binding, map[string][]reply{"SendMessage": {result(finished("COMPLETED", "", artifact(`{"data":{"sky":"blue"}}`, "")))}})
			list, last, err := steps(forecast.Stream(t.Context(), f.dialCard(cardJSON(f.url, "", declared)), &input{"Rome"}))
			if err != nil || len(list) != 1 || last.Output.Sky != "blue" {
				t.Errorf("got %v, %+v, %v", list, last, err)
			}
		})
		t.Run("chunks of text make the text of the result", func(t *testing.T) {
			f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {events(taskWorking, chunk1, chunk2, completed)}})
			_, last, err := steps(chat.Stream(t.Context(), f.dial(), rpc.Say("hi")))
			if err != nil || last.Result.Text() != "sunny" {
				t.Errorf("got %+v, %v", last, err)
			}
		})
	})
}

// taskAgain is the task after its first message, with an artifact of these parts.
func taskAgain(parts ...string) string {
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = `{"text":"` + p + `"}`
	}
	return `{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"m1","role":"ROLE_AGENT","parts":[{"text":"half way"}]}},"artifacts":[{"artifactId":"a","parts":[` + strings.Join(list, ",") + `]}]}}`
}

// What a task had before the message that continues it is no news.
func TestAStreamedFollowUpDoesNotRepeatOldArtifacts(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {events(taskAgain("old"), strings.Replace(chunk1, "sun", "new", 1), completed)}})
		list, _, err := steps(chat.Stream(t.Context(), f.dial(), rpc.Say("more"), rpc.InTask("t1")))
		if diff := cmp.Diff([]string{"working says half way", "working chunk new", "completed", "completed done"}, list); err != nil || diff != "" {
			t.Errorf("%v, steps (-want +got):\n%s", err, diff)
		}
	})
}

func TestAStreamedFollowUpMayBeginWithTheTaskThatStillWaits(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		waiting := strings.Replace(taskWorking, "WORKING", "INPUT_REQUIRED", 1)
		f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {events(waiting, working, completed), stream(hang, waiting, working, strings.Replace(working, "WORKING", "INPUT_REQUIRED", 1))}})
		list, _, err := steps(chat.Stream(t.Context(), f.dial(), rpc.Say("C"), rpc.InTask("t1")))
		if diff := cmp.Diff([]string{"input-required", "working says half way", "completed", "completed done"}, list); err != nil || diff != "" {
			t.Errorf("%v, steps (-want +got):\n%s", err, diff)
		}
		var ask *rpc.InputRequiredError
		if _, _, err := steps(chat.Stream(t.Context(), f.dial(), rpc.Say("C"), rpc.InTask("t1"))); !errors.As(err, &ask) {
			t.Errorf("a second question gives %v", err)
		}
	})
}

func TestAStreamedCallEndsInTheSameErrors(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		ask := strings.Replace(working, "WORKING", "INPUT_REQUIRED", 1)
		auth := strings.Replace(working, "WORKING", "AUTH_REQUIRED", 1)
		failed := strings.Replace(working, "WORKING", "FAILED", 1)
		run := func(t *testing.T, r reply) error {
			f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {r}})
			var err error
			within(t, func() { _, _, err = steps(forecast.Stream(t.Context(), f.dial(rpc.Reattach(0)), &input{"Rome"})) })
			return err
		}
		var question *rpc.InputRequiredError
		if err := run(t, stream(hang, taskWorking, ask)); !errors.As(err, &question) || question.Auth != nil || question.Prompt != "half way" {
			t.Errorf("a question on a stream that stays open: %v", err)
		}
		if err := run(t, events(taskWorking, auth)); !errors.As(err, &question) || question.Auth == nil {
			t.Errorf("a call for authorization: %v", err)
		}
		var task *rpc.TaskError
		if err := run(t, events(taskWorking, failed)); !errors.As(err, &task) || task.State != runtime.StateFailed {
			t.Errorf("a failure: %v", err)
		}
		var broken *rpc.StreamError
		if err := run(t, stream(drop, taskWorking)); !errors.As(err, &broken) || broken.TaskID != "t1" {
			t.Errorf("a broken stream: %v", err)
		}
		if err := run(t, events(taskWorking, completed)); !errors.Is(err, runtime.ErrInvalidAgentResponse) {
			t.Errorf("a result without output: %v", err)
		}
		if err := run(t, fault(`{"code":-32602,"message":"no"}`)); !errors.Is(err, runtime.ErrInvalidParams) {
			t.Errorf("a refusal: %v", err)
		}
	})
}

func TestLeavingAStreamedCallLeavesTheTask(t *testing.T) {
	over(t, func(t *testing.T, binding string) {
		f := newFake(t, binding, map[string][]reply{"SendStreamingMessage": {stream(hang, taskWorking)}})
		within(t, func() {
			for e, err := range forecast.Stream(t.Context(), f.dial(), &input{"Rome"}) {
				if err != nil || e.TaskID != "t1" {
					t.Errorf("got %+v, %v", e, err)
				}
				break
			}
		})
		if f.methods() != "SendStreamingMessage" {
			t.Errorf("calls %s", f.methods())
		}
	})
}
