package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/catalog"
	"github.com/a2agen/a2agen/internal/project"
)

func catalogFindCommand() *cobra.Command {
	var o project.FindOptions
	cmd := &cobra.Command{
		Use:   "find [WORD...]",
		Short: "Find agents in a catalog, by words, skills, tags and schemas",
		Long: `find lists the cards with all the words, in any case, in their names and descriptions or those of their skills, and with one skill
that matches all flags. It looks at the newest card of each name, or with --all at every one.

--gives is a file with a JSON Schema, in JSON or YAML, that every result of the skill fits; --takes is one whose every value the skill takes
as its input. Schemas are compared, not guessed at: where it cannot be decided, the skill is listed with the open point. A
skill whose card publishes no schema fits none.

It exits with 0 when a card is found, with 1 when none is, and with 2 when a card could not be read.`,
		Example: `  a2agen card catalog find weather
  a2agen card catalog find --tag travel
  a2agen card catalog find --gives forecast.json
  a2agen card catalog find --skill forecast --takes question.yaml --output json`,
	}
	format := catalogFlags(cmd, &o.CatalogOptions)
	privateFlag(cmd, &o.AllowPrivate, ", and http")
	cmd.Flags().StringVar(&o.Query.Skill, "skill", "", "the `id` of a skill")
	cmd.Flags().StringVar(&o.Query.Tag, "tag", "", "a `tag` of the skill")
	cmd.Flags().StringVar(&o.Gives, "gives", "", "`file` with a JSON Schema that all results of the skill fit")
	cmd.Flags().StringVar(&o.Takes, "takes", "", "`file` with a JSON Schema whose values the skill takes")
	cmd.Flags().BoolVar(&o.Query.All, "all", false, "all versions, not only the newest")
	anyWord(cmd, "skill", "tag")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Query.Text, o.Where = args, theCatalog(o.Where)
		done := announce(cmd, "reading the catalog")
		list, err := project.FindInCatalog(cmd.Context(), o)
		done()
		if err != nil && len(list) == 0 {
			return err
		}
		if *format == formatJSON {
			err = errors.Join(printJSON(cmd, list), err)
		} else {
			writeMatches(cmd.OutOrStdout(), list)
		}
		if err == nil && len(list) == 0 {
			return errInvalid
		}
		return err
	}
	return cmd
}

// writeMatches prints the cards that were found.
func writeMatches(w io.Writer, list []catalog.Match) {
	if len(list) == 0 {
		fmt.Fprintln(w, "a2agen: no card of the catalog matches")
	}
	for _, m := range list {
		if len(m.Skills) == 0 {
			writeEntry(w, m.Entry)
			continue
		}
		fmt.Fprintf(w, "%s  %s\n", m.Entry.Ref(), plainText(m.Entry.Title, 60))
		for _, s := range m.Skills {
			fmt.Fprintf(w, "    skill %s", plainText(s.ID, 60))
			if s.Unsure != "" {
				fmt.Fprintf(w, " may fit; unsure is %s", plainText(s.Unsure, 200))
			}
			fmt.Fprintln(w)
		}
	}
}
