package main

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/spec"
)

func specCommand() *cobra.Command {
	cmd := group("spec", "Show and compare definitions of the A2A protocol, and print the schemas of a project's files")
	cmd.Long = `spec works on definitions of the protocol: those that ship with a2agen, by version, and any other in a .proto file or as a JSON
Schema in a .json file.`
	cmd.Example = `  a2agen spec list
  a2agen spec show 1.0
  a2agen spec wires 0.3                        # what an older version cannot carry
  a2agen spec schema a2agen.yaml               # the JSON Schema of the file
  a2agen spec diff 0.3 1.0
  a2agen spec diff 1.0 protocol/a2a.proto --fail-on breaking`
	cmd.AddCommand(specListCommand(), specShowCommand(), specDiffCommand(), specWiresCommand(), specSchemaCommand())
	return cmd
}

// listed is one line of spec list.
type listed struct {
	Name       string      `json:"name"`
	Syntax     spec.Syntax `json:"syntax"`
	Operations int         `json:"operations"`
	Messages   int         `json:"messages"`
	Enums      int         `json:"enums"`
}

func specListCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the definitions that ship with a2agen",
		Long: `list prints the definitions that ship with a2agen, under the names that show and diff take. Versions before 1.0 are defined by
the schema of their JSON; the proto of their gRPC and HTTP bindings has a name of its own.`,
		Example: "  a2agen spec list --output json",
		Args:    none,
	}
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		var all []listed
		for _, ref := range spec.References() {
			doc, err := openSpec(cmd, ref)
			if err != nil {
				return err
			}
			all = append(all, listed{ref, doc.Syntax, len(doc.Operations), len(doc.Messages), len(doc.Enums)})
		}
		if *format == formatJSON {
			return printJSON(cmd, all)
		}
		table := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		for _, l := range all {
			fmt.Fprintf(table, "%s\t%s\t%d operations\t%d messages\t%d enums\n", l.Name, l.Syntax, l.Operations, l.Messages, l.Enums)
		}
		return table.Flush()
	}
	return cmd
}

func specShowCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show VERSION|FILE",
		Short: "Print a definition",
		Long: `show prints a definition as a2agen reads it: operations with their methods and routes, messages, choices, enums and error codes;
as JSON also comments and positions.`,
		Example: `  a2agen spec show 0.3
  a2agen spec show 0.3/proto
  a2agen spec show protocol/a2a.proto --output json`,
		Args:              exactly(1, "a version or a file"),
		ValidArgsFunction: completeSpecs(1),
	}
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		doc, err := openSpec(cmd, args[0])
		if err != nil {
			return err
		}
		if *format == formatJSON {
			return printJSON(cmd, doc)
		}
		return doc.WriteText(cmd.OutOrStdout())
	}
	return cmd
}

func specDiffCommand() *cobra.Command {
	var failOn string
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two definitions, and say which changes break servers or clients",
		Long: `diff compares two definitions, each a version or a file, by the messages that peers exchange. For each difference it says whether
servers or clients of the old definition break when they talk to peers of the new one. Readers are assumed to ignore unknown
members and to fail on unknown values. With --fail-on breaking it exits with 1 if there is a breaking difference.`,
		Example: `  a2agen spec diff 0.2 0.3
  a2agen spec diff 0.3/proto 1.0 --output json
  a2agen spec diff 1.0 protocol/a2a.proto --fail-on breaking`,
		Args:              exactly(2, "two versions or files"),
		ValidArgsFunction: completeSpecs(2),
	}
	cmd.Flags().StringVar(&failOn, "fail-on", "none", "exit with 1 on these `differences`: breaking or none")
	oneOf(cmd, "fail-on", "breaking", "none")
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if failOn != "none" && failOn != "breaking" {
			return fmt.Errorf("--fail-on %q: write breaking or none", failOn)
		}
		old, err := openSpec(cmd, args[0])
		if err != nil {
			return err
		}
		now, err := openSpec(cmd, args[1])
		if err != nil {
			return err
		}
		changes := spec.Diff(old, now)
		if *format == formatJSON {
			err = printJSON(cmd, append([]spec.Change{}, changes...)) // never null
		} else {
			err = spec.WriteChanges(cmd.OutOrStdout(), changes)
		}
		if err != nil {
			return err
		}
		if failOn == "breaking" && slices.ContainsFunc(changes, spec.Change.Breaking) {
			return errInvalid
		}
		return nil
	}
	return cmd
}

// completeSpecs completes the first n arguments: versions, or files.
func completeSpecs(n int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return spec.References(), cobra.ShellCompDirectiveDefault
	}
}

// openSpec reads a definition and prints what is wrong with it.
func openSpec(cmd *cobra.Command, ref string) (*spec.Document, error) {
	doc, list, err := project.OpenDefinition(ref)
	if err != nil {
		return nil, err
	}
	if err := printDiagnostics(cmd.ErrOrStderr(), list); err != nil {
		return nil, err
	}
	if list.HasErrors() {
		return nil, errInvalid
	}
	return doc, nil
}
