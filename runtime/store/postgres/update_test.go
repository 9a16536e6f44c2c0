package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// nextProtocol is that of a program which also knows A2A 1.1, and writes it.
func nextProtocol() *runtime.Protocol {
	p := a2a.Protocol()
	v := *p.Versions[0]
	v.Name = "1.1"
	p.Versions, p.Whole = append([]*runtime.Version{&v}, p.Versions...), &v
	return p
}

// program opens a store as a program does that knows some steps and a protocol.
func program(t *testing.T, address string, known []Step, p *runtime.Protocol, lease time.Duration) (*Store, error) {
	t.Helper()
	s, err := Open(context.Background(), address, p, Options{steps: known, Lease: lease})
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

// A rolling update: programs with two formats of the schema, and two versions of the protocol, work on it at the same
// time.
func TestAnOlderAndANewerProgramShareASchema(t *testing.T) {
	address := postgrestest.Server(t)
	next := append(slices.Clip(steps), Step{len(steps) + 1, len(steps), "adds a column", "ALTER TABLE a2a.task ADD COLUMN later text"})
	must := func(s *Store, err error) *Store {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	old := must(program(t, address, steps, a2a.Protocol(), time.Minute))
	begun := create(t, old, "old")
	update := must(program(t, address, next, nextProtocol(), time.Minute))

	// What the older one wrote is everybody's, and it goes on with it in the new format.
	if got, err := update.Get(t.Context(), keyed("old"), store.Full); err != nil || got.Version != 1 {
		t.Errorf("to the newer one, the older one's task is of version %d: %v", got.Version, err)
	}
	if _, err := old.Apply(t.Context(), keyed("old"), 0, says("old", begun.Epoch, runtime.StateWorking), nil); err != nil {
		t.Errorf("the older one goes on: %v", err)
	}
	again := must(program(t, address, steps, a2a.Protocol(), time.Minute)) // one that is started again

	// What the newer one writes is refused by the older ones, not guessed, and nothing happens to it.
	create(t, update, "new")
	for _, s := range []*Store{old, again} {
		_, getErr := s.Get(t.Context(), keyed("new"), store.Full)
		_, listErr := s.List(t.Context(), keyed("new").Owner, store.Query{Size: 10, View: store.Full})
		_, eventsErr := s.Events(t.Context(), keyed("new"), 0, 10)
		_, cancelErr := s.Apply(t.Context(), keyed("new"), 1, cancels("new"), nil)
		for what, err := range map[string]error{"get": getErr, "list": listErr, "events": eventsErr, "cancel": cancelErr} {
			if !errors.Is(err, store.ErrUnavailable) {
				t.Errorf("%s by the older one: %v", what, err)
			}
		}
	}
	expire(t, address, update)
	for _, skills := range [][]string{{"skill"}, {"another"}} {
		if runs, err := old.Claim(t.Context(), skills, 9); err != nil || len(runs) > 0 {
			t.Errorf("the older one takes over %d tasks of %v that it cannot read: %v", len(runs), skills, err)
		}
	}
	successor := must(program(t, address, next, nextProtocol(), time.Minute))
	if runs, err := successor.Claim(t.Context(), []string{"another"}, 9); err != nil || len(runs) > 0 {
		t.Errorf("%d tasks of an unknown skill are taken over: %v", len(runs), err)
	}
	runs, err := successor.Claim(t.Context(), []string{"skill"}, 9)
	if err != nil || len(runs) != 1 || runs[0].Key != keyed("new") || runs[0].Call.Attempt != 2 {
		t.Errorf("a newer one takes over %+v: %v", runs, err)
	}
}

// A step that older programs cannot live with waits until they are gone, and lets none of them in again.
func TestAStepThatOlderProgramsDoNotKnowWaitsForTheirEnd(t *testing.T) {
	address := postgrestest.Server(t)
	next := append(slices.Clip(steps), Step{len(steps) + 1, len(steps) + 1, "drops a column", "ALTER TABLE a2a.task DROP COLUMN trace"})
	old, err := program(t, address, steps, a2a.Protocol(), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := program(t, address, next, a2a.Protocol(), time.Minute); err == nil || !strings.Contains(err.Error(), "stop them, then start this one") {
		t.Fatalf("while an older one works: %v", err)
	}
	create(t, old, "t") // nothing happened
	expire(t, address, old)
	conn := postgrestest.Connect(t, address)
	makeStep := func(ctx context.Context) error {
		target, err := reach(ctx, address, "")
		if err != nil {
			return err
		}
		target.steps = next
		return target.migrate(ctx, "")
	}
	if err := makeStep(t.Context()); err != nil {
		t.Fatal(err)
	}
	var format, least int
	if err := conn.QueryRow(t.Context(), "SELECT format, least FROM meta").Scan(&format, &least); err != nil || format != len(next) || least != len(next) {
		t.Errorf("the schema has format %d for programs from %d: %v", format, least, err)
	}
	refused := fmt.Sprintf("the schema has format %d, and this program knows formats up to %d: use the newer program that changed it", len(next), len(steps))
	if _, err := old.Renew(t.Context()); !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), refused) {
		t.Errorf("one that was paused comes back: %v", err)
	}
	if _, err := program(t, address, steps, a2a.Protocol(), time.Minute); err == nil || !strings.Contains(err.Error(), refused) {
		t.Errorf("an older one begins: %v", err)
	}
}
