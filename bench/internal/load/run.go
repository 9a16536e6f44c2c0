package load

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/a2agen/a2agen/bench/internal/proc"
	"github.com/a2agen/a2agen/bench/internal/work"
)

// Target is a contestant under load.
type Target struct {
	*proc.Process
	Name    string
	Dialect *Dialect
	Fresh   func() string // makes what each request bears in place of what the dialect says; nil: all the same
	Most    int           // requests in a phase; 0: any number
	lines   []line
	sent    int // requests so far, which numbers them
}

// Close closes the connections.
func (t *Target) Close() {
	for _, l := range t.lines {
		l.Close()
	}
	t.lines = nil
}

// connect keeps n lines open.
func (t *Target) connect(n int) error {
	for len(t.lines) < n {
		l, err := t.line()
		if err != nil {
			return err
		}
		t.lines = append(t.lines, l)
	}
	return nil
}

// line opens a line, unless there is one to share.
func (t *Target) line() (line, error) {
	if t.Dialect.shared && len(t.lines) > 0 {
		return t.lines[0], nil
	}
	return t.Dialect.binding.dial(t.addr())
}

func (t *Target) addr() string { return t.Dialect.binding.addr(t.Process) }

// Phase is what one phase of load took.
type Phase struct {
	CPU    time.Duration // of the server
	Wall   time.Duration
	Waits  []time.Duration // for each answer or stream, from the request to its end
	Writes int             // HTTP chunks that the streams came in
}

// Send sends requests of one kind over conns connections and waits for their answers. n is the number of chunks that a
// stream should have.
func (t *Target) Send(k work.Kind, n, requests, conns int) (Phase, error) {
	conns = min(conns, requests)
	if err := t.connect(conns); err != nil {
		return Phase{}, err
	}
	first := t.sent
	t.sent += requests
	drivers := make([]driver, conns)
	fresh := t.fresh(requests)
	before, err := t.CPU()
	if err != nil {
		return Phase{}, err
	}
	start := time.Now()
	var wg sync.WaitGroup
	for i := range drivers {
		d := &drivers[i]
		*d = driver{l: t.lines[i], r: t.Dialect.newRequest(t.addr(), k, n), check: newChecker(t.Dialect, k, n, t.Token)}
		wg.Go(func() { d.err = d.drive(first+i, first+requests, conns, fresh) })
	}
	wg.Wait()
	phase := Phase{Wall: time.Since(start)}
	after, err := t.CPU()
	if err != nil {
		return Phase{}, err
	}
	phase.CPU = after - before
	for _, d := range drivers {
		phase.Writes += d.writes
		phase.Waits = append(phase.Waits, d.waits...)
		err = errors.Join(err, d.err)
	}
	if err != nil {
		return Phase{}, err
	}
	return phase, t.stored(drivers[0])
}

// driver sends requests over one connection, one after another.
type driver struct {
	l      line
	r      *request
	check  *checker
	body   []byte // of the last answer
	waits  []time.Duration
	writes int
	err    error
}

// drive sends the requests numbered from, from+step, … below end, the last of which bears the last of the fresh
// credentials, if there are any.
func (d *driver) drive(from, end, step int, fresh []string) error {
	d.waits = make([]time.Duration, 0, (end-from+step-1)/step)
	for i := from; i < end; i += step {
		d.r.number(i)
		if fresh != nil {
			d.r.bear(fresh[len(fresh)-(end-i)])
		}
		began := time.Now()
		if err := d.one(); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
		d.waits = append(d.waits, time.Since(began))
	}
	if d.check.kind == work.Task {
		return d.check.inFull(d.r.method, d.body) // the last task, which the store must still have
	}
	return nil
}

func (d *driver) one() error {
	if d.check.kind == work.Message || d.check.kind == work.Task {
		var err error
		if d.body, err = d.l.call(d.r); err != nil {
			return err
		}
		return d.check.answer(d.body, d.r.num)
	}
	d.check.begin()
	writes, err := d.l.stream(d.r, func(data []byte) error { return d.check.event(data, d.r.num) })
	if err != nil {
		return err
	}
	d.writes += writes
	return d.check.end()
}

// stored checks that a task which was answered can be fetched again, so that no contestant skips the store.
func (t *Target) stored(d driver) error {
	if d.check.last == "" || t.Dialect.get == nil {
		return nil
	}
	method, params := t.Dialect.get(d.check.last)
	body, err := d.l.call(t.Dialect.binding.request(t.Dialect, t.addr(), method, params))
	if err == nil {
		err = d.check.inFull(method, body)
	}
	if err != nil {
		return fmt.Errorf("fetching task %s: %w", d.check.last, err)
	}
	return nil
}

// errEnough ends the reading of a stream.
var errEnough = errors.New("enough")

// FirstEvent opens a stream on a connection of its own and returns the time from the request to its first event. The
// stream stays open on the server, which waits for work that does not come.
func (t *Target) FirstEvent() (time.Duration, error) {
	t.sent++
	l, start, err := t.open(t.sent)
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	return took, l.Close()
}

// open opens a stream without an end, as request number i, and reads its first event. It returns when it asked.
func (t *Target) open(i int) (line, time.Time, error) {
	l, err := t.line()
	if err != nil {
		return nil, time.Time{}, err
	}
	r := t.Dialect.newRequest(t.addr(), work.Hold, 0)
	r.number(i)
	start := time.Now()
	_, err = l.stream(r, func(data []byte) error {
		if !t.Dialect.binding.answers(data, r.num) {
			return fmt.Errorf("not an event of request %s: %.300s", r.num, data)
		}
		return errEnough
	})
	if !errors.Is(err, errEnough) {
		l.Close()
		return nil, start, fmt.Errorf("opening a stream: %w", err)
	}
	return l, start, nil
}

// Idle opens n streams that stay open and returns by how many bytes of resident memory the server grew for each.
func (t *Target) Idle(n int) (int64, error) {
	if _, err := t.FirstEvent(); err != nil { // warms up
		return 0, err
	}
	before, err := t.Settle()
	if err != nil {
		return 0, err
	}
	if err := t.openAll(n); err != nil {
		return 0, err
	}
	time.Sleep(200 * time.Millisecond) // a server that batches has still to send the second event
	after, err := t.Settle()
	return (after - before) / int64(n), err
}

// openAll opens n streams, some at a time, and keeps their connections.
func (t *Target) openAll(n int) error {
	const atATime = 32
	var mu sync.Mutex
	var g errgroup.Group
	g.SetLimit(atATime)
	first := t.sent
	t.sent += n
	if t.Dialect.shared {
		if err := t.connect(1); err != nil {
			return err
		}
	}
	for i := range n {
		g.Go(func() error {
			l, _, err := t.open(first + i)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			t.lines = append(t.lines, l)
			return nil
		})
	}
	return g.Wait()
}
