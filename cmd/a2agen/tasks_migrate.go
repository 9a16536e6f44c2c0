package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func tasksMigrateCommand() *cobra.Command {
	var plan bool
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the tables of a PostgreSQL store up to date",
		Long: `migrate makes the schema of an agent with "store: postgres", or brings it to the format of this program, each step in a transaction. An
agent does so itself when it starts, if its role has the rights: use migrate where it has not. It waits for other migrations. Agents may run
meanwhile: each step names the formats that can.

--dry-run changes nothing, and prints the SQL that is left to do.`,
		Example: `  a2agen tasks migrate --dry-run --store postgres://owner@db/agents
  a2agen tasks migrate --store "postgres://owner@db/agents?a2a_schema=weather"`,
		Args: none,
	}
	cmd.Flags().BoolVar(&plan, "dry-run", false, "say what would be done, and change nothing: print the SQL")
	renamed(cmd, "plan", "dry-run")
	return onAddress(cmd, func(cmd *cobra.Command, kind storeKind, address string, _ []string, asJSON bool) error {
		if kind.migrate == nil {
			return fmt.Errorf("%s is a file: its agent brings it up to date when it starts", address)
		}
		steps, err := kind.migrate(cmd.Context(), address, plan)
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		if asJSON {
			return printJSON(cmd, orEmpty(steps))
		}
		if len(steps) == 0 {
			fmt.Fprintln(out, "the schema is up to date")
		}
		for _, s := range steps {
			if plan {
				fmt.Fprintf(out, "-- Format %d: %s. Programs that know format %d may go on beside it.\n%s\n", s.Format, s.What, s.Least, s.SQL)
			} else {
				fmt.Fprintf(out, "format %d: %s\n", s.Format, s.What)
			}
		}
		return nil
	})
}
