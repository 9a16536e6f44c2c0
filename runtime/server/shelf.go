package server

import (
	"context"
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// shelf is what a call knows of its task's artifacts. An artifact's id is unique within the task (R305), which other calls have given artifacts to:
// those are looked up when this call gives its first, which is never before its turn.
type shelf struct {
	filled bool
	made   int             // ids made by number
	others map[string]bool // ids of earlier calls' artifacts, and those that the handler chose
}

// fill looks up what is there already. The caller holds t.l.mu.
func (t *Task) fill() error {
	if t.shelf.filled {
		return nil
	}
	if t.resumed {
		snap, err := t.s.store.Get(context.Background(), t.l.key, store.View{History: new(int), Artifacts: true})
		if err != nil {
			return err
		}
		for _, a := range snap.Task.ArtifactList() {
			t.shelf.add(a.ID)
		}
	}
	t.shelf.filled = true
	return nil
}

func (s *shelf) add(id string) {
	if s.others == nil {
		s.others = map[string]bool{}
	}
	s.others[id] = true
}

// next makes an id that no artifact of the task has.
func (s *shelf) next() string {
	for {
		s.made++
		if id := numbered(s.made); !s.others[id] {
			return id
		}
	}
}

func (s *shelf) has(id string) bool {
	if s.others[id] {
		return true
	}
	n, err := strconv.Atoi(id[min(len(id), len(madeID)):])
	return err == nil && n > 0 && n <= s.made && id == numbered(n)
}

const madeID = "artifact-"

func numbered(n int) string { return madeID + strconv.Itoa(n) }

// place gives an artifact its id. One that goes on with an artifact that is not there begins it. The caller holds t.l.mu.
func (t *Task) place(a *runtime.ArtifactData) error {
	if err := t.fill(); err != nil {
		return err
	}
	switch {
	case a.ID != "" && t.shelf.has(a.ID):
		return nil
	case t.shelf.made+len(t.shelf.others) >= runtime.MaxArtifacts-1: // the last is for the result
		return ErrTooManyArtifacts
	case a.ID == "":
		a.ID, a.Append = t.shelf.next(), false
	default:
		a.Append = false
		t.shelf.add(a.ID)
	}
	return nil
}

// emit commits an artifact, or a piece of one, of the handler's.
func (t *Task) emit(a runtime.ArtifactData) error {
	if len(a.Parts) == 0 {
		return errEmpty
	}
	t.l.mu.Lock()
	defer t.l.mu.Unlock()
	if err := t.ensure(runtime.StateWorking); err != nil {
		return err
	}
	if err := t.check(a.Parts); err != nil {
		return err
	}
	if err := t.place(&a); err != nil {
		return err
	}
	return t.artifact(a)
}
