// Command rows makes tasks of four events as fast as it can, without a server: through a store, or by a bare loop that writes
// the same rows to the tables of PostgreSQL. Each call is acknowledged before the next one of its caller.
//
// It reads commands, one a line, and answers each with one JSON line: "run CALLERS MILLISECONDS", and "news SECONDS
// WRITERS", which measures how long an event takes to a reader of another instance.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/postgres"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

var (
	where = flag.String("store", "", "the store: a `path` of a file, or the address of a PostgreSQL server")
	how   = flag.String("bare", "", "write the rows without a store, `as` \"each\" call in a transaction of its own, or \"batched\"")
)

// maker makes a task and its events, and waits for each.
type maker interface {
	task(ctx context.Context) error
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("rows: ")
	flag.Parse()
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	m, err := open(context.Background())
	if err != nil {
		return err
	}
	out, in := json.NewEncoder(os.Stdout), bufio.NewScanner(os.Stdin)
	if err := out.Encode("ready"); err != nil {
		return err
	}
	for in.Scan() {
		var callers, length int
		if _, err := fmt.Sscanf(in.Text(), "run %d %d", &callers, &length); err == nil {
			err = out.Encode(measure(m, callers, time.Duration(length)*time.Millisecond))
			if err != nil {
				return err
			}
			continue
		}
		var seconds, writers int
		if _, err := fmt.Sscanf(in.Text(), "news %d %d", &seconds, &writers); err != nil {
			return fmt.Errorf("%q is no command", in.Text())
		}
		if err := out.Encode(news(m, time.Duration(seconds)*time.Second, writers)); err != nil {
			return err
		}
	}
	if s, ok := m.(stored); ok {
		return s.Close()
	}
	return nil
}

func open(ctx context.Context) (maker, error) {
	if *how != "" {
		return openBare(ctx, *where, *how == "batched")
	}
	s, err := openStore(ctx)
	return stored{s}, err
}

func openStore(ctx context.Context) (s store.Store, err error) {
	logger := slog.New(slog.DiscardHandler)
	if strings.Contains(*where, "://") {
		s, err = postgres.Open(ctx, *where, a2a.Protocol(), postgres.Options{Logger: logger})
	} else {
		s, err = sqlite.Open(*where, a2a.Protocol(), sqlite.Options{Logger: logger})
	}
	if err != nil {
		return nil, err
	}
	go renew(s)
	return s, nil
}

// renew renews the lease of a store as an agent does, until it is closed: with that it finds out whether others are there.
func renew(s store.Store) {
	for {
		lease, err := s.Renew(context.Background())
		if err != nil || lease.For <= 0 {
			return
		}
		time.Sleep(lease.For / 4)
	}
}

// stored makes tasks in a store.
type stored struct{ store.Store }

func (s stored) task(ctx context.Context) error {
	t := newTask()
	if _, err := s.Create(ctx, t.key, t.start, nil); err != nil {
		return err
	}
	for i, u := range t.updates {
		if _, err := s.Apply(ctx, t.key, int64(i+1), u, nil); err != nil {
			return err
		}
	}
	return nil
}

// Figures are what a run came to.
type figures struct {
	Tasks int           `json:"tasks"`
	Wall  time.Duration `json:"wall"`
	CPU   time.Duration `json:"cpu"` // of this process
	P50   time.Duration `json:"p50"` // of a task, or of an event to its reader
	P99   time.Duration `json:"p99"`
	Err   string        `json:"err,omitempty"`
}

func measure(m maker, callers int, length time.Duration) (f figures) {
	ctx, cancel := context.WithTimeout(context.Background(), length+30*time.Second)
	defer cancel()
	var mu sync.Mutex
	var waits []time.Duration
	var wg sync.WaitGroup
	used, began := cpu(), time.Now()
	for range callers {
		wg.Go(func() {
			var own []time.Duration
			var err error
			for time.Since(began) < length && err == nil {
				at := time.Now()
				if err = m.task(ctx); err == nil {
					own = append(own, time.Since(at))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			if waits = append(waits, own...); err != nil {
				f.Err = err.Error()
			}
		})
	}
	wg.Wait()
	f.Wall, f.CPU, f.Tasks = time.Since(began), cpu()-used, len(waits)
	f.P50, f.P99 = percentile(waits, 0.5), percentile(waits, 0.99)
	return f
}

func percentile(list []time.Duration, share float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[min(int(share*float64(len(list))), len(list)-1)]
}

// cpu is the time that this process has used.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		log.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
