package main

import (
	"cmp"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/runtime/store/admin"
)

func tasksShowCommand() *cobra.Command {
	var flags whichFlags
	cmd := &cobra.Command{
		Use:   "show ID",
		Short: "Show a task with its events",
		Long: `show prints a task: its status, each event of its log with time, size and content, the messages without an answer yet, and its push
notification configurations. --output json prints everything as it is stored, except the secrets of configurations. Several owners may
have a task with the same id; choose one with --principal and --tenant.`,
		Example: `  a2agen tasks show 0f8c1d2e
  a2agen tasks show 0f8c1d2e --store weather.db --output json`,
		Args: exactly(1, "the id of a task"),
	}
	flags.addOwner(cmd)
	return onStore(cmd, func(cmd *cobra.Command, s admin.Store, args []string, asJSON bool) error {
		which, err := flags.which(cmd)
		if err != nil {
			return err
		}
		which.ID = args[0]
		rows, err := s.Tasks(cmd.Context(), which)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fmt.Errorf(`there is no task %q ("a2agen tasks list" lists them)`, args[0])
		}
		pages := make([]admin.TaskPage, len(rows))
		for i, r := range rows {
			if pages[i], err = s.Task(cmd.Context(), r); err != nil {
				return err
			}
		}
		if asJSON {
			return printJSON(cmd, pages)
		}
		for _, p := range pages {
			printTaskPage(cmd.OutOrStdout(), p, time.Now())
		}
		return nil
	})
}

// moment returns a time for people.
const moment = "2006-01-02 15:04:05 MST"

func printTaskPage(out io.Writer, p admin.TaskPage, now time.Time) {
	fmt.Fprintf(out, "task %s\n", plain(p.ID))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) {
		fmt.Fprintf(table, "  %s\t%s\n", name, fmt.Sprintf(format, args...))
	}
	line("state", "%s since %s%s", p.State, p.At.Format(moment), ago(now.Sub(p.At)))
	line("skill", "%s", cmp.Or(plain(p.Skill), "none yet"))
	line("caller", "%s", caller(p.Principal, p.Tenant))
	line("context", "%s", plain(p.Context))
	line("size", "%s, %s", size(p.Bytes), count(int(p.Version), "event"))
	_ = table.Flush()
	if p.Oldest > 0 {
		fmt.Fprintf(out, "events up to %d are no longer kept\n", p.Oldest)
	}
	table = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, e := range p.Events {
		at, words := told(e)
		when := ""
		if !at.IsZero() {
			when = at.UTC().Format(moment)
		}
		if words != "" {
			words = "\t" + words
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s%s\n", e.Seq, when, e.State, size(int64(len(e.Event)+len(e.Messages))), words)
	}
	_ = table.Flush()
	for _, c := range p.Calls {
		fmt.Fprintf(out, "message %d is not worked off, attempt %d: input %s\n", c.N, c.Attempt, cut(string(c.Input)))
	}
	for _, d := range p.Pushes {
		printPush(out, d)
	}
}

// caller returns the owner of a task.
func caller(principal, tenant string) string {
	who := cmp.Or(plain(principal), "anybody")
	if tenant != "" {
		who += " of " + plain(tenant)
	}
	return who
}

// ago returns a duration in its largest unit; "" for none.
func ago(d time.Duration) string {
	for _, unit := range []struct {
		name string
		long time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}} {
		if d >= unit.long {
			return ", " + count(int(d/unit.long), unit.name) + " ago"
		}
	}
	return ""
}

// size returns a number of bytes for people.
func size(bytes int64) string {
	n, unit := float64(bytes), "B"
	for _, larger := range []string{"kB", "MB", "GB"} {
		if n < 1000 {
			break
		}
		n, unit = n/1000, larger
	}
	if unit == "B" || n >= 100 {
		return fmt.Sprintf("%.0f %s", n, unit)
	}
	return fmt.Sprintf("%.1f %s", n, unit)
}
