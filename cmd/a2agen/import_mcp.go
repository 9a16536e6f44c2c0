package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
)

func importMCPCommand() *cobra.Command {
	var o project.MCPOptions
	cmd := &cobra.Command{
		Use:   "mcp URL|FILE|-- COMMAND ARGUMENT...",
		Short: "Make skills from tools of an MCP server",
		Long: `mcp asks a server of the Model Context Protocol (MCP) for its tools and makes a skill of each that --tool names, or of all, at most 30. A tool's
schemas are the skill's contract, and the skill's handler calls the tool. The server is a URL; a command, which is started without a shell and
answers over stdin and stdout; or a file with an answer to tools/list.

The listing and the contracts are kept in mcp/, the skills are added to agent.yaml, and handlers and tests to the folder of skills: they are
yours. Credentials come from the environment: --env passes a variable to the command, which otherwise gets only PATH, HOME and the like,
and --header 'Authorization: Bearer ${TOKEN}' sends one. check --remote notices when the server's tools change; run mcp again, without
--tool, to take over changed ones.

A command runs other people's code on this machine. This command starts it, check --remote --start-commands does, and so does the agent.`,
		Example: `  a2agen import mcp https://mcp.example.com/mcp
  a2agen import mcp --header 'Authorization: Bearer ${GITHUB_TOKEN}' --tool get_issue https://mcp.example.com/mcp
  a2agen import mcp --tool read_file -- npx -y @modelcontextprotocol/server-filesystem /data
  a2agen import mcp --name github tools.json`,
		Args: func(cmd *cobra.Command, args []string) error {
			return o.Place(args, cmd.ArgsLenAtDash())
		},
	}
	dirFlag(cmd, &o.Dir)
	cmd.Flags().StringArrayVar(&o.Tools, "tool", nil, "the `name` of a tool; may be given several times")
	cmd.Flags().StringArrayVar(&o.Env, "env", nil, "a `variable` of the environment to pass to the command; may be given several times")
	cmd.Flags().StringArrayVarP(&o.Headers, "header", "H", nil, "send this `'Name: value'` with every request, as 'Name: ${VARIABLE}'; may be given several times")
	cmd.Flags().StringVar(&o.Name, "name", "", "the `name` of the server in this project; default: made from its own")
	privateFlag(cmd, &o.AllowPrivate, ", and http")
	cmd.Flags().BoolVar(&o.Force, "force", false, "overwrite generated files that were edited by hand")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and change nothing")
	anyWord(cmd, "tool", "env", "header", "name")
	rare(cmd, "dry-run", "force", "name")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.Tool = project.ThisTool()
		if len(o.Command) > 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "starting %s\n", strings.Join(o.Command, " "))
		}
		done := announce(cmd, "reading the listing")
		r, err := project.ImportMCP(cmd.Context(), o)
		done()
		if err := report(cmd, o.DryRun, r.Report, err); err != nil {
			return err
		}
		imported(cmd, r.Skills, r.Env)
		return nil
	}
	return cmd
}

// imported says which skills were added, and what they need.
func imported(cmd *cobra.Command, skills, env []string) {
	if len(skills) > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "skills: %s\n", strings.Join(skills, ", "))
	}
	if len(env) > 0 {
		fmt.Fprintf(cmd.OutOrStdout(), "set before they work: %s\n", strings.Join(env, ", "))
	}
}

// writeTools prints what has changed with the tools of MCP servers.
func writeTools(cmd *cobra.Command, list []project.RemoteTools) {
	for _, r := range list {
		switch {
		case r.Problem != "":
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: the tools of %s (%s) were not compared: %s\n", r.Server, r.At, r.Problem)
		case len(r.Changes) == 0:
			fmt.Fprintf(cmd.OutOrStdout(), "tools of %s (%s): no differences\n", r.Server, r.At)
		default:
			fmt.Fprintf(cmd.OutOrStdout(), "tools of %s (%s):\n", r.Server, r.At)
			for _, c := range r.Changes {
				fmt.Fprintf(cmd.OutOrStdout(), "  %s\n", c)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "  take them over by: %s\n", r.Again)
		}
	}
}

// toolsVerdict is the error of servers whose tools have changed.
func toolsVerdict(list []project.RemoteTools) error {
	for _, r := range list {
		if len(r.Changes) > 0 {
			return errInvalid
		}
	}
	return nil
}
