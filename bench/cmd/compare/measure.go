package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/a2agen/a2agen/bench/internal/load"
	"github.com/a2agen/a2agen/bench/internal/work"
)

// sitOut is in which rounds a contestant takes part that cannot even serve one request a connection in a phase.
const sitOut = 4

// connections is how many requests are under way at a time.
const connections = 16

// bench is one run: where things are and how long they may take.
type bench struct {
	bin     string        // folder of the built contestants
	profile string        // folder for profiles of all contestants; "" for none
	rounds  int           // of interleaved phases
	phase   time.Duration // wall time of one phase, about
	patient time.Duration // a single stream that would take longer is left out
	idle    int           // idle streams
	many    int           // tasks in a store; 0: that is not measured

	postgres    *database     // nil: none
	alone       time.Duration // of a phase of a store without a server
	aloneRounds int
}

// with runs f on a freshly started field.
func (b *bench) with(ctx context.Context, l lineup, f func(field) error) (err error) {
	fld, err := l.start(ctx, b.bin)
	if err != nil {
		return err
	}
	return fld.during(func() error { return f(fld) })
}

// cost is what units of work took, by column and round.
type cost struct {
	time   []series  // CPU time of the server in nanoseconds per unit
	rate   []series  // requests per second of wall time
	waits  []series  // nanoseconds from each request to the end of its answer, of all rounds
	writes []float64 // HTTP chunks per unit, of streams
}

// job is one kind of work.
type job struct {
	name   string // of its profiles
	kind   work.Kind
	chunks int // of a stream
	conns  int // how many requests are under way at a time
	units  int // in one request: events, or 1
}

// load measures one kind of work.
func (b *bench) load(ctx context.Context, l lineup, j job) (c cost, err error) {
	err = b.with(ctx, l, func(f field) error {
		c, err = b.measure(f, j)
		return err
	})
	return c, err
}

// measure is load for a field that runs.
func (b *bench) measure(f field, j job) (cost, error) {
	c := cost{time: make([]series, len(f)), rate: make([]series, len(f)), waits: make([]series, len(f)), writes: make([]float64, len(f))}
	counts, slow := make([]int, len(f)), make([]bool, len(f))
	if err := f.each(0, func(col int, t *load.Target) (err error) {
		counts[col], err = b.warmUp(t, j)
		return err
	}); err != nil {
		return c, err
	}
	for round := range b.rounds {
		if err := f.each(round, func(col int, t *load.Target) error {
			if slow[col] && round%sitOut != 0 {
				c.time[col] = append(c.time[col], math.NaN())
				return nil
			}
			p, err := t.Send(j.kind, j.chunks, counts[col], j.conns)
			slow[col] = p.Wall > 4*b.phase
			if err == nil {
				c.add(col, p, counts[col]*j.units)
			}
			return err
		}); err != nil {
			return c, err
		}
	}
	return c, b.profileAll(f, j, counts, slow)
}

// add notes a phase that did so many units of work.
func (c *cost) add(col int, p load.Phase, units int) {
	c.time[col] = append(c.time[col], float64(p.CPU)/float64(units))
	c.rate[col] = append(c.rate[col], float64(len(p.Waits))/p.Wall.Seconds())
	c.writes[col] = float64(p.Writes) / float64(units)
	for _, w := range p.Waits {
		c.waits[col] = append(c.waits[col], float64(w))
	}
}

// warmUp runs a little of the work and returns how many requests a phase should have.
func (b *bench) warmUp(t *load.Target, j job) (int, error) {
	requests, most := j.conns, cmp.Or(t.Most, 100_000)
	for {
		p, err := t.Send(j.kind, j.chunks, requests, j.conns)
		if err != nil {
			return 0, err
		}
		if p.Wall > b.phase/4 || requests >= most {
			perRequest := p.Wall / time.Duration(requests)
			return min(most, max(j.conns, int(b.phase/max(perRequest, 1)))), nil
		}
		requests *= 2
	}
}

// profiled is how many phases' worth of work a profile covers: a profiler takes 100 samples a second.
const profiled = 25

// profileAll runs one more, longer phase of every contestant under the profiler.
func (b *bench) profileAll(f field, j job, counts []int, slow []bool) error {
	if b.profile == "" {
		return nil
	}
	return f.each(0, func(col int, t *load.Target) error {
		if slow[col] || !t.Obeys() {
			return nil
		}
		base := filepath.Join(b.profile, t.Name+"-"+j.name)
		return t.Profile(base, func() error {
			_, err := t.Send(j.kind, j.chunks, profiled*counts[col], j.conns)
			return err
		})
	})
}

// single measures the wall time of one stream at a time, in nanoseconds, by column, for each number of chunks. A
// series is empty where it would take too long.
func (b *bench) single(ctx context.Context, l lineup, sizes []int) ([][]series, error) {
	took := make([][]series, len(sizes))
	for i := range took {
		took[i] = make([]series, len(l))
	}
	err := b.with(ctx, l, func(f field) error {
		slow := make([]bool, len(f))
		for i, n := range sizes {
			for round := range b.rounds {
				if err := f.each(round, func(col int, t *load.Target) error {
					if slow[col] && round > 0 || i > 0 && !b.inTime(took[i-1][col]) {
						return nil
					}
					p, err := t.Send(work.Stream, n, 1, 1)
					took[i][col] = append(took[i][col], float64(p.Wall))
					slow[col] = p.Wall > b.phase
					return err
				}); err != nil {
					return fmt.Errorf("one stream of %d chunks: %w", n, err)
				}
			}
		}
		return nil
	})
	return took, err
}

// inTime reports whether a stream of twice the chunks can be waited for, even where time grows with the square.
func (b *bench) inTime(took series) bool { return 4*took.median() <= float64(b.patient) }

// firstEvent measures the time to a lone stream's first event, in nanoseconds.
func (b *bench) firstEvent(ctx context.Context, l lineup) ([]series, error) {
	took := make([]series, len(l))
	err := b.with(ctx, l, func(f field) error {
		for round := range 2 * b.rounds {
			if err := f.each(round, func(col int, t *load.Target) error {
				d, err := t.FirstEvent()
				took[col] = append(took[col], float64(d))
				return err
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return took, err
}

// idleStreams measures the resident memory of an open stream in bytes.
func (b *bench) idleStreams(ctx context.Context, l lineup, count int) ([]float64, error) {
	size := make([]float64, len(l))
	err := b.with(ctx, l, func(f field) error {
		return f.each(0, func(col int, t *load.Target) error {
			n, err := t.Idle(count)
			size[col] = float64(n)
			return err
		})
	})
	return size, err
}
