package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store/admin"
)

func tasksCommand() *cobra.Command {
	cmd := group("tasks", "Show the tasks in an agent's store and their events; check, prune and copy the store")
	cmd.Long = `tasks works on the store of an agent that has "store: sqlite" or "store: postgres" in a2agen.yaml, whether the agent runs or not: list,
show and timeline read, check verifies it, prune deletes tasks, deliveries and replay work on push notifications. In the folder of a project the store
of its agent is used. Elsewhere name it with --store or A2A_STORE, a file or postgres://USER@HOST/DATABASE; variables and files of libpq
(PGPASSWORD, PGPASSFILE, PGSERVICE, …) count, too. The agent logs the address of its store when it starts.`
	cmd.Example = `  a2agen tasks list                          # of this project's agent
  a2agen tasks list --state working --state input-required
  a2agen tasks show 0f8c1d2e
  a2agen tasks timeline 0f8c1d2e             # its events on an axis of time
  a2agen tasks prune --store weather.db --older 720h --dry-run
  a2agen tasks deliveries --store postgres://db/agents --dead`
	cmd.AddCommand(tasksListCommand(), tasksShowCommand(), tasksTimelineCommand(), tasksPruneCommand(), tasksDeliveriesCommand(),
		tasksReplayCommand(), tasksCheckCommand(), tasksCopyCommand(), tasksMigrateCommand())
	return cmd
}

// whichFlags are the flags that select tasks.
type whichFlags struct {
	context, tenant, principal string
	states                     []string
}

func (w *whichFlags) add(cmd *cobra.Command) {
	w.addOwner(cmd)
	f := cmd.Flags()
	f.StringVar(&w.context, "context", "", "the `id` of a conversation: only tasks of that")
	f.StringSliceVar(&w.states, "state", nil,
		"only tasks in the `state`, such as working or input-required; may be given several times")
	someOf(cmd, "state", stateNames()...)
	anyWord(cmd, "context")
}

func (w *whichFlags) addOwner(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.principal, "principal", "", "for agents with several callers: only tasks of the one with this `name`")
	cmd.Flags().StringVar(&w.tenant, "tenant", "", "for agents with tenants: only tasks of this `tenant`")
	anyWord(cmd, "principal", "tenant")
	rare(cmd, "principal", "tenant")
}

func (w *whichFlags) which(cmd *cobra.Command) (which admin.Which, err error) {
	which.Context = w.context
	if cmd.Flags().Changed("principal") {
		which.Principal = &w.principal
	}
	if cmd.Flags().Changed("tenant") {
		which.Tenant = &w.tenant
	}
	all := stateNames()
	for _, name := range w.states {
		n := runtime.State(0)
		for i, known := range all {
			if name == known {
				n = runtime.State(i + 1) //nolint:gosec // there are few
			}
		}
		if n == 0 {
			return which, fmt.Errorf("--state %q: there are %s", name, strings.Join(all, ", "))
		}
		which.States = append(which.States, n)
	}
	return which, nil
}

// stateNames are the states that a task may have, in the order of their numbers.
func stateNames() (names []string) {
	for s := runtime.StateSubmitted; s <= runtime.StateAuthRequired; s++ {
		names = append(names, s.String())
	}
	return names
}

func tasksListCommand() *cobra.Command {
	var flags whichFlags
	limit := 50
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List tasks, the most recent status first",
		Long: `list prints a line for each task: its id, state and skill, the time of that state, the number of its events, and its owner. A number
in brackets counts its messages without an answer.`,
		Example: `  a2agen tasks list --store weather.db
  a2agen tasks list --store weather.db --state failed --limit 0 --output json`,
		Args: none,
	}
	flags.add(cmd)
	cmd.Flags().IntVar(&limit, "limit", limit, "the largest `number` of tasks to list; 0: all")
	return onStore(cmd, func(cmd *cobra.Command, s admin.Store, _ []string, asJSON bool) error {
		if limit < 0 {
			return fmt.Errorf("--limit %d: write 0 for all, or how many at most", limit)
		}
		which, err := flags.which(cmd)
		if err != nil {
			return err
		}
		which.Limit = limit
		rows, err := s.Tasks(cmd.Context(), which)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, orEmpty(rows))
		}
		table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		for _, r := range rows {
			printTask(table, r)
		}
		if err := table.Flush(); err != nil || limit == 0 || len(rows) < limit {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "there may be more: --limit 0 lists all\n")
		return nil
	})
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func printTask(w io.Writer, r admin.TaskRow) {
	state := r.State
	if r.Open > 0 {
		state += " [" + strconv.FormatInt(r.Open, 10) + "]"
	}
	owner := r.Principal
	if r.Tenant != "" {
		owner = r.Tenant + "/" + owner
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d events\t%s\n", plain(r.ID), state, plain(r.Skill), r.At.Format(time.RFC3339),
		r.Version, plain(owner))
}

