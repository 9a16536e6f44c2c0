package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// pollEvery is how often the revisions of all watched tasks are asked for, in one query. It finds the changes of which no notification
	// came, and all of them where LISTEN does not work.
	pollEvery = time.Second
	// quietTime is for how long nothing may be heard before the connection is tried: one that was cut without a word stays silent.
	quietTime = 5 * time.Second
	// selfTest is how long a notification of one's own may take.
	selfTest = 2 * time.Second
)

// look connects once, finds out what kind of server that is, and refuses one that cannot be used.
func (t *target) look(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, t.pool.ConnConfig)
	if err != nil {
		return t.openFailed(err)
	}
	defer closeConn(conn)
	const ask = "SELECT current_setting('server_version_num'), current_setting('server_encoding'), pg_backend_pid()"
	answer, err := conn.PgConn().Exec(ctx, ask).ReadAll()
	if err != nil {
		return t.openFailed(err)
	}
	row := answer[0].Rows[0]
	version, _ := strconv.Atoi(string(row[0]))
	encoding := string(row[1])
	switch {
	case version < 140000:
		return t.openFailed(fmt.Errorf("it is version %d.%d; PostgreSQL 14 and newer will do", version/10000, version%10000))
	case encoding != "UTF8":
		return t.openFailed(fmt.Errorf("the database's encoding is %s; make one with ENCODING 'UTF8' TEMPLATE template0", encoding))
	}
	// A pooler gives its clients keys of its own. In transaction mode each transaction may have another server connection, which knows
	// none of the statements that were prepared on the one before.
	if t.pooled = strconv.Itoa(int(conn.PgConn().PID())) != string(row[2]); t.pooled && t.pool.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		t.pool.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	// A pool's connections get notifications only where a pooler mixes them up. Nobody would take them.
	t.pool.ConnConfig.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {}
	return nil
}

// closeTime is how long the end of connections may take: a server that hangs does not close its side.
const closeTime = time.Second

func closeConn(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = conn.Close(ctx)
}

// closePools waits for the end of connections, but not for long.
func closePools(pools ...*pgxpool.Pool) {
	var work sync.WaitGroup
	for _, pool := range pools {
		if pool != nil {
			work.Go(pool.Close)
		}
	}
	done := make(chan struct{})
	go func() {
		work.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(closeTime):
	}
}

// validated looks at each new connection, after another check if there is one: whether it can be written, and whether the server is still the same.
func (t *target) validated(before pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		if before != nil {
			if err := before(ctx, conn); err != nil {
				return err
			}
		}
		answer, err := conn.Exec(ctx, "SELECT current_setting('transaction_read_only'), "+serverSQL).ReadAll()
		if err != nil {
			return err
		}
		row := answer[0].Rows[0]
		if string(row[0]) == "on" {
			return pgconn.ErrReadOnlyConnection
		}
		t.isServer(string(row[1]))
		return nil
	}
}

// serverSQL tells one start of a server from another.
const serverSQL = "extract(epoch FROM pg_postmaster_start_time())::text"

// isServer notes which server it is that a connection leads to. What is known of another is no longer trusted.
func (t *target) isServer(began string) {
	if was := t.began.Swap(&began); was == nil || *was != began {
		t.server.Add(1)
	}
}

// channelOf is the name of the channel on which the instances of a schema notify each other.
func channelOf(schema string) string {
	sum := sha256.Sum256([]byte(schema))
	return fmt.Sprintf("a2a_%x", sum[:12])
}

// awaitChanges wakes watchers until ctx ends, by notifications if they arrive here.
func (s *Store) awaitChanges(ctx context.Context) {
	listens, err := s.canListen(ctx)
	for err != nil && sleep(ctx, time.Second) {
		listens, err = s.canListen(ctx)
	}
	switch {
	case err != nil:
	case listens:
		s.self.work.Go(func() { s.poll(ctx) }) // a notification may be lost
		s.listen(ctx)
	default:
		s.options.Logger.Warn("PostgreSQL's notifications do not arrive, as behind a pooler in transaction mode: changes by other replicas are " +
			"looked for once a second")
		s.poll(ctx)
	}
}

// canListen reports whether notifications arrive here. Behind a pooler in transaction mode, LISTEN works, and nothing is ever heard.
func (s *Store) canListen(ctx context.Context) (bool, error) {
	if !s.target.pooled {
		return true, nil
	}
	channel := "a2a_test_" + rand.Text() // nobody sends there again: LISTEN may stay with a connection of the pooler's
	conn, err := s.dialListener(ctx, channel)
	if err != nil {
		return false, err
	}
	defer closeConn(conn)
	if err := s.notify(ctx, channel, ""); err != nil {
		return false, err
	}
	wait, cancel := context.WithTimeout(ctx, selfTest)
	defer cancel()
	_, err = conn.WaitForNotification(wait)
	if pgconn.Timeout(err) {
		return false, nil
	}
	return err == nil, err
}

