package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/runtime/signedcard"
)

func cardKeygenCommand() *cobra.Command {
	var o project.CardKeyOptions
	cmd := &cobra.Command{
		Use:   "keygen FILE",
		Short: "Make a key that signs cards",
		Long: `keygen makes a key pair. The private key goes to FILE, a JSON Web Key that only you can read; a file that is there is never
overwritten. The public key is printed as a JSON Web Key Set, or added to the one in a file with --jwks: publish that, at an https URL of
yours or in your documentation, for those who verify your card.

To change keys, make a new one into the same set, sign with both for a while, then take the old one out of the set.`,
		Example: `  a2agen card keygen card-key.json --jwks jwks.json
  a2agen card keygen card-key.json --algorithm EdDSA > jwks.json`,
		Args: exactly(1, "the file for the private key"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.File = args[0]
			key, set, err := project.NewCardKey(o)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "a2agen: the private key %s (%s) is in %s: keep it secret\n", key.ID(), key.Algorithm(), o.File)
			if o.KeySet != "" {
				return nil
			}
			_, err = cmd.OutOrStdout().Write(set)
			return err
		},
	}
	cmd.Flags().StringVar(&o.Algorithm, "algorithm", signedcard.Algorithms()[0], "the `algorithm` of the key: "+strings.Join(signedcard.Algorithms(), ", "))
	cmd.Flags().StringVar(&o.KeySet, "jwks", "", "`file` of public keys, a JSON Web Key Set, to which the new one is added")
	oneOf(cmd, "algorithm", signedcard.Algorithms()...)
	return cmd
}
