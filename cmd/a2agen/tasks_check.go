package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/runtime/store/sqlite"
)

func tasksCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Check that the file of tasks is whole",
		Long: `check reads the whole file and says what is wrong with it, a line each, and exits 1: pages of the database that are damaged, events that
are missing in a task's log or belong to no task, messages that are to be worked off and are not there, and counts of what callers hold
that are not those of their tasks. It changes nothing, and an agent may run meanwhile. What was lost with the end of the -wal file leaves
no trace.`,
		Example: `  a2agen tasks check
  a2agen tasks check weather.db
  a2agen tasks check backup/weather.db --format json`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return fmt.Errorf("%d arguments, want at most a file", len(args))
			case len(args) == 1 && cmd.Flags().Changed("store"):
				return errors.New("the file is named twice: as argument and with --store")
			case len(args) == 1:
				return cmd.Flags().Set("store", args[0])
			}
			return nil
		},
	}
	return onStore(cmd, func(cmd *cobra.Command, f *sqlite.File, _ []string, asJSON bool) error {
		tasks, wrong, err := f.Check()
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		switch {
		case asJSON:
			err = printJSON(cmd, map[string][]string{"wrong": orEmpty(wrong)})
		case len(wrong) == 0:
			_, err = fmt.Fprintf(out, "%s, nothing is wrong\n", count(tasks, "task"))
		}
		if err != nil || len(wrong) == 0 {
			return err
		}
		if !asJSON {
			for _, w := range wrong {
				fmt.Fprintln(out, w)
			}
		}
		return errInvalid
	})
}
