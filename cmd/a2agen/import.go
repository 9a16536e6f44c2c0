package main

import "github.com/spf13/cobra"

func importCommand() *cobra.Command {
	cmd := group("import", "Make skills from operations of HTTP APIs and tools of MCP servers")
	cmd.Long = `import adds skills with contracts and handlers to the agent in the folder, made from somebody else's API or MCP server.`
	cmd.Example = `  a2agen import openapi petstore.yaml --operation getPetById
  a2agen import mcp https://mcp.example.com/mcp --tool get_issue`
	cmd.AddCommand(importOpenAPICommand(), importMCPCommand())
	return cmd
}
