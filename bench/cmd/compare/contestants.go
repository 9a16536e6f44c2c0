package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/a2agen/a2agen/bench/internal/load"
	"github.com/a2agen/a2agen/bench/internal/proc"
)

// contestant is one column of a table.
type contestant struct {
	name    string // heading, with version
	dir     string // below contestants/; "": nobody
	dialect *load.Dialect
	args    []string
}

// lineup are the contestants of a table, by column, in the order in which they take turns; the first is the measure.
type lineup []contestant

// contestants speak JSON-RPC.
var contestants = lineup{
	{name: "bare net/http", dir: "bare", dialect: load.Canned},
	{name: "trpc-a2a-go v0.2.5", dir: "trpc", dialect: load.V02},
	{name: "a2a-go v2.4.0", dir: "a2ago", dialect: load.V1},
	{name: "a2agen", dir: "a2agen", dialect: load.V1},
}

// hosted are the contestants, of which a2agen serves its own port as generated programs have it: long streams leave
// net/http there.
var hosted = lineup{contestants[0], contestants[1], contestants[2], {name: "a2agen", dir: "a2agen", dialect: load.V1, args: []string{"-serve"}}}

// overREST are those that speak HTTP+JSON, beside the measure of all.
var overREST = lineup{
	{name: "bare net/http, JSON-RPC", dir: "bare", dialect: load.Canned},
	{},
	{name: "a2a-go v2.4.0", dir: "a2ago", dialect: load.REST},
	{name: "a2agen", dir: "a2agen", dialect: load.REST},
}

// overGRPC are those that speak gRPC, beside the measure of all.
var overGRPC = lineup{
	{name: "bare net/http, JSON-RPC", dir: "bare", dialect: load.Canned},
	{name: "grpc-go v1.85.0", dir: "grpcgo", dialect: load.CannedGRPC},
	{name: "a2a-go v2.4.0", dir: "a2ago", dialect: load.GRPC},
	{name: "a2agen", dir: "a2agen", dialect: load.GRPC, args: []string{"-grpc"}},
}

// shared has all that speak gRPC on one connection.
func (l lineup) shared() lineup {
	l = slices.Clone(l)
	for i := range l {
		l[i].dialect = l[i].dialect.Shared()
	}
	return l
}

// columns of the contestants that are spoken of elsewhere, in every table.
const (
	colBare   = 0
	colTRPC   = 1
	colGRPC   = 1
	colA2AGo  = 2
	colA2Agen = 3
	columns   = 4
)

// names head the columns.
func (l lineup) names() (list []string) {
	for _, c := range l {
		list = append(list, c.name)
	}
	return list
}

// build compiles all contestants, and what measures the tool, into dir.
func build(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-o", dir+string(filepath.Separator), "./cmd/measure", "./contestants/...")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("building the contestants: %w", err)
	}
	return nil
}

// field is a set of running contestants, by column; nil: not there.
type field []*load.Target

// start starts all contestants afresh.
func (l lineup) start(ctx context.Context, dir string) (field, error) {
	f := make(field, len(l))
	for col, c := range l {
		if c.dir == "" {
			continue
		}
		p, err := proc.Start(ctx, filepath.Join(dir, c.dir), c.args...)
		if err != nil {
			return nil, errors.Join(err, f.stop())
		}
		f[col] = &load.Target{Process: p, Name: c.dir, Dialect: c.dialect}
	}
	return f, nil
}

// during runs do, and ends the contestants. What they wrote is told when something went wrong.
func (f field) during(do func() error) error {
	err := do()
	if stopped := f.stop(); err == nil {
		return stopped
	}
	return errors.Join(err, f.log())
}

// stop ends them.
func (f field) stop() error {
	var errs []error
	for _, t := range f {
		if t == nil {
			continue
		}
		t.Close()
		errs = append(errs, t.Stop())
	}
	return errors.Join(errs...)
}

// log returns what the contestants wrote to standard error, after they were stopped: nothing, unless something went wrong.
func (f field) log() error {
	var errs []error
	for _, t := range f {
		if t == nil {
			continue
		}
		if text := t.Log(); text != "" {
			errs = append(errs, fmt.Errorf("%s said: %.2000s", t.Name, text))
		}
	}
	return errors.Join(errs...)
}

// each calls do for all contestants in turn, beginning with another one each round, so that none always follows the
// same neighbour.
func (f field) each(round int, do func(col int, t *load.Target) error) error {
	for i := range f {
		col := (i + round) % len(f)
		if f[col] == nil {
			continue
		}
		if err := do(col, f[col]); err != nil {
			return fmt.Errorf("%s: %w", f[col].Name, err)
		}
	}
	return nil
}