// plain returns foreign text without characters that control a terminal.
func plain(s string) string {
	return strings.Trim(strconv.Quote(s), `"`)
}

// longestDoc is how much of an event is printed, in characters.
const longestDoc = 400

// cut shortens JSON, which has no control characters.
func cut(s string) string {
	if r := []rune(s); len(r) > longestDoc {
		return string(r[:longestDoc]) + "…"
	}
	return s
}

func tasksPruneCommand() *cobra.Command {
	var flags whichFlags
	var older time.Duration
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete tasks that have not changed for some time",
		Long: `prune deletes tasks that ended, or began to wait for their client, longer ago than --older, with their logs. It keeps running tasks and
those with unsent notifications. A running agent does so 7 days after the end, or after 90 days of waiting. To make a file smaller,
run "VACUUM" in the sqlite3 program while no agent runs.`,
		Example: `  a2agen tasks prune --store weather.db --older 720h --dry-run
  a2agen tasks prune --store weather.db --older 24h --state failed --state canceled`,
		Args: none,
	}
	flags.add(cmd)
	cmd.Flags().DurationVar(&older, "older", 0, "the shortest `time` without a change, such as 24h")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "say what would be done, and change nothing")
	return onStore(cmd, func(cmd *cobra.Command, s admin.Store, _ []string, asJSON bool) error {
		switch {
		case !cmd.Flags().Changed("older"):
			return errors.New("--older is missing: say for how long the tasks must not have changed, such as --older 720h; --older 0s is all that do not run")
		case older < 0:
			return fmt.Errorf("--older %s: write how long the tasks have rested at least, such as 720h", older)
		}
		which, err := flags.which(cmd)
		if err != nil {
			return err
		}
		n, err := s.Prune(cmd.Context(), which, older, dry)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, map[string]int{"tasks": n})
		}
		did := "deleted"
		if dry {
			did = "would be deleted"
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", count(n, "task"), did)
		return nil
	})
}

// count returns a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

func tasksDeliveriesCommand() *cobra.Command {
	var dead bool
	cmd := &cobra.Command{
		Use:   "deliveries",
		Short: "List push notifications that are not sent yet, or were given up",
		Long: `deliveries prints a line for each push notification configuration with unsent events: their number, the failed attempts and their
first time, and the error if they were given up. "a2agen tasks replay" sends those again.`,
		Example: `  a2agen tasks deliveries --store weather.db
  a2agen tasks deliveries --store weather.db --dead --output json`,
		Args: none,
	}
	cmd.Flags().BoolVar(&dead, "dead", false, "only those that were given up")
	return onStore(cmd, func(cmd *cobra.Command, s admin.Store, _ []string, asJSON bool) error {
		rows, err := s.Deliveries(cmd.Context(), dead)
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, orEmpty(rows))
		}
		for _, d := range rows {
			printPush(cmd.OutOrStdout(), d)
		}
		return nil
	})
}

func printPush(out io.Writer, d admin.PushRow) {
	state := "has all"
	switch {
	case d.Dead != "":
		state = fmt.Sprintf("was given up at event %d, %s not sent: %s", d.Next, count(int(d.Behind), "event"), plain(d.Dead))
	case d.Behind > 0:
		state = fmt.Sprintf("waits for event %d, %s to be sent", d.Next, count(int(d.Behind), "event"))
	}
	fmt.Fprintf(out, "task %s, configuration %s, %s: %s", plain(d.Task), plain(d.ID), plain(d.URL), state)
	if d.Failed > 0 && d.Since != nil {
		fmt.Fprintf(out, "; %s failed since %s", count(int(d.Failed), "attempt"), d.Since.Format(time.RFC3339))
	}
	fmt.Fprintln(out)
}

func tasksReplayCommand() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "replay [TASK [CONFIGURATION]]",
		Short: "Send push notifications again that were given up",
		Long: `replay sends notifications that were given up: those of a task, of one of its configurations, or --all. Delivery continues in order with
the event that failed. A running agent begins within seconds, a stopped one when it starts.`,
		Example: `  a2agen tasks replay 0f8c1d2e --store weather.db
  a2agen tasks replay --all --store weather.db`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 2:
				return fmt.Errorf("%d arguments, want at most a task and a configuration", len(args))
			case all && len(args) > 0:
				return fmt.Errorf("--all and the task %q: give one of them", args[0])
			case !all && len(args) == 0:
				return errors.New("name a task, or give --all")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&all, "all", false, "all notifications that were given up")
	return onStore(cmd, func(cmd *cobra.Command, s admin.Store, args []string, asJSON bool) error {
		args = append(args, "", "")
		n, err := s.Replay(cmd.Context(), args[0], args[1])
		if err != nil {
			return err
		}
		if asJSON {
			return printJSON(cmd, map[string]int{"configurations": n})
		}
		if n == 0 {
			return errors.New(`nothing of that was given up ("a2agen tasks deliveries --dead" lists what was)`)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s to be sent to again\n", count(n, "configuration"))
		return nil
	})
}
