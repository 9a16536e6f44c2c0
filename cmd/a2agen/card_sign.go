package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
)

func cardSignCommand() *cobra.Command {
	var key, out string
	cmd := &cobra.Command{
		Use:   "sign --key FILE CARD",
		Short: "Sign an agent card",
		Long: `sign adds a signature to the card of A2A 1.0 in the file CARD, and prints the card. Where the form that the specification signs
differs from the one that the SDKs for Python and JavaScript verify, it adds a signature of the same key over each.

The card has to say in full where the agent is, as callers reach it. The card of an agent that a2agen made has no addresses before it is
served: with "cards: {sign: true}" in a2agen.yaml it signs its card itself, when it starts with A2A_CARD_KEY and A2A_PUBLIC_URL.

Signatures of other keys stay. A signature does not say when it was made: old cards of yours verify for as long as their key is trusted.`,
		Example: `  a2agen card sign --key card-key.json agent-card.json > signed.json
  a2agen card sign --key card-key.json agent-card.json --save agent-card.json`,
		Args: exactly(1, "the file with the card"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if key == "" {
				return fmt.Errorf("--key names the file of the private key; make one with \"a2agen card keygen\" (see %s --help)", cmd.CommandPath())
			}
			k, signed, err := project.SignCard(key, args[0])
			if err != nil {
				return err
			}
			if err := project.WriteCard(cmd.OutOrStdout(), out, signed); err != nil {
				return err
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "a2agen: signed with the key %s (%s)\n", k.ID(), k.Algorithm())
			return nil
		},
	}
	cmd.Flags().StringVar(&key, "key", "", "`file` of the private key: a JSON Web Key, or PKCS #8 in PEM")
	cmd.Flags().StringVarP(&out, "save", "o", "", "save the result in a `file`; default: print it")
	renamed(cmd, "out", "save")
	return cmd
}
