package main

import (
	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
)

func importOpenAPICommand() *cobra.Command {
	var o project.OpenAPIOptions
	cmd := &cobra.Command{
		Use:   "openapi FILE|URL --operation ID...",
		Short: "Make skills from operations of an HTTP API",
		Long: `openapi reads a document of OpenAPI 3.0 or 3.1 and makes a skill of each operation that you name: parameters and body are its input, the
answer of the API is its output, and a handler calls it. Operations are named by their operationId, or as "GET /pets/{id}"; --tag takes all with a
tag. At most 30 are taken.

The document and the contracts are kept in apis/, the skills are added to agent.yaml, and handlers and tests to the folder of skills: they are
yours. Credentials come from the environment; the command prints the variables to set. check notices when the document
changes; run openapi again, without --operation, to take over a changed one.`,
		Example: `  a2agen import openapi petstore.yaml --operation getPetById --operation findPetsByStatus
  a2agen import openapi https://api.example.com/openapi.json --tag orders
  a2agen import openapi petstore.yaml --operation "GET /pet/{petId}" --name petstore`,
		Args: exactly(1, "a file with an OpenAPI document, or its URL"),
	}
	dirFlag(cmd, &o.Dir)
	cmd.Flags().StringArrayVar(&o.Operations, "operation", nil, "the `id` of an operation, or its method and path; may be given several times")
	cmd.Flags().StringArrayVar(&o.Tags, "tag", nil, "a `tag`: import all operations that have it; may be given several times")
	cmd.Flags().StringVar(&o.Name, "name", "", "the `name` of the API in this project; default: made from the document's title")
	privateFlag(cmd, &o.AllowPrivate, ", and http")
	cmd.Flags().BoolVar(&o.Force, "force", false, "overwrite generated files that were edited by hand")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and change nothing")
	anyWord(cmd, "operation", "tag", "name")
	rare(cmd, "dry-run", "force", "name")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Tool, o.Target = project.ThisTool(), args[0]
		done := announce(cmd, "reading the document")
		r, err := project.ImportOpenAPI(cmd.Context(), o)
		done()
		if err := report(cmd, o.DryRun, r.Report, err); err != nil {
			return err
		}
		imported(cmd, r.Skills, r.Env)
		return nil
	}
	return cmd
}
