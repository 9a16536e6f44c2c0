package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2agen/a2agen/generator/shape"
)

var update = flag.Bool("update", false, "rewrite the lists of commands and flags in docs/cli.md")

// TestTheDocumentationHasTheCommands and their flags as the program has them: a section of docs/cli.md for each that help shows.
func TestTheDocumentationHasTheCommands(t *testing.T) {
	const path = "../../docs/cli.md"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	root := rootCommand()
	common := commonFlags(root)
	sections := map[string]string{"commands": listOfCommands(root), "flags": "\n" + listOfFlags(common, false) + "\n"}
	for _, cmd := range root.Commands() {
		if !cmd.Hidden {
			sections[cmd.Name()] = reference(cmd, common)
		}
	}
	want := doc
	for name, body := range sections {
		if want, err = shape.ReplaceSection(want, name, []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(doc, want) {
		t.Errorf("the lists in %s differ from the commands; if the change is meant, run go test with -update", path)
	}
}

// listOfCommands has those of the program, in their groups.
func listOfCommands(root *cobra.Command) string {
	var b strings.Builder
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, "\n%s\n\n", g.Title)
		for _, cmd := range root.Commands() {
			if cmd.GroupID == g.ID {
				fmt.Fprintf(&b, "* [%s](#%[1]s): %s\n", cmd.Name(), cmd.Short)
			}
		}
	}
	return b.String() + "\n"
}

// reference is what a section has of a command: its usage, or those below it; and its flags, of which common ones are only named.
func reference(cmd *cobra.Command, common []docFlag) string {
	var b strings.Builder
	if cmd.HasSubCommands() {
		b.WriteString("\n")
		for _, leaf := range leaves(cmd) {
			fmt.Fprintf(&b, "* `%s`: %s\n", strings.TrimPrefix(strings.TrimSuffix(leaf.UseLine(), " [flags]"), "a2agen "), leaf.Short)
		}
		b.WriteString("\nFlags:\n\n")
	} else {
		fmt.Fprintf(&b, "\n    %s\n\n", cmd.UseLine())
	}
	flags := docFlags(cmd)
	var also []string
	for _, f := range flags {
		if slices.ContainsFunc(common, f.same) {
			also = append(also, "`"+f.long()+"`")
		}
	}
	own := slices.DeleteFunc(flags, func(f docFlag) bool { return slices.ContainsFunc(common, f.same) })
	b.WriteString(listOfFlags(slices.DeleteFunc(slices.Clone(own), func(f docFlag) bool { return f.rare }), cmd.HasSubCommands()))
	if also != nil {
		fmt.Fprintf(&b, "* [also](#flags-of-many-commands) %s\n", strings.Join(also, ", "))
	}
	if rare := slices.DeleteFunc(own, func(f docFlag) bool { return !f.rare }); len(rare) > 0 {
		b.WriteString("\nLess often:\n\n" + listOfFlags(rare, cmd.HasSubCommands()))
	}
	return b.String() + "\n"
}

// leaves are the commands that do something: one itself, or those below it.
func leaves(cmd *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	eachCommand(cmd, func(c *cobra.Command) {
		if !c.HasSubCommands() {
			list = append(list, c)
		}
	})
	return list
}

// docFlag is a flag as help shows it, and the commands that have it so.
type docFlag struct {
	name, usage string
	of          []string
	rare        bool
}

func (f docFlag) same(as docFlag) bool { return f.name == as.name && f.usage == as.usage }

// long is the name alone, with its two dashes.
func (f docFlag) long() string {
	name, _, _ := strings.Cut(f.name[strings.Index(f.name, "--"):], " ")
	return name
}

// docFlags are the flags of a command and of those below it.
func docFlags(cmd *cobra.Command) []docFlag {
	var list []docFlag
	for _, leaf := range leaves(cmd) {
		of := strings.TrimPrefix(leaf.CommandPath(), cmd.CommandPath()+" ")
		leaf.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			value, usage := pflag.UnquoteUsage(f)
			is := docFlag{strings.TrimSpace("--" + f.Name + " " + value), usage, []string{of}, isRare(f)}
			if f.Shorthand != "" {
				is.name = "-" + f.Shorthand + ", " + is.name
			}
			if once, after, found := strings.Cut(usage, "; may be given several times"); found {
				is.name, is.usage = is.name+" …", once+after
			}
			if !slices.Contains([]string{"", "[]", "false", "0s"}, f.DefValue) {
				is.usage += "; default: " + f.DefValue
			}
			if i := slices.IndexFunc(list, is.same); i >= 0 {
				list[i].of = append(list[i].of, of)
			} else {
				list = append(list, is)
			}
		})
	}
	return list
}

// commonFlags are those that three commands have, or more: one meaning of a name.
func commonFlags(root *cobra.Command) []docFlag {
	named := map[string]bool{}
	return slices.DeleteFunc(docFlags(root), func(f docFlag) bool {
		again := named[f.long()]
		named[f.long()] = again || len(f.of) >= 3
		return again || len(f.of) < 3
	})
}

// listOfFlags says of flags what they mean, and which commands have them.
func listOfFlags(flags []docFlag, whose bool) string {
	var b strings.Builder
	for _, f := range flags {
		of := ""
		if whose {
			of = " of " + strings.Join(f.of, ", ")
		}
		fmt.Fprintf(&b, "* `%s`%s: %s\n", f.name, of, f.usage)
	}
	return b.String()
}
