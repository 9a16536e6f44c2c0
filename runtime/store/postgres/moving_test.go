package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/spread"
)

// TestWhatAMovingAccountAllows: step by step, also to a replica that has all of it in its cache.
func TestWhatAMovingAccountAllows(t *testing.T) {
	address := postgrestest.Server(t)
	s, w := openTested(t, address, Options{Ended: time.Nanosecond, Parked: time.Nanosecond}), openWhole(t, address, false)
	other := mustOpen(t, address, Options{}) // with nothing in its cache
	p, of, at := a2a.Protocol(), store.Owner{Principal: "ann"}, time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	create := func(id string, n store.New) error {
		n.Task, n.Private.Skill = p.NewTask(id, "talk", at), "echo"
		_, err := s.Create(t.Context(), store.Key{Owner: of, Task: id}, n, nil)
		return err
	}
	key := func(id string) store.Key { return store.Key{Owner: of, Task: id} }
	push := store.Push{ID: "hook", Version: "1.0", Config: runtime.PushConfig{URL: "https://ann.example.com"}}
	ends := []store.Change{{Event: p.NewStatus("ended", "talk", runtime.StateCompleted, nil, at)}}
	if err := errors.Join(create("work", store.New{Call: &store.Call{}, Push: &push}), create("ended", store.New{Then: ends}),
		create("open", store.New{})); err != nil {
		t.Fatal(err)
	}
	version := int64(1)
	write := func(epoch, expect int64) error {
		_, err := s.Apply(t.Context(), key("work"), expect, store.Update{Epoch: epoch, Event: p.NewStatus("work", "talk", runtime.StateWorking, nil, at)}, nil)
		if err == nil {
			version++
		}
		return err
	}
	calls := []struct {
		name string
		do   func() error
	}{
		{"a handler writes", func() error { return write(1, 0) }},
		{"a handler saves a note", func() error {
			_, err := s.SetNote(t.Context(), of, "c", []byte("x"), store.AnyVersion)
			return err
		}},
		{"a client writes", func() error { return write(0, version) }},
		{"a task is made", func() error { return create("new", store.New{}) }},
		{"it is configured", func() error { return s.SetPush(t.Context(), key("open"), push) }},
		{"it is read", func() error { _, err := s.Get(t.Context(), key("work"), store.Full); return err }},
		{"its events are read", func() error { _, err := s.Events(t.Context(), key("work"), 1, 0); return err }},
		{"its head is read", func() error { _, err := s.Head(t.Context(), key("open")); return err }},
		{"its head is read elsewhere", func() error { _, err := other.Head(t.Context(), key("open")); return err }},
		{"its configurations are read", func() error { _, err := s.Pushes(t.Context(), key("work")); return err }},
	}
	for i, step := range []struct {
		name    string
		allowed string // a letter for each of the calls
	}{{"draining", "yynnyyyyyy"}, {"closed", "nnnnnyyyyy"}, {"away", "nnnnnnnnnn"}} {
		if err := w.Step(t.Context(), "ann", int64(i), int64(i+1)); err != nil {
			t.Fatal(err)
		}
		for k, call := range calls {
			err := call.do()
			if want := step.allowed[k] == 'y'; want != (err == nil) || !want && !errors.Is(err, spread.ErrMoved) {
				t.Errorf("%s: %s: %v", step.name, call.name, err)
			}
		}
		if i == 0 {
			continue
		}
		runs, err := s.Claim(context.Background(), []string{"echo"}, 9)
		due, _, err2 := s.Due(t.Context(), 9, time.Minute)
		swept, _, err3 := s.Sweep(t.Context())
		if err := errors.Join(err, err2, err3); err != nil || len(runs)+len(due)+swept > 0 {
			t.Errorf("%s: %d claimed, %d due, %d swept, %v", step.name, len(runs), len(due), swept, err)
		}
	}
	if err := w.Step(t.Context(), "ann", 3, 4); err != nil {
		t.Fatal(err)
	}
	runs, err := s.Claim(t.Context(), []string{"echo"}, 9)
	due, _, err2 := s.Due(t.Context(), 9, time.Minute)
	swept, _, err3 := s.Sweep(t.Context())
	if err := errors.Join(err, err2, err3); err != nil || len(runs) != 1 || len(due) != 1 || swept == 0 {
		t.Errorf("back: %d claimed, %d due, %d swept, %v", len(runs), len(due), swept, err)
	}
}
