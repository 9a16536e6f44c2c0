package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Plan returns the steps that [Migrate] would make.
func Plan(ctx context.Context, address string) ([]Step, error) {
	t, err := reach(ctx, address, "")
	if err != nil {
		return nil, err
	}
	var left []Step
	err = t.connected(ctx, func(c *pgx.Conn) error {
		m, err := t.meta(ctx, c)
		if err == nil {
			err = m.check("", t.steps)
		}
		for i := m.format; err == nil && i < len(t.steps); i++ {
			step := t.steps[i]
			step.SQL = t.inSchema(step.SQL)
			left = append(left, step)
		}
		return err
	})
	return left, t.failed(err)
}

// Migrate brings the schema to the format of this program.
func Migrate(ctx context.Context, address string) error {
	t, err := reach(ctx, address, "")
	if err != nil {
		return err
	}
	return t.failed(t.migrate(ctx, ""))
}

func (t *target) failed(err error) error {
	if err == nil {
		return nil
	}
	return t.openFailed(err)
}

func (t *target) inSchema(text string) string {
	return strings.ReplaceAll(text, defaultSchema+".", t.schema+".")
}

// connected calls do with a connection of its own.
func (t *target) connected(ctx context.Context, do func(*pgx.Conn) error) error {
	conn, err := pgx.ConnectConfig(ctx, t.pool.ConnConfig)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	return do(conn)
}

// meta is what a schema says of itself. The zero meta is of one that is not there.
type meta struct {
	format, least int
	agent, places string
}

// meta reads it, on a connection or in a transaction of it.
func (t *target) meta(ctx context.Context, c *pgx.Conn) (m meta, err error) {
	var there, usable bool
	// The catalog is read, and not to_regclass asked, which may still say that nothing is there when another process
	// has just made it.
	const (
		schema = "SELECT count(*)>0, coalesce(bool_or(has_schema_privilege(oid, 'USAGE')), true) FROM pg_catalog.pg_namespace WHERE nspname=$1"
		table  = "SELECT EXISTS(SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname=$1 AND tablename='meta')"
	)
	if err := c.QueryRow(ctx, schema, t.schema).Scan(&there, &usable); err != nil || !there {
		return m, err
	}
	if !usable {
		return m, &pgconn.PgError{Severity: "ERROR", Code: codeNoRight, Message: "permission denied for schema " + t.schema}
	}
	if err := c.QueryRow(ctx, table, t.schema).Scan(&there); err != nil || !there {
		return m, err
	}
	err = c.QueryRow(ctx, t.inSchema("SELECT format, least, agent, places FROM a2a.meta")).Scan(&m.format, &m.least, &m.agent, &m.places)
	if errors.Is(err, pgx.ErrNoRows) {
		err = fmt.Errorf("schema %s has a table meta without a row: it is another program's, or damaged", t.schema)
	}
	return m, err
}

// check refuses a schema that this program cannot use for an agent.
func (m *meta) check(agent string, known []Step) error {
	switch {
	case m.least > len(known):
		return tooNew(m.format, known)
	case m.places != "" && !strings.HasPrefix(m.places, filling):
		return fmt.Errorf("it is one of several databases (%s), which only an earlier program knows: have that one move all callers to one of them "+
			"(a2agen tasks move), and copy it to a schema of its own (a2agen tasks copy)", m.places)
	case agent != "" && m.agent != "" && m.agent != agent:
		return fmt.Errorf("the schema has the tasks of agent %q, and this is agent %q: give each a schema of its own, "+
			"with a2a_schema=NAME in the address", m.agent, agent)
	}
	return nil
}

// tooNew says that this program does not know enough of a schema.
func tooNew(format int, known []Step) error {
	return fmt.Errorf("the schema has format %d, and this program knows formats up to %d: use the newer program that changed it",
		format, len(known))
}

// migrate brings the schema to the newest format, and notes whose it is, in one transaction: one that ends meanwhile leaves the
// schema as it was. Of several that do it at a time, one does, and the others wait for it.
func (t *target) migrate(ctx context.Context, agent string) error {
	h := fnv.New64a()
	_, _ = h.Write([]byte("a2agen " + t.schema))
	return t.connected(ctx, func(c *pgx.Conn) error {
		return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(h.Sum64())); err != nil { //nolint:gosec // bits
				return err
			}
			for {
				m, err := t.meta(ctx, c)
				if err == nil {
					err = m.check(agent, t.steps)
				}
				switch {
				case err != nil:
				case m.format < len(t.steps):
					err = t.change(ctx, tx, m, agent)
				case m.agent == "" && agent != "":
					_, err = tx.Exec(ctx, t.inSchema("UPDATE a2a.meta SET agent=$1"), agent)
				default:
					return nil
				}
				if err != nil {
					return err
				}
			}
		})
	})
}

// change makes the step after a format.
func (t *target) change(ctx context.Context, tx pgx.Tx, m meta, agent string) error {
	step := &t.steps[m.format]
	script := t.inSchema(step.SQL)
	note, args := "UPDATE a2a.meta SET format=$1, least=$2", []any{step.Format, step.Least}
	if m.format == 0 {
		script = "CREATE SCHEMA IF NOT EXISTS " + t.schema + ";" + script
		note, args = "INSERT INTO a2a.meta(format, least, agent) VALUES($1, $2, $3)", append(args, agent)
	} else if err := t.alone(ctx, tx, step); err != nil {
		return err
	}
	if _, err := tx.Conn().PgConn().Exec(ctx, script).ReadAll(); err != nil {
		return fmt.Errorf("change the schema from format %d to %d: %w", m.format, step.Format, err)
	}
	_, err := tx.Exec(ctx, t.inSchema(note), args...)
	return err
}

// alone refuses a step that instances which are there do not know how to live with. None begins until it is made: an
// instance looks at the row of meta when it registers.
func (t *target) alone(ctx context.Context, tx pgx.Tx, step *Step) error {
	if _, err := tx.Exec(ctx, t.inSchema("SELECT FROM a2a.meta FOR UPDATE")); err != nil {
		return err
	}
	var names string
	const older = "SELECT coalesce(string_agg(name, ', ' ORDER BY n), '') FROM a2a.instance WHERE lease>clock_timestamp() AND format<$1"
	if err := tx.QueryRow(ctx, t.inSchema(older), step.Least).Scan(&names); err != nil || names == "" {
		return err
	}
	return fmt.Errorf("format %d of the schema is not for programs that know less than format %d, and some are at work: stop them, then start this one: %s",
		step.Format, step.Least, names)
}
