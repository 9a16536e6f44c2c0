package sqlite

import (
	"fmt"
	"os"

	"github.com/a2agen/a2agen/runtime/store"
)

// What an instance looks at before it writes: whether the file is still its own. When it is not, it never writes again,
// and its handlers are told that their tasks are run by somebody else.

// mine says why this instance must not write, as far as one sees from outside of the file. An instance that only tidies
// up has no number, and may.
func (s *Store) mine() error {
	if s.me == 0 || s.lost != nil {
		return s.lost
	}
	if s.look() != nil {
		s.lose("the file of the tasks was replaced by another")
	}
	return s.lost
}

// look returns an error if another file is in the place of the one that is open. One that was deleted stays usable: the
// store goes on in it, where nobody finds it. Both are said once.
func (s *Store) look() error {
	info, err := os.Stat(s.real)
	replaced := err == nil && !os.SameFile(info, s.file)
	if (err != nil || replaced) && !s.gone.Swap(true) {
		s.options.Logger.Error("the file of the tasks was deleted or replaced: what is stored in the one that is open ends with this process", "path", s.path)
	}
	if replaced {
		return store.ErrLost
	}
	return nil
}

// last says that this instance must not write when it is not the last one that opened the file. It is asked within a
// transaction, whenever somebody else has written.
func (w *writer) last() error {
	if w.s.me == 0 {
		return nil
	}
	n, _, err := w.one("SELECT max(n) FROM instance")
	if err == nil && n != w.s.me {
		w.s.lose("another process has opened the file of the tasks and works on it")
		err = w.s.lost
	}
	return err
}

// lose ends what this instance writes. What is remembered of tasks goes, so that the file is read.
func (s *Store) lose(why string) {
	s.lost = fmt.Errorf("%w: %s", store.ErrLost, why)
	s.options.Logger.Error(why+": this process writes nothing any more, end it", "path", s.path)
	s.cache.clear()
}
