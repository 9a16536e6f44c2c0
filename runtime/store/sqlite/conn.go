package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// value is one of a row: nil, int64, string or []byte.
type value = driver.Value

// conn is one connection, with its statements. It is the driver's own, without database/sql above it: that costs more
// than many a statement here. One goroutine uses it at a time.
type conn struct {
	c     driver.Conn
	stmts map[string]statement
	args  []driver.NamedValue
	// failed is the first failure of a statement since it was reset.
	failed error
	// before is called before each statement that runs, for tests: an error is its failure.
	before func(sql string) error
}

// dsn names a database file for the driver, with what is to be set first.
func dsn(path, mode string, pragmas ...string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // C:/
	}
	u := url.URL{Scheme: "file", Path: abs, RawQuery: url.Values{"mode": {mode}, "_pragma": pragmas}.Encode()}
	return u.String(), nil
}

// connect opens a connection. mode is as in SQLite's URIs: "ro", "rw", "rwc".
func connect(path, mode string, pragmas ...string) (*conn, error) {
	name, err := dsn(path, mode, pragmas...)
	if err != nil {
		return nil, err
	}
	c, err := openDriver(name)
	if err != nil {
		return nil, failure(err)
	}
	return &conn{c: c, stmts: map[string]statement{}}, nil
}

func (c *conn) close() error {
	for _, s := range c.stmts {
		_ = s.Close()
	}
	c.stmts = nil
	return c.c.Close()
}

// script runs statements that are not kept.
func (c *conn) script(sql string) error {
	_, err := c.c.(driver.ExecerContext).ExecContext(context.Background(), sql, nil)
	return failure(err)
}

// fail notes a failure.
func (c *conn) fail(err error) error {
	err = failure(err)
	if c.failed == nil {
		c.failed = err
	}
	return err
}

func (c *conn) prepare(sql string, args []any) (driver.Stmt, error) {
	s := c.stmts[sql]
	if s.Stmt == nil {
		text, order := translate(sql)
		made, err := c.c.Prepare(text)
		if err != nil {
			return nil, c.fail(err)
		}
		s = statement{made, text, order}
		c.stmts[sql] = s
	}
	if c.before != nil {
		if err := c.before(s.text); err != nil {
			return nil, c.fail(err)
		}
	}
	c.args = c.args[:0]
	if s.order == nil {
		for _, a := range args {
			c.args = append(c.args, driver.NamedValue{Ordinal: len(c.args) + 1, Value: bound(a)})
		}
	}
	for _, i := range s.order {
		c.args = append(c.args, driver.NamedValue{Ordinal: len(c.args) + 1, Value: bound(args[i])})
	}
	return s.Stmt, nil
}

// statement is one that was prepared, with which argument goes to which of its places; nil: one after the other.
type statement struct {
	driver.Stmt
	text  string
	order []int
}

// bound is a value as the driver takes it.
func bound(v any) driver.Value {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int16:
		return int64(v)
	case int32:
		return int64(v)
	case *int64:
		if v == nil {
			return nil
		}
		return *v
	case *string:
		if v == nil {
			return nil
		}
		return *v
	case []int64, []int16, []string:
		return list(v)
	case uint64:
		return int64(v) //nolint:gosec // a stamp: only equality counts
	case []byte:
		if v == nil {
			return nil
		}
	}
	return v
}

// exec runs a statement that returns nothing, and returns how many rows it changed.
func (c *conn) exec(sql string, args ...any) (int64, error) {
	s, err := c.prepare(sql, args)
	if err != nil {
		return 0, err
	}
	r, err := s.(driver.StmtExecContext).ExecContext(context.Background(), c.args)
	if err != nil {
		return 0, c.fail(err)
	}
	return r.RowsAffected()
}

// do runs a statement of which only the failure counts.
func (c *conn) do(sql string, args ...any) error {
	_, err := c.exec(sql, args...)
	return err
}

// query calls each with every row. The slice is used again; bytes and strings in it are not.
func (c *conn) query(sql string, each func(row []value) error, args ...any) error {
	s, err := c.prepare(sql, args)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), c.args)
	if err != nil {
		return c.fail(err)
	}
	defer func() { _ = rows.Close() }()
	row := make([]value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case err == io.EOF:
			return nil
		case err != nil:
			return c.fail(err)
		}
		if err := each(row); err != nil {
			return err
		}
	}
}

// ask asks a question.
func (c *conn) ask(q *relational.Question) error {
	return c.query(q.SQL, func(v []value) error { return q.Row(row(v)) }, q.Args...)
}

// asOne calls read in a transaction: it sees the file as it is at one moment.
func (c *conn) asOne(read func() error) error {
	if _, err := c.exec("BEGIN"); err != nil {
		return err
	}
	defer func() { _ = c.script("ROLLBACK") }()
	return read()
}

// one returns the first number of the first row, and whether there is a row.
func (c *conn) one(sql string, args ...any) (n int64, found bool, err error) {
	err = c.query(sql, func(v []value) error {
		n, found = num(v[0]), true
		return nil
	}, args...)
	return n, found, err
}

func num(v value) int64 {
	n, _ := v.(int64)
	return n
}

func text(v value) string {
	s, _ := v.(string)
	return s
}

func blob(v value) []byte {
	b, _ := v.([]byte)
	return b
}

// SQLite's result codes, without what they are extended by.
const (
	codeError      = 1
	codeBusy       = 5
	codeReadOnly   = 8
	codeCorrupt    = 11
	codeFull       = 13
	codeCannotOpen = 14
	codeTooBig     = 18
	codeConstraint = 19
	codeMismatch   = 20
	codeMisuse     = 21
	codeRange      = 25

	codeNotADatabase = 26
)

// failure is an error of SQLite's as one of a store: whatever it is, nothing was changed.
func failure(err error) error {
	switch code(err) {
	case 0:
		if err == nil || errors.Is(err, store.ErrUnavailable) {
			return err
		}
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	case codeFull, codeReadOnly:
		return fmt.Errorf("%w: %w", store.ErrNoSpace, err)
	case codeTooBig:
		return fmt.Errorf("%w: %w", store.ErrTooLarge, err)
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}
