package engine

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a2agen/a2agen/internal/test/faultstore"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/runtime/task"
)

// repeating is an agent whose skill counts how often it was called, and waits for proceed.
func repeating(t *testing.T, r Repeats) (a *agent, runs *atomic.Int32, proceed chan struct{}) {
	return repeatingIn(t, nil, r)
}

// repeatingIn is repeating with a store.
func repeatingIn(t *testing.T, s store.Store, r Repeats) (a *agent, runs *atomic.Int32, proceed chan struct{}) {
	runs, proceed = new(atomic.Int32), make(chan struct{})
	work := skillOf("work", func(ctx context.Context, c *task.Task) (string, error) {
		runs.Add(1)
		select {
		case <-proceed:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		if c.Text() == "ask" {
			return "", c.Ask("Which?")
		}
		if c.Resumed() {
			return "", c.Say(runtime.StateCompleted, runtime.MessageOf(runtime.Text("done: "+c.Text())))
		}
		return "", c.Reply(runtime.Text("done: " + c.Text()))
	})
	a = newAgent(t, Options{Store: s}, work)
	a.repeats = r
	a.repeats.Window = runtime.RepeatWindow
	return a, runs, proceed
}

// keyed serves a request with a key.
func (a *agent) keyed(key, rpc, params string) (Answer, error) {
	r := a.request(rpc)
	r.Repeat = key
	decoded, fault := r.Version.Decode(r.Op, []byte(strings.ReplaceAll(params, "'", `"`)))
	if fault != nil {
		return Answer{}, fault
	}
	return r.Serve(decoded)
}

func taskOf(t *testing.T, a Answer, err error) runtime.TaskInfo {
	t.Helper()
	task, ok := a.Result.(runtime.Task)
	if err != nil || !ok {
		t.Fatalf("%v, %v: no task", a, err)
	}
	return task.TaskInfo()
}

// Doubles at the same moment, and repeats later, are one run and one task.
func TestAMessageThatComesAgainIsTakenOnOnce(t *testing.T) {
	a, runs, proceed := repeating(t, Repeats{})
	var ids [8]string
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			got, err := a.keyed("k", "SendMessage", message(""))
			if err != nil {
				t.Error(err)
				return
			}
			ids[i] = got.Result.(runtime.Task).TaskInfo().ID
		})
	}
	a.waitFor("it runs", func() bool { return runs.Load() > 0 })
	close(proceed)
	all.Wait()
	got, err := a.keyed("k", "SendMessage", message(""))
	later := taskOf(t, got, err)
	for _, id := range ids {
		if id != later.ID {
			t.Errorf("tasks %v and %s", ids, later.ID)
		}
	}
	if n := runs.Load(); n != 1 || later.State != runtime.StateCompleted {
		t.Errorf("%d runs, %v", n, later.State)
	}
	if got, err := a.keyed("other", "SendMessage", message("")); taskOf(t, got, err).ID == later.ID || runs.Load() != 2 {
		t.Error("another key is the same message")
	}
}

// A key that comes with another content is an error that says so, and changes nothing.
func TestAKeyIsForOneContent(t *testing.T) {
	a, runs, proceed := repeating(t, Repeats{})
	close(proceed)
	if _, err := a.keyed("k", "SendMessage", message("")); err != nil {
		t.Fatal(err)
	}
	for what, params := range map[string]string{
		"text":          strings.Replace(message(""), "hello", "hi", 1),
		"configuration": message(`,'configuration':{'historyLength':3}`),
		"metadata":      message(`,'metadata':{'a':1}`),
	} {
		_, err := a.keyed("k", "SendMessage", params)
		if e, _ := ToError(err); !errors.Is(err, runtime.ErrInvalidParams) || len(e.Details) == 0 || !strings.Contains(e.Details[len(e.Details)-1].Violations[0].Field, "Idempotency-Key") {
			t.Errorf("other %s: %v", what, err)
		}
	}
	if _, err := a.keyed(strings.Repeat("k", maxName+1), "SendMessage", message("")); !errors.Is(err, runtime.ErrInvalidParams) {
		t.Errorf("a long key: %v", err)
	}
	if n := runs.Load(); n != 1 {
		t.Errorf("%d runs", n)
	}
}

