package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
)

func schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [agent|config]",
		Short: "Print the JSON Schema of agent.yaml or a2agen.yaml",
		Long: `schema prints the JSON Schema of agent.yaml, or with "config" that of a2agen.yaml. A project has both in .a2agen/, where the
first lines of the YAML files point editors to.`,
		Example: `  a2agen schema > agent.schema.json
  a2agen schema config`,
		ValidArgs: []string{"agent", "config"},
		RunE: func(cmd *cobra.Command, args []string) error {
			text := card.JSONSchema()
			switch {
			case len(args) == 0 || len(args) == 1 && args[0] == "agent":
			case len(args) == 1 && args[0] == "config":
				text = config.JSONSchema()
			default:
				return fmt.Errorf("%q: write agent or config (see %s --help)", args, cmd.CommandPath())
			}
			_, err := cmd.OutOrStdout().Write(text)
			return err
		},
	}
}
