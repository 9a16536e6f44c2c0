package main

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/runtime/server"
)

// validateCommand is check --inputs as earlier versions had it.
func validateCommand() *cobra.Command {
	var o project.Options
	cmd := &cobra.Command{Use: "validate", Args: none}
	dirFlag(cmd, &o.Dir)
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return checkInputs(cmd, o, *format)
	}
	return cmd
}

// checkInputs reports what is wrong with the files that users write, all at once. What it accepts can be generated.
func checkInputs(cmd *cobra.Command, o project.Options, format formatName) error {
	o.Tool = project.ThisTool()
	out, list, err := project.Inspect(cmd.Context(), o)
	if err != nil {
		return err
	}
	list.Sort()
	switch {
	case format == formatJSON:
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
	case format != formatJSON:
		for _, v := range project.Served(out) {
			fmt.Fprintf(cmd.OutOrStdout(), "A2A %s is served over %s\n", v.Version, v.Over())
		}
	}
	return nil
}

// inspecting is a command that prints something of what is generated in memory.
func inspecting(name string, do func(*cobra.Command, generator.Output) error) *cobra.Command {
	var o project.Options
	cmd := &cobra.Command{
		Use:     name,
		Short:   "Print the agent card as the agent publishes it",
		Example: "  a2agen card show -C agents/weather",
		Args:    none,
		RunE:    func(cmd *cobra.Command, _ []string) error { return inspect(cmd, o, do) },
	}
	dirFlag(cmd, &o.Dir)
	return cmd
}

// inspect generates in memory and prints something of the result.
func inspect(cmd *cobra.Command, o project.Options, do func(*cobra.Command, generator.Output) error) error {
	o.Tool = project.ThisTool()
	out, list, err := project.Inspect(cmd.Context(), o)
	if err != nil {
		return err
	}
	if e := printDiagnostics(cmd.ErrOrStderr(), list); e != nil {
		return e
	}
	if list.HasErrors() {
		return &project.InvalidError{List: list}
	}
	return do(cmd, out)
}

// printModel prints what code is emitted from: types, wires, skills.
func printModel(cmd *cobra.Command, out generator.Output) error { return printJSON(cmd, out.Model) }

var errNoCard = errors.New("the project has no agent card")

// printCard prints the card as the agent publishes it.
func printCard(cmd *cobra.Command, out generator.Output) error {
	switch a := out.Model.Agent; {
	case a == nil:
		return errNoCard
	case a.RequirementLists:
		return printJSON(cmd, server.RequirementLists([]byte(a.Card)))
	default:
		return printJSON(cmd, a.Card)
	}
}

// printBindings prints the interfaces of the agent, one on each line.
func printBindings(cmd *cobra.Command, out generator.Output) error {
	if out.Model.Agent == nil {
		return errNoCard
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, v := range project.Served(out) {
		for _, i := range v.Interfaces {
			fmt.Fprintf(w, "%s\t%s\t%s\n", v.Version, i.Binding, i.URL)
		}
	}
	return w.Flush()
}
