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
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

const (
	// pollEvery is how often the revisions of all watched tasks are asked for, in one query. It finds the changes of
	// which no notification came, and all of them where LISTEN does not work.
	pollEvery = time.Second
	// quietTime is for how long nothing may be heard before the connection is tried: one that was cut without a word
	// stays silent.
	quietTime = 5 * time.Second
	// selfTest is how long a notification of one's own may take.
	selfTest = 2 * time.Second
)

// channelOf is the name of the channel on which the instances of a schema notify each other.
func channelOf(schema string) string {
	sum := sha256.Sum256([]byte(schema))
	return fmt.Sprintf("a2a_%x", sum[:12])
}

// awaitChanges wakes watchers until ctx ends, by notifications if they arrive here.
func (k *waking) awaitChanges(ctx context.Context) {
	listens, err := k.canListen(ctx)
	for err != nil && sleep(ctx, time.Second) {
		listens, err = k.canListen(ctx)
	}
	switch {
	case err != nil:
	case listens:
		var polls sync.WaitGroup
		polls.Go(func() { k.poll(ctx) }) // a notification may be lost
		k.listen(ctx)
		polls.Wait()
	default:
		k.logger.Warn("PostgreSQL's notifications do not arrive, as behind a pooler in transaction mode: changes by other replicas are " +
			"looked for once a second")
		k.poll(ctx)
	}
}

// canListen reports whether notifications arrive here. Behind a pooler in transaction mode, LISTEN works, and nothing
// is ever heard.
func (k *waking) canListen(ctx context.Context) (bool, error) {
	if !k.target.pooled {
		return true, nil
	}
	channel := "a2a_test_" + rand.Text() // nobody sends there again: LISTEN may stay with a connection of the pooler's
	conn, err := k.dialListener(ctx, channel)
	if err != nil {
		return false, err
	}
	defer closeConn(conn)
	if err := k.notify(ctx, channel, ""); err != nil {
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
func (k *waking) dialListener(ctx context.Context, channel string) (*pgx.Conn, error) {
	config := k.target.pool.ConnConfig.Copy()
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
func (k *waking) listen(ctx context.Context) {
	wait, lost := 50*time.Millisecond, failing{}
	for ctx.Err() == nil {
		conn, err := k.dialListener(ctx, k.channel)
		if err == nil {
			wait, lost = 50*time.Millisecond, failing{}
			k.others.listen(time.Now())
			k.sayAll()
			k.wakeAll(ctx)
			err = k.receive(ctx, conn)
			k.others.stop()
			closeConn(conn)
		}
		if ctx.Err() != nil {
			return
		}
		lost.log(k.logger, "PostgreSQL's notifications are interrupted", err)
		k.wakeAll(ctx)
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
func (k *waking) receive(ctx context.Context, conn *pgx.Conn) error {
	for {
		quiet, cancel := context.WithTimeout(ctx, quietTime)
		n, err := conn.WaitForNotification(quiet)
		cancel()
		switch {
		case err == nil:
			k.wakeNamed(n.Payload)
		case ctx.Err() != nil || !pgconn.Timeout(err):
			return err
		default:
			if err := k.ping(ctx, conn); err != nil {
				return err
			}
		}
	}
}

func (k *waking) ping(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, beatTime)
	defer cancel()
	return conn.Ping(ctx)
}

// poll asks for the revisions of all watched tasks now and then, and wakes the watchers of those that have changed. It
// also says what is watched here.
func (k *waking) poll(ctx context.Context) {
	var lost failing
	var said time.Time
	for sleep(ctx, pollEvery) {
		if now := time.Now(); now.Sub(said) >= sayEvery {
			said = now
			k.others.expire(now)
			k.sayAll()
		}
		list := k.watchers.list()
		if len(list) == 0 {
			continue
		}
		changed, err := k.changedOf(ctx, list)
		switch {
		case err == nil:
			lost = failing{}
		case !errors.Is(err, context.Canceled):
			lost.log(k.logger, "PostgreSQL could not be asked for changes", err)
		}
		for _, w := range changed {
			w.wake()
		}
	}
}

// changedOf returns the watchers of tasks that have changed, or were dropped, since the last look.
func (k *waking) changedOf(ctx context.Context, list []*watcher) (changed []*watcher, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if err := k.numberWatched(ctx, list); err != nil {
		return nil, err
	}
	revs := map[int64]int64{}
	for _, w := range list {
		if w.n != 0 {
			revs[w.n] = notThere
		}
	}
	if err := k.db.query(ctx, revsSQL, func(row relational.Row) error {
		var n, rev int64
		err := row.Scan(&n, &rev)
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

// numbersSQL finds the numbers of tasks.
const numbersSQL = `SELECT k.i, t.n FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY k(tenant, principal, id, i)
	JOIN a2a.account a ON a.principal=k.principal JOIN a2a.owner o ON o.account=a.n AND o.tenant=k.tenant
	JOIN a2a.task t ON t.owner=o.n AND t.id=k.id`

// numberWatched finds out the numbers of tasks that are not known yet.
func (k *waking) numberWatched(ctx context.Context, list []*watcher) error {
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
	return k.db.query(ctx, numbersSQL, func(row relational.Row) error {
		var i, n int64
		err := row.Scan(&i, &n)
		if err == nil {
			missing[i-1].n = n
		}
		return err
	}, tenants, principals, tasks)
}
