package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/project/disk"
)

func generateCommand() *cobra.Command {
	var o project.Options
	var watch bool
	cmd := &cobra.Command{
		Use:     "generate",
		Aliases: []string{"gen"},
		Short:   "Write the generated files of a project",
		Long: `generate reads agent.yaml and a2agen.yaml, and writes the packages made from them and a stub for every skill without a
handler. It never overwrites your own files, and generated files that were edited by hand only with --force. a2agen.lock
lists the generated files. When nothing has changed, nothing is written.

--diff prints what would change as a unified diff, for "git apply" or a reviewer, and exits with 1 if there is a change.
--watch generates again whenever an input changes, and prints one line each time, until it is interrupted.`,
		Example: `  a2agen generate
  a2agen generate -C agents/weather
  a2agen generate --dry-run             # what would be written
  a2agen generate --diff                # line by line
  a2agen generate --watch
  //go:generate go tool a2agen generate`,
		Args: none,
	}
	dirFlag(cmd, &o.Dir)
	cmd.Flags().BoolVar(&o.Force, "force", false, "overwrite generated files that were edited by hand")
	cmd.Flags().BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and change nothing")
	cmd.Flags().BoolVar(&o.Diff, "diff", false, "print what would change as a unified diff, and write nothing")
	cmd.Flags().BoolVar(&watch, "watch", false, "generate again whenever an input changes")
	rare(cmd, "force")
	format := formatFlag(cmd)
	cmd.MarkFlagsMutuallyExclusive("watch", "dry-run")
	cmd.MarkFlagsMutuallyExclusive("watch", "diff")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o.Tool, o.Build = project.ThisTool(), true
		if watch {
			return watchProject(cmd, o, *format)
		}
		defer announce(cmd, "generating")()
		r, err := project.Run(cmd.Context(), o)
		return present(cmd, o, *format, r, err)
	}
	return cmd
}

// present prints what a run did in the requested format. A diff that is not empty is an error.
func present(cmd *cobra.Command, o project.Options, format formatName, r project.Report, err error) error {
	switch {
	case format == formatJSON:
		return reportJSON(cmd, o.DryRun || o.Diff, r, err)
	case !o.Diff:
		return report(cmd, o.DryRun, r, err)
	}
	if e := printDiagnostics(cmd.ErrOrStderr(), r.Diagnostics); e != nil || err != nil {
		return cmp.Or(e, err)
	}
	if _, err := fmt.Fprint(cmd.OutOrStdout(), r.Diff); err != nil {
		return err
	}
	switch {
	case len(r.Refused) > 0:
		return &disk.RefusedError{Files: r.Refused}
	case r.Diff != "":
		return errInvalid
	}
	return nil
}

// reportJSON prints what a run did as one JSON object on stdout, also if it failed.
func reportJSON(cmd *cobra.Command, dry bool, r project.Report, err error) error {
	if e := printJSON(cmd, newJSONReport(dry, r, err)); e != nil || err != nil {
		return cmp.Or(e, err)
	}
	if r.Diff != "" || dry && len(r.Refused) > 0 {
		return errInvalid
	}
	return nil
}

func newJSONReport(dry bool, r project.Report, err error) jsonReport {
	v := jsonReport{DryRun: dry, Report: r}
	var refused *disk.RefusedError
	if errors.As(err, &refused) {
		v.Refused = refused.Files
	}
	if err != nil {
		v.Error = err.Error()
	}
	v.Diagnostics.Sort()
	v.Diagnostics = list(v.Diagnostics)
	v.Written, v.Deleted, v.Left, v.Refused = list(v.Written), list(v.Deleted), list(v.Left), list(v.Refused)
	v.Handlers, v.Notes = list(v.Handlers), list(v.Notes)
	return v
}

// jsonReport is what --output json prints.
type jsonReport struct {
	DryRun bool `json:"dryRun"`
	project.Report
	Error string `json:"error,omitempty"`
}

// list returns an empty list for nil, so that JSON has [].
func list[S ~[]E, E any](s S) S {
	if s == nil {
		return S{}
	}
	return s
}

// report prints what a run did: problems on stderr, one summary line on stdout; a dry run also names each file.
func report(cmd *cobra.Command, dryRun bool, r project.Report, err error) error {
	if e := printDiagnostics(cmd.ErrOrStderr(), r.Diagnostics); e != nil {
		return e
	}
	if err != nil {
		return err
	}
	for _, c := range r.Left {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: no longer generated, but edited by hand (delete it when you do not need it)\n", c.Path)
	}
	for _, h := range withoutStubs(r.Handlers) {
		fmt.Fprintln(cmd.ErrOrStderr(), h)
	}
	for _, n := range r.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), n)
	}
	out := cmd.OutOrStdout()
	if dryRun {
		for _, c := range slices.DeleteFunc(slices.Clone(r.Written), unpacked) {
			fmt.Fprintf(out, "write   %s (%s)\n", c.Path, c.State)
		}
		for _, c := range r.Deleted {
			fmt.Fprintf(out, "delete  %s\n", c.Path)
		}
	}
	if n := len(r.Written); n > 0 {
		lines := 0
		r.Written = slices.DeleteFunc(slices.Clone(r.Written), func(c disk.Change) bool {
			if unpacked(c) {
				lines += c.Lines()
			}
			return unpacked(c)
		})
		if n -= len(r.Written); n > 0 {
			fmt.Fprintf(out, "runtime source: %d files, %d lines in %s, which a released a2agen does not need\n", n, lines, scaffold.Unpacked)
		}
	}
	fmt.Fprintln(out, summary(dryRun, r))
	if dryRun && len(r.Refused) > 0 {
		return &disk.RefusedError{Files: r.Refused}
	}
	return nil
}

// unpacked reports whether a file is part of the runtime's source, which is reported in one line.
func unpacked(c disk.Change) bool { return strings.HasPrefix(c.Path, scaffold.Unpacked+"/") }

// summary is one line: "a2agen: 3 files written, 1 deleted, 12 unchanged".
func summary(dryRun bool, r project.Report) string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	would := ""
	if dryRun {
		would = "would be "
	}
	add(len(r.Written), would+"written")
	add(len(r.Deleted), would+"deleted")
	add(r.Unchanged, "unchanged")
	if len(parts) == 0 {
		parts = []string{"nothing to do"}
	}
	return "a2agen: " + strings.Join(parts, ", ")
}
