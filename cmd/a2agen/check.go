package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/project"
)

func checkCommand() *cobra.Command {
	var o project.Options
	var stubs, unbuilt bool
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Report whether generated files are up to date",
		Long: `check generates in memory, compares the result with the project and writes nothing. It names the causes (inputs changed, tool
changed, protocol changed, an interrupted run) and then each file: missing, outdated and why, hand-edited, or stale, which is
no longer generated. Then it compiles the project and its tests, as they would be after a generate, and names each line that does
not compile, each handler whose signature does not fit its skill, and each handler without a skill. It exits with 1 if
there is any drift or anything does not compile: put it in CI. The network is not used: where modules are not in the module
cache it says so and compiles nothing. --no-build leaves the compiler out. With --handlers it also lists the handlers that are still the stubs that a2agen wrote, and exits with 1 when there
are any.`,
		Example: `  a2agen check
  a2agen check --handlers               # is every handler written?
  a2agen check -C agents/weather --format json`,
		Args: none,
	}
	dirFlag(cmd, &o.Dir)
	cmd.Flags().BoolVar(&stubs, "handlers", false, "also fail on handlers that are still stubs")
	cmd.Flags().BoolVar(&unbuilt, "no-build", false, "do not compile: compare files and read handlers only")
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := format.check(); err != nil {
			return err
		}
		o.Tool = project.ThisTool()
		defer announce(cmd, "checking")()
		o.Build = !unbuilt
		r, err := project.Check(cmd.Context(), o)
		if !stubs {
			r.Handlers = withoutStubs(r.Handlers)
		}
		if *format == formatJSON {
			r.Diagnostics.Sort()
			r.Drift, r.Handlers, r.Diagnostics = list(r.Drift), list(r.Handlers), list(r.Diagnostics)
			return cmp.Or(err, printJSON(cmd, r), failed(r, stubs))
		}
		if e := printDiagnostics(cmd.ErrOrStderr(), r.Diagnostics); e != nil || err != nil {
			return cmp.Or(e, err)
		}
		if r.NotBuilt != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "not compiled, so whether it builds is not known: %s\n", r.NotBuilt)
		}
		for _, d := range r.Drift {
			fmt.Fprintln(cmd.OutOrStdout(), d)
		}
		for _, h := range r.Handlers {
			fmt.Fprintln(cmd.OutOrStdout(), h)
		}
		return failed(r, stubs)
	}
	return cmd
}

// withoutStubs removes the findings about stubs.
func withoutStubs(fs []scaffold.Finding) []scaffold.Finding {
	return slices.DeleteFunc(fs, func(f scaffold.Finding) bool { return f.Code == scaffold.Unwritten })
}

// failed returns the error of a project with drift, or with handlers that do not fit.
func failed(r project.CheckReport, stubs bool) error {
	bad := func(f scaffold.Finding) bool { return f.Breaks() || stubs && f.Code == scaffold.Unwritten }
	if len(r.Drift) > 0 || slices.ContainsFunc(r.Handlers, bad) {
		return errInvalid
	}
	return nil
}
