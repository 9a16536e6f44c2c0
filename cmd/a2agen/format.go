package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// formatName is the value of --format.
type formatName string

// The formats.
const (
	formatText formatName = "text"
	formatJSON formatName = "json"
)

// formatFlag adds --format.
func formatFlag(cmd *cobra.Command) *formatName {
	f := formatText
	cmd.Flags().StringVar((*string)(&f), "format", string(formatText), "`text` or json")
	oneOf(cmd, "format", string(formatText), string(formatJSON))
	return &f
}

// oneOf lets shells complete a flag that takes one of a few words.
func oneOf(cmd *cobra.Command, flag string, words ...string) {
	must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
}

// takesFolder lets shells complete a flag that takes a folder.
func takesFolder(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		must(cmd.MarkFlagDirname(flag))
	}
}

// must is for what fails only when a command is declared wrong, which its first run tells.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (f formatName) check() error {
	if f != formatText && f != formatJSON {
		return fmt.Errorf("--format %q: write text or json", string(f))
	}
	return nil
}