// dialListener opens a connection that listens.
func (s *Store) dialListener(ctx context.Context, channel string) (*pgx.Conn, error) {
	config := s.target.pool.ConnConfig.Copy()
	config.OnNotification = nil // it keeps them for WaitForNotification
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		closeConn(conn)
		return nil, err
	}
	return conn, nil
}

// listen wakes watchers until ctx ends. Whenever something may have been missed it wakes all of them.
func (s *Store) listen(ctx context.Context) {
	wait, lost := 50*time.Millisecond, failing{}
	for ctx.Err() == nil {
		conn, err := s.dialListener(ctx, s.self.channel)
		if err == nil {
			wait, lost = 50*time.Millisecond, failing{}
			s.wakeAll(ctx)
			err = s.receive(ctx, conn)
			closeConn(conn)
		}
		if ctx.Err() != nil {
			return
		}
		lost.log(s.options.Logger, "PostgreSQL's notifications are interrupted", err)
		s.wakeAll(ctx)
		sleep(ctx, wait)
		wait = min(2*wait, 5*time.Second)
	}
}

// failing is what fails again and again while a server is away: the log says it once.
type failing struct{ logged bool }

func (f *failing) log(to *slog.Logger, what string, err error) {
	level := slog.LevelWarn
	if f.logged {
		level = slog.LevelDebug
	}
	f.logged = true
	to.Log(context.Background(), level, what, "error", err)
}

// receive wakes watchers until the connection is lost.
func (s *Store) receive(ctx context.Context, conn *pgx.Conn) error {
	for {
		quiet, cancel := context.WithTimeout(ctx, quietTime)
		n, err := conn.WaitForNotification(quiet)
		cancel()
		switch {
		case err == nil:
			s.wakeNamed(n.Payload)
		case ctx.Err() != nil || !pgconn.Timeout(err):
			return err
		default:
			if err := s.ping(ctx, conn); err != nil {
				return err
			}
		}
	}
}

func (s *Store) ping(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, beatTime)
	defer cancel()
	return conn.Ping(ctx)
}

// poll asks for the revisions of all watched tasks now and then, and wakes the watchers of those that have changed.
func (s *Store) poll(ctx context.Context) {
	var lost failing
	for sleep(ctx, pollEvery) {
		list := s.self.watchers.list()
		if len(list) == 0 {
			continue
		}
		changed, err := s.changedOf(ctx, list)
		switch {
		case err == nil:
			lost = failing{}
		case !errors.Is(err, context.Canceled):
			lost.log(s.options.Logger, "PostgreSQL could not be asked for changes", err)
		}
		for _, w := range changed {
			w.wake()
		}
	}
}

// changedOf returns the watchers of tasks that have changed, or were dropped, since the last look.
func (s *Store) changedOf(ctx context.Context, list []*watcher) (changed []*watcher, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if err := s.numberWatched(ctx, list); err != nil {
		return nil, err
	}
	revs := map[int64]int64{}
	for _, w := range list {
		if w.n != 0 {
			revs[w.n] = notThere
		}
	}
	if err := s.query(ctx, "SELECT n, rev FROM a2a.task WHERE n=ANY($1)", func(rows pgx.Rows) error {
		var n, rev int64
		err := rows.Scan(&n, &rev)
		revs[n] = rev
		return err
	}, slices.AppendSeq([]int64{}, maps.Keys(revs))); err != nil {
		return nil, err
	}
	for _, w := range list {
		rev := cmp.Or(revs[w.n], notThere)
		if rev == notThere {
			w.n = 0 // it may come again under another number
		}
		if w.rev != rev {
			w.rev = rev
			changed = append(changed, w)
		}
	}
	return changed, nil
}

// notThere is the revision of a task that is not there: those who wait for one that was dropped are woken, too.
const notThere = -1

// numberWatched finds out the numbers of tasks that are not known yet.
func (s *Store) numberWatched(ctx context.Context, list []*watcher) error {
	var tenants, principals, tasks []string
	var missing []*watcher
	for _, w := range list {
		if w.n == 0 {
			tenants, principals = append(tenants, w.key.Owner.Tenant), append(principals, w.key.Owner.Principal)
			tasks, missing = append(tasks, w.key.Task), append(missing, w)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	const number = `SELECT k.i, t.n FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY k(tenant, principal, id, i)
		JOIN a2a.account a ON a.principal=k.principal JOIN a2a.owner o ON o.account=a.n AND o.tenant=k.tenant
		JOIN a2a.task t ON t.owner=o.n AND t.id=k.id`
	return s.query(ctx, number, func(rows pgx.Rows) error {
		var i, n int64
		err := rows.Scan(&i, &n)
		if err == nil {
			missing[i-1].n = n
		}
		return err
	}, tenants, principals, tasks)
}
