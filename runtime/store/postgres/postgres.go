// Package postgres keeps tasks in PostgreSQL, for many replicas of an agent: any of them serves any call of any task.
//
// # Tables
//
// A task is a row of task (its status and numbers), the events of its log, the last body (a snapshot of the whole
// task, so that nobody replays a long log), and its open calls. Beside it are push configurations with their cursors
// (push), tickets, keys of messages that may be sent again (repeat), and notes of contexts. An owner is a principal
// (account) in a tenant (owner); usage and counts are what they hold. A replica has a row of instance with its lease.
// Schema 1 in schema.go explains each column.
//
// # How a change is written
//
// What is read, decided and written is in package relational, the same as for SQLite. This package says when (tx.go):
//
//  1. A change takes the decoded task from the cache, or reads it (decoded), and waits for its turn among this process's changes.
//  2. It is decided on the caller's goroutine. The ledger makes room for it and counts it in (room.go, ledger.go).
//  3. Its statements are collected in a write. That of the row of the task is fenced: it names the revision that the decision
//     was made on, and ends the transaction if another replica was faster.
//  4. A writer sends all writes that wait as one transaction in one round trip, with the sums of all of them (writer.go). No
//     transaction waits for its client, so that a replica that is stopped holds no lock.
//  5. What was too late is decided anew on the task as it is then. What was stored is published: to readers here by
//     the cached row, to other replicas by a notification (instance.published).
//
// A read asks for the revision of a task before it trusts the decoded one in memory (decoded.row): what one replica has
// acknowledged, every other one shows.
//
// # Where to find what
//
//   - database: statements in the schema of the store. connect.go and address.go: how a server is reached. errors.go: what its
//     errors mean.
//   - waking (watch.go, listen.go, others.go): LISTEN and NOTIFY, and the look once a second. looks: revisions, many in one query.
//   - instance: the lease of this process, and what it runs.
//   - ledger (owner.go, ledger.go, room.go): owners, what they hold, and what goes when there is no room.
//   - push.go, note.go, sweep.go: deliveries that are due, notes that go, and what is no longer kept.
//   - dialect.go: what the tables have that those of SQLite do not.
//   - [Admin] (admin.go): what people see of a schema. Migrate (migrate.go, schema.go): its versions.
//   - [Whole] (transfer.go, fill.go): a schema that is copied or filled.
//
// Programs that do not import the package do not link the driver.
package postgres

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Options say what a [Store] keeps and how. A zero field means the default in brackets. Bytes are counted as package
// sqlite counts them, and limits mean the same; with several instances each knows what the others have written a
// second later, so that together they may go over a limit by what one second brings.
type Options struct {
	Tasks      int           // tasks [1,000,000,000]
	Bytes      int64         // all tasks together [8 TiB]
	TaskBytes  int64         // content of one task, with its private state; its log may take as much again [64 MiB]
	OwnerTasks int           // tasks of one owner [half of all, and all for callers without a principal]
	OwnerBytes int64         // tasks of one owner together [half of all, and all for callers without a principal]
	Events     int           // events that the log of one task keeps at least; older ones are trimmed [10,000]
	Pushes     int           // push notification configurations of all tasks [1,000,000]
	Ended      time.Duration // how long an ended task is kept [7 days]
	Parked     time.Duration // how long a task waits for its client before it is dropped [90 days]

	// Agent is the name of the agent. A schema is one agent's: another name is refused. "": none is checked.
	Agent string
	// Schema is where the tables are, unless the address says a2a_schema [a2a].
	Schema string
	// Lease is for how long an instance is taken to be there when nothing is heard of it [10 s].
	Lease time.Duration
	// Cache is how many bytes of tasks are kept decoded [64 MiB].
	Cache int64
	// Clock is the time that rules what is due and what is dropped [that of the database].
	Clock func() time.Time
	// Logger gets errors that no caller is told of [slog.Default].
	Logger *slog.Logger

	tracer pgx.QueryTracer // of all connections, in tests
	steps  []Step          // of another program, in tests; nil: those of this one
}

func (o Options) withDefaults() Options {
	o.Tasks = cmp.Or(o.Tasks, 1_000_000_000)
	o.Bytes = cmp.Or(o.Bytes, 8<<40)
	o.TaskBytes = cmp.Or(o.TaskBytes, min(64<<20, o.Bytes/4))
	o.Events = cmp.Or(o.Events, 10_000)
	o.Pushes = cmp.Or(o.Pushes, 1_000_000)
	o.Ended = cmp.Or(o.Ended, 7*24*time.Hour)
	o.Parked = cmp.Or(o.Parked, 90*24*time.Hour)
	o.Schema = cmp.Or(o.Schema, defaultSchema)
	o.Lease = cmp.Or(o.Lease, 10*time.Second)
	o.Cache = cmp.Or(o.Cache, 64<<20)
	o.Logger = cmp.Or(o.Logger, slog.Default())
	return o
}

func (o *Options) limits() *relational.Limits {
	return &relational.Limits{
		Tasks: o.Tasks, Bytes: o.Bytes, TaskBytes: o.TaskBytes, OwnerTasks: o.OwnerTasks, OwnerBytes: o.OwnerBytes,
		Events: o.Events, Pushes: o.Pushes,
	}
}

