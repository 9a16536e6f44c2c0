package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// instance is this process as one of several that share the database. It has a row with a lease; the tasks that it
// runs name it. A lease that is over, or was given up, is never renewed: the instance comes back under another number,
// and what it ran is for anybody to claim.
type instance struct {
	number  atomic.Int32
	name    string // its own: after a failover the number may be given again
	clock   atomic.Pointer[reading]
	control *pgxpool.Pool // of its own, so that a lease is renewed however busy the rest is

	mu      sync.Mutex
	granted time.Time     // when the lease was asked for that was granted last
	running map[int64]run // by number of the task

	stop context.CancelFunc
	work sync.WaitGroup
}

// run is a task that this instance runs.
type run struct {
	key store.Key
	by  int32 // this instance's number when it began
}

// beatTime is how long what must be soon may take: a heartbeat, a notification.
const beatTime = 5 * time.Second

// nobody is the number of no instance.
const nobody = 0

// me is the number of this instance, which changes when a lease was lost.
func (s *Store) me() int32 { return s.self.number.Load() }

// lease is how long one lasts.
func (s *Store) lease() time.Duration {
	if s.target.lease > 0 {
		return s.target.lease
	}
	return s.options.Lease
}

// begin makes this process an instance.
func (s *Store) begin(ctx context.Context) error {
	i := &s.self
	config := s.target.pool.Copy()
	config.MaxConns, config.MinConns, config.MinIdleConns = 2, 0, 0
	var err error
	if i.control, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	host, _ := os.Hostname()
	i.name = fmt.Sprintf("%s/%d/%s", host, os.Getpid(), rand.Text())
	i.running = map[int64]run{}
	s.waking.control, s.waking.channel = i.control, channelOf(s.target.schema)
	if err := s.register(ctx); err != nil {
		closePools(i.control)
		return err
	}
	running, stop := context.WithCancel(context.Background())
	i.stop = stop
	i.work.Go(func() { s.waking.awaitChanges(running) })
	i.work.Go(func() { s.waking.sendNotices(running) })
	return nil
}

// register makes a row for this instance, with a lease, and drops those that are of no use any more.
func (s *Store) register(ctx context.Context) error {
	const insert = "WITH old AS (DELETE FROM a2a.instance WHERE lease<clock_timestamp()-interval '1 day') INSERT INTO a2a.instance(name, agent, format, began, lease) SELECT $1, $3, $4, clock_timestamp(), " + leaseSQL +
		" FROM a2a.meta WHERE least<=$4 FOR SHARE RETURNING n, " + clockSQL
	var n int32
	var db int64
	begin := time.Now()
	err := s.self.control.QueryRow(ctx, s.sql(insert), s.self.name, s.lease().Microseconds(), s.options.Agent, len(s.target.steps)).Scan(&n, &db)
	if errors.Is(err, pgx.ErrNoRows) { // it was changed since this program has looked
		var format int
		if _, err := s.one(ctx, "SELECT format FROM a2a.meta", nil, &format); err != nil {
			return err
		}
		return fmt.Errorf("%w: %w", store.ErrUnavailable, tooNew(format, s.target.steps))
	}
	if err != nil {
		return writeFailed(err, true)
	}
	s.setClock(begin, db)
	s.self.number.Store(n)
	s.self.grant(begin)
	return nil
}

// grant notes that a lease was granted that was asked for at a time.
func (i *instance) grant(asked time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.granted = asked
}

// givenUp reports whether what ran under the lease was stopped, since it was not granted again for too long. The row may
// have been renewed all the same: by a heartbeat that arrived after its sender had stopped waiting for it.
func (i *instance) givenUp(lease time.Duration) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return time.Since(i.granted) >= lease*2/3
}

// clockSQL is the database's clock in nanoseconds, and leaseSQL the end of a lease of $2 microseconds.
const (
	clockSQL = "(extract(epoch FROM clock_timestamp())*1000000)::bigint*1000"
	leaseSQL = "clock_timestamp()+$2::bigint*interval '1 microsecond'"
)

