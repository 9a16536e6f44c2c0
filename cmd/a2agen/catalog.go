package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/catalog"
	"github.com/a2agen/a2agen/internal/project"
)

// envCatalog names the catalog where no flag does.
const envCatalog = "A2A_CATALOG"

func catalogCommand() *cobra.Command {
	cmd := group("catalog", "Keep the cards of agents by name and version, and find agents")
	cmd.Long = `catalog keeps agent cards by name, version and digest: in a folder, or at an HTTP address of any file server.
a2agen client NAME@VERSION makes a client from it.

The catalog is that of --catalog, else that of the environment variable A2A_CATALOG, else the one that a2agen.yaml names, else the folder
.a2agen/catalog of the project. Over HTTP it is read only: change the folder that the server publishes.`
	cmd.Example = `  a2agen card catalog add https://agent.example.com
  a2agen card catalog list
  a2agen card catalog find --gives forecast.json     # whose results fit this schema?
  a2agen client weather@1.2.0`
	cmd.AddCommand(catalogAddCommand(), catalogListCommand(), catalogFindCommand(), catalogVerifyCommand(), catalogRemoveCommand())
	return cmd
}

// catalogFlag adds --catalog.
func catalogFlag(cmd *cobra.Command, where *string) {
	cmd.Flags().StringVar(where, "catalog", "", "`folder` or URL of the catalog; default: $A2A_CATALOG, then that of a2agen.yaml, then .a2agen/catalog")
	takesFolder(cmd, "catalog")
}

// theCatalog is the catalog that a flag names, or the environment; "" where neither does.
func theCatalog(flag string) string { return cmp.Or(flag, os.Getenv(envCatalog)) }

// catalogFlags adds the flags that all commands of a catalog have.
func catalogFlags(cmd *cobra.Command, o *project.CatalogOptions) *formatName {
	dirFlag(cmd, &o.Dir)
	catalogFlag(cmd, &o.Where)
	return formatFlag(cmd)
}

func catalogListCommand() *cobra.Command {
	var o project.CatalogOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the cards of a catalog",
		Long:  `list prints all cards of a catalog, sorted by name, the newest version of each first.`,
		Example: `  a2agen card catalog list
  a2agen card catalog list --catalog https://cards.example.com --output json`,
		Args: none,
	}
	format := catalogFlags(cmd, &o)
	privateFlag(cmd, &o.AllowPrivate, ", and http")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.Where = theCatalog(o.Where)
		defer announce(cmd, "reading the catalog")()
		where, list, err := project.ListCatalog(cmd.Context(), o)
		if err != nil {
			return err
		}
		if *format == formatJSON {
			return printJSON(cmd, map[string]any{"catalog": where, "cards": append([]catalog.Entry{}, list...)})
		}
		if len(list) == 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "a2agen: the catalog %s is empty\n", where)
		}
		for _, e := range list {
			writeEntry(cmd.OutOrStdout(), e)
		}
		return nil
	}
	return cmd
}

func catalogRemoveCommand() *cobra.Command {
	var o project.CatalogOptions
	cmd := &cobra.Command{
		Use:   "remove NAME[@VERSION]",
		Short: "Take a card out of a catalog",
		Long: `remove takes one version of a card out of the catalog in a folder, or all of them if no version is named. Clients that were made from
it stay as they are: they have the card.`,
		Example: `  a2agen card catalog remove weather@1.1.0
  a2agen card catalog remove weather`,
		Args: exactly(1, "the name of a card in the catalog"),
	}
	format := catalogFlags(cmd, &o)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Where = theCatalog(o.Where)
		gone, err := project.RemoveFromCatalog(o, args[0])
		if err != nil {
			return err
		}
		if *format == formatJSON {
			return printJSON(cmd, map[string]any{"removed": gone})
		}
		for _, e := range gone {
			fmt.Fprintf(cmd.OutOrStdout(), "removed %s\n", e.Ref())
		}
		return nil
	}
	return cmd
}

// writeEntry prints a card on one line, and its skills on another.
func writeEntry(w io.Writer, e catalog.Entry) {
	signed := ""
	switch {
	case e.SignedBy != nil:
		signed = ", verified when it was added"
	case e.Signed:
		signed = ", signed"
	}
	fmt.Fprintf(w, "%s  %s (A2A %s%s)\n", e.Ref(), plainText(e.Title, 60), plainText(e.Protocol, 10), signed)
	ids := make([]string, len(e.Skills))
	for i, s := range e.Skills {
		ids[i] = plainText(s.ID, 60)
	}
	if len(ids) > 0 {
		fmt.Fprintf(w, "    skills: %s\n", strings.Join(ids, ", "))
	}
	if e.URL != "" {
		fmt.Fprintf(w, "    from %s\n", plainText(e.URL, 200))
	}
}

// plainText is text of others on one line of at most n characters, without what a terminal would obey.
func plainText(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return '�'
	}, s)
	if short := []rune(s); len(short) > n {
		return string(short[:n-1]) + "…"
	}
	return s
}
