// Package sqlite keeps tasks in a file, so that they outlive the process.
//
// One process at a time works on a file. A second one is refused; an instance that lost its file to another finds out
// before it writes again, and stops. One goroutine writes, many changes in a transaction; readers have connections of
// their own. The log of events is the truth: a task is its first event, or its last body, and the events after it.
//
// What an update does is decided by package taskstate. Package relational reads and writes, the same as in PostgreSQL; here it does so
// within the transaction of the writer (tx.go).
//
// Programs that do not import the package do not link SQLite.
package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Store is a [store.Store] in a file.
type Store struct {
	relational.Store
	base    relational.Base
	path    string
	options Options
	cache   *stored.Cache[*stored.Row]
	queue   *relational.Queue[*job]
	me      int64 // number of this instance
	claims  int64 // deliveries claimed, of the writer
	lock    lock
	readers chan *conn // those that are free
	opened  int        // number of those that are open, free or not
	stopped chan struct{}
	writer  *writer
	real    string      // the path without symbolic links
	file    os.FileInfo // as it was opened
	gone    atomic.Bool // the file is no longer at its path, which was logged
	lost    error       // why this instance must not write any more; of the writer
	closing sync.Once
	stats   stats
	closed  error
}

var (
	_ store.Store   = (*Store)(nil)
	_ store.Located = (*Store)(nil)
)

// readers is the number of connections for readers.
const readers = 4

// Open opens the file of a store, and makes it if there is none. The content of tasks is stored in the encoding of the protocol.
// The path may end in "?synchronous=full" or "?synchronous=normal" in place of [Options.Full].
func Open(path string, p *runtime.Protocol, o Options) (*Store, error) {
	path, o, err := parsePath(path, o.withDefaults())
	if err != nil {
		return nil, err
	}
	s := &Store{path: path, options: o, cache: stored.NewCache[*stored.Row](o.Cache), stopped: make(chan struct{})}
	s.base = relational.Base{Driver: reader{s}, Now: o.Clock}
	cached := func(_ context.Context, key store.Key, _ bool) (*stored.Row, error) { return s.cache.Get(key), nil }
	s.Store = relational.NewStore(relational.Reads{Base: &s.base, Cached: cached}, database{s}, o.limits(), o.Logger)
	s.queue = relational.NewQueue[*job]()
	if err := s.open(p); err != nil {
		s.release()
		return nil, cannotOpen(path, err)
	}
	go s.writer.run()
	return s, nil
}

