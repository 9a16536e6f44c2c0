package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
)

func cardCommand() *cobra.Command {
	cmd := group("card", "Show, check, compare, sign and verify agent cards; keep them in a catalog")
	cmd.Long = `card works on the card of a project, and on cards that were published.`
	cmd.Example = `  a2agen card show                                    # as this project's agent publishes it
  a2agen card lint https://agent.example.com
  a2agen card diff https://agent.example.com .        # what would a deployment break?`
	cmd.AddCommand(inspecting("show", printCard), cardLintCommand(), cardDiffCommand(), cardKeygenCommand(), cardSignCommand(), cardVerifyCommand(), catalogCommand())
	return cmd
}

func cardLintCommand() *cobra.Command {
	var o project.LintOptions
	cmd := &cobra.Command{
		Use:   "lint [FILE|URL]",
		Short: "Report what callers with the official SDKs cannot do with a card",
		Long: `lint checks what a card requires of callers, and reports each official SDK that cannot send it: what the SDK sends instead, and
what to change in the card. A requirement with an alternative that an SDK can satisfy is not reported for it. The SDK for JavaScript
leaves credentials to its callers, so nothing is reported for it.

The card is that of the project in the folder; or a file: a project's card, or one that was published; or what an agent serves at
a URL. It exits with 1 when the card itself is not valid; what lint finds are warnings, which are 0.`,
		Example: `  a2agen card lint
  a2agen card lint agent-card.json --output json
  a2agen card lint https://agent.example.com`,
		Args: between(0, 1, "at most a file or a URL"),
	}
	dirFlag(cmd, &o.Dir)
	privateFlag(cmd, &o.AllowPrivate, "")
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			o.Target = args[0]
		}
		list, err := project.Lint(cmd.Context(), o)
		if err != nil {
			return err
		}
		switch {
		case *format == formatJSON:
			err = list.WriteJSON(cmd.OutOrStdout())
		case len(list) == 0:
			_, err = fmt.Fprintln(cmd.OutOrStdout(), "a2agen: callers with the official SDKs can bring what the card demands")
		default:
			err = list.WriteText(cmd.OutOrStdout())
		}
		if err == nil && list.HasErrors() {
			return errInvalid
		}
		return err
	}
	return cmd
}
