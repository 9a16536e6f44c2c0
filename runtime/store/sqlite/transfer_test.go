package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
)

// filled makes a file with one of everything that a store keeps, for several principals, and closes it.
func filled(t *testing.T, tasks int) (path string) {
	t.Helper()
	path = fresh(t)
	s, err := Open(path, a2a.Protocol(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, ctx, at := a2a.Protocol(), t.Context(), time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for i := range tasks {
		key := store.Key{Owner: store.Owner{Tenant: []string{"", "acme"}[i%2], Principal: []string{"", "ada", "bob"}[i%3]}, Task: fmt.Sprint("t", i)}
		task := p.NewTask(key.Task, "talk", at)
		task.AddMessage(p.NewMessage(runtime.MessageData{MessageInfo: runtime.MessageInfo{ID: "m", User: true}, Parts: []runtime.Part{runtime.Text("hello")}}))
		n := store.New{Task: task, Private: store.Private{Skill: "echo", Input: []byte(`{"a":1}`), Trace: "00-1"}, Stamp: uint64(2*i + 1),
			Call: &store.Call{Input: []byte(`{"text":"hello"}`)}, Repeat: &store.Repeat{Key: key.Task, For: time.Hour},
			Push: &store.Push{ID: "hook", Version: "1.0", Config: runtime.PushConfig{URL: "https://ada.example.com", Token: "secret"}}}
		snap, err := s.Create(ctx, key, n, &store.Full)
		must(err)
		saved := []byte("saved")
		_, err = s.Apply(ctx, key, 0, store.Update{Epoch: snap.Epoch, Stamp: uint64(2*i + 2), Saved: &saved,
			Ticket: &store.Ticket{Hash: [32]byte{byte(i), byte(i >> 8), 1}, For: time.Hour},
			Event:  p.NewArtifact(key.Task, "talk", runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text(strings.Repeat("x", 100*i))}}),
			Then: []store.Change{{Event: p.NewArtifact(key.Task, "talk", runtime.ArtifactData{ID: "a", Append: true, Parts: []runtime.Part{runtime.Text("y")}})},
				{Event: p.NewStatus(key.Task, "talk", runtime.StateWorking, nil, at)}}}, nil)
		must(err)
		if i%4 == 0 {
			_, err = s.Apply(ctx, key, 0, store.Update{Epoch: snap.Epoch, Done: 1, Event: p.NewStatus(key.Task, "talk", runtime.StateCompleted, nil, at)}, nil)
			must(err)
		}
		_, err = s.SetNote(ctx, key.Owner, fmt.Sprint("c", i), []byte("note"), store.AnyVersion)
		must(err)
	}
	due, _, err := s.Due(ctx, 3, time.Minute)
	must(err)
	outcomes := []store.Outcome{{Dead: "410 Gone"}, {Sent: 3}, {Again: time.Hour}}
	for i := range due {
		must(s.Settle(ctx, due[i], outcomes[i]))
	}
	must(s.Close(store.Key{Owner: store.Owner{Tenant: "acme", Principal: "ada"}, Task: "t1"}))
	return path
}