// Store is a [store.Store] in a database that it may share with others.
type Store struct {
	relational.Store
	base relational.Base
	database
	options Options
	target  *target
	senders *pgxpool.Pool // for writers
	writers [writers]*writer
	stopped sync.WaitGroup // writers
	numbers numbers
	ledger  ledger
	tasks   decoded
	waking  waking
	self    instance
	stats   stats
	closing sync.Once
	closed  error
}

var _ store.Store = (*Store)(nil)

// OpenStore is Open with the default options, as generated servers call it.
func OpenStore(address, agent string, p *runtime.Protocol) (store.Store, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := Open(ctx, address, p, Options{Agent: agent})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Open opens a store, whose tables it makes if they are not there and the role may; what a task says is kept as the
// protocol has it. The address is a URL or a list of key=value as libpq has them, completed by PGHOST, PGSERVICE,
// PGPASSFILE and so on; it may also say a2a_schema, and how many connections read: pool_max_conns. Errors say what is
// wrong and what to do, and no password.
func Open(ctx context.Context, address string, p *runtime.Protocol, o Options) (*Store, error) {
	t, err := reach(ctx, address, o.Schema)
	if err != nil {
		return nil, err
	}
	s := &Store{database: database{schema: t.schema + "."}, options: o.withDefaults(), target: t}
	s.base = relational.Base{Driver: driver{&s.database}, Now: s.now}
	limits := s.options.limits()
	s.Store = relational.NewStore(relational.Reads{Base: &s.base, Cached: s.tasks.inMemory}, changes{s}, *limits, s.options.Logger)
	s.waking.init(s)
	s.tasks = decoded{base: &s.base, target: t, cache: stored.NewCache[*row](s.options.Cache), looks: looks{db: &s.database}}
	s.ledger.init(&s.database, limits)
	s.ledger.drop = s.drop
	s.stats.began = time.Now()
	if o.tracer != nil {
		t.pool.ConnConfig.Tracer = o.tracer
	}
	if o.steps != nil {
		t.steps = o.steps
	}
	if err := s.open(ctx, p); err != nil {
		s.release()
		return nil, t.openFailed(err)
	}
	return s, nil
}

// reach reads an address and finds a server there that can be used.
func reach(ctx context.Context, address, schema string) (*target, error) {
	t, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	if schema != "" && t.schema == defaultSchema {
		if !schemas.MatchString(schema) {
			return nil, fmt.Errorf("%q is no name of a schema: it begins with a letter, and has a-z, 0-9 and _ alone", schema)
		}
		t.schema = schema
	}
	return t, t.look(ctx)
}

func (s *Store) open(ctx context.Context, p *runtime.Protocol) (err error) {
	if err := s.target.migrate(ctx, s.options.Agent); err != nil {
		return err
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, s.target.pool.Copy()); err != nil {
		return err
	}
	var places string
	if _, err := s.one(ctx, "SELECT places FROM a2a.meta", nil, &places); err != nil {
		return err
	}
	if strings.HasPrefix(places, filling) {
		return errFilling(places)
	}
	config := s.target.pool.Copy()
	config.MaxConns, config.MinConns, config.MinIdleConns = writers, 0, 0
	if s.senders, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return err
	}
	exec := func(sql string, args ...any) error {
		_, err := s.pool.Exec(ctx, s.sql(sql), args...)
		return err
	}
	if err := s.base.NameWires(ctx, p, exec); err != nil {
		return err
	}
	for i := range s.writers {
		w := &writer{s: s, lane: i, queue: relational.NewQueue[*write]()}
		s.writers[i] = w
		s.stopped.Go(w.run)
	}
	return s.begin(ctx)
}

// Close implements [store.Store]: it gives back what this instance runs, and ends its connections.
func (s *Store) Close(left ...store.Key) error {
	s.closing.Do(func() {
		s.closed = s.end(left)
		s.release()
	})
	return s.closed
}

// release ends what was begun, but for the instance.
func (s *Store) release() {
	for _, w := range s.writers {
		if w != nil {
			w.queue.Close()
		}
	}
	s.stopped.Wait()
	closePools(s.pool, s.senders)
}

// numbers gives new tasks their numbers, which are taken from the database in blocks.
type numbers struct {
	mu     sync.Mutex
	next   int64
	end    int64
	server int32 // after a failover, another may give the same block to somebody else
}

// blockOf is how many numbers a block has.
const blockOf = 1024

func (s *Store) nextNumber(ctx context.Context) (int64, error) {
	q := &s.numbers
	q.mu.Lock()
	defer q.mu.Unlock()
	if server := s.target.server.Load(); q.next == q.end || q.server != server {
		q.server = server
		var block int64
		if _, err := s.one(ctx, "SELECT nextval('a2a.block')", nil, &block); err != nil {
			return 0, err
		}
		q.next, q.end = block*blockOf, (block+1)*blockOf
	}
	q.next++
	return q.next - 1, nil
}
