package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
)

func cardVerifyCommand() *cobra.Command {
	var o project.VerifyOptions
	var out string
	cmd := &cobra.Command{
		Use:   "verify --jwks FILE CARD",
		Short: "Verify the signatures of an agent card",
		Long: `verify tries the signatures of a card of A2A 1.0, at most eight, with keys that you trust: those in a file, or at URLs that
you name. CARD is a file, an agent's URL, or its card's URL. It never uses a key that the card brings, or fetches one from an address that
only the card names.

It prints the key and the form that was signed: presence, the specification's, which covers the whole card; clean, without empty values,
which the SDKs sign; or raw, the card as it was written. With --strict only presence counts. Use only the part of the card that the signature
covers: --save writes it.

It exits with 0 when the card is verified, 1 when it is not, and 2 when that could not be tried.`,
		Example: `  a2agen card verify --jwks jwks.json agent-card.json
  a2agen card verify --jwks jwks.json --strict https://agent.example.com
  a2agen card verify --jwks https://example.com/jwks.json https://agent.example.com --save card.json`,
		Args: exactly(1, "a file with a card, or an agent's URL"),
	}
	keysFlags(cmd, &o.Keys, &o.URLs, &o.Strict)
	privateFlag(cmd, &o.AllowPrivate, "")
	cmd.Flags().StringVarP(&out, "save", "o", "", "save the result in a `file`: the card as far as the signature covers it")
	renamed(cmd, "out", "save")
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if o.Keys == "" && len(o.URLs) == 0 {
			return fmt.Errorf("--jwks names the file with the public keys, or its URL (see %s --help)", cmd.CommandPath())
		}
		o.Target = args[0]
		done := announce(cmd, "fetching the card")
		v, err := project.VerifyCard(cmd.Context(), o)
		done()
		if err != nil {
			return err
		}
		if out != "" {
			if err := project.WriteCard(cmd.OutOrStdout(), out, append(v.Card, '\n')); err != nil {
				return err
			}
		}
		if *format == formatJSON {
			return printJSON(cmd, map[string]string{"form": v.Form, "kid": v.KeyID, "thumbprint": v.Thumbprint, "algorithm": v.Algorithm})
		}
		_, err = fmt.Fprintf(cmd.OutOrStdout(), "verified: %s form, by the key %q (%s, thumbprint %s)\n", v.Form, v.KeyID, v.Algorithm, v.Thumbprint)
		return err
	}
	return cmd
}
