package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/runtime/server"
)

func inspectCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "inspect",
		Short: "Print what code is generated from, and what happened to a task",
		Example: `  a2agen inspect ir | jq '.agent.skills[].go'   # what the handlers are called
  a2agen inspect wires                         # what older versions of the protocol lose
  a2agen inspect bindings                      # where each version is served, and over which binding
  a2agen inspect card                          # the card that the agent publishes
  a2agen inspect task weather.db 0f8c1d2e      # a task's events on an axis of time`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		inspector("ir", "Print the model that code is emitted from: types, wires, skills", func(out generator.Output) (any, error) {
			return out.Model, nil
		}),
		inspector("card", "Print the agent card as the agent publishes it", func(out generator.Output) (any, error) {
			if out.Model.Agent == nil {
				return nil, errNoCard
			}
			if out.Model.Agent.RequirementLists {
				return server.RequirementLists([]byte(out.Model.Agent.Card)), nil
			}
			return out.Model.Agent.Card, nil
		}),
		inspectBindingsCommand(),
		inspectWiresCommand(),
		inspectTaskCommand(),
	)
	return cmd
}

// inspector is a command that prints one part of what is generated in memory, as JSON.
func inspector(name, short string, part func(generator.Output) (any, error)) *cobra.Command {
	return inspecting(name, short, func(cmd *cobra.Command, out generator.Output) error {
		v, err := part(out)
		if err != nil {
			return err
		}
		return printJSON(cmd, v)
	})
}

// inspectBindingsCommand prints the interfaces of the agent, one on each line.
func inspectBindingsCommand() *cobra.Command {
	return inspecting("bindings", "Print which version is served where, and over what", func(cmd *cobra.Command, out generator.Output) error {
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
	})
}

var errNoCard = errors.New("the project has no agent card")

// inspecting is a command that generates in memory and prints something of the result.
func inspecting(name, short string, do func(*cobra.Command, generator.Output) error) *cobra.Command {
	var o project.Options
	cmd := &cobra.Command{
		Use:     name,
		Short:   short,
		Example: "  a2agen inspect " + name + " -C agents/weather",
		Args:    none,
		RunE: func(cmd *cobra.Command, _ []string) error {
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
		},
	}
	dirFlag(cmd, &o.Dir)
	return cmd
}

func printJSON(cmd *cobra.Command, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := b.WriteTo(cmd.OutOrStdout())
	return err
}
