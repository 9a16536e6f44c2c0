package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// database is the PostgreSQL server that stores are measured on. Methods of nil are those of none.
type database struct {
	address string
	conn    *pgx.Conn
	parent  int // process of the server; 0: it is not on this machine
	schemas []string
}

// connectDatabase connects to a server; nil without an address.
func connectDatabase(ctx context.Context, address string) (*database, error) {
	if address == "" {
		return nil, nil
	}
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("the PostgreSQL server for the measurements: %w", err)
	}
	d := &database{address: address, conn: conn}
	if stat, err := readStat(int(conn.PgConn().PID())); err == nil && strings.Contains(stat.name, "postgres") {
		d.parent = stat.parent
	}
	return d, nil
}

// schema is the address with a new schema, which is dropped in the end.
func (d *database) schema(name string) string {
	name = fmt.Sprintf("bench_%s_%d", name, os.Getpid())
	if !slices.Contains(d.schemas, name) {
		d.schemas = append(d.schemas, name)
	}
	joint := "?"
	if strings.Contains(d.address, "?") {
		joint = "&"
	}
	return d.address + joint + "a2a_schema=" + url.QueryEscape(name)
}

func (d *database) close() (err error) {
	if d == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, name := range d.schemas {
		_, failed := d.conn.Exec(ctx, "DROP SCHEMA IF EXISTS "+name+" CASCADE")
		err = errors.Join(err, failed)
	}
	return errors.Join(err, d.conn.Close(ctx))
}

// transactions is how many the server has committed, for all of the database.
func (d *database) transactions(ctx context.Context) (n int64, err error) {
	const sql = "SELECT pg_stat_clear_snapshot(), xact_commit FROM pg_stat_database WHERE datname=current_database()"
	return n, d.conn.QueryRow(ctx, sql).Scan(nil, &n)
}

// bytes is how much the tables of a schema take on disk, with their indexes.
func (d *database) bytes(ctx context.Context, name string) (n int64, err error) {
	const sql = "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class c JOIN pg_namespace s ON s.oid=c.relnamespace WHERE s.nspname=$1 AND c.relkind='r'"
	return n, d.conn.QueryRow(ctx, sql, name).Scan(&n)
}

// cpu is the CPU time of the server's processes so far, those that have ended included; 0 when it is not on this machine.
func (d *database) cpu() (sum time.Duration, err error) {
	if d == nil || d.parent == 0 {
		return 0, nil
	}
	stat, err := readStat(d.parent)
	if err != nil {
		return 0, err
	}
	sum = stat.children
	dirs, err := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if stat, err := readStat(pid); err == nil && stat.parent == d.parent { // others end meanwhile
			sum += stat.own
		}
	}
	return sum, err
}

// stat is what the kernel knows of a process.
type stat struct {
	name          string
	parent        int
	own, children time.Duration // CPU time; that of children which have ended
}

// tick is the unit of the kernel's CPU times.
const tick = 10 * time.Millisecond

func readStat(pid int) (s stat, err error) {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return s, err
	}
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	fields := strings.Fields(string(line[end+1:]))
	if open < 0 || end < open || len(fields) < 15 {
		return s, fmt.Errorf("/proc/%d/stat is %q", pid, line)
	}
	s.name = string(line[open+1 : end])
	number := func(i int) int64 { n, _ := strconv.ParseInt(fields[i], 10, 64); return n }
	s.parent = int(number(1))
	s.own, s.children = time.Duration(number(11)+number(12))*tick, time.Duration(number(13)+number(14))*tick
	return s, nil
}
