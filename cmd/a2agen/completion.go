package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/talk"
)

// oneOf completes a flag that takes one of a few words.
func oneOf(cmd *cobra.Command, flag string, words ...string) {
	must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)))
}

// someOf completes a flag that takes some of a few words, separated by commas.
func someOf(cmd *cobra.Command, flag string, words ...string) {
	must(cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		taken := strings.Split(before, ",")
		var list []cobra.Completion
		for _, word := range words {
			if !slices.Contains(taken, word) {
				list = append(list, before+word)
			}
		}
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}))
}

// anyWord turns off the completion of file names for flags that take none.
func anyWord(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

// takesFolder completes a flag that takes a folder.
func takesFolder(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		must(cmd.MarkFlagDirname(flag))
	}
}

// must panics on an error in the declaration of a command, which its first run would find.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// skillsWithin is how long a completion may take to fetch an agent's card.
const skillsWithin = 2 * time.Second

// skillsOf completes the id of a skill of the agent that the first argument names.
func skillsOf(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), skillsWithin)
	defer cancel()
	return talk.Skills(ctx, args[0]), cobra.ShellCompDirectiveNoFileComp
}
