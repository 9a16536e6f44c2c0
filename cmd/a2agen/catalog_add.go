package main

import (
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
)

func catalogAddCommand() *cobra.Command {
	var o project.AddToCatalogOptions
	cmd := &cobra.Command{
		Use:   "add URL|FILE...",
		Short: "Add cards to a catalog",
		Long: `add puts cards as they are published into the catalog in a folder, which it makes if there is none: each from an agent's URL, from the
card's own URL, or from a file. Its name there is made from its own ("Weather Agent" is weather-agent), its version is
that of the agent. The same card again changes nothing; another one of the same name and version is rejected without --replace. A list of agents in the form of
an AI Catalog (ai-catalog.json) adds all agent cards that it has or names.

With --jwks only cards that one of the keys signed are added.

It exits with 0 when all cards are in the catalog, with 1 when one is not signed by a trusted key, and with 2 when one could not be added for another reason.`,
		Example: `  a2agen card catalog add https://agent.example.com
  a2agen card catalog add card.json --name weather
  a2agen card catalog add https://agent.example.com --jwks example-jwks.json
  a2agen card catalog add https://example.com/.well-known/ai-catalog.json`,
		Args: between(1, math.MaxInt, "at least one: an agent's URL, or a file with a card"),
	}
	format := catalogFlags(cmd, &o.CatalogOptions)
	privateFlag(cmd, &o.AllowPrivate, "")
	cmd.Flags().StringVar(&o.Name, "name", "", "the `name` of the card in the catalog; default: made from its own")
	cmd.Flags().BoolVar(&o.Replace, "replace", false, "replace another card of the same name and version")
	keysFlags(cmd, &o.Keys, &o.URLs, &o.Strict)
	anyWord(cmd, "name")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Targets, o.Where = args, theCatalog(o.Where)
		done := announce(cmd, "fetching cards")
		list, err := project.AddToCatalog(cmd.Context(), o)
		done()
		if err != nil {
			return err
		}
		if *format == formatJSON {
			err = printJSON(cmd, list)
		} else {
			writeAdditions(cmd, list)
		}
		return errors.Join(err, additionVerdict(list))
	}
	return cmd
}

// writeAdditions prints what became of each card; problems go to stderr.
func writeAdditions(cmd *cobra.Command, list []project.CatalogAddition) {
	for _, a := range list {
		if a.Problem != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", a.From, a.Problem)
			continue
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s %s (%s)\n", a.Outcome, a.Entry.Ref(), a.Entry.Digest)
		for _, note := range a.Notes {
			fmt.Fprintf(cmd.ErrOrStderr(), "note: %s\n", note)
		}
	}
}

// additionVerdict is the error for cards that were not added.
func additionVerdict(list []project.CatalogAddition) error {
	problems := 0
	for _, a := range list {
		switch {
		case a.Untrusted:
			return errInvalid
		case a.Problem != "":
			problems++
		}
	}
	if problems > 0 {
		return fmt.Errorf("not added: %d of %d", problems, len(list))
	}
	return nil
}
