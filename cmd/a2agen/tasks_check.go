package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/runtime/store/admin"
)

func tasksCheckCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "check [STORE]",
		Short: "Verify the store of tasks",
		Long: `check reads the whole store, prints a line for each mistake, and exits with 1 if there is one: damaged pages of a file, events
that are missing in a task's log or belong to no task, missing messages of running tasks, and totals of callers that differ from their
tasks. It changes nothing, and the agent may run. It cannot see losses at the end of a -wal file. For damaged pages of PostgreSQL
use its extension amcheck.`,
		Example: `  a2agen tasks check
  a2agen tasks check weather.db
  a2agen tasks check backup/weather.db --output json
  a2agen tasks check postgres://db/agents`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return fmt.Errorf("%d arguments, want at most a store", len(args))
			case len(args) == 1 && cmd.Flags().Changed("store"):
				return errors.New("the store is named twice: as argument and with --store")
			case len(args) == 1:
				return cmd.Flags().Set("store", args[0])
			}
			return nil
		},
	}
	return onStore(cmd, func(cmd *cobra.Command, s admin.Store, _ []string, asJSON bool) error {
		tasks, wrong, err := s.Check(cmd.Context())
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
