package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
)

// What handlers keep for contexts.

// note returns the value and version of a note.
func (s *suite) note(in store.Store, o store.Owner, context string) (string, int64) {
	s.Helper()
	n, err := in.Note(ctx, o, context)
	if err != nil {
		s.Fatal(err)
	}
	return string(n.Value), n.Version
}

// noted writes a note.
func (s *suite) noted(in store.Store, o store.Owner, context, value string, expect int64) int64 {
	s.Helper()
	version, err := in.SetNote(ctx, o, context, []byte(value), expect)
	if err != nil {
		s.Fatalf("the note of %s: %v", context, err)
	}
	return version
}

// notes: each owner has one for a context, which is written by its version.
func notes(s *suite) {
	in := s.open()
	ann, bob := store.Owner{Principal: "ann"}, store.Owner{Principal: "bob"}
	tenant := store.Owner{Tenant: "t", Principal: "ann"}
	if value, version := s.note(in, ann, "c"); value != "" || version != 0 {
		s.Errorf("at first: %q at %d", value, version)
	}
	_, err := in.SetNote(ctx, ann, "c", []byte("x"), 7)
	s.refused("a version of none", err, store.ErrConflict)
	first := s.noted(in, ann, "c", "1", 0)
	_, err = in.SetNote(ctx, ann, "c", []byte("x"), 0)
	s.refused("a note that is there", err, store.ErrConflict)
	second := s.noted(in, ann, "c", "2", first)
	_, err = in.SetNote(ctx, ann, "c", []byte("x"), first)
	s.refused("an older version", err, store.ErrConflict)
	third := s.noted(in, ann, "c", "3", store.AnyVersion)
	s.noted(in, bob, "c", "of bob", 0)
	s.noted(in, tenant, "c", "of the tenant", 0)
	s.noted(in, ann, "d", "of another", 0)
	if value, version := s.note(in, ann, "c"); value != "3" || version != third || !(0 < first && first < second && second < third) {
		s.Errorf("%q at %d, after %d, %d and %d", value, version, first, second, third)
	}
	if _, err := in.SetNote(ctx, ann, "c", nil, second); !errors.Is(err, store.ErrConflict) {
		s.Errorf("removed by an older version: %v", err)
	}
	if version, err := in.SetNote(ctx, ann, "c", nil, third); version != 0 || err != nil {
		s.Errorf("removed: %d, %v", version, err)
	}
	if version, err := in.SetNote(ctx, ann, "c", nil, store.AnyVersion); version != 0 || err != nil {
		s.Errorf("removed again: %d, %v", version, err)
	}
	for o, want := range map[store.Owner]string{ann: "", bob: "of bob", tenant: "of the tenant", {}: ""} {
		if value, _ := s.note(in, o, "c"); value != want {
			s.Errorf("%v has %q", o, value)
		}
	}
	if again := s.noted(in, ann, "c", "4", 0); again <= third {
		s.Errorf("version %d comes again after %d", again, third)
	}
	if s.Leave == nil || !s.Durable {
		return
	}
	if err := in.Close(); err != nil {
		s.Fatal(err)
	}
	if value, _ := s.note(s.Leave(s.T, in), bob, "c"); value != "of bob" {
		s.Errorf("the next instance finds %q", value)
	}
}