// A follow-up that comes again is not added twice, also when it has ended the task.
func TestAFollowUpThatComesAgain(t *testing.T) {
	a, runs, proceed := repeating(t, Repeats{})
	close(proceed)
	got, err := a.keyed("1", "SendMessage", strings.Replace(message(""), "hello", "ask", 1))
	id := taskOf(t, got, err).ID
	for range 3 {
		got, err = a.keyed("2", "SendMessage", followUp(id, ""))
		if info := taskOf(t, got, err); info.ID != id || info.State != runtime.StateCompleted {
			t.Errorf("%+v", info)
		}
	}
	if n := runs.Load(); n != 2 {
		t.Errorf("%d runs", n)
	}
	snap, err := a.store.Get(t.Context(), store.Key{Task: id}, store.Full)
	if err != nil {
		t.Fatal(err)
	}
	if n := snap.Task.TaskInfo().History; n != 3 { // ask, Which?, hello; what was done is in the status
		t.Errorf("%d messages", n)
	}
	if _, err := a.keyed("3", "SendMessage", followUp(id, "")); !errors.Is(err, runtime.ErrUnsupportedOperation) {
		t.Errorf("another message to the ended task: %v", err)
	}
}

// The key of a client that sets no headers is in the message's metadata; an agent may know messages by their ids.
func TestHowMessagesAreKnown(t *testing.T) {
	ours := strings.Replace(message(""), "'role'", `'metadata':{'`+runtime.SkillsExtension+`':{'idempotencyKey':'k'}},'role'`, 1)
	for name, c := range map[string]struct {
		repeats Repeats
		params  string
		runs    int32
	}{
		"nothing":  {Repeats{}, message(""), 2},
		"metadata": {Repeats{}, ours, 1},
		"ids":      {Repeats{ByMessage: true}, message(""), 1},
	} {
		t.Run(name, func(t *testing.T) {
			a, runs, proceed := repeating(t, c.repeats)
			close(proceed)
			for range 2 {
				if _, err := a.serve("SendMessage", c.params); err != nil {
					t.Fatal(err)
				}
			}
			if n := runs.Load(); n != c.runs {
				t.Errorf("%d runs, want %d", n, c.runs)
			}
		})
	}
}

// While the store cannot tell whether a message came before, nobody is told that its task has ended without it.
func TestAMessageThatEndedItsTaskComesAgainWithoutTheStore(t *testing.T) {
	stored := faultstore.New(memory.New(memory.Limits{}), nil)
	a, _, proceed := repeatingIn(t, stored, Repeats{})
	close(proceed)
	got, err := a.keyed("k", "SendMessage", strings.Replace(message(""), "hello", "ask", 1))
	asked := taskOf(t, got, err)
	answer := func() (Answer, error) { return a.keyed("answer", "SendMessage", followUp(asked.ID, "")) }
	got, err = answer()
	if ended := taskOf(t, got, err); ended.State != runtime.StateCompleted {
		t.Fatalf("the task is %v", ended.State)
	}
	stored.Plan(func(c faultstore.Call) faultstore.Fault {
		if c.Op == "apply" {
			return faultstore.Fault{Refuse: store.ErrUnavailable}
		}
		return faultstore.Fault{}
	})
	if got, err := answer(); !Away(err) {
		t.Errorf("without the store: %v, %v", got, err)
	}
	stored.Plan(nil)
	got, err = answer()
	if again := taskOf(t, got, err); again.ID != asked.ID || again.State != runtime.StateCompleted {
		t.Errorf("with it: %+v", again)
	}
}

// A stream that comes again begins with the task as it stands, and ends as the first does.
func TestAStreamThatComesAgain(t *testing.T) {
	a, runs, proceed := repeating(t, Repeats{})
	first, err := a.keyed("k", "SendStreamingMessage", message(""))
	if err != nil || first.Stream == nil {
		t.Fatal(first, err)
	}
	defer first.Stream.Close()
	again, err := a.keyed("k", "SendStreamingMessage", message(""))
	if err != nil || again.Stream == nil {
		t.Fatal(again, err)
	}
	defer again.Stream.Close()
	close(proceed)
	for _, st := range []*Stream{first.Stream, again.Stream} {
		var text strings.Builder
		for step := st.Next(); step != Over; step = st.Next() {
			switch step {
			case Snapshot:
				err = st.WriteSnapshot(func(_ int64, event []byte) error { text.Write(event); return nil })
			case Events:
				for i := range st.Len() {
					b, failed := st.Append(nil, i)
					text.Write(b)
					err = errors.Join(err, failed)
				}
				st.Take(st.Len())
			}
		}
		if err != nil || !strings.Contains(text.String(), "TASK_STATE_COMPLETED") {
			t.Errorf("%s, %v", text.String(), err)
		}
	}
	if n := runs.Load(); n != 1 {
		t.Errorf("%d runs", n)
	}
}
