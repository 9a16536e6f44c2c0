package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/a2awires"
	"github.com/a2agen/a2agen/internal/talk"
	"github.com/a2agen/a2agen/internal/timeline"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store/admin"
)

func tasksTimelineCommand() *cobra.Command {
	var o talk.Options
	var store, dir string
	cmd := &cobra.Command{
		Use:   "timeline ID",
		Short: "Print what happened to a task, on an axis of time",
		Long: `timeline prints the events of a task as bars on one axis: when each came, how long its state lasted, its size and what it says.

The store in which an agent keeps its tasks has every event, the messages that wait, and the push notifications that are behind, whether
the agent runs or not; that of "a2agen dev" is .a2agen/dev/tasks.db. With --agent the agent is asked instead. It returns what
callers may see: the task as it stands and, if the agent was made with a2agen, the events; those of a running task until it stops,
or Ctrl-C. Entries without a time are shown with the event before them.`,
		Example: `  a2agen tasks timeline 0f8c1d2e --store .a2agen/dev/tasks.db      # an agent that a2agen dev runs
  a2agen tasks timeline 0f8c1d2e
  a2agen tasks timeline 0f8c1d2e --agent http://127.0.0.1:8080
  A2A_TOKEN=… a2agen tasks timeline 0f8c1d2e --agent https://agent.example.com`,
		Args: exactly(1, "the id of a task"),
	}
	storeFlag(cmd, &store)
	dirFlag(cmd, &dir)
	cmd.Flags().StringVar(&o.Target, "agent", "", "ask the agent at this `URL`, and look at no store")
	anyWord(cmd, "agent")
	timelineFlags(cmd, &o)
	cmd.MarkFlagsMutuallyExclusive("agent", "store")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.Target != "" {
			o.Task = args[0]
			return inspectAt(cmd, o)
		}
		return inspectIn(cmd, store, dir, args[0])
	}
	return cmd
}

// inspectTaskCommand is the timeline as earlier versions had it.
func inspectTaskCommand() *cobra.Command {
	var o talk.Options
	cmd := &cobra.Command{Use: "task FILE|URL ID", Args: exactly(2, "the file of an agent's tasks, or the agent's URL, and the id of a task")}
	timelineFlags(cmd, &o)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if strings.HasPrefix(args[0], "http://") || strings.HasPrefix(args[0], "https://") {
			o.Target, o.Task = args[0], args[1]
			return inspectAt(cmd, o)
		}
		return inspectIn(cmd, args[0], ".", args[1])
	}
	return cmd
}

// timelineFlags adds the flags by which an agent is asked.
func timelineFlags(cmd *cobra.Command, o *talk.Options) {
	cmd.Flags().StringArrayVarP(&o.Headers, "header", "H", nil, "send this `'Name: value'` with every request; may be given several times")
	tokenFlag(cmd, &o.Token)
	anyWord(cmd, "header")
}

// inspectIn prints a task of a store.
func inspectIn(cmd *cobra.Command, address, dir, id string) error {
	kind, address, err := findStore(cmd.Context(), address, dir)
	if err != nil {
		return err
	}
	s, err := kind.open(cmd.Context(), address)
	if err != nil {
		return err
	}
	defer s.Close()
	found, err := s.Tasks(cmd.Context(), admin.Which{ID: id})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("there is no task %q in %s (a2agen tasks list lists them)", id, address)
	}
	for _, row := range found {
		p, err := s.Task(cmd.Context(), row)
		if err != nil {
			return err
		}
		if err := printTimeline(cmd, p); err != nil {
			return err
		}
	}
	return nil
}

// printTimeline prints a task as its store has it.
func printTimeline(cmd *cobra.Command, p admin.TaskPage) error {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "task %s: %s, %s, %s\n", plain(p.ID), cmp.Or(plain(p.Skill), "no skill yet"), p.State, count(int(p.Version), "event"))
	var rows []timeline.Row
	state := ""
	for _, e := range p.Events {
		at, words := told(e)
		row := timeline.Row{Seq: e.Seq, At: at, Bytes: len(e.Event) + len(e.Messages), Words: words}
		if e.State != state {
			row.State, state = e.State, e.State
		}
		rows = append(rows, row)
	}
	if p.Oldest > 0 {
		fmt.Fprintf(out, "events up to %d are no longer kept\n", p.Oldest)
	}
	if err := timeline.Write(out, rows, stillAt(p.State)); err != nil {
		return err
	}
	for _, c := range p.Calls {
		fmt.Fprintf(out, "message %d is not worked off, attempt %d\n", c.N, c.Attempt)
	}
	for _, d := range p.Pushes {
		printPush(out, d)
	}
	return nil
}

// stillAt is until when a state lasts: now, unless it is one that a task ends in.
func stillAt(state string) time.Time {
	for s := runtime.StateUnspecified; s <= runtime.StateAuthRequired; s++ {
		if s.Terminal() && s.String() == state {
			return time.Time{}
		}
	}
	return time.Now()
}

// inspectAt prints a task as its agent tells it.
func inspectAt(cmd *cobra.Command, o talk.Options) error {
	o.Token = cmp.Or(o.Token, token(o.Headers))
	o.In, o.Out, o.Err = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	o.Again = sameCall(o)
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	var task *a2awires.Task
	var rows []timeline.Row
	err := talk.Inspect(ctx, o, func(t *a2awires.Task) { task = t }, func(e any) { rows = append(rows, rowOf(e)) })
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "task %s: %s\n", plain(task.ID), stateOf(task.Status))
	if len(task.History) > 0 && len(rows) > 0 {
		first := timeline.Row{Words: said(task.History[0])}
		rows = append([]timeline.Row{first}, rows...)
	}
	if len(rows) == 0 {
		rows = standing(task)
	}
	last := ""
	for i, r := range rows {
		if r.State == last {
			rows[i].State = ""
		} else if r.State != "" {
			last = r.State
		}
	}
	return timeline.Write(o.Out, rows, stillAt(last))
}

// standing are the rows of a task of which nothing is told but how it stands.
func standing(t *a2awires.Task) (rows []timeline.Row) {
	for _, m := range t.History {
		rows = append(rows, timeline.Row{Words: said(m)})
	}
	for _, a := range t.Artifacts {
		rows = append(rows, timeline.Row{Words: made(a)})
	}
	at, words := status(t.Status)
	return append(rows, timeline.Row{At: at, State: stateOf(t.Status), Words: words})
}

// rowOf is an event that an agent told.
func rowOf(e any) timeline.Row {
	at, words := sayings(e)
	row := timeline.Row{At: at, Words: cut(words)}
	if b, err := json.Marshal(e); err == nil {
		row.Bytes = len(b)
	}
	switch e := e.(type) {
	case *a2awires.Task:
		row.State = stateOf(e.Status)
	case *a2awires.TaskStatusUpdateEvent:
		row.State = stateOf(e.Status)
	}
	return row
}

func stateOf(s *a2awires.TaskStatus) string {
	if s == nil {
		return "no status"
	}
	return plain(strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(string(s.State), "TASK_STATE_"), "_", "-")))
}