// OpenStore is Open with the default options, as generated servers call it. One agent has a file, so that its name does not matter.
func OpenStore(path, _ string, p *runtime.Protocol) (store.Store, error) {
	s, err := Open(path, p, Options{})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Location returns the path: see [store.Located].
func (s *Store) Location() (kind, address string) { return "a file", s.path }

// isServer matches addresses of database servers: what begins with a scheme, which has more letters than a drive of
// Windows, and what libpq takes in their place. A file is no server, and such an address may have a password, which must
// not become the name of a file.
var isServer = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]+:|(?:^|\s)(?:host|hostaddr|port|dbname|user|password|service)\s*=`)

// IsPath reports whether an address may be the name of a file.
func IsPath(address string) bool { return !isServer.MatchString(address) }

var errServer = errors.New(`the address of a database server is no file: this agent keeps its tasks in an SQLite file, such as weather.db ` +
	`(one with a colon in its name is ./name:…); with "store: postgres" in a2agen.yaml it keeps them in PostgreSQL. There are no other stores`)

// parsePath takes the parameter off a path.
func parsePath(path string, o Options) (string, Options, error) {
	if !IsPath(path) {
		return "", o, errServer
	}
	path, query, _ := strings.Cut(path, "?")
	values, err := url.ParseQuery(query)
	if err != nil || path == "" {
		return "", o, fmt.Errorf("%q is no path of a store", path)
	}
	for name, list := range values {
		switch value := list[len(list)-1]; {
		case name == "synchronous" && value == "full":
			o.Full = true
		case name == "synchronous" && value == "normal":
			o.Full = false
		default:
			return "", o, fmt.Errorf("%s=%s is no parameter of a store: synchronous=full is, and synchronous=normal", name,
				value)
		}
	}
	return path, o, nil
}

func (s *Store) open(p *runtime.Protocol) (err error) {
	if s.real, err = realPath(s.path); err != nil {
		return err
	}
	if s.lock, err = acquire(s.real); err != nil {
		return err
	}
	synchronous := "synchronous(NORMAL)"
	if s.options.Full {
		synchronous = "synchronous(FULL)"
	}
	c, err := connect(s.path, "rwc", "busy_timeout(5000)", "journal_mode(WAL)", synchronous, "cache_size(-32768)",
		"wal_autocheckpoint(4000)", "journal_size_limit(67108864)", "temp_store(MEMORY)")
	if err != nil {
		return err
	}
	s.writer = newWriter(s, c)
	if err := migrate(c, steps); err != nil {
		return err
	}
	if from, err := copying(c); err != nil || from != "" {
		return cmp.Or(err, relational.ErrCopying(from))
	}
	if s.file, err = os.Stat(s.real); err != nil {
		return err
	}
	if s.me, err = register(c, s.options.Clock()); err != nil {
		return err
	}
	if err := s.writer.base.NameWires(context.Background(), p, c.do); err != nil {
		return err
	}
	s.base.Only = int32(s.me) //nolint:gosec // instances are few
	s.base.Codec, s.writer.base.Only = s.writer.base.Codec, s.base.Only
	if s.writer.nextN, _, err = c.one("SELECT coalesce(max(n),0)+1 FROM task"); err != nil {
		return err
	}
	s.readers = make(chan *conn, readers)
	for range readers {
		c, err := connect(s.path, "rw", "busy_timeout(5000)", "query_only(1)", "cache_size(-8192)")
		if err != nil {
			return err
		}
		s.readers <- c
		s.opened++
	}
	return nil
}

// realPath is the path of a file without symbolic links, as far as it is there.
func realPath(path string) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return filepath.Abs(path)
}

// Path is that of the file.
func (s *Store) Path() string { return s.path }

// Close implements [store.Store]: it gives back what this instance runs, and closes the file.
func (s *Store) Close(left ...store.Key) error {
	s.closing.Do(func() {
		s.closed = relational.GiveBack(context.Background(), &s.Store, left)
		s.queue.Close()
		<-s.stopped
		s.release()
	})
	return s.closed
}

// Renew implements [store.Store]: the lock of the file is the lease.
func (s *Store) Renew(context.Context) (store.Lease, error) { return store.Lease{Durable: true}, nil }

// Watch implements [store.Store]: nobody else changes a task.
func (s *Store) Watch(store.Key, func()) (stop func()) { return func() {} }

// release closes what is open.
func (s *Store) release() {
	for range s.opened {
		_ = (<-s.readers).close() // when its reader is done
	}
	if s.writer != nil {
		_ = s.writer.close()
	}
	s.lock.release()
}

// reading calls read with a free connection, in a transaction of its own: it sees the file as it is at one moment.
func (s *Store) reading(ctx context.Context, read func(c *conn) error) error {
	var c *conn
	select {
	case c = <-s.readers:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", store.ErrUnavailable, context.Cause(ctx))
	case <-s.stopped:
		return relational.ErrClosed
	}
	defer func() { s.readers <- c }()
	return c.asOne(func() error { return read(c) })
}

// reader is the [relational.Driver] of a store.
type reader struct{ s *Store }

func (d reader) Dialect() *relational.Dialect { return &dialect }

func (d reader) Ask(ctx context.Context, questions ...relational.Question) error {
	return d.s.reading(ctx, func(c *conn) error { return within{c}.Ask(ctx, questions...) })
}
