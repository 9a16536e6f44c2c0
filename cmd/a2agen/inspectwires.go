package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator/lower"
)

// inspectWiresCommand prints how the older versions of the protocol relate to the types.
func inspectWiresCommand() *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:   "wires [VERSION...]",
		Short: "Print what becomes of each field in the older versions, and what they lose",
		Example: `  a2agen inspect wires          # all older versions: counts and losses
  a2agen inspect wires 0.3 -v   # line by line`,
		ValidArgs: append(lower.AlignedVersions(), lower.AlignedProtos()...),
	}
	cmd.Flags().BoolVarP(&all, "verbose", "v", false, "print every field, value and operation")
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, versions []string) error {
		if err := format.check(); err != nil {
			return err
		}
		if len(versions) == 0 {
			versions = lower.AlignedVersions()
		}
		var reports []*lower.Alignment
		for _, version := range versions {
			r, err := lower.AlignmentOf(version)
			if err != nil {
				return err
			}
			reports = append(reports, r)
		}
		if *format == formatJSON {
			return printJSON(cmd, reports)
		}
		for i, r := range reports {
			if i > 0 {
				fmt.Fprintln(cmd.OutOrStdout())
			}
			if err := printAlignment(cmd.OutOrStdout(), r, all); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
}

// printAlignment prints one report as text.
func printAlignment(w io.Writer, r *lower.Alignment, all bool) error {
	var b strings.Builder
	fmt.Fprintf(&b, "A2A %s against %s\n", r.Version, r.Hub)
	for _, class := range lower.Classes {
		if n := r.Counts[class]; n > 0 {
			fmt.Fprintf(&b, "  %4d %s\n", n, class)
		}
	}
	fmt.Fprintf(&b, "  hooks: %s\n", strings.Join(slices.Sorted(slices.Values(r.Hooks)), ", "))
	for _, reading := range []bool{true, false} {
		fmt.Fprintf(&b, "lost on %s:\n", map[bool]string{true: "reading", false: "writing"}[reading])
		for _, loss := range r.Losses {
			if loss.Reading == reading {
				fmt.Fprintf(&b, "  - %s\n", loss.What)
			}
		}
		for _, thing := range r.Things {
			if thing.Class == "absent" && (thing.Hub == "") == reading {
				fmt.Fprintf(&b, "  - %s%s (%s)\n", thing.Old, thing.Hub, thing.How)
			}
		}
	}
	if all {
		tab := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintf(tab, "class\t%s\t%s\tby\n", r.Version, r.Hub)
		for _, t := range r.Things {
			fmt.Fprintf(tab, "%s\t%s\t%s\t%s\n", t.Class, t.Old, t.Hub, t.How)
		}
		if err := tab.Flush(); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