// beatSQL renews a lease unless it is over, and finds out whether anybody else is there.
const beatSQL = "WITH beat AS (UPDATE a2a.instance SET lease=" + leaseSQL + ` WHERE n=$1 AND name=$3 AND lease>clock_timestamp() RETURNING n)
	SELECT EXISTS(SELECT 1 FROM beat), ` + clockSQL + `, ` + serverSQL + `, NOT EXISTS(SELECT 1 FROM a2a.instance WHERE n<>$1 AND lease>clock_timestamp())`

// Renew implements [store.Store]: one heartbeat for all that this instance runs.
func (s *Store) Renew(ctx context.Context) (store.Lease, error) {
	ctx, cancel := context.WithTimeout(ctx, min(beatTime, s.lease()/2))
	defer cancel()
	lease := store.Lease{For: s.lease(), Durable: true, Wakes: true}
	var renewed bool
	var db int64
	var server string
	var alone bool
	me := s.me()
	if s.self.givenUp(lease.For) {
		me = nobody
	}
	begin := time.Now()
	err := s.self.control.QueryRow(ctx, s.sql(beatSQL), me, lease.For.Microseconds(), s.self.name).Scan(&renewed, &db, &server, &alone)
	if err != nil {
		return store.Lease{}, readFailed(err)
	}
	s.setClock(begin, db)
	s.target.isServer(server) // a pooler's connections outlive it
	s.waking.alone.Store(alone)
	if renewed {
		s.self.grant(begin)
	} else {
		if err := s.register(ctx); err != nil {
			return store.Lease{}, err
		}
		s.options.Logger.Warn("this instance's lease was over: what it ran is left to others", "instance", s.me())
	}
	lease.Lost = s.lost(ctx)
	return lease, nil
}

// lost returns the tasks that this instance ran and that somebody else has taken or ended since.
func (s *Store) lost(ctx context.Context) (keys []store.Key) {
	i, me := &s.self, s.me()
	i.mu.Lock()
	running := maps.Clone(i.running)
	i.mu.Unlock()
	mine := map[int64]struct{}{}
	ns := slices.Collect(maps.Keys(running))
	if len(ns) == 0 {
		return nil
	}
	err := s.query(ctx, "SELECT n FROM a2a.task WHERE n=ANY($1) AND runner=$2 AND done<calls", func(row relational.Row) error {
		var n int64
		err := row.Scan(&n)
		mine[n] = struct{}{}
		return err
	}, ns, me)
	i.mu.Lock()
	defer i.mu.Unlock()
	for n, r := range running {
		if _, ok := mine[n]; i.running[n] == r && (r.by != me || err == nil && !ok) {
			keys = append(keys, r.key)
			delete(i.running, n)
		}
	}
	return keys
}

// published is called after each change that is stored: it tells the others, and keeps what this instance runs. was is
// who ran the task before.
func (s *Store) published(key store.Key, n int64, was int32, next *taskstate.State) {
	i, me := &s.self, s.me()
	i.mu.Lock()
	switch mine, ok := i.running[n]; {
	case next.Open() && next.Runner == me:
		i.running[n] = run{key, me}
	case !ok || !next.Open() || next.Runner != mine.by: // else it is run under a number whose lease is over: Renew reports it
		delete(i.running, n)
	}
	i.mu.Unlock()
	s.waking.tellOf(key, was, next)
}

// end gives back what this instance runs, but for some tasks, and ends its lease.
func (s *Store) end(left []store.Key) error {
	i := &s.self
	if i.control == nil {
		return nil
	}
	defer closePools(i.control)
	ctx, cancel := context.WithTimeout(context.Background(), beatTime) // else the lease ends by itself
	defer cancel()
	err := relational.GiveBack(ctx, &s.Store, left)
	if i.stop != nil {
		i.stop()
		i.work.Wait()
	}
	s.waking.flush(ctx)
	_, failed := i.control.Exec(ctx, s.sql("DELETE FROM a2a.instance WHERE n=$1 AND name=$2"), s.me(), i.name)
	if err == nil {
		err = writeFailed(failed, true)
	}
	return err
}
