package main

import "github.com/spf13/cobra"

func importCommand() *cobra.Command {
	cmd := group("import", "Make skills of what others publish: operations of HTTP APIs, tools of MCP servers")
	cmd.Long = `import adds skills with contracts and handlers to the agent in the folder, made of what somebody else publishes.`
	cmd.Example = `  a2agen import openapi petstore.yaml --operation getPetById
  a2agen import mcp https://mcp.example.com/mcp --tool get_issue`
	cmd.AddCommand(importOpenAPICommand(), importMCPCommand())
	return cmd
}
