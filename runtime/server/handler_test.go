package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/wire"
)

// What cannot be sent is refused where it is said, so that it is not stored.
func TestWhatAHandlerCannotSay(t *testing.T) {
	bad := runtime.MessageOf(runtime.Text("x"))
	bad.Metadata = wire.Object(`[1]`)
	text := []runtime.Part{runtime.Text("x")}
	for name, say := range map[string]func(t *server.Task) error{
		"a plain answer without parts": func(t *server.Task) error { return t.Reply() },
		"a message without parts":      func(t *server.Task) error { return t.Say(runtime.StateWorking, runtime.MessageData{}) },
		"an answer without parts":      func(t *server.Task) error { return t.Say(runtime.StateUnspecified, runtime.MessageData{}) },
		"metadata that are no object":  func(t *server.Task) error { return t.Say(runtime.StateWorking, bad) },
		"an end with such metadata":    func(t *server.Task) error { return t.Say(runtime.StateCompleted, bad) },
		"metadata that do not encode": func(t *server.Task) error {
			return t.Emit(runtime.ArtifactData{Parts: text, Metadata: runtime.Metadata(func() {})})
		},
		"metadata of a part that are no object": func(t *server.Task) error {
			return t.Emit(runtime.ArtifactData{Parts: []runtime.Part{{Kind: runtime.PartText, Metadata: wire.Object(`{`)}}})
		},
		"an artifact without parts":          func(t *server.Task) error { return t.Artifact("a") },
		"an end that is none":                func(t *server.Task) error { return t.Say(runtime.StateSubmitted, runtime.MessageData{Parts: text}) },
		"an end that is the client's":        func(t *server.Task) error { return t.Say(runtime.StateCanceled, runtime.MessageData{Parts: text}) },
		"a question with data that are none": func(t *server.Task) error { return t.Ask("?", func() {}) },
		"a streamed artifact with parts":     func(t *server.Task) error { return t.Stream("", runtime.ArtifactData{Parts: text}).Part(text[0]) },
		"a closing message that is too large": func(t *server.Task) error {
			return t.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text(strings.Repeat("x", 2000))))
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got error
			a := start(t, testCard, []server.Skill{run("x", func(_ context.Context, t *server.Task) (string, error) {
				got = say(t)
				return "fine", nil
			})}, server.WithLimits(server.Limits{Event: 1000}))
			task := a.ok("SendMessage", message("hi"))["task"]
			if got == nil || str(task, "artifacts", 0, "parts", 0, "text") != "fine" || at(task, "status", "message") != nil {
				t.Errorf("error %v, task %v", got, task)
			}
		})
	}
}

func TestAResultComesBeforeTheMessageThatCompletesItsTask(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("x", func(_ context.Context, t *server.Task) (string, error) {
		return "result", t.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text("that was it")))
	})})
	task := a.ok("SendMessage", message("hi"))["task"]
	if str(task, "artifacts", 0, "parts", 0, "text") != "result" || str(task, "status", "message", "parts", 0, "text") != "that was it" || str(task, "status", "state") != "TASK_STATE_COMPLETED" {
		t.Errorf("got %v", task)
	}
	if str(task, "status", "message", "taskId") != str(task, "id") {
		t.Errorf("the message does not name its task: %v", task)
	}
}

func TestAClosingMessageIsNothingWhenTheHandlerFails(t *testing.T) {
	a := start(t, testCard, []server.Skill{run("x", func(_ context.Context, t *server.Task) (string, error) {
		if err := t.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text("done"))); err != nil {
			return "", err
		}
		return "", t.Fail("not done")
	})})
	task := a.ok("SendMessage", message("hi"))["task"]
	if str(task, "status", "message", "parts", 0, "text") != "not done" {
		t.Errorf("got %v", task)
	}
}

