package main

import "github.com/spf13/cobra"

func importCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Make skills of what others publish: operations of HTTP APIs, tools of MCP servers",
		Long:  `import adds skills with contracts and handlers to the agent in the folder, made of what somebody else publishes.`,
		Args:  none,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(importOpenAPICommand(), importMCPCommand())
	return cmd
}
