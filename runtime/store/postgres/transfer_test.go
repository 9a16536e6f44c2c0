package postgres

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/admin"
	"github.com/a2agen/a2agen/runtime/store/internal/transfer"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

// fillStore makes one of everything that a store keeps, for several principals.
func fillStore(t *testing.T, s store.Store, tasks int) {
	t.Helper()
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
			Event:  p.NewArtifact(key.Task, "talk", runtime.ArtifactData{ID: "a", Parts: []runtime.Part{runtime.Text(strings.Repeat("x", 1000*i))}}),
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
}

func openWhole(t *testing.T, address string, fresh bool) *Whole {
	t.Helper()
	w, err := OpenWhole(t.Context(), address, fresh)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func quiet(admin.Progress) {}

func TestACopyGoesThroughAFileAndBack(t *testing.T) {
	first, second := postgrestest.Server(t), postgrestest.Server(t)
	s := openTested(t, first, Options{Lease: time.Hour}) // nothing renews it
	fillStore(t, s, 80)
	source := openWhole(t, first, false)
	if _, err := admin.Copy(t.Context(), source, openWhole(t, second, true), quiet); err == nil || !strings.Contains(err.Error(), "is in use by") {
		t.Errorf("while an agent uses it: %v", err)
	}
	_ = s.Close()
	file, err := sqlite.OpenWhole(filepath.Join(t.TempDir(), "tasks.db"), a2a.Protocol(), true)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	target := openWhole(t, second, true)
	sums := make([]admin.Progress, 2)
	for i, leg := range []struct {
		from admin.Whole
		to   admin.Empty
	}{{source, file}, {file, target}} {
		if sums[i], err = admin.Copy(t.Context(), leg.from, leg.to, quiet); err != nil {
			t.Fatal(err)
		}
	}
	if sums[0] != sums[1] || sums[0].Tasks != 80 || sums[0].Accounts != 3 {
		t.Errorf("copied %+v and %+v", sums[0], sums[1])
	}
	again := sums[1]
	again.Before = true
	for name, copied := range map[string]func(context.Context, admin.Whole, admin.Empty, func(admin.Progress)) (admin.Progress, error){
		"copied": admin.Copy, "tried": admin.DryCopy,
	} {
		if got, err := copied(t.Context(), file, target, quiet); err != nil || got != again {
			t.Errorf("%s again: %+v, %v", name, got, err)
		}
	}
	heir := openTested(t, second, Options{})
	if list, err := wrong(heir); err != nil || len(list) > 0 {
		t.Errorf("what was copied is wrong: %v, %v", list, err)
	}
	runs, err := heir.Claim(t.Context(), []string{"echo"}, 100)
	if err != nil || len(runs) != 60 || runs[0].Call.Attempt != 1 {
		t.Errorf("%d open messages are worked on, %v", len(runs), err)
	}
	due, _, err := heir.Due(t.Context(), 100, time.Minute)
	if err != nil || len(due) != 80 {
		t.Errorf("%d notifications are due, %v", len(due), err)
	}
	if _, _, err := heir.Ticket(t.Context(), [32]byte{1, 0, 1}); err != nil {
		t.Errorf("a ticket: %v", err)
	}
	if list, err := wrong(heir); err != nil || len(list) > 0 {
		t.Errorf("then it is wrong: %v, %v", list, err)
	}
	_ = heir.Close()
	if _, err := admin.Copy(t.Context(), file, target, quiet); err == nil || !strings.Contains(err.Error(), "has tasks of its own") {
		t.Errorf("after an agent has worked on it: %v", err)
	}
}

// TestAHalfCopyIsNoStore: an agent does not open it, and the copy goes on.
func TestAHalfCopyIsNoStore(t *testing.T) {
	first, second := postgrestest.Server(t), postgrestest.Server(t)
	s := openTested(t, first, Options{})
	fillStore(t, s, 12)
	_ = s.Close()
	_ = openTested(t, second, Options{Agent: "of another name, and without tasks"}).Close()
	known := openWhole(t, postgrestest.Server(t), true)
	if err := known.PutRepeats(t.Context(), "ada", []transfer.Repeat{{Key: "k", Task: "dropped", Digest: []byte{1}, Until: 1}}); err != nil {
		t.Fatal(err)
	}
	if err := known.Ready(t.Context(), "another"); !errors.Is(err, transfer.ErrTasks) {
		t.Errorf("where messages may be sent again: %v", err)
	}
	source, target := openWhole(t, first, false), openWhole(t, second, true)
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := admin.Copy(ctx, source, target, func(p admin.Progress) {
		if p.Tasks > 3 {
			cancel()
		}
	}); err == nil {
		t.Fatal("it is not ended")
	}
	if _, err := Open(t.Context(), second, a2a.Protocol(), Options{}); err == nil || !strings.Contains(err.Error(), "has not ended") {
		t.Errorf("an agent opens it: %v", err)
	}
	if _, err := OpenAdmin(t.Context(), second); err == nil || !strings.Contains(err.Error(), "has not ended") {
		t.Errorf("it is listed: %v", err)
	}
	if got, err := admin.Copy(t.Context(), source, target, quiet); err != nil || got.Tasks != 12 {
		t.Errorf("then %+v, %v", got, err)
	}
	if list, err := wrong(openTested(t, second, Options{Agent: "weather"})); err != nil || len(list) > 0 {
		t.Errorf("it is wrong: %v, %v", list, err)
	}
}
