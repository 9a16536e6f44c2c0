package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/runtime/store/postgres"
	"github.com/a2agen/a2agen/runtime/store/spread"
)

func tasksMoveCommand() *cobra.Command {
	var to, address string
	var all bool
	drain := 30 * time.Second
	cmd := &cobra.Command{
		Use:   "move [CALLER]",
		Short: "Move callers between the databases of an agent that has several",
		Long: `move moves all that a caller has from one PostgreSQL database of an agent to another, while the agent runs. A2A_STORE, or --store, lists the
databases as the agent has them: addresses with white space between them. A database's name is a2a_name in its address, else host:port/database.

First the caller's handlers at work may end, for as long as --drain says; new messages are refused meanwhile, with 503. Then nothing is written, the
tasks are copied and compared, and every replica finds the caller at its new place with its next call. A move that was interrupted is finished, or taken
back, by another one. Calls that were still running begin again in the new place, as after a crash.

--all has the databases know that these are all there are, and moves each caller to where hashing finds it: run it after a database was added
to A2A_STORE everywhere.`,
		Example: `  a2agen tasks move ada --to db2 --store "postgres://db1/agents?a2a_name=db1 postgres://db2/agents?a2a_name=db2"
  a2agen tasks move --all`,
		Args: func(_ *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return fmt.Errorf("%d arguments, want at most a caller", len(args))
			case all && (len(args) > 0 || to != ""):
				return errors.New("--all moves everybody to where hashing finds them: give neither a caller nor --to")
			case !all && (len(args) == 0 || to == ""):
				return errors.New(`name a caller ("" for those without a name) and a database with --to, or give --all`)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "the `name` of the database to move to")
	cmd.Flags().BoolVar(&all, "all", false, "everybody who is not where hashing finds them")
	cmd.Flags().DurationVar(&drain, "drain", drain, "how long handlers at work may take to end")
	cmd.Flags().StringVar(&address, "store", "", "the `databases`; default: what A2A_STORE names")
	anyWord(cmd, "to")
	cmd.RunE = func(cmd *cobra.Command, args []string) (err error) {
		if drain < 0 {
			return fmt.Errorf("--drain %s: write how long handlers may take, such as 30s", drain)
		}
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		defer func() {
			if err != nil && ctx.Err() != nil {
				err = errors.New("interrupted: a caller whose move was under way is refused until the same command ends it, " +
					"or one with --to and the database where it was")
			}
		}()
		places, err := postgres.OpenPlaces(ctx, cmp.Or(address, os.Getenv(server.EnvStore)))
		if err != nil {
			return err
		}
		moved := false
		m := &spread.Mover{Drain: drain, Told: func(done spread.Moved) {
			moved = true
			fmt.Fprintf(cmd.OutOrStdout(), "%s moved from %s to %s: %s\n", caller(done.Principal, ""),
				done.From, done.To, count(int(done.Sum.Tasks), "task"))
		}}
		for _, p := range places {
			defer func() { _ = p.Close() }()
			m.Places = append(m.Places, p)
		}
		if !all {
			err := m.Move(ctx, args[0], to)
			if err == nil && !moved {
				fmt.Fprintf(cmd.OutOrStdout(), "%s is in %s\n", caller(args[0], ""), to)
			}
			return err
		}
		n, err := m.MoveAll(ctx)
		if err == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "%s moved\n", count(n, "caller"))
		}
		return err
	}
	return cmd
}
