package main

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// eachCommand calls do with every command that help shows.
func eachCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			eachCommand(sub, do)
		}
	}
}

// meaning is how a flag's usage begins, to the first comma, colon or semicolon, and what its value is called.
func meaning(f *pflag.Flag) string {
	value, usage := pflag.UnquoteUsage(f)
	if i := strings.IndexAny(usage, ",;:"); i >= 0 {
		usage = usage[:i]
	}
	usage, _, _ = strings.Cut(usage, " to ") // "the version of the protocol to speak"
	return value + ": " + usage
}

// several are names that mean one thing, of which each command has its own kind.
var several = map[string]string{
	"skill": "the id of a skill", "tag": "a tag", "save": "save the result in a ", "store": "where the agent keeps its tasks", "name": "the name of the ", "all": "all ",
}

// TestOneNameAThing over all commands: flags of one name mean the same, and what means the same has one name.
func TestOneNameAThing(t *testing.T) {
	meanings, names := map[string]string{}, map[string]string{}
	eachCommand(rootCommand(), func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" || f.Name == "version" {
				return
			}
			if is := several[f.Name]; is != "" {
				if _, usage := pflag.UnquoteUsage(f); !strings.HasPrefix(usage, is) {
					t.Errorf("%s --%s: %q, want %q", cmd.CommandPath(), f.Name, usage, is)
				}
				return
			}
			is := meaning(f)
			if was, ok := meanings[f.Name]; ok && was != is {
				t.Errorf("%s --%s means two things:\n%s\n%s", cmd.CommandPath(), f.Name, was, is)
			}
			if was, ok := names[is]; ok && was != f.Name {
				t.Errorf("%s: --%s and --%s mean one thing: %s", cmd.CommandPath(), was, f.Name, is)
			}
			meanings[f.Name], names[is] = is, f.Name
		})
	})
}

// TestOneLetterAFlag over all commands.
func TestOneLetterAFlag(t *testing.T) {
	letters := map[string]string{"h": "help", "v": "verbose"} // that of the program without a command is its version, as of most
	eachCommand(rootCommand(), func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Shorthand == "" || f.Name == "version" {
				return
			}
			if was, ok := letters[f.Shorthand]; ok && was != f.Name {
				t.Errorf("%s: -%s is --%s and --%s", cmd.CommandPath(), f.Shorthand, was, f.Name)
			}
			letters[f.Shorthand] = f.Name
		})
	})
}

// TestHelpIsAScreen: at most 50 lines, twelve flags before those that few need, and 14 commands at the top, each in a group. Commands that do something have an example.
func TestHelpIsAScreen(t *testing.T) {
	eachCommand(rootCommand(), func(cmd *cobra.Command) {
		var out bytes.Buffer
		cmd.SetOut(&out)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n"); n > 50 {
			t.Errorf("%s --help has %d lines", cmd.CommandPath(), n)
		}
		often := 0
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !isRare(f) {
				often++
			}
		})
		if often > 12 {
			t.Errorf("%s --help has %d flags before those that few need", cmd.CommandPath(), often)
		}
		if cmd.Example == "" && !cmd.HasSubCommands() {
			t.Errorf("%s --help has no example", cmd.CommandPath())
		}
	})
	var shown []string
	for _, cmd := range rootCommand().Commands() {
		if !cmd.Hidden {
			shown = append(shown, cmd.Name())
		}
		if cmd.Hidden == (cmd.GroupID != "") {
			t.Errorf("%s is in the group %q", cmd.Name(), cmd.GroupID)
		}
	}
	if len(shown) > 14 {
		t.Errorf("%d commands: %v", len(shown), shown)
	}
}

// TestWhatWasTypedBeforeIsTakenStill: testdata/before.lines has the lines of scripts and docs as they were with 22 commands.
func TestWhatWasTypedBeforeIsTakenStill(t *testing.T) {
	lines, err := os.ReadFile("testdata/before.lines")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		words := strings.Split(strings.TrimSpace(line), "\t")
		cmd, rest, err := rootCommand().Find(words)
		if err == nil && cmd.HasSubCommands() && !slices.ContainsFunc(rest, func(w string) bool { return w == "--help" }) && len(rest) > 0 {
			t.Errorf("%q is of no command", words)
		}
		if err == nil && !cmd.DisableFlagParsing {
			if err = cmd.ParseFlags(rest); err == pflag.ErrHelp {
				err = nil
			}
		}
		if err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
}
