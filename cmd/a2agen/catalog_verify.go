package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator/carddiff"
	"github.com/a2agen/a2agen/internal/catalog"
	"github.com/a2agen/a2agen/internal/project"
)

func catalogVerifyCommand() *cobra.Command {
	var o project.VerifyCatalogOptions
	cmd := &cobra.Command{
		Use:   "verify [NAME[@VERSION]]",
		Short: "Report damaged cards, missing signatures, and agents that changed",
		Long: `verify reads the cards of a catalog and reports damaged ones: missing, with another digest than when they were added, or different from
their entry in the index. With --jwks it also reports cards that none of the keys signed.

With --remote it fetches the cards that agents publish now, and says what is different from the newest card of each name, or from the one that you
name: breaking, unknown, compatible or cosmetic for callers, and what to do.

It exits with 1 when a card is damaged or not signed, or an agent changed in a way that breaks callers, and otherwise with 2 when
something could not be read or compared.`,
		Example: `  a2agen card catalog verify
  a2agen card catalog verify weather --jwks weather-jwks.json
  a2agen card catalog verify --remote`,
		Args: between(0, 1, "at most the name of a card"),
	}
	format := catalogFlags(cmd, &o.CatalogOptions)
	privateFlag(cmd, &o.AllowPrivate, ", and http for the catalog")
	keysFlags(cmd, &o.Keys, &o.URLs, &o.Strict)
	cmd.Flags().BoolVar(&o.Live, "remote", false, "also compare with the cards that agents publish now")
	renamed(cmd, "live", "remote")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			o.Name = args[0]
		}
		o.Where = theCatalog(o.Where)
		done := announce(cmd, "reading the cards")
		list, err := project.VerifyCatalog(cmd.Context(), o)
		done()
		if err != nil {
			return err
		}
		if *format == formatJSON {
			err = printJSON(cmd, append([]catalog.Verdict{}, list...))
		} else {
			err = writeVerdicts(cmd, list)
		}
		if err != nil {
			return err
		}
		return catalogVerdict(list)
	}
	return cmd
}

// writeVerdicts prints a line for each card, and what changed; what could not be read goes to stderr.
func writeVerdicts(cmd *cobra.Command, list []catalog.Verdict) error {
	w := cmd.OutOrStdout()
	for _, v := range list {
		switch {
		case v.Wrong != "":
			fmt.Fprintf(w, "%s: %s\n", v.Entry.Ref(), plainText(v.Wrong, 500))
			continue
		case v.Problem != "":
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", v.Entry.Ref(), plainText(v.Problem, 500))
			continue
		}
		fmt.Fprintf(w, "%s: as it was added%s\n", v.Entry.Ref(), signedWords(v))
		if v.LiveURL == "" {
			continue
		}
		fmt.Fprintf(w, "%s now:\n", plainText(v.LiveURL, 200))
		if err := carddiff.WriteText(w, v.Drift); err != nil {
			return err
		}
	}
	return nil
}

// signedWords says what is known of a card's signature.
func signedWords(v catalog.Verdict) string {
	switch {
	case v.SignedBy != nil:
		return fmt.Sprintf(", signed by the key %s (%s form)", v.SignedBy.Key, v.SignedBy.Form)
	case v.Entry.Signed:
		return ", signed (not verified: --jwks names keys)"
	}
	return ""
}

// catalogVerdict is the error for what was found.
func catalogVerdict(list []catalog.Verdict) error {
	unknown := false
	for _, v := range list {
		if v.Wrong != "" || carddiff.Has(v.Drift, carddiff.Breaking) {
			return errInvalid
		}
		unknown = unknown || v.Problem != "" || carddiff.Has(v.Drift, carddiff.Unknown)
	}
	if unknown {
		return errUnknown
	}
	return nil
}
