package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator/lower"
	"github.com/a2agen/a2agen/internal/project"
)

// specWiresCommand prints how the older versions of the protocol relate to the types.
func specWiresCommand() *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:   "wires [VERSION...]",
		Short: "Print how each field is written in older versions, and what they cannot carry",
		Long: `wires prints how older versions of the protocol relate to the types: how many fields are the same, renamed, converted by the
runtime or missing, and what is lost. In a project with definitions of its own it shows the versions that the project lists, else
those that ship.`,
		Example: `  a2agen spec wires          # all older versions: counts and losses
  a2agen spec wires 0.3 -v   # line by line`,
		ValidArgs: append(lower.AlignedVersions(), lower.AlignedProtos()...),
	}
	cmd.Flags().BoolVarP(&all, "verbose", "v", false, "print more: every field, value and operation")
	format := formatFlag(cmd)
	var o project.Options
	dirFlag(cmd, &o.Dir)
	cmd.RunE = func(cmd *cobra.Command, versions []string) error {
		reports, err := relations(cmd, o, versions)
		if err != nil {
			return err
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

// relations returns the reports on some versions, by default on all of the project, or else on those that ship.
func relations(cmd *cobra.Command, o project.Options, versions []string) ([]*lower.Alignment, error) {
	own, err := ownRelations(cmd, o)
	if err != nil || len(versions) == 0 && len(own) > 0 {
		return own, err
	}
	if len(versions) == 0 {
		versions = lower.AlignedVersions()
	}
	var reports []*lower.Alignment
	for _, version := range versions {
		i := slices.IndexFunc(own, func(r *lower.Alignment) bool { return r.Version == version })
		if i >= 0 {
			reports = append(reports, own[i])
			continue
		}
		r, err := lower.AlignmentOf(version)
		if err != nil {
			return nil, err
		}
		reports = append(reports, r)
	}
	return reports, nil
}

// ownRelations returns the reports of a project with definitions of its own. Outside of one there are none.
func ownRelations(cmd *cobra.Command, o project.Options) ([]*lower.Alignment, error) {
	o.Tool = project.ThisTool()
	out, list, err := project.Inspect(cmd.Context(), o)
	if err != nil || out.Config == nil || !out.Config.HasOwnDefinition() {
		return nil, nil // what ships can be asked for anywhere
	}
	if list.HasErrors() && len(out.Relations) == 0 { // else the mistakes are elsewhere
		if err := printDiagnostics(cmd.ErrOrStderr(), list); err != nil {
			return nil, err
		}
		return nil, &project.InvalidError{List: list}
	}
	return out.Relations, nil
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
	if len(r.Hooks) > 0 {
		fmt.Fprintf(&b, "  hooks: %s\n", strings.Join(slices.Sorted(slices.Values(r.Hooks)), ", "))
	}
	for _, reading := range []bool{true, false} {
		if lost := losses(r, reading); len(lost) > 0 {
			fmt.Fprintf(&b, "lost on %s:\n  - %s\n", map[bool]string{true: "reading", false: "writing"}[reading], strings.Join(lost, "\n  - "))
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

// losses says what is lost in reading or writing.
func losses(r *lower.Alignment, reading bool) []string {
	var lost []string
	for _, loss := range r.Losses {
		if loss.Reading == reading {
			lost = append(lost, loss.What)
		}
	}
	for _, thing := range r.Things {
		if thing.Class == "absent" && (thing.Hub == "") == reading {
			lost = append(lost, fmt.Sprintf("%s%s (%s)", thing.Old, thing.Hub, thing.How))
		}
	}
	return lost
}
