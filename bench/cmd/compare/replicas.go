package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/a2agen/a2agen/bench/internal/load"
	"github.com/a2agen/a2agen/bench/internal/proc"
)

// aloneColumns head the table of stores without a server.
var aloneColumns = []string{
	"bare pgx, a transaction a call", "bare pgx, in batches", "SQLite", "PostgreSQL", "PostgreSQL, three replicas", "CPU of a task, three replicas ÷ one",
}

// Columns of that table.
const (
	colEach = iota
	colBatched
	colFile
	colOne
	colThree
	colMoreCPU
)

// leastOfBare is which share of the rate of the bare loop the store should have, and mostCPU what a task may cost on three
// replicas, in what it costs on one: processes and server together.
const (
	leastOfBare = 0.6
	mostCPU     = 1.25
)

// What an event should take to a reader on another replica.
const (
	newsP50 = 5 * time.Millisecond
	newsP99 = 50 * time.Millisecond
)

// aloneSections measure stores without a server around them. Those of PostgreSQL need one.
func (b *bench) aloneSections() []section {
	list := []section{{"rows", b.rowsRows}}
	if b.postgres != nil {
		list = append(list, section{"news", b.newsRows}, section{"replicas-idle", b.idleReplicas})
	}
	if b.many > 0 {
		list = append(list, section{"many", b.manyRows})
	}
	return list
}

// figures are what a run of the command rows came to.
type figures struct {
	Tasks    int
	Wall     time.Duration
	CPU      time.Duration
	P50, P99 time.Duration
	Err      string
}

// loop is a running command rows.
type loop struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *json.Decoder
}

func (b *bench) startLoop(ctx context.Context, args ...string) (*loop, error) {
	l := &loop{cmd: exec.CommandContext(ctx, filepath.Join(b.bin, "rows"), args...)}
	l.cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	l.cmd.Stderr = os.Stderr
	in, err := l.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := l.cmd.Start(); err != nil {
		return nil, err
	}
	l.in, l.out = in, json.NewDecoder(bufio.NewReader(out))
	var ready string
	if err := l.out.Decode(&ready); err != nil {
		return nil, fmt.Errorf("rows did not start: %w", errors.Join(err, l.stop()))
	}
	return l, nil
}

func (l *loop) stop() error {
	_ = l.in.Close()
	return l.cmd.Wait()
}

// ask gives all loops a command each at the same time, and adds up what they answer: the percentiles are the worst ones.
func ask(loops []*loop, commands []string) (sum figures, err error) {
	for i, l := range loops {
		if _, err := fmt.Fprintln(l.in, commands[i]); err != nil {
			return sum, err
		}
	}
	for _, l := range loops {
		var f figures
		if err := l.out.Decode(&f); err != nil {
			return sum, err
		}
		if f.Err != "" {
			return sum, errors.New(f.Err)
		}
		sum.Tasks, sum.CPU = sum.Tasks+f.Tasks, sum.CPU+f.CPU
		sum.Wall, sum.P50, sum.P99 = max(sum.Wall, f.Wall), max(sum.P50, f.P50), max(sum.P99, f.P99)
	}
	return sum, nil
}

// group are the loops of a column.
type group []*loop

// startGroups starts the loops of all columns; those of PostgreSQL write to a schema each.
func (b *bench) startGroups(ctx context.Context) (list [colMoreCPU]group, err error) {
	dir, err := os.MkdirTemp(b.bin, "rows")
	if err != nil {
		return list, err
	}
	start := func(col, loops int, args ...string) {
		for range loops {
			l, failed := b.startLoop(ctx, args...)
			if err = cmp.Or(err, failed); failed == nil {
				list[col] = append(list[col], l)
			}
		}
	}
	start(colFile, 1, "-store", filepath.Join(dir, "tasks.db"))
	if p := b.postgres; p != nil {
		start(colEach, 1, "-store", p.schema("each"), "-bare", "each")
		start(colBatched, 1, "-store", p.schema("batched"), "-bare", "batched")
		start(colOne, 1, "-store", p.schema("one"))
		start(colThree, 3, "-store", p.schema("three"))
	}
	return list, err
}

// run has the loops of a column make tasks for a while, by so many callers in all, and returns the CPU time of the server, too.
func (b *bench) run(g group, callers int) (f figures, err error) {
	server, err := b.postgres.cpu()
	if err != nil {
		return f, err
	}
	commands := make([]string, len(g))
	for i := range g {
		commands[i] = fmt.Sprintf("run %d %d", (callers+len(g)-1-i)/len(g), b.alone.Milliseconds())
	}
	if f, err = ask(g, commands); err != nil {
		return f, err
	}
	now, err := b.postgres.cpu()
	f.CPU += now - server
	return f, err
}

// aloneCost is what tasks cost in a column, by round.
type aloneCost struct{ rate, cpu, p50, p99 series }

