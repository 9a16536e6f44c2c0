package postgres

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
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
	// A pooler gives its clients keys of its own. In transaction mode each transaction may have another server
	// connection, which knows none of the statements that were prepared on the one before.
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

// validated looks at each new connection, after another check if there is one: whether it can be written, and whether
// the server is still the same.
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
