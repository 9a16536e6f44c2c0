package main

import (
	"cmp"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/generator/diag"
)

func checkCommand() *cobra.Command {
	var o generator.Options
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Report whether generated files are up to date",
		Long: `check generates in memory, compares the result with the project and writes nothing. It names the causes (inputs changed, tool
changed, protocol changed, an interrupted run) and then each file: missing, outdated and why, hand-edited, or stale, which is
no longer generated. It exits with 1 when there is any such drift: put it in CI.`,
		Example: `  a2agen check
  a2agen check -C agents/weather --format json`,
		Args: none,
	}
	dirFlag(cmd, &o.Dir)
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := format.check(); err != nil {
			return err
		}
		o.Tool = generator.ThisTool()
		defer announce(cmd, "checking")()
		drift, problems, err := generator.Check(cmd.Context(), o)
		if *format == formatJSON {
			problems.Sort()
			e := printJSON(cmd, struct {
				Drift       []generator.Drift `json:"drift"`
				Diagnostics diag.List         `json:"diagnostics"`
			}{list(drift), list(problems)})
			return cmp.Or(err, e, drifted(drift))
		}
		if e := printDiagnostics(cmd.ErrOrStderr(), problems); e != nil || err != nil {
			return cmp.Or(e, err)
		}
		for _, d := range drift {
			fmt.Fprintln(cmd.OutOrStdout(), d)
		}
		return drifted(drift)
	}
	return cmd
}

// drifted is the error of a project with any drift.
func drifted(drift []generator.Drift) error {
	if len(drift) > 0 {
		return errInvalid
	}
	return nil
}
