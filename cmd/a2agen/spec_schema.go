package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
)

// specSchemaCommand prints the schemas of the files that users write.
func specSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema [agent.yaml|a2agen.yaml]",
		Short: "Print the JSON Schema of agent.yaml or a2agen.yaml",
		Long: `schema prints the JSON Schema of agent.yaml, or that of a2agen.yaml. A project has both in .a2agen/, where the
first lines of the YAML files point editors to.`,
		Example: `  a2agen spec schema > agent.schema.json
  a2agen spec schema a2agen.yaml`,
		ValidArgs: []string{"agent.yaml", "a2agen.yaml"},
		RunE: func(cmd *cobra.Command, args []string) error {
			text := card.JSONSchema()
			switch strings.Join(args, " ") {
			case "", "agent.yaml", "agent":
			case "a2agen.yaml", "config":
				text = config.JSONSchema()
			default:
				return fmt.Errorf("%q: write agent.yaml or a2agen.yaml (see %s --help)", args, cmd.CommandPath())
			}
			_, err := cmd.OutOrStdout().Write(text)
			return err
		},
	}
}