func openWhole(t *testing.T, path string, fresh bool) *Whole {
	t.Helper()
	w, err := OpenWhole(path, a2a.Protocol(), fresh)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func quiet(transfer.Progress) {}

func TestACopyHasAllThatTheFileHas(t *testing.T) {
	from := filled(t, 40)
	to := fresh(t)
	source, target := openWhole(t, from, false), openWhole(t, to, true)
	got, err := transfer.Copy(t.Context(), source, target, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if got.Accounts != 3 || got.Tasks != 40 || got.Events != 40*4+10 || got.Calls != 30 || got.Pushes != 40 || got.Tickets != 30 ||
		got.Notes != 40 || got.Repeats != 40 {
		t.Errorf("copied %+v", got)
	}
	for _, of := range []*Whole{source, target} {
		if sum, err := transfer.Survey(t.Context(), of, quiet); err != nil || sum != got {
			t.Errorf("%s has %+v, %v", of.path, sum, err)
		}
		_ = of.Close()
	}
	s := whole(t, open(t, to, Options{}))
	runs, err := s.Claim(t.Context(), []string{"echo"}, 100)
	if err != nil || len(runs) != 30 || string(runs[0].Call.Input) != `{"text":"hello"}` {
		t.Errorf("%d open messages are worked on, %v", len(runs), err)
	}
	for _, r := range runs {
		if want := map[string]int{"t1": 2}[r.Key.Task]; r.Call.Attempt != max(want, 1) {
			t.Errorf("the message of %s is at attempt %d", r.Key.Task, r.Call.Attempt)
		}
	}
	if _, _, err := s.Ticket(t.Context(), [32]byte{1, 0, 1}); err != nil {
		t.Errorf("a ticket: %v", err)
	}
	key := store.Key{Owner: store.Owner{Tenant: "acme", Principal: "ada"}, Task: "t1"}
	if records, err := s.Events(t.Context(), key, 1, 0); err != nil || len(records) != 3 || records[2].Seq != 4 {
		t.Errorf("its events: %d, %v", len(records), err)
	}
	if note, err := s.Note(t.Context(), key.Owner, "c1"); err != nil || string(note.Value) != "note" {
		t.Errorf("its note: %v, %v", note, err)
	}
}

var errCut = errors.New("killed")

// cut is a target whose process is killed before a write.
type cut struct {
	*Whole
	left int
}

func (c *cut) write() error {
	if c.left--; c.left < 0 {
		return errCut
	}
	return nil
}

func (c *cut) Put(ctx context.Context, principal string, drop []int64, tasks []transfer.Task) error {
	half := len(tasks) / 2
	return errors.Join(c.write(), c.Whole.Put(ctx, principal, drop, tasks[half:]), c.write(), c.Whole.Put(ctx, principal, nil, tasks[:half]))
}

func (c *cut) PutNotes(ctx context.Context, principal string, notes []transfer.Note) error {
	return errors.Join(c.Whole.PutNotes(ctx, principal, notes), c.write())
}

func (c *cut) Filled(ctx context.Context) error {
	if err := c.write(); err != nil {
		return err
	}
	return c.Whole.Filled(ctx)
}

func TestACopyThatIsKilledGoesOn(t *testing.T) {
	from, to := filled(t, 12), fresh(t)
	source := openWhole(t, from, false)
	for n := 0; ; n++ {
		if n > 50 {
			t.Fatal("it never ends")
		}
		target := openWhole(t, to, true)
		got, err := transfer.Copy(t.Context(), source, &cut{target, n / 3}, quiet)
		_ = target.Close()
		if err == nil {
			if got.Tasks != 12 || got.Notes != 12 {
				t.Errorf("copied %+v", got)
			}
			break
		}
		if !errors.Is(err, errCut) {
			t.Fatal(err)
		}
		if _, err := Open(to, a2a.Protocol(), Options{}); err == nil || !strings.Contains(err.Error(), "has not ended") {
			t.Fatalf("an agent opens it: %v", err)
		}
	}
	whole(t, open(t, to, Options{}))
}

// TestWhatChangedBetweenTwoRunsIsCopiedAnew: an agent worked on the source after the first run was killed.
func TestWhatChangedBetweenTwoRunsIsCopiedAnew(t *testing.T) {
	from, to := filled(t, 12), fresh(t)
	run := func(left int) error {
		source, target := openWhole(t, from, false), openWhole(t, to, true)
		defer func() { _, _ = source.Close(), target.Close() }()
		_, err := transfer.Copy(t.Context(), source, &cut{target, left}, quiet)
		return err
	}
	if err := run(8); !errors.Is(err, errCut) {
		t.Fatal(err)
	}
	s := open(t, from, Options{})
	runs, err := s.Claim(t.Context(), []string{"echo"}, 100)
	if err != nil || len(runs) == 0 {
		t.Fatal(err)
	}
	_ = s.Close()
	if err := run(1000); err != nil {
		t.Fatal(err)
	}
	whole(t, open(t, to, Options{}))
}

func TestACopyIsRefused(t *testing.T) {
	from, other := filled(t, 3), filled(t, 1)
	agent := open(t, from, Options{})
	if _, err := OpenWhole(from, a2a.Protocol(), false); !errors.As(err, new(*InUse)) {
		t.Errorf("while an agent uses the source: %v", err)
	}
	_ = agent.Close()
	source := openWhole(t, from, false)
	if _, err := Open(from, a2a.Protocol(), Options{}); !errors.As(err, new(*InUse)) {
		t.Errorf("an agent is started meanwhile: %v", err)
	}
	refused := func(what string, to *Whole, words string) {
		t.Helper()
		if _, err := transfer.Copy(t.Context(), source, to, quiet); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("into tasks of others", openWhole(t, other, false), "tasks of its own")
	known := openWhole(t, fresh(t), true)
	if err := known.PutRepeats(t.Context(), "ada", []transfer.Repeat{{Key: "k", Task: "dropped", Digest: []byte{1}, Until: 1}}); err != nil {
		t.Fatal(err)
	}
	refused("into messages that may be sent again", known, "tasks of its own")
	half := openWhole(t, fresh(t), true)
	if err := half.Fill(t.Context(), "/another.db"); err != nil {
		t.Fatal(err)
	}
	refused("into the copy of another", half, "a copy of /another.db into it has not ended")
	refused("into itself", source, "into itself")
	if _, err := OpenWhole(fresh(t), a2a.Protocol(), false); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("from nowhere: %v", err)
	}
}

// TestACopyThatDiffersIsFound: what the target makes of it is compared.
func TestACopyThatDiffersIsFound(t *testing.T) {
	source, target := openWhole(t, filled(t, 4), false), openWhole(t, fresh(t), true)
	_, err := transfer.Copy(t.Context(), source, &forgetful{target}, quiet)
	if err == nil || !strings.Contains(err.Error(), "is not what the source has") {
		t.Errorf("it is not found: %v", err)
	}
}

type forgetful struct{ *Whole }

func (f *forgetful) Put(ctx context.Context, principal string, drop []int64, tasks []transfer.Task) error {
	tasks[0].Events = tasks[0].Events[:1]
	return f.Whole.Put(ctx, principal, drop, tasks)
}
