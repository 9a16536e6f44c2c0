package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
)

// trustFlags adds the flags by which the card of a client is verified.
func trustFlags(cmd *cobra.Command, o *project.TrustOptions) {
	keysFlags(cmd, &o.Keys, &o.URLs, &o.Strict)
	cmd.Flags().BoolVar(&o.Older, "allow-older", false, "for agents that went back to an older version: accept a card older than the pinned one")
}

// keysFlags adds the flags by which signatures are verified.
func keysFlags(cmd *cobra.Command, file *string, urls *[]string, strict *bool) {
	f := cmd.Flags()
	f.Func("jwks", "`file` of public keys, a JSON Web Key Set, by which signatures are verified, or its URL; may be given several times", func(at string) error {
		switch {
		case strings.Contains(at, "://"):
			*urls = append(*urls, at)
		case *file != "":
			return fmt.Errorf("%s is there already: put all keys into one file", *file)
		default:
			*file = at
		}
		return nil
	})
	f.StringArrayVar(urls, "jwks-url", nil, "")
	hidden(cmd, "jwks-url", "--jwks URL")
	f.BoolVar(strict, "strict", false, "for publishers who sign as the specification says: accept no other signatures")
}
