package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator/carddiff"
	"github.com/a2agen/a2agen/internal/project"
)

func cardDiffCommand() *cobra.Command {
	var o project.DiffOptions
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two cards, and say what breaks callers and what they have to do",
		Long: `diff compares two cards by what they mean to callers who go by the old one: skills, the schemas of their inputs and outputs,
media types, what callers must bring, where and in which versions the agent is called, capabilities and signing keys. Each finding is
breaking, compatible or cosmetic for callers, or unknown where that could not be decided, with its path in the card and what a
caller has to do. The cards may be of different versions of A2A.

A card is the URL of an agent or of its card, a file, the folder of a project ("." is what this one publishes), or the name of a client
whose card the project keeps.

It exits with 0 when no caller has to do anything, with 1 when something breaks callers, and with 2 when the cards, or parts of them, could not be
compared and nothing else breaks callers.`,
		Example: `  a2agen card diff old.json new.json
  a2agen card diff travel https://agent.example.com     # travel is a client of this project
  a2agen card diff https://agent.example.com . --output json   # what would a deployment break?`,
		Args: exactly(2, "two cards: URLs, files, folders of projects, or names of clients"),
	}
	dirFlag(cmd, &o.Dir)
	privateFlag(cmd, &o.AllowPrivate, "")
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Tool, o.Old, o.New = project.ThisTool(), args[0], args[1]
		done := announce(cmd, "comparing")
		c, err := project.DiffCards(cmd.Context(), o)
		done()
		var invalid *project.InvalidError
		if errors.As(err, &invalid) {
			// The exit code 1 says that callers break, so that this is 2.
			if err := printDiagnostics(cmd.ErrOrStderr(), invalid.List); err != nil {
				return err
			}
			return errors.New("the cards could not be compared: one of them is not valid")
		}
		if err != nil {
			return err
		}
		if *format == formatJSON {
			err = printJSON(cmd, c)
		} else {
			err = writeChanges(cmd.OutOrStdout(), c)
		}
		if err != nil {
			return err
		}
		return verdict(c.Findings)
	}
	return cmd
}

// writeChanges prints which cards were compared, and what is different.
func writeChanges(w io.Writer, c project.CardChanges) error {
	for _, side := range []struct {
		name string
		card project.ComparedCard
	}{{"old", c.Old}, {"new", c.New}} {
		_, err := fmt.Fprintf(w, "%s: %s (%q version %q, A2A %s)\n", side.name, side.card.From, side.card.Name,
			side.card.Version, side.card.Protocol)
		if err != nil {
			return err
		}
	}
	return carddiff.WriteText(w, c.Findings)
}

// verdict is the error for findings: that callers break, or that this is not known.
func verdict(list []carddiff.Finding) error {
	switch {
	case carddiff.Has(list, carddiff.Breaking):
		return errInvalid
	case carddiff.Has(list, carddiff.Unknown):
		return errUnknown
	}
	return nil
}

// errUnknown is the error of a command that could not decide something which it has printed.
var errUnknown = errors.New("something could not be compared: see above")

// writeRemote prints what is different in the cards of agents that run. Those that could not be compared go to stderr.
func writeRemote(cmd *cobra.Command, list []project.RemoteCard) error {
	for _, r := range list {
		if r.Problem != "" {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\n", r.Title(), r.Problem)
			continue
		}
		if len(r.Findings) == 0 {
			fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", r.Title(), carddiff.Count(nil))
			continue
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s:\n", r.Title())
		if err := carddiff.WriteText(cmd.OutOrStdout(), r.Findings); err != nil {
			return err
		}
	}
	return nil
}

// remoteVerdict is the error for cards of agents that run: that callers break, or that this is not known.
func remoteVerdict(list []project.RemoteCard) error {
	var all error
	for _, r := range list {
		err := verdict(r.Findings)
		if err == nil && r.Problem != "" {
			err = errUnknown
		}
		if all == nil || errors.Is(err, errInvalid) {
			all = cmp.Or(err, all)
		}
	}
	return all
}
