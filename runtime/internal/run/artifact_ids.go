package run

import (
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/task"
)

// artifactIDs are the ids of a task's artifacts that a call knows. An artifact's id is unique within the task (R305),
// which other calls have given artifacts to: those are looked up when this call gives its first, which is never before
// its turn. What an earlier attempt of the same call has given is not among them: the call gives the same ids again,
// and the first that it says of one replaces what there was.
type artifactIDs struct {
	filled bool
	made   int             // ids made by number
	others map[string]bool // ids of earlier calls' artifacts, and those that the handler chose
}

// fill looks up what is there already.
func (s *artifactIDs) fill(t *taskWriter) error {
	if s.filled {
		return nil
	}
	if t.work.Made > 0 {
		snap, err := t.c.r.Store.Get(t.c.r.Soon(), t.c.handle.key, store.View{History: new(int), Artifacts: true})
		if err != nil {
			return err
		}
		list := snap.Task.ArtifactList()
		for _, a := range list[:min(t.work.Made, len(list))] {
			s.add(a.ID)
		}
	}
	s.filled = true
	return nil
}

func (s *artifactIDs) add(id string) {
	if s.others == nil {
		s.others = map[string]bool{}
	}
	s.others[id] = true
}

// next makes an id that no artifact of the task has.
func (s *artifactIDs) next() string {
	for {
		s.made++
		if id := numbered(s.made); !s.others[id] {
			return id
		}
	}
}

func (s *artifactIDs) has(id string) bool {
	if s.others[id] {
		return true
	}
	n, err := strconv.Atoi(id[min(len(id), len(madeID)):])
	return err == nil && n > 0 && n <= s.made && id == numbered(n)
}

const madeID = "artifact-"

func numbered(n int) string { return madeID + strconv.Itoa(n) }

// assign gives an artifact of the task its id. One that goes on with an artifact that is not there begins it. Callers
// must hold the lock of the task.
func (s *artifactIDs) assign(t *taskWriter, a *runtime.ArtifactData) error {
	if err := s.fill(t); err != nil {
		return err
	}
	switch {
	case a.ID != "" && s.has(a.ID):
		return nil
	case s.made+len(s.others) >= runtime.MaxArtifacts-1: // the last is for the result
		return task.ErrTooManyArtifacts
	case a.ID == "":
		a.ID, a.Append = s.next(), false
	default:
		a.Append = false
		s.add(a.ID)
	}
	return nil
}

// emit commits an artifact, or a piece of one, of the handler's.
func (t *taskWriter) emit(a runtime.ArtifactData) error {
	if len(a.Parts) == 0 {
		return errEmpty
	}
	t.c.handle.mu.Lock()
	defer t.c.handle.mu.Unlock()
	if err := t.ready(); err != nil {
		return err
	}
	if err := t.c.r.content.check(a.Parts); err != nil {
		return err
	}
	if err := t.artifactIDs.assign(t, &a); err != nil {
		return err
	}
	return t.sayFirst(runtime.StateWorking, t.newArtifact(&a))
}