// rowsRows measures how fast tasks of four events are made.
func (b *bench) rowsRows(ctx context.Context) (rows []row, err error) {
	groups, err := b.startGroups(ctx)
	defer func() {
		for _, g := range groups {
			for _, l := range g {
				err = errors.Join(err, l.stop())
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	for _, n := range callers {
		var costs [colMoreCPU]aloneCost
		for round := range b.aloneRounds + 1 { // the first one warms up
			for i := range groups {
				col := (i + round) % len(groups)
				if len(groups[col]) == 0 {
					continue
				}
				f, err := b.run(groups[col], n)
				if err != nil {
					return nil, err
				}
				if c := &costs[col]; round > 0 {
					c.rate = append(c.rate, float64(f.Tasks)/f.Wall.Seconds())
					c.cpu = append(c.cpu, float64(f.CPU)/float64(max(f.Tasks, 1)))
					c.p50, c.p99 = append(c.p50, float64(f.P50)), append(c.p99, float64(f.P99))
				}
			}
		}
		rows = append(rows, aloneRow(n, &costs))
	}
	return rows, nil
}

func aloneRow(callers int, costs *[colMoreCPU]aloneCost) row {
	r := row{work: fmt.Sprintf("tasks of 4 events, %d callers", callers), cells: slices.Repeat([]string{none}, len(aloneColumns))}
	for col, c := range costs {
		if len(c.rate) > 0 {
			r.cells[col] = fmt.Sprintf("%s a second, %s CPU, p50 %s, p99 %s", spread(c.rate, whole), duration(c.cpu.median()), duration(c.p50.median()),
				duration(c.p99.median()))
		}
	}
	one, three := &costs[colOne], &costs[colThree]
	if len(one.rate) == 0 {
		return r
	}
	more, each, batched := three.cpu.over(one.cpu), one.rate.over(costs[colEach].rate), one.rate.over(costs[colBatched].rate)
	r.cells[colMoreCPU] = spread(more, short)
	r.target = fmt.Sprintf("≥ %g of the bare loop: %s, of that in batches %s, %s; CPU ≤ %g %s", leastOfBare, spread(each, short), spread(batched, short),
		verdict(each.median() >= leastOfBare), mostCPU, verdict(more.median() <= mostCPU))
	return r
}

// newsRows measures how long an event takes to a reader on another replica.
func (b *bench) newsRows(ctx context.Context) (rows []row, err error) {
	l, err := b.startLoop(ctx, "-store", b.postgres.schema("news"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.stop()) }()
	for _, writers := range []int{0, connections} {
		f, err := ask([]*loop{l}, []string{fmt.Sprintf("news %d %d", max(1, int(b.alone.Seconds()*float64(b.aloneRounds))), writers)})
		if err != nil {
			return nil, err
		}
		r := row{work: fmt.Sprintf("an event to its reader on another replica, %d writers beside", writers), cells: slices.Repeat([]string{none}, len(aloneColumns))}
		r.cells[colThree] = fmt.Sprintf("p50 %s, p99 %s", duration(float64(f.P50)), duration(float64(f.P99)))
		r.target = fmt.Sprintf("p50 ≤ %s %s, p99 ≤ %s %s", newsP50, verdict(f.P50 <= newsP50), newsP99, verdict(f.P99 <= newsP99))
		rows = append(rows, r)
	}
	return rows, nil
}

// idleOnReplicas is how many streams wait, on three replicas, and watchIdle for how long the database is watched meanwhile. mostIdle is
// how many transactions a second there may be for each stream: a replica looks for all of them at once, once a second.
const (
	idleOnReplicas = 10_000
	watchIdle      = 15 * time.Second
	mostIdle       = 0.01
)

// idleReplicas counts the transactions of the database while streams wait on three replicas.
func (b *bench) idleReplicas(ctx context.Context) (rows []row, err error) {
	streams := idleOnReplicas
	if b.idle < 2000 {
		streams = 5 * b.idle
	}
	var f field
	for range 3 {
		p, err := proc.Start(ctx, filepath.Join(b.bin, contestants[colA2Agen].dir), "-serve", "-store", b.postgres.schema("idle"))
		if err != nil {
			return nil, errors.Join(err, f.stop())
		}
		f = append(f, &load.Target{Process: p, Name: contestants[colA2Agen].dir, Dialect: load.V1})
	}
	err = f.during(func() error {
		if err := f.each(0, func(_ int, t *load.Target) error {
			_, err := t.Idle((streams + 2) / 3)
			return err
		}); err != nil {
			return err
		}
		before, err := b.postgres.transactions(ctx)
		if err != nil {
			return err
		}
		time.Sleep(watchIdle)
		after, err := b.postgres.transactions(ctx)
		rate := float64(after-before) / watchIdle.Seconds()
		r := row{work: fmt.Sprintf("%d streams that wait on three replicas", streams), cells: slices.Repeat([]string{none}, len(aloneColumns))}
		r.cells[colThree] = fmt.Sprintf("%.1f transactions a second of the whole database", rate)
		r.target = fmt.Sprintf("≤ %g a stream %s", mostIdle, verdict(rate <= mostIdle*float64(streams)))
		rows = append(rows, r)
		return err
	})
	return rows, err
}
