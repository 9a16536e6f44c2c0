package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/runtime/store/admin"
	"github.com/a2agen/a2agen/runtime/store/postgres"
	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

func tasksCopyCommand() *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use:   "copy FROM TO",
		Short: "Copy all tasks of an agent to another store",
		Long: `copy copies everything that an agent keeps, between files and PostgreSQL: tasks with every event, messages without an answer yet, push
notification configurations and how far each has got, notes, and idempotency keys. Stop the agent first: a file in use is
rejected, and so is a target with tasks of its own. FROM is not changed. Tables of PostgreSQL are made if they are not there.

A copy that was interrupted continues when it is run again; until it has finished, no agent opens the target. In the end both sides are read
and compared, by counts and a digest. A copy that has finished is only compared when it is run again.`,
		Example: `  a2agen tasks copy weather.db postgres://agent@db/agents --dry-run
  a2agen tasks copy weather.db postgres://agent@db/agents
  a2agen tasks copy postgres://agent@db/agents postgres://agent@other/agents`,
		Args: exactly(2, "the store to copy from, and the one to copy to"),
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, and change nothing")
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		done, err := runCopy(ctx, cmd, args[0], args[1], dry)
		if err != nil && ctx.Err() != nil {
			return errors.New("interrupted: the same command continues the copy")
		}
		if err != nil {
			return err
		}
		if *format == formatJSON {
			return printJSON(cmd, copied{
				Tasks: done.Tasks, Events: done.Events, Callers: done.Accounts, Messages: done.Calls, Configurations: done.Pushes,
				Tickets: done.Tickets, Notes: done.Notes, Keys: done.Repeats, Digest: hex.EncodeToString(done.Digest[:]),
			})
		}
		if dry && !done.Before {
			fmt.Fprintf(cmd.OutOrStdout(), "would be copied: %s\n", copyWords(done))
			return nil
		}
		what := "copied and compared"
		if done.Before {
			what = "copied before, and compared again"
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, digest %x\n", what, copyWords(done), done.Digest[:8])
		return nil
	}
	return cmd
}

// copied is what was copied, as JSON.
type copied struct {
	Tasks          int64  `json:"tasks"`
	Events         int64  `json:"events"`
	Callers        int64  `json:"callers"`
	Messages       int64  `json:"openMessages"`
	Configurations int64  `json:"configurations"`
	Tickets        int64  `json:"tickets"`
	Notes          int64  `json:"notes"`
	Keys           int64  `json:"keys"`
	Digest         string `json:"digest"`
}

func copyWords(p admin.Progress) string {
	return fmt.Sprintf("%s of %s with %s, %s, %s, %s", count(int(p.Tasks), "task"), count(int(p.Accounts), "caller"),
		count(int(p.Events), "event"), count(int(p.Calls), "open message"), count(int(p.Pushes), "push configuration"), count(int(p.Notes), "note"))
}

// openWhole opens a store that no agent uses.
func openWhole(ctx context.Context, address string, fresh bool) (whole, error) {
	kind, err := kindOf(address)
	if err != nil {
		return nil, err
	}
	return kind.whole(ctx, address, fresh)
}

func runCopy(ctx context.Context, cmd *cobra.Command, from, to string, dry bool) (done admin.Progress, err error) {
	source, err := openWhole(ctx, from, false)
	if err != nil {
		return done, err
	}
	defer func() { _ = source.Close() }()
	show := progress(cmd.ErrOrStderr())
	target, err := openWhole(ctx, to, !dry)
	if dry && errors.Is(err, fs.ErrNotExist) {
		return admin.DryCopy(ctx, source, nil, show)
	}
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if dry {
		return admin.DryCopy(ctx, source, target, show)
	}
	return admin.Copy(ctx, source, target, show)
}

// interruptible returns a context that ends with SIGINT or SIGTERM. A second signal ends the process at once.
func interruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// whole is a store that can be copied and filled.
type whole interface {
	admin.Empty
	io.Closer
}

func wholeFile(_ context.Context, path string, fresh bool) (whole, error) {
	w, err := sqlite.OpenWhole(path, a2awires.Protocol(), fresh)
	if err != nil {
		return nil, err
	}
	return w, nil
}

func wholeServer(ctx context.Context, address string, fresh bool) (whole, error) {
	w, err := postgres.OpenWhole(ctx, address, fresh)
	if err != nil {
		return nil, err
	}
	return w, nil
}

// progress returns what prints how far a copy is, every few seconds.
func progress(out io.Writer) func(admin.Progress) {
	const every = 2 * time.Second
	last := time.Now()
	return func(p admin.Progress) {
		if time.Since(last) < every {
			return
		}
		last = time.Now()
		fmt.Fprintf(out, "%d tasks, %d events\n", p.Tasks, p.Events)
	}
}
