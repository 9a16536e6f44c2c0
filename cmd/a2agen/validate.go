package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
)

func validateCommand() *cobra.Command {
	var o project.Options
	cmd := &cobra.Command{
		Use:   "validate",
		Short: "Report everything that is wrong with agent.yaml and a2agen.yaml",
		Long: `validate does what generate does, but writes nothing: what it accepts can be generated. It reports all problems at once, as
file:line:col: message (hint), and for valid input the bindings in which each version is served. It exits with 1 if there is an
error; warnings alone exit with 0.`,
		Example: `  a2agen validate
  a2agen validate -C agents/weather --format json`,
		Args: none,
	}
	dirFlag(cmd, &o.Dir)
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := format.check(); err != nil {
			return err
		}
		o.Tool = project.ThisTool()
		out, list, err := project.Inspect(cmd.Context(), o)
		if err != nil {
			return err
		}
		list.Sort()
		switch {
		case *format == formatJSON:
			err = list.WriteJSON(cmd.OutOrStdout())
		case len(list) == 0:
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "a2agen: valid")
		default:
			err = list.WriteText(cmd.OutOrStdout())
		}
		switch {
		case err != nil:
			return err
		case list.HasErrors():
			return errInvalid
		case *format != formatJSON:
			for _, v := range project.Served(out) {
				fmt.Fprintf(cmd.OutOrStdout(), "A2A %s is served over %s\n", v.Version, v.Over())
			}
		}
		return nil
	}
	return cmd
}
