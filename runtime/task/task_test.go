package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/runtime"
)

// record is a run that writes down what it is told.
type record struct {
	said    []string
	saved   []byte
	context []byte
	handles int
}

func (r *record) Activated(string) bool                { return false }
func (r *record) OnResult(func(*runtime.ArtifactData)) {}

func (r *record) say(format string, args ...any) error {
	r.said = append(r.said, fmt.Sprintf(format, args...))
	return nil
}

func (r *record) TaskID() string                { return "t" }
func (r *record) ContextID() string             { return "c" }
func (r *record) Request() *runtime.SendRequest { return &runtime.SendRequest{} }
func (r *record) Parts() []runtime.Part         { return []runtime.Part{runtime.Text("hello")} }
func (r *record) Text() string                  { return "hello" }
func (r *record) Resumed() bool                 { return false }
func (r *record) Attempt() int                  { return 1 }
func (r *record) Authorized(any) (bool, error)  { return false, nil }
func (r *record) IdempotencyKey() string        { return "k" }
func (r *record) Snapshot() runtime.Task        { return nil }
func (r *record) Logger() *slog.Logger          { return slog.New(slog.DiscardHandler) }
func (r *record) Begin() error                  { return r.say("begin") }
func (r *record) Progress(text string) error    { return r.say("progress %s", text) }

func (r *record) Report(m runtime.MessageData) error { return r.say("report %s", words(m.Parts)) }
func (r *record) Answer(m runtime.MessageData) error { return r.say("answer %s", words(m.Parts)) }
func (r *record) Emit(a runtime.ArtifactData) error {
	return r.say("emit %s %s last=%v", a.Name, words(a.Parts), a.LastChunk)
}

func (r *record) OpenArtifact(a runtime.ArtifactData) *ArtifactWriter {
	w := NewArtifactWriter(&written{r, a.Name})
	return &w
}

func (r *record) End(state runtime.State, m runtime.MessageData) error {
	return fmt.Errorf("%s: %s", state, words(m.Parts))
}

func (r *record) Handle(good time.Duration) (string, time.Time) {
	r.handles++
	return "secret", time.Unix(0, 0).Add(good)
}

func (r *record) Suspend(m runtime.MessageData, handle string, good time.Duration) error {
	return fmt.Errorf("%s %s %v %s", words(m.Parts), handle, good, m.Metadata)
}

func (r *record) PassOn(state runtime.State, m runtime.MessageData, task, token string) error {
	return fmt.Errorf("%s: %s of %s as %s", state, words(m.Parts), task, token)
}

func (r *record) SetSaved(value []byte) error                           { r.saved = value; return nil }
func (r *record) Saved() []byte                                         { return r.saved }
func (r *record) ContextValue() ([]byte, error)                         { return r.context, nil }
func (r *record) SetContextValue(v []byte) error                        { r.context = v; return nil }
func (r *record) Conversation(context.Context, int) ([]Exchange, error) { return nil, nil }

// written writes down the pieces of an artifact.
type written struct {
	r    *record
	name string
}

func (w *written) Part(p runtime.Part) error { return w.r.say("%s: %s", w.name, p.Text) }
func (w *written) Last(p runtime.Part) error { return w.r.say("%s: last %s", w.name, p.Text) }
func (w *written) Close() error              { return w.r.say("%s: close", w.name) }

func words(parts []runtime.Part) string {
	var list []string
	for _, p := range parts {
		list = append(list, p.Text+string(p.Data))
	}
	return strings.Join(list, "+")
}

func TestWhatAHandlerSaysInShortIsAWholeMessage(t *testing.T) {
	r := &record{}
	k := New(r)
	for _, err := range []error{
		k.Call().Begin(), k.Progress("%d of %d", 1, 3), k.Progress("100%"), k.Say(runtime.StateWorking, runtime.MessageOf(k.Parts()...)),
		k.Artifact("map", runtime.Text("here")), k.Reply(runtime.Text("hi")),
		k.Say(runtime.StateUnspecified, runtime.MessageOf(runtime.Text("bye"))),
	} {
		if err != nil {
			t.Error(err)
		}
	}
	want := []string{"begin", "progress 1 of 3", "progress 100%", "report hello", "emit map here last=true", "answer hi", "answer bye"}
	if !slices.Equal(r.said, want) {
		t.Errorf("it says %q", r.said)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{k.Ask("How many of %d?", 3, map[string]int{"most": 3}), `input-required: How many of 3?+{"most":3}`},
		{k.Reject("not on %s", "Sundays"), "rejected: not on Sundays"},
		{k.Fail("at 100%"), "failed: at 100%"},
		{k.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text("done"))), "completed: done"},
	} {
		if c.err.Error() != c.want {
			t.Errorf("it ends with %q, want %q", c.err, c.want)
		}
	}
}

func TestWhatIsSavedComesBack(t *testing.T) {
	r := &record{}
	k := New(r)
	type state struct{ Step int }
	for name, x := range map[string]struct {
		save func(any) error
		load func(any) (bool, error)
	}{
		"of the task": {k.Save, k.Load}, "of the context": {k.Context().Save, k.Context().Load},
	} {
		var got state
		if found, err := x.load(&got); found || err != nil {
			t.Errorf("%s: at first %v, %v", name, found, err)
		}
		if err := x.save(state{2}); err != nil {
			t.Error(err)
		}
		if found, err := x.load(&got); !found || err != nil || got.Step != 2 {
			t.Errorf("%s: %v, %v, %v", name, got, found, err)
		}
		if found, err := x.load(new(int)); !found || err == nil {
			t.Errorf("%s: a value of another type: %v, %v", name, found, err)
		}
		if err := x.save(func() {}); err == nil {
			t.Errorf("%s: what is no JSON is saved", name)
		}
	}
	if err := k.Context().Save(nil); err != nil || r.context != nil {
		t.Errorf("nil leaves %s, %v", r.context, err)
	}
}

func TestAnAuthorizationHasItsHandleInItsURLAlone(t *testing.T) {
	r := &record{}
	k := New(r)
	err := k.RequireAuth(AuthRequest{Prompt: "Please let me read.", Scheme: "idp", For: time.Minute, Visit: func(handle string) string {
		return "https://idp.example?state=" + handle
	}})
	want := `Please let me read.+https://idp.example?state=secret secret 1m0s {"` + runtime.SkillsExtension +
		`":{"authorization":{"scheme":"idp","url":"https://idp.example?state=secret","expires":"1970-01-01T00:01:00Z"}}}`
	if err == nil || err.Error() != want && !strings.HasPrefix(err.Error(), want[:60]) {
		t.Errorf("it is %v", err)
	}
	if err := k.RequireAuth(AuthRequest{Prompt: "Please."}); err == nil || err.Error() != "Please.  1h0m0s " || r.handles != 1 {
		t.Errorf("without a URL it is %q with %d handles", err, r.handles)
	}
}

func TestACharacterCutInTwoIsSentWhole(t *testing.T) {
	r := &record{}
	k := New(r)
	w := k.Stream("text")
	euro := "€"
	for _, p := range []string{"a" + euro[:1], euro[1:2], euro[2:] + "b", "", euro} {
		if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if _, err := w.WriteString("c" + euro[:2]); err != nil {
		t.Error(err)
	}
	if err := errors.Join(w.Close(), w.Part(runtime.Text("d"))); err != nil {
		t.Error(err)
	}
	want := []string{"text: a", "text: €b", "text: €", "text: c", "text: last " + euro[:2], "text: d"}
	if !slices.Equal(r.said, want) {
		t.Errorf("it writes %q", r.said)
	}
}
