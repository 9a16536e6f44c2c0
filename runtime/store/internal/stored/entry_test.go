package stored_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

var at = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func text(s string) []runtime.Part { return []runtime.Part{runtime.Text(s)} }

// changeOf makes an update with a status, a message after it, and some chunks.
func changeOf(t testing.TB, k *stored.Codec, p *runtime.Protocol, chunks int) (*stored.Change, runtime.Task) {
	t.Helper()
	task := p.NewTask("t", "c", at)
	u := store.Update{
		Event: p.NewStatus("t", "c", runtime.StateWorking, nil, at), Stamp: 1,
		Messages: []runtime.Message{p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m"}, Parts: text("hello")})},
	}
	for range chunks {
		u.Then = append(u.Then, store.Change{Event: p.NewArtifact("t", "c", runtime.ArtifactData{ID: "a", Parts: text("x"), Append: true})})
	}
	c := stored.ForUpdate(k, &u, 1, 1, task.View(nil, true))
	if err := c.Rules.Facts.Unfit; err != nil {
		t.Fatal(err)
	}
	return c, task
}

// TestRowsOfTheLogAreReadAsTheyWereWritten: events that go together are one row, up to the messages that come between.
func TestRowsOfTheLogAreReadAsTheyWereWritten(t *testing.T) {
	p := a2awires.Protocol()
	k := stored.NewCodec(p)
	k.Name(1, k.Newest())
	c, task := changeOf(t, k, p, 3)
	lines := c.Lines(1, runtime.StateSubmitted)
	if len(lines) != 2 || lines[0].Seq != 2 || lines[0].Run != nil || lines[1].Seq != 5 || len(lines[1].Run) != 6 {
		t.Fatalf("the rows are %+v", lines)
	}
	next := int64(2)
	for i := range lines {
		list, err := lines[i].Split(c.Log[i].Doc())
		if err != nil {
			t.Fatal(err)
		}
		for j := range list {
			if list[j].Seq != next || list[j].State != runtime.StateWorking || !bytes.Equal(list[j].Doc, c.Log[i].At(j)) {
				t.Errorf("event %d is %+v", next, list[j])
			}
			if task, err = k.Apply(task, 1, &list[j]); err != nil {
				t.Fatal(err)
			}
			next++
		}
		if err := k.ReadMessages(1, c.Log[i].Messages, task.AddMessage); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(task.HistoryList()); n != 1 || task.TaskInfo().State != runtime.StateWorking || task.TaskInfo().Artifacts != 1 {
		t.Errorf("the task has %d messages and is %+v", n, task.TaskInfo())
	}
}

// FuzzRowsThatAreDamagedAreErrors: a row that was changed by somebody else says so, and is never read as what it is not.
func FuzzRowsThatAreDamagedAreErrors(f *testing.F) {
	p := a2awires.Protocol()
	k := stored.NewCodec(p)
	k.Name(1, k.Newest())
	c, _ := changeOf(f, k, p, 2)
	for i, line := range c.Lines(1, runtime.StateSubmitted) {
		f.Add(line.Seq, line.Run, c.Log[i].Doc(), c.Log[i].Messages)
	}
	f.Add(int64(3), []byte{1}, []byte(`[{},{}]`), []byte(`[[[[`))
	f.Fuzz(func(t *testing.T, seq int64, run, doc, messages []byte) {
		line := stored.Line{Seq: seq, Kind: runtime.EventStatus, Run: run}
		list, err := line.Split(doc)
		if err == nil && len(run) > 0 && (2*len(list) != len(run) || !json.Valid(doc)) {
			t.Fatalf("%d events of a row that has %d", len(list), len(run)/2)
		}
		task := p.NewTask("t", "c", at)
		for i := range list {
			if _, err := k.ReadRecord(&list[i], 1); err == nil {
				_, _ = k.Apply(task, 1, &list[i])
			}
		}
		_ = k.ReadMessages(1, messages, task.AddMessage)
	})
}

// TestVersionsThatAreNotNamedAreErrors: what another program has written is not guessed.
func TestVersionsThatAreNotNamedAreErrors(t *testing.T) {
	k := stored.NewCodec(a2awires.Protocol())
	k.Name(1, k.Newest())
	if k.Knows(2) {
		t.Error("a number without a name is known")
	}
	if _, err := k.Read(2, []byte(`{}`)); err == nil {
		t.Error("an event of it is read")
	}
	if _, err := k.ReadRequest(2, []byte(`{}`)); err == nil {
		t.Error("a request of it is read")
	}
	if k.Name(2, "9.9"); !k.Knows(2) {
		t.Error("one of a version that is no longer spoken has no reader")
	}
}
