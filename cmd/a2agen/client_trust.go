package main

import (
	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
)

// trustFlags adds the flags by which the card of a client is verified.
func trustFlags(cmd *cobra.Command, o *project.TrustOptions) {
	cmd.Flags().StringVar(&o.Keys, "jwks", "", "verify the card, and have the client verify it, with the public keys in this `file` of the project, a JSON Web Key Set")
	cmd.Flags().StringArrayVar(&o.URLs, "jwks-url", nil, "the same with the keys at this `URL`; can be given several times")
	anyWord(cmd, "jwks-url")
	cmd.Flags().BoolVar(&o.Strict, "strict", false, "take signatures over the form of the specification alone")
	cmd.Flags().BoolVar(&o.Older, "older", false, "take over a card of an older version than the pinned one")
}
