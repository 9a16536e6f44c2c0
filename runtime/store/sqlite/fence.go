package sqlite

import (
	"fmt"
	"os"

	"github.com/a2agen/a2agen/runtime/store"
)

// Before an instance writes, it checks that the file is still its own. If not, it never writes again: every update fails
// with ErrLost, which stops its handlers.

// mayWrite returns why this instance must not write, as far as that can be seen without reading the file. [File] has no
// instance number and may always write.
func (s *Store) mayWrite() error {
	if s.me == 0 || s.lost != nil {
		return s.lost
	}
	if s.checkPath() != nil {
		s.stopWriting("the file of the tasks was replaced by another")
	}
	return s.lost
}

// checkPath returns an error if another file is in the place of the one that is open. One that was deleted stays usable, but
// is gone with this process. Both are logged once.
func (s *Store) checkPath() error {
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

// checkLast returns an error unless this instance is the last one that opened the file. It is called within a transaction,
// when another process has written.
func (w *writer) checkLast() error {
	if w.s.me == 0 {
		return nil
	}
	n, _, err := w.one("SELECT max(n) FROM instance")
	if err == nil && n != w.s.me {
		w.s.stopWriting("another process has opened the file of the tasks and works on it")
		err = w.s.lost
	}
	return err
}

// stopWriting stops this instance from writing, and clears the cache, so that readers read the file.
func (s *Store) stopWriting(why string) {
	s.lost = fmt.Errorf("%w: %s", store.ErrLost, why)
	s.options.Logger.Error(why+": this process writes nothing any more, end it", "path", s.path)
	s.cache.Clear()
}
