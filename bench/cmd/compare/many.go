package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/sqlite"

	"github.com/a2agen/a2agen/bench/internal/work"
)

// file is a store with many tasks, and what is measured of it.
type file struct {
	path  string
	tasks int
}

// startIn is how long opening a store of 10⁶ tasks should take.
const startIn = 50 * time.Millisecond

// manyRows makes a file of so many ended tasks and measures what it is like to work with.
func manyRows(ctx context.Context, bin string, tasks int) (rows []row, err error) {
	dir, err := os.MkdirTemp(bin, "many")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	f := &file{filepath.Join(dir, "tasks.db"), tasks}
	for _, m := range []struct {
		what    string
		measure func(context.Context) (series, error)
		most    time.Duration
	}{
		{"made, of which each", f.fill, 0},
		{"start: the store is opened", f.start, startIn},
		{"GetTask, each another, not in the cache", f.get, 0},
		{"first page of 50", f.firstPage, 0},
		{"page of 50 after 10,000 others", f.laterPage, 0},
		{"page of a context", f.contextPage, 0},
		{"sweep of a week, each task", f.sweep, 0},
	} {
		took, err := m.measure(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.what, err)
		}
		r := row{work: fmt.Sprintf("%d tasks: %s", tasks, m.what), cells: []string{none, spread(took, duration), none}}
		if m.most > 0 {
			r.target = fmt.Sprintf("≤ %s %s", m.most, verdict(took.median() <= float64(m.most)))
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// with opens the file for as long as do takes.
func (f *file) with(o sqlite.Options, do func(*sqlite.Store) error) error {
	o.Logger = slog.New(slog.DiscardHandler)
	s, err := sqlite.Open(f.path, a2a.Protocol(), o)
	if err != nil {
		return err
	}
	err = do(s)
	if closed := s.Close(); err == nil {
		err = closed
	}
	return err
}

func key(i int) store.Key {
	return store.Key{Task: fmt.Sprintf("task-%08x-%08x", uint32(i)*2654435761, i)}
}

// contextOf is the conversation of a task: each has ten.
func contextOf(i int) string { return fmt.Sprintf("context-%d", i/10) }

// fill makes the tasks, each with a message and an answer. Its figure is the time for one.
func (f *file) fill(ctx context.Context) (series, error) {
	const makers = 256
	began := time.Now()
	err := f.with(sqlite.Options{}, func(s *sqlite.Store) error {
		var next atomic.Int64
		var failed atomic.Pointer[error]
		var wg sync.WaitGroup
		for range makers {
			wg.Go(func() {
				for i := next.Add(1); i <= int64(f.tasks) && failed.Load() == nil; i = next.Add(1) {
					if err := makeTask(ctx, s, int(i)); err != nil {
						failed.Store(&err)
					}
				}
			})
		}
		wg.Wait()
		if err := failed.Load(); err != nil {
			return *err
		}
		return nil
	})
	return series{float64(time.Since(began)) / float64(f.tasks)}, err
}

func makeTask(ctx context.Context, s *sqlite.Store, i int) error {
	p, k, about := a2a.Protocol(), key(i), contextOf(i)
	info := runtime.MessageInfo{ID: "m", TaskID: k.Task, ContextID: about, User: true}
	task := p.NewTask(k.Task, about, time.Now())
	task.AddMessage(p.NewMessage(runtime.MessageData{MessageInfo: info, Parts: []runtime.Part{runtime.Text(work.Text(work.Task, 0))}}))
	if _, err := s.Create(ctx, k, store.New{Task: task, Private: store.Private{Skill: "bench"}}, nil); err != nil {
		return err
	}
	info.ID, info.User = "a", false
	said := p.NewMessage(runtime.MessageData{MessageInfo: info, Parts: []runtime.Part{runtime.Text(work.Reply("x"))}})
	u := store.Update{Event: p.NewStatus(k.Task, about, runtime.StateCompleted, said, time.Now())}
	_, err := s.Apply(ctx, k, 1, u, nil)
	return err
}

// start opens the file again and again.
func (f *file) start(context.Context) (took series, err error) {
	for range 5 {
		began := time.Now()
		if err := f.with(sqlite.Options{}, func(*sqlite.Store) error {
			took = append(took, float64(time.Since(began)))
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// repeated measures what do takes, with the file just opened.
func (f *file) repeated(times int, do func(*sqlite.Store) error) (took series, err error) {
	err = f.with(sqlite.Options{}, func(s *sqlite.Store) error {
		for range times {
			began := time.Now()
			if err := do(s); err != nil {
				return err
			}
			took = append(took, float64(time.Since(began)))
		}
		return nil
	})
	return took, err
}

func (f *file) get(ctx context.Context) (series, error) {
	return f.repeated(1000, func(s *sqlite.Store) error {
		_, err := s.Get(ctx, key(1+rand.IntN(f.tasks)), store.Full)
		return err
	})
}

const pageSize = 50

func (f *file) firstPage(ctx context.Context) (series, error) {
	return f.repeated(100, func(s *sqlite.Store) error {
		_, err := s.List(ctx, store.Owner{}, store.Query{Size: pageSize})
		return err
	})
}

func (f *file) laterPage(ctx context.Context) (series, error) {
	token := ""
	next := func(s *sqlite.Store) error {
		page, err := s.List(ctx, store.Owner{}, store.Query{Size: pageSize, Token: token})
		token = page.Next
		return err
	}
	if _, err := f.repeated(min(10_000, f.tasks/2)/pageSize, next); err != nil {
		return nil, err
	}
	return f.repeated(100, next)
}

func (f *file) contextPage(ctx context.Context) (series, error) {
	return f.repeated(100, func(s *sqlite.Store) error {
		_, err := s.List(ctx, store.Owner{}, store.Query{Size: pageSize, Context: contextOf(rand.IntN(f.tasks))})
		return err
	})
}

// sweep drops some of the tasks a week later. Its figures are the times for one.
func (f *file) sweep(ctx context.Context) (took series, err error) {
	later := func() time.Time { return time.Now().Add(8 * 24 * time.Hour) }
	err = f.with(sqlite.Options{Clock: later}, func(s *sqlite.Store) error {
		for range 100 {
			began := time.Now()
			dropped, more, err := s.Sweep(ctx)
			if err != nil {
				return err
			}
			if took = append(took, float64(time.Since(began))/float64(max(dropped, 1))); !more {
				return nil
			}
		}
		return nil
	})
	return took, err
}
