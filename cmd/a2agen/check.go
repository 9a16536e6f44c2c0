package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/runtime/server"
)

func checkCommand() *cobra.Command {
	var o project.Options
	var stubs, unbuilt, remote, private, start, inputs bool
	var part string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check a project: its inputs, outdated files, code that does not compile",
		Long: `check reports mistakes and changes nothing. It exits with 1 if there are any: put it in CI. It names mistakes in agent.yaml and a2agen.yaml, as
file:line:col: message (hint), and generated files that are missing, outdated, edited by hand or no longer generated, after the cause. It also compiles
the project as it would be after generate, and names each line that does not compile, each handler that does not fit its skill, and each handler
without a skill. It does not use the network: without the modules in the module cache it says so and compiles nothing.

--inputs checks agent.yaml and a2agen.yaml alone, and prints the bindings in which each version is served; warnings exit with 0.

--remote also fetches the cards of the agents that the project has clients for, and that of its own agent if its address is known (A2A_PUBLIC_URL, or
supportedInterfaces of agent.yaml). It says which changes are breaking, unknown, compatible or cosmetic for callers, and what to do. It exits with 1
for a breaking change, else with 2 if something could not be compared. It asks MCP servers whether imported tools have changed, but starts those that
are commands only with --start-commands: they run other people's code.`,
		Example: `  a2agen check
  a2agen check --inputs                 # agent.yaml and a2agen.yaml alone
  a2agen check --explain model | jq '.agent.skills[].go'   # what the handlers are called
  a2agen check --handlers               # is every handler written?
  a2agen check -C agents/weather --output json
  a2agen check --remote                 # have the agents that it calls changed?`,
		Args: none,
	}
	dirFlag(cmd, &o.Dir)
	cmd.Flags().BoolVar(&inputs, "inputs", false, "check agent.yaml and a2agen.yaml alone")
	cmd.Flags().StringVar(&part, "explain", "", "for other programs: only print a `part` of what code is generated from, model (JSON) or bindings")
	oneOf(cmd, "explain", "model", "bindings")
	cmd.Flags().BoolVar(&stubs, "handlers", false, "also fail on handlers that are still stubs")
	cmd.Flags().BoolVar(&unbuilt, "no-build", false, "for machines that cannot compile: compare files and read handlers only")
	cmd.Flags().BoolVar(&remote, "remote", false, "also compare with the cards that agents publish now")
	privateFlag(cmd, &private, "; with --remote")
	cmd.Flags().BoolVar(&start, "start-commands", false, "for MCP servers that are commands: start them, to ask for their tools; with --remote")
	rare(cmd, "explain", "no-build", "start-commands")
	format := formatFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("inputs", "explain", "handlers")
	cmd.MarkFlagsMutuallyExclusive("inputs", "explain", "remote")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case inputs:
			return checkInputs(cmd, o, *format)
		case part == "model":
			return inspect(cmd, o, printModel)
		case part == "bindings":
			return inspect(cmd, o, printBindings)
		case part != "":
			return fmt.Errorf("--explain %q: write model or bindings", part)
		}
		o.Tool = project.ThisTool()
		defer announce(cmd, "checking")()
		o.Build = !unbuilt
		r, err := project.Check(cmd.Context(), o)
		if !stubs {
			r.Handlers = withoutStubs(r.Handlers)
		}
		if remote && err == nil {
			at := project.RemoteOptions{Options: o, AllowPrivate: private, Catalog: theCatalog(""), Deployed: os.Getenv(server.EnvURL)}
			if r.Remote, err = project.CheckRemote(cmd.Context(), at); err == nil {
				r.Tools, err = project.CheckTools(cmd.Context(), at, start)
			}
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
		if remote && len(r.Remote)+len(r.Tools) == 0 {
			fmt.Fprintln(cmd.ErrOrStderr(), "no client has a url, and it is not known where the agent runs: there is no card to compare with")
		}
		if err := writeRemote(cmd, r.Remote); err != nil {
			return err
		}
		writeTools(cmd, r.Tools)
		return failed(r, stubs)
	}
	return cmd
}

// withoutStubs removes the findings about stubs.
func withoutStubs(fs []scaffold.Finding) []scaffold.Finding {
	return slices.DeleteFunc(fs, func(f scaffold.Finding) bool { return f.Code == scaffold.Unwritten })
}

// failed returns the error of a project with drift, with handlers that do not fit, or with agents elsewhere that changed.
func failed(r project.CheckReport, stubs bool) error {
	bad := func(f scaffold.Finding) bool { return f.Breaks() || stubs && f.Code == scaffold.Unwritten }
	if len(r.Drift) > 0 || slices.ContainsFunc(r.Handlers, bad) {
		return errInvalid
	}
	return cmp.Or(toolsVerdict(r.Tools), remoteVerdict(r.Remote))
}