// notesConflict: of two writes at the same time one conflicts.
func notesConflict(s *suite) {
	in := s.open()
	const writers, each = 4, 25
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for done := 0; done < each; {
				n, err := in.Note(ctx, store.Owner{}, "c")
				if err != nil {
					s.Error(err)
					return
				}
				count, _ := strconv.Atoi(string(n.Value))
				_, err = in.SetNote(ctx, store.Owner{}, "c", []byte(strconv.Itoa(count+1)), n.Version)
				switch {
				case err == nil:
					done++
				case !errors.Is(err, store.ErrConflict):
					s.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if value, _ := s.note(in, store.Owner{}, "c"); value != strconv.Itoa(writers*each) {
		s.Errorf("%s of %d were counted", value, writers*each)
	}
}

// noteShares: notes make room among themselves, those of an owner first, then those of who has most.
func noteShares(s *suite) {
	in := s.Open(s.T, memory.Limits{Bytes: 800_000}) // 50,000 for a principal's notes, 200,000 for all
	who := func(i int) store.Owner { return store.Owner{Principal: fmt.Sprint("p", i)} }
	value := string(bytes.Repeat([]byte("x"), 9_400))
	has := func(o store.Owner) (found string) {
		for i := range 8 {
			if v, _ := s.note(in, o, fmt.Sprint("c", i)); v != "" {
				found += strconv.Itoa(i)
			}
		}
		return found
	}
	_, err := in.SetNote(ctx, who(0), "c", make([]byte, 60_000), 0)
	s.refused("more than the share", err, store.ErrTooLarge)
	for i := range 7 {
		s.noted(in, who(0), fmt.Sprint("c", i), value, 0)
		time.Sleep(time.Millisecond)
	}
	if got := has(who(0)); got != "23456" {
		s.Errorf("an owner keeps %s", got)
	}
	s.noted(in, who(0), "c2", value, store.AnyVersion) // is the last one now
	time.Sleep(time.Millisecond)
	s.noted(in, who(0), "c7", value, 0)
	if got := has(who(0)); got != "24567" {
		s.Errorf("then %s", got)
	}
	for p := 1; p <= 16; p++ {
		s.noted(in, who(p), "c0", value, 0)
		time.Sleep(time.Millisecond)
	}
	if got := has(who(0)); len(got) != 4 {
		s.Errorf("who has most keeps %s", got)
	}
	for p := 1; p <= 16; p++ {
		if has(who(p)) != "0" {
			s.Errorf("owner %d has lost his only note", p)
		}
	}
	in = s.open()
	_, err = in.SetNote(ctx, who(0), "c", make([]byte, store.MaxNote+1), 0)
	s.refused("a large one", err, store.ErrTooLarge)
}

// notesAreCharged: to the account of their owner, which tasks make room in, and no task makes room by a note.
func notesAreCharged(s *suite) {
	in := s.Open(s.T, memory.Limits{Bytes: 1 << 20, OwnerBytes: 100_000}) // 12,500 of them for notes
	o := store.Owner{Principal: "p"}
	fill := func(id string) error {
		n := s.task(id)
		n.Private.Input = make([]byte, 22_000)
		_, err := in.Create(ctx, store.Key{Owner: o, Task: id}, n, nil)
		return err
	}
	for i := range 4 {
		if err := fill(name(i)); err != nil {
			s.Fatal(err)
		}
	}
	note := make([]byte, 11_000)
	_, err := in.SetNote(ctx, o, "c", note, 0)
	s.refused("a note beside tasks at work", err, store.ErrFull)
	_, err = in.Apply(ctx, store.Key{Owner: o, Task: name(0)}, 1, s.status(name(0), runtime.StateInputRequired, time.Second), nil)
	if err != nil {
		s.Fatal(err)
	}
	s.noted(in, o, "c", string(note), 0)
	if _, err := in.Head(ctx, store.Key{Owner: o, Task: name(0)}); !errors.Is(err, store.ErrNotFound) {
		s.Errorf("the task that waits: %v", err)
	}
	s.refused("a task beside the note", fill(name(4)), store.ErrFull)
	if value, version := s.note(in, o, "c"); len(value) != len(note) {
		s.Errorf("the note has made room: %d bytes at %d", len(value), version)
	}
	if _, err := in.SetNote(ctx, o, "c", nil, store.AnyVersion); err != nil {
		s.Fatal(err)
	}
	if err := fill(name(4)); err != nil {
		s.Errorf("without the note: %v", err)
	}
}

// noteRetention: a note goes when it was not written for as long as a task waits.
func noteRetention(s *suite) {
	in := s.Open(s.T, memory.Limits{Ended: time.Hour, Parked: time.Millisecond})
	for i := range 150 {
		s.noted(in, store.Owner{Principal: name(i)}, "c", "x", 0)
	}
	time.Sleep(5 * time.Millisecond)
	s.sweep(in)
	for i := range 150 {
		if value, _ := s.note(in, store.Owner{Principal: name(i)}, "c"); value != "" {
			s.Fatalf("note %d is %q", i, value)
		}
	}
	in = s.open()
	s.noted(in, store.Owner{Principal: "p"}, "c", "x", 0)
	s.sweep(in) // of an owner without tasks
	if value, _ := s.note(in, store.Owner{Principal: "p"}, "c"); value != "x" {
		s.Errorf("the note is %q", value)
	}
}
