package sqlite

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/memory"
	"github.com/a2agen/a2agen/testkit/storetest"
)

func options(l memory.Limits) Options {
	return Options{
		Tasks: l.Tasks, Bytes: int64(l.Bytes), TaskBytes: int64(l.TaskBytes), OwnerTasks: l.OwnerTasks, OwnerBytes: int64(l.OwnerBytes),
		Events: l.Events, Pushes: l.Pushes, Ended: l.Ended, Parked: l.Parked,
	}
}

func open(t testing.TB, path string, o Options) *Store {
	t.Helper()
	s, err := Open(path, a2a.Protocol(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func fresh(t testing.TB) string { return filepath.Join(t.TempDir(), "tasks.db") }

// left copies what a process that is killed at this moment leaves behind.
func left(t testing.TB, path string) string {
	t.Helper()
	to := fresh(t)
	for _, suffix := range []string{"", "-wal"} {
		from, err := os.Open(path + suffix)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		file, err := os.Create(to + suffix)
		if err == nil {
			_, err = io.Copy(file, from)
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = file.Close()
		defer func() { _ = from.Close() }() // now it would take SQLite's locks away
	}
	return to
}

// wrong is what "a2agen tasks check" finds in the file of a store.
func wrong(s store.Store) ([]string, error) {
	f, err := OpenFile(s.(*Store).path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	_, list, err := f.Check(context.Background())
	return list, err
}

// whole has the file checked at the end of the test.
func whole(t *testing.T, s *Store) *Store {
	t.Cleanup(func() {
		if list, err := wrong(s); err != nil || len(list) > 0 {
			t.Errorf("in the end the file is damaged: %q, %v", list, err)
		}
	})
	return s
}

// errKilled is what every statement says after the process was killed.
var errKilled = fmt.Errorf("killed")

func TestSQLiteIsAStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) storetest.Harness {
		return storetest.Harness{
			Protocol: a2a.Protocol(),
			Open:     func(t *testing.T, l memory.Limits) store.Store { return whole(t, open(t, fresh(t), options(l))) },
			Heir: func(t *testing.T, s store.Store) store.Store {
				old := s.(*Store)
				return whole(t, open(t, left(t, old.path), old.options))
			},
			Leave: func(t *testing.T, s store.Store) store.Store {
				old := s.(*Store)
				return open(t, old.path, old.options)
			},
			OpenAt: func(t *testing.T, l memory.Limits, clock func() time.Time) store.Store {
				o := options(l)
				o.Clock = clock
				return open(t, fresh(t), o)
			},
			Wrong:   wrong,
			Durable: true,
			Crash:   crash,
		}
	})
}

// crash kills the process before its n-th statement: from then on nothing is heard from it.
func crash(t *testing.T, n int, script func(store.Store)) (store.Store, bool) {
	s := open(t, fresh(t), Options{})
	path, count := "", 0
	s.writer.before = func(string) error {
		if count++; count == n {
			path = left(t, s.path)
		}
		if count >= n {
			return errKilled
		}
		return nil
	}
	script(s)
	crashed := path != ""
	if !crashed {
		path = left(t, s.path)
	}
	return whole(t, open(t, path, Options{})), crashed
}
