package main

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/internal/project"
)

func clientCommand() *cobra.Command {
	var o project.ClientOptions
	var where string
	cmd := &cobra.Command{
		Use:   "client URL|FILE|NAME[@VERSION]",
		Short: "Make a typed client for somebody else's agent",
		Long: `client makes a package with one method for each skill of somebody else's agent. It reads the agent's card from the agent's URL, the card's own URL, a
file or a catalog, keeps it in the project, pins its digest in a2agen.lock, adds the client to a2agen.yaml, and generates. From then on generate needs
no network. Run client again to take over a changed card.

The folder, or one above, needs a go.mod; --module makes one for the client, with tests and a program that calls the agent. In the project of an agent
the client is a field of agent.Clients. The struct Agent in skills/agent.go embeds that, so a handler calls the client as a.Travel.

Skills whose card publishes schemas get typed methods; the others take text and files, unless you describe them under skills in the client's
entry of a2agen.yaml. That entry also sets the package's folder (out) and the bindings to call over (bindings).

With --jwks the card's signature is verified, here and by the client before its first call, and a verified card of an older version is rejected.
docs/clients.md has more.`,
		Example: `  a2agen client https://agent.example.com --name travel
  a2agen client https://agent.example.com -C travelclient --module example.com/travelclient
  a2agen client card.json --name travel
  a2agen client travel@1.2.0            # of the catalog
  a2agen client https://agent.example.com --jwks travel-jwks.json --strict
  a2agen client http://127.0.0.1:8080 --allow-private-network`,
		Args: exactly(1, "the agent's URL, a file with its card, or its name in the catalog"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Tool, o.Target, o.Catalog = project.ThisTool(), args[0], theCatalog(where)
			done := announce(cmd, "fetching the card")
			c, r, err := project.AddClient(cmd.Context(), o)
			done()
			if err := report(cmd, o.DryRun, r, err); err != nil {
				return err
			}
			if !o.DryRun {
				fmt.Fprintf(cmd.OutOrStdout(), "client %s is in %s\n", c.Name, path.Join(filepath.ToSlash(o.Dir), c.Out))
			}
			for _, reach := range r.Clients {
				if reach.Client == c.Name && reach.Version != "" {
					fmt.Fprintf(cmd.OutOrStdout(), "it calls the agent %s\n", reach)
					if reach.Field != "" {
						fmt.Fprintf(cmd.OutOrStdout(), "handlers call it as a.%s\n", reach.Field)
					}
				}
			}
			return nil
		},
	}
	dirFlag(cmd, &o.Dir)
	cmd.Flags().StringVar(&o.Module, "module", "", "the Go module `path`: make a module for the client, such as example.com/travelclient")
	cmd.Flags().StringVar(&o.Name, "name", "", "the `name` of the client; default: made from the card's")
	cmd.Flags().StringVar(&o.Out, "package", "", "the package's `folder` in the project; default: client/NAME")
	cmd.Flags().StringSliceVar(&o.Bindings, "binding", nil, "the `binding` to speak: "+strings.Join(config.Bindings(), ", ")+", or several with commas, the preferred one first; default: those of the project")
	cmd.Flags().StringArrayVar(&o.Extensions, "extension", nil, "a `file` of the project with the contract of an extension that the card declares, for its types; may be given several times")
	catalogFlag(cmd, &where)
	trustFlags(cmd, &o.Trust)
	privateFlag(cmd, &o.AllowPrivate, "")
	cmd.Flags().BoolVar(&o.InferExamples, "infer-examples", false, "for cards without schemas: draft contract.yaml beside the client from their JSON examples, for you to correct")
	cmd.Flags().BoolVar(&o.Force, "force", false, "overwrite generated files that were edited by hand")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and change nothing")
	someOf(cmd, "binding", config.Bindings()...)
	takesFolder(cmd, "package")
	anyWord(cmd, "name", "module")
	renamed(cmd, "bindings", "binding")
	renamed(cmd, "out", "package")
	renamed(cmd, "older", "allow-older")
	for old, now := range map[string]string{"binding": "bindings", "bindings": "bindings", "package": "out", "out": "out"} {
		hidden(cmd, old, now+" in the client's entry of a2agen.yaml")
	}
	hidden(cmd, "extension", "extensions in a2agen.yaml")
	hidden(cmd, "catalog", envCatalog+", or catalog in a2agen.yaml")
	rare(cmd, "allow-older", "dry-run", "force", "infer-examples", "strict")
	return cmd
}
