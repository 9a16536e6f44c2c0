package engine

import (
	"strconv"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
)

// shelf is what a call knows of its task's artifacts. An artifact's id is unique within the task (R305), which other
// calls have given artifacts to: those are looked up when this call gives its first, which is never before its turn.
// What an earlier attempt of the same call has given is not on the shelf: the call gives the same ids again, and the
// first that it says of one replaces what there was.
type shelf struct {
	filled bool
	made   int             // ids made by number
	others map[string]bool // ids of earlier calls' artifacts, and those that the handler chose
}

// fill looks up what is there already. The caller holds c.live.mu.
func (c *Call) fill() error {
	if c.shelf.filled {
		return nil
	}
	if c.work.Made > 0 {
		snap, err := c.e.store.Get(c.e.soon(), c.live.key, store.View{History: new(int), Artifacts: true})
		if err != nil {
			return err
		}
		list := snap.Task.ArtifactList()
		for _, a := range list[:min(c.work.Made, len(list))] {
			c.shelf.add(a.ID)
		}
	}
	c.shelf.filled = true
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

// place gives an artifact its id. One that goes on with an artifact that is not there begins it. The caller holds
// c.live.mu.
func (c *Call) place(a *runtime.ArtifactData) error {
	if err := c.fill(); err != nil {
		return err
	}
	switch {
	case a.ID != "" && c.shelf.has(a.ID):
		return nil
	case c.shelf.made+len(c.shelf.others) >= runtime.MaxArtifacts-1: // the last is for the result
		return ErrTooManyArtifacts
	case a.ID == "":
		a.ID, a.Append = c.shelf.next(), false
	default:
		a.Append = false
		c.shelf.add(a.ID)
	}
	return nil
}

// emit commits an artifact, or a piece of one, of the handler's.
func (c *Call) emit(a runtime.ArtifactData) error {
	if len(a.Parts) == 0 {
		return errEmpty
	}
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	if err := c.ensure(runtime.StateWorking); err != nil {
		return err
	}
	if err := c.check(a.Parts); err != nil {
		return err
	}
	if err := c.place(&a); err != nil {
		return err
	}
	return c.artifact(a)
}
