// Command compare runs all contestants side by side and prints one table. See ../../README.md on how to read it.
//
// It has to be run in the bench module's folder.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
	"time"

	"github.com/a2agen/a2agen/bench/internal/work"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("compare: ")
	quick := flag.Bool("quick", false, "a rough table in about 70 s")
	only := flag.String("only", "", "run only the `sections` that this regular expression matches: message task agent stream paced burst single first idle push codec generate size rest-message rest-task rest-stream grpc-message grpc-one grpc-task grpc-events grpc-stream grpc-idle auth durable-message durable-task durable-stream rows news replicas-idle many")
	many := flag.Int("many", 0, "also measure stores of so many `tasks`, which takes about three minutes for a million in a file, and ten in PostgreSQL")
	server := flag.String("postgres", os.Getenv("A2A_POSTGRES"), "measure PostgreSQL, too, at this `address`; nobody else should work with the server (default $A2A_POSTGRES)")
	profile := flag.String("profile", "", "also write CPU and allocation profiles of all contestants to this `folder`")
	flag.Parse()
	runtime.GOMAXPROCS(1) // the other core is the server's
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *quick, *only, *profile, *server, *many); err != nil {
		stop()
		log.Fatal(err)
	}
}

// table is one of those that are printed.
type table struct {
	columns  []string
	sections []section
}

// section is a part of a table.
type section struct {
	name string
	run  func(context.Context) ([]row, error)
}

func run(ctx context.Context, quick bool, only, profile, server string, many int) (err error) {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	bin, err := os.MkdirTemp("", "a2agen-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	began := time.Now()
	if err := build(ctx, bin); err != nil {
		return err
	}
	b := &bench{bin: bin, profile: profile, rounds: 25, phase: 120 * time.Millisecond, patient: 25 * time.Second, idle: 2000, many: many}
	b.alone, b.aloneRounds = time.Second, 5
	if quick {
		b.rounds, b.phase, b.patient, b.idle = 5, 60*time.Millisecond, 2*time.Second, 500
		b.alone, b.aloneRounds = 300*time.Millisecond, 3
	}
	if b.postgres, err = connectDatabase(ctx, server); err != nil {
		return err
	}
	if b.postgres == nil {
		log.Print("PostgreSQL is not measured: set A2A_POSTGRES to the address of a server")
	}
	defer func() { err = errors.Join(err, b.postgres.close()) }()
	tables := []table{{contestants.names(), b.sections(quick)}, {overGRPC.names(), b.bindingSections()}, {guestColumns, b.guestSections()}, {durableColumns, b.durableSections()}, {aloneColumns, b.aloneSections()}}
	var out bytes.Buffer
	for _, t := range tables {
		rows, err := t.run(ctx, pattern)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			write(&out, t.columns, rows)
		}
	}
	fmt.Printf("%s, %d cores, servers on one core, %d connections; medians of %d interleaved rounds (least–most); %.0f s in all\n",
		runtime.Version(), runtime.NumCPU(), connections, b.rounds, time.Since(began).Seconds())
	_, err = out.WriteTo(os.Stdout)
	return err
}

// run measures the sections that are asked for.
func (t *table) run(ctx context.Context, only *regexp.Regexp) (rows []row, err error) {
	for _, s := range t.sections {
		if !only.MatchString(s.name) {
			continue
		}
		at := time.Now()
		more, err := s.run(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.name, err)
		}
		rows = append(rows, more...)
		log.Printf("%-9s %5.1f s", s.name, time.Since(at).Seconds())
	}
	return rows, nil
}

func (b *bench) sections(quick bool) []section {
	return []section{
		b.ratio(contestants, "send, answered by a Message", job{"message", work.Message, 0, connections, 1}, 1.3),
		b.ratio(contestants, "send, answered by a finished Task (4 events)", job{"task", work.Task, 0, connections, 1}, 2),
		{"agent", b.agentRows},
		b.ratio(contestants, "stream of 100 chunks, 8 at a time, handlers yield after each chunk", job{"stream", work.Stream, 100, 8, 103}, 1.1),
		b.ratio(contestants, "stream of 100 chunks, 8 at a time, 1 ms between chunks", job{"paced", work.Paced, 100, 8, 103}, 1.1),
		b.ratio(contestants, "stream of 100 chunks, 8 at a time, chunks in a burst", job{"burst", work.Burst, 100, 8, 103}, 0.5),
		{"single", b.singleRows},
		{"first", func(ctx context.Context) ([]row, error) {
			took, err := b.firstEvent(ctx, contestants)
			return []row{timeRow("lone first event", took, 0.15, 0.09)}, err
		}},
		{"idle", func(ctx context.Context) ([]row, error) {
			size, err := b.idleStreams(ctx, hosted, b.idle)
			return []row{sizeRow(fmt.Sprintf("an idle open stream (of %d), resident", b.idle), size, 35)}, err
		}},
		{"push", b.pushRows},
		{"codec", codecSection(quick)},
		{"generate", b.generateRows},
		{"size", b.sizeRows},
	}
}

// ratio makes a section of one row that compares CPU time; a target of 0 sets none.
func (b *bench) ratio(l lineup, title string, j job, most float64) section {
	unit := "request"
	if j.units > 1 {
		unit = "event"
	}
	return section{j.name, func(ctx context.Context) ([]row, error) {
		c, err := b.load(ctx, l, j)
		if err != nil {
			return nil, err
		}
		return []row{ratioRow(title, unit, c, most)}, nil
	}}
}

// singleRows measures one stream at a time; a target stands for the shortest, the longer ones show how time grows.
func (b *bench) singleRows(ctx context.Context) ([]row, error) {
	sizes := []int{1000, 2000, 4000}
	took, err := b.single(ctx, contestants, sizes)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, n := range sizes {
		most, bare := 0.0, 0.0
		if i == 0 {
			most, bare = 6, 5.4
		}
		rows = append(rows, timeRow(fmt.Sprintf("one stream of %d chunks", n), took[i], most, bare))
	}
	return rows, nil
}
