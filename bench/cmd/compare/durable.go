package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/a2agen/a2agen/bench/internal/load"
	"github.com/a2agen/a2agen/bench/internal/proc"
	"github.com/a2agen/a2agen/bench/internal/work"
)

// stores are the columns of the table of durable work: the same server, with its tasks in memory, in a file and in
// PostgreSQL.
var stores = []string{"memory", "SQLite", "PostgreSQL"}

// callers are how many connections durable work is measured with.
var callers = []int{1, 16, 64}

// durable is one kind of work with either store.
type durable struct {
	name, title string
	kind        work.Kind
	chunks      int
	calls       int // of the store in one request, each of which is durable before the next
}

// waitForCall is how long the median call of the store should take with 16 callers, in nanoseconds, and tasksASecond
// how many tasks should be done.
const (
	waitForCall  = 1e6
	tasksASecond = 4500
)

// durableSections measure the whole server with either store, in turns.
func (b *bench) durableSections() []section {
	var list []section
	for _, d := range []durable{
		{"durable-message", "send, answered by a Message", work.Message, 0, 0},
		{"durable-task", "send, answered by a finished Task (4 events)", work.Task, 0, 4},
		{"durable-stream", "stream of 100 chunks, in a burst", work.Burst, 100, 0},
	} {
		list = append(list, section{d.name, func(ctx context.Context) ([]row, error) { return b.durableRows(ctx, d) }})
	}
	return list
}

func (b *bench) durableRows(ctx context.Context, d durable) (rows []row, err error) {
	f, err := b.startStores(ctx)
	if err != nil {
		return nil, err
	}
	err = f.during(func() error {
		for _, n := range callers {
			c, err := b.measure(f, job{fmt.Sprintf("%s-%d", d.name, n), d.kind, d.chunks, n, 1})
			if err != nil {
				return err
			}
			rows = append(rows, d.row(n, c))
		}
		return nil
	})
	return rows, err
}

// startStores starts our contestant with each store.
func (b *bench) startStores(ctx context.Context) (field, error) {
	dir, err := os.MkdirTemp(b.bin, "store")
	if err != nil {
		return nil, err
	}
	var f field
	kept := [][]string{nil, {"-store", filepath.Join(dir, "tasks.db")}}
	if b.postgres != nil {
		kept = append(kept, []string{"-store", b.postgres.schema("server")})
	}
	for i, args := range kept {
		p, err := proc.Start(ctx, filepath.Join(b.bin, contestants[colA2Agen].dir), args...)
		if err != nil {
			return nil, errors.Join(err, f.stop())
		}
		f = append(f, &load.Target{Process: p, Name: contestants[colA2Agen].dir + "-" + stores[i], Dialect: load.V1})
	}
	return f, nil
}

// row shows for each store the CPU time of a request, how many there were a second, and how long they took.
func (d *durable) row(callers int, c cost) row {
	r := row{work: fmt.Sprintf("%s, %d at a time", d.title, callers)}
	for col := range stores {
		if col == len(c.time) {
			r.cells = append(r.cells, none)
			continue
		}
		r.cells = append(r.cells, fmt.Sprintf("%s CPU, %s a second, p50 %s, p99 %s", spread(c.time[col], duration), spread(c.rate[col], whole),
			duration(c.waits[col].percentile(0.5)), duration(c.waits[col].percentile(0.99))))
	}
	r.cells = append(r.cells, spread(c.time[1].over(c.time[0]), short))
	if d.calls > 0 && callers == connections {
		rate, wait := c.rate[1].median(), c.waits[1].percentile(0.5)/float64(d.calls)
		r.target = fmt.Sprintf("≥ %d a second %s; p50 of a call (%s) ≤ 1 ms %s", tasksASecond, verdict(rate >= tasksASecond),
			duration(wait), verdict(wait <= waitForCall))
	}
	return r
}

// whole prints a number without a fraction.
func whole(v float64) string { return fmt.Sprintf("%.0f", v) }

// durableColumns head the table of durable work.
var durableColumns = slices.Concat(stores, []string{"CPU, SQLite ÷ memory"})
