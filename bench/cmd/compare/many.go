package main

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/postgres"
	"github.com/a2agen/a2agen/runtime/store/sqlite"

	"github.com/a2agen/a2agen/bench/internal/work"
)

// large is a store with many tasks, and what is measured of it.
type large struct {
	tasks int
	open  func(ctx context.Context, clock func() time.Time) (store.Store, error) // nil: the usual clock
	bytes func(ctx context.Context) (int64, error)                               // on disk
}

// startIn is how long opening a store of 10⁶ tasks should take.
const startIn = 50 * time.Millisecond

// largeStores are those that are measured, by column.
func (b *bench) largeStores() map[int]*large {
	logger := slog.New(slog.DiscardHandler)
	path := filepath.Join(b.bin, "many.db")
	list := map[int]*large{colFile: {b.many, func(_ context.Context, clock func() time.Time) (store.Store, error) {
		return sqlite.Open(path, a2a.Protocol(), sqlite.Options{Logger: logger, Clock: clock})
	}, func(context.Context) (int64, error) {
		info, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		return info.Size(), nil
	}}}
	if p := b.postgres; p != nil {
		address := p.schema("many")
		list[colOne] = &large{b.many, func(ctx context.Context, clock func() time.Time) (store.Store, error) {
			return postgres.Open(ctx, address, a2a.Protocol(), postgres.Options{Logger: logger, Clock: clock})
		}, func(ctx context.Context) (int64, error) { return p.bytes(ctx, p.schemas[len(p.schemas)-1]) }}
	}
	return list
}

// manyRows makes many ended tasks and measures what it is like to work with them.
func (b *bench) manyRows(ctx context.Context) (rows []row, err error) {
	stores := b.largeStores()
	for _, m := range []struct {
		what    string
		measure func(*large, context.Context) (series, error)
		show    func(float64) string
		most    time.Duration
	}{
		{"made, of which each", (*large).fill, duration, 0},
		{"bytes on disk of each", (*large).size, whole, 0},
		{"start: the store is opened", (*large).start, duration, startIn},
		{"GetTask, each another, not in the cache", (*large).get, duration, 0},
		{"first page of 50", (*large).firstPage, duration, 0},
		{"page of 50 after 10,000 others", (*large).laterPage, duration, 0},
		{"page of a context", (*large).contextPage, duration, 0},
		{"sweep of a week, each task", (*large).sweep, duration, 0},
	} {
		r := row{work: fmt.Sprintf("%d tasks: %s", b.many, m.what), cells: slices.Repeat([]string{none}, len(aloneColumns))}
		worst := 0.0
		for _, col := range slices.Sorted(maps.Keys(stores)) {
			took, err := m.measure(stores[col], ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", aloneColumns[col], m.what, err)
			}
			r.cells[col], worst = spread(took, m.show), max(worst, took.median())
		}
		if m.most > 0 {
			r.target = fmt.Sprintf("≤ %s %s", m.most, verdict(worst <= float64(m.most)))
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// size returns the bytes on disk of a task.
func (f *large) size(ctx context.Context) (series, error) {
	n, err := f.bytes(ctx)
	return series{float64(n) / float64(f.tasks)}, err
}

// with opens the store for as long as do takes.
func (f *large) with(ctx context.Context, clock func() time.Time, do func(store.Store) error) error {
	s, err := f.open(ctx, clock)
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
func (f *large) fill(ctx context.Context) (series, error) {
	const makers = 256
	began := time.Now()
	err := f.with(ctx, nil, func(s store.Store) error {
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

func makeTask(ctx context.Context, s store.Store, i int) error {
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

// start opens the store again and again.
func (f *large) start(ctx context.Context) (took series, err error) {
	for range 5 {
		began := time.Now()
		if err := f.with(ctx, nil, func(store.Store) error {
			took = append(took, float64(time.Since(began)))
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return took, nil
}

// repeated measures what do takes, with the store just opened.
func (f *large) repeated(ctx context.Context, times int, do func(store.Store) error) (took series, err error) {
	err = f.with(ctx, nil, func(s store.Store) error {
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

func (f *large) get(ctx context.Context) (series, error) {
	return f.repeated(ctx, 1000, func(s store.Store) error {
		_, err := s.Get(ctx, key(1+rand.IntN(f.tasks)), store.Full)
		return err
	})
}

const pageSize = 50

func (f *large) firstPage(ctx context.Context) (series, error) {
	return f.repeated(ctx, 100, func(s store.Store) error {
		_, err := s.List(ctx, store.Owner{}, store.Query{Size: pageSize})
		return err
	})
}

func (f *large) laterPage(ctx context.Context) (series, error) {
	token := ""
	next := func(s store.Store) error {
		page, err := s.List(ctx, store.Owner{}, store.Query{Size: pageSize, Token: token})
		token = page.Next
		return err
	}
	if _, err := f.repeated(ctx, min(10_000, f.tasks/2)/pageSize, next); err != nil {
		return nil, err
	}
	return f.repeated(ctx, 100, next)
}

func (f *large) contextPage(ctx context.Context) (series, error) {
	return f.repeated(ctx, 100, func(s store.Store) error {
		_, err := s.List(ctx, store.Owner{}, store.Query{Size: pageSize, Context: contextOf(rand.IntN(f.tasks))})
		return err
	})
}

// sweep drops some of the tasks a week later. Its figures are the times for one.
func (f *large) sweep(ctx context.Context) (took series, err error) {
	later := func() time.Time { return time.Now().Add(8 * 24 * time.Hour) }
	err = f.with(ctx, later, func(s store.Store) error {
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
