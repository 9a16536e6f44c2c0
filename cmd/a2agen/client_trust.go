package main

import (
	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
)

// trustFlags adds the flags by which the card of a client is verified.
func trustFlags(cmd *cobra.Command, o *project.TrustOptions) {
	cmd.Flags().StringVar(&o.Keys, "jwks", "", "`file` of public keys, a JSON Web Key Set, by which signatures are verified")
	cmd.Flags().StringArrayVar(&o.URLs, "jwks-url", nil, "`URL` of such keys; may be given several times")
	anyWord(cmd, "jwks-url")
	cmd.Flags().BoolVar(&o.Strict, "strict", false, "take signatures over the form of the specification alone")
	cmd.Flags().BoolVar(&o.Older, "allow-older", false, "also take over a card of an older version than the pinned one")
}