// An artifact of an earlier call goes on, is replaced, or begins, and no id is made twice.
func TestArtifactsOfEarlierCallsGoOn(t *testing.T) {
	emit := func(t *server.Task, id string, more bool) error {
		return t.Emit(runtime.ArtifactData{ID: id, Append: more, Parts: []runtime.Part{runtime.Text(t.Text())}})
	}
	a := start(t, testCard, []server.Skill{run("x", func(_ context.Context, t *server.Task) (string, error) {
		if !t.Resumed() {
			return "", errors.Join(t.Artifact("one", runtime.Text("1")), emit(t, "artifact-2", false), emit(t, "mine", false), t.Artifact("next", runtime.Text("3")), t.Ask("?"))
		}
		return "", errors.Join(emit(t, "artifact-1", true), emit(t, "mine", false), emit(t, "new", true), t.Artifact("last", runtime.Text("5")))
	})})
	id := str(a.ok("SendMessage", message("a")), "task", "id")
	s := a.stream("SendStreamingMessage", message("b", `"taskId":"`+id+`"`)).rest()
	var begun []string
	for _, e := range s {
		if at(e.result, "artifactUpdate", "append") == nil && e.kind() == "artifactUpdate" {
			begun = append(begun, str(e.result, "artifactUpdate", "artifact", "artifactId"))
		}
	}
	if got := strings.Join(begun, " "); got != "mine new artifact-4" {
		t.Errorf("the second call begins %s", got)
	}
	var got []string
	for _, artifact := range at(a.ok("GetTask", `{"id":"`+id+`"}`), "artifacts").([]any) {
		text := ""
		for _, p := range at(artifact, "parts").([]any) {
			text += str(p, "text")
		}
		got = append(got, str(artifact, "artifactId")+":"+text)
	}
	if want := "artifact-1:1b artifact-2:a mine:b artifact-3:3 new:b artifact-4:5"; strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

// Pieces that are held back are not held for long, come before whatever the handler says next, and before the end without Close.
func TestPiecesOfAnArtifactAreHeldBackForAMoment(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	a := start(t, testCard, []server.Skill{run("x", func(_ context.Context, t *server.Task) (string, error) {
		w := t.Stream("text")
		write := func(pieces ...string) error {
			for _, p := range pieces {
				if _, err := w.WriteString(p); err != nil {
					return err
				}
			}
			return nil
		}
		if err := write("a"); err != nil {
			return "", err
		}
		<-gate
		if err := write("b"); err != nil {
			return "", err
		}
		<-gate
		if err := errors.Join(write("c"), t.Progress("after c"), write("d")); err != nil {
			return "", err
		}
		if t.Text() == "close" {
			return "", w.Close()
		}
		return "done", nil
	})})
	said := func(how string) string {
		s := a.stream("SendStreamingMessage", message(how))
		s.next()
		var got []string
		next := func() event {
			e := s.next()
			if str(e.result, "statusUpdate", "status", "state") == "TASK_STATE_WORKING" && at(e.result, "statusUpdate", "status", "message") == nil {
				e = s.next() // the stream began before the work did
			}
			text := str(e.result, "artifactUpdate", "artifact", "parts", 0, "text") + str(e.result, "statusUpdate", "status", "message", "parts", 0, "text")
			if at(e.result, "artifactUpdate", "lastChunk") == true {
				text += "!"
			}
			got = append(got, text)
			return e
		}
		next() // at once
		gate <- struct{}{}
		next() // b is not closed: only the timer sends it
		gate <- struct{}{}
		for str(next().result, "statusUpdate", "status", "state") != "TASK_STATE_COMPLETED" {
		}
		return strings.Join(got, "|")
	}
	if got := said("leave"); got != "a|b|c|after c|d|done!|" {
		t.Errorf("leave: got %s", got)
	}
	closed := said("close")
	for range 20 { // the timer may send d before it is closed, on a machine that is busy
		if closed != "a|b|c|after c|d|" {
			break
		}
		closed = said("close")
	}
	if closed != "a|b|c|after c|d!|" {
		t.Errorf("close: got %s", closed)
	}
}

// No artifact has an empty part, however it is written: a client reads the last part as the text.
func TestStreamedArtifactsHaveNoEmptyParts(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(w *server.ArtifactWriter) error{
		"one piece": func(w *server.ArtifactWriter) error { _, err := w.WriteString("text"); return err },
		"a piece, then silence": func(w *server.ArtifactWriter) error {
			_, err := w.WriteString("some ")
			_, more := w.WriteString("text")
			time.Sleep(60 * time.Millisecond)
			return errors.Join(err, more)
		},
		"a character in two": func(w *server.ArtifactWriter) error {
			_, err := w.Write([]byte("tex\xc3"))
			_, more := w.Write([]byte("\xa4"))
			return errors.Join(err, more)
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := start(t, testCard, []server.Skill{run("x", func(_ context.Context, t *server.Task) (string, error) {
				w := t.Stream("text")
				if err := write(w); err != nil {
					return "", err
				}
				return "", w.Close()
			})})
			all := a.stream("SendStreamingMessage", message("hi")).rest()
			for _, e := range all {
				if e.kind() == "artifactUpdate" && str(e.result, "artifactUpdate", "artifact", "parts", 0, "text") == "" {
					t.Errorf("an empty update: %v", e.result)
				}
			}
			parts, _ := at(a.ok("GetTask", `{"id":"`+str(all[0].result, "task", "id")+`"}`), "artifacts", 0, "parts").([]any)
			if len(parts) == 0 || str(parts[len(parts)-1], "text") == "" {
				t.Errorf("the artifact has %v", parts)
			}
		})
	}
}
