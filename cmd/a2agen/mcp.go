package main

import (
	"cmp"
	"fmt"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/bridge"
	"github.com/a2agen/a2agen/internal/talk"
)

func mcpCommand() *cobra.Command {
	var o bridge.Options
	cmd := &cobra.Command{
		Use:   "mcp URL|DIR",
		Short: "Offer the skills of any agent to an MCP host, over stdin and stdout",
		Long: `mcp is a server of the Model Context Protocol for hosts that start a command. Each skill on the agent's card is a tool, with the schemas
that the card has for it, or else with one text. The agent may be of any version of A2A, and written in any language; "." is the agent of this
project, which must be running, as for "a2agen call".

The agent's messages before its result are progress. The host asks its user the agent's questions, if it can; a call that the
host cancels is canceled at the agent; an error is a result, so that the model reads the reason. docs/models-and-tools.md lists the limits of MCP.

Credentials are those of "a2agen call": A2A_TOKEN or --header; else A2A_CLIENT_<SCHEME> for the schemes of the card; else
"a2agen login". All tools are called with them. A host passes variables on if its settings name them.

A URL is called only at a public address, without a proxy and not over gRPC, unless --allow-private-network is given.

Nothing but MCP goes to stdout; notes go to stderr. The command ends when the host closes stdin; running tasks go on.
Exit codes: 0 the host closed stdin; 1 the agent rejects the credentials; 2 the agent cannot be reached or understood, or the host does not speak MCP.`,
		Example: `  a2agen mcp https://agent.example.com     # what a host starts
  a2agen mcp .                             # the agent of this project
  a2agen mcp http://127.0.0.1:9000 --allow-private-network
  claude mcp add weather -- a2agen mcp https://weather.example.com

In the settings of a host:
  {"mcpServers": {"weather": {
    "command": "a2agen", "args": ["mcp", "https://weather.example.com"], "env": {"A2A_TOKEN": "…"}
  }}}

By hand, with the Inspector:
  npx @modelcontextprotocol/inspector --cli a2agen mcp . --method tools/list`,
		Args:              exactly(1, "the URL of an agent, or a project's folder"),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Target, o.Token = args[0], cmp.Or(o.Token, token(o.Headers))
			o.Again = sameCall(talk.Options{Target: o.Target, Token: o.Token, Headers: o.Headers})
			o.In, o.Out, o.Err = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			if isTerminal(o.In) {
				fmt.Fprintln(o.Err, "a2agen: this command is for an MCP host, which starts it and talks to it over stdin; Ctrl-D ends it")
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return bridge.Serve(ctx, o)
		},
	}
	f := cmd.Flags()
	privateFlag(cmd, &o.AllowPrivate, "")
	f.StringArrayVarP(&o.Headers, "header", "H", nil, "send this `'Name: value'` with every request; may be given several times")
	tokenFlag(cmd, &o.Token)
	anyWord(cmd, "header")
	return cmd
}
