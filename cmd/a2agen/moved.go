package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nowIs is the annotation of a command or flag of earlier versions with what to type instead. Such a command or flag is hidden and
// works as it did. It says on a terminal what to type; what a script reads stays as it was.
const nowIs = "a2agen_now_is"

// movedCommands are the commands of earlier versions.
func movedCommands() []*cobra.Command {
	inspect := moved(group("inspect", "Print what code is generated from, and what happened to a task"), "check --explain, card show, spec wires and tasks timeline")
	inspect.AddCommand(
		moved(inspecting("ir", printModel), "check --explain model"),
		moved(inspecting("bindings", printBindings), "check --explain bindings"),
		moved(inspecting("card", printCard), "card show"),
		moved(specWiresCommand(), "spec wires"),
		moved(inspectTaskCommand(), "tasks timeline ID, with --store FILE or --agent URL"),
	)
	schema := moved(specSchemaCommand(), "spec schema")
	schema.Use = "schema [agent|config]"
	return []*cobra.Command{
		inspect, schema,
		moved(validateCommand(), "check --inputs"),
		moved(catalogCommand(), "card catalog"),
		moved(faultCommand(), "dev --to URL --faults FAULTS"),
		moved(logoutCommand(), "login --out"),
	}
}

// moved makes a command one of an earlier version.
func moved(cmd *cobra.Command, now string) *cobra.Command {
	cmd.Hidden, cmd.Annotations = true, map[string]string{nowIs: "a2agen " + now}
	cmd.Short = "Moved: " + now
	cmd.Long = strings.TrimSpace("Moved: write a2agen " + now + ".\n\n" + cmd.Long)
	cmd.Example = "  a2agen " + now
	return cmd
}

// renamed adds the name that a flag had in an earlier version.
func renamed(cmd *cobra.Command, old, now string) {
	flag := *cmd.Flags().Lookup(now)
	flag.Name, flag.Shorthand = old, ""
	cmd.Flags().AddFlag(&flag)
	hidden(cmd, old, "--"+now)
	if complete, ok := cmd.GetFlagCompletionFunc(now); ok {
		must(cmd.RegisterFlagCompletionFunc(old, complete))
	}
}

// hidden makes a flag one of an earlier version.
func hidden(cmd *cobra.Command, old, now string) {
	flag := cmd.Flags().Lookup(old)
	flag.Hidden, flag.Annotations = true, map[string][]string{nowIs: {now}}
}

// sayWhatItIsNow says on a terminal what to type in place of a command or flag of earlier versions.
func sayWhatItIsNow(cmd *cobra.Command) {
	for c := cmd; c != nil; c = c.Parent() {
		if now := c.Annotations[nowIs]; now != "" {
			tellNow(cmd, cmd.CommandPath(), now+strings.TrimPrefix(cmd.CommandPath(), c.CommandPath()))
			break
		}
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if now := f.Annotations[nowIs]; now != nil {
			tellNow(cmd, "--"+f.Name, now[0])
		}
	})
}

// tellNow says on a terminal what to type in place of something.
func tellNow(cmd *cobra.Command, old, now string) {
	if w := cmd.ErrOrStderr(); isTerminal(w) {
		fmt.Fprintf(w, "a2agen: %s is now: %s\n", old, now)
	}
}
