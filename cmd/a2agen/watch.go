package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/internal/project"
)

// watchProject generates whenever an input changes, until SIGINT or SIGTERM, which end it cleanly.
func watchProject(cmd *cobra.Command, o project.Options, format formatName) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return project.Watch(ctx, o, func(r project.Report, err error) {
		if format == formatJSON {
			printRound(cmd, r, err)
			return
		}
		fmt.Fprintln(cmd.OutOrStdout(), roundLine(r, err))
	})
}

// printRound prints a round as a JSON object on one line.
func printRound(cmd *cobra.Command, r project.Report, err error) {
	enc := json.NewEncoder(cmd.OutOrStdout())
	enc.SetEscapeHTML(false)
	enc.Encode(newJSONReport(false, r, err)) // a reader that went away does not end the watch
}

// roundLine returns one line: the summary, or the first problem and how many more there are.
func roundLine(r project.Report, err error) string {
	var invalid *project.InvalidError
	switch {
	case errors.As(err, &invalid):
		return "a2agen: " + firstProblem(invalid.List)
	case err != nil:
		return "a2agen: " + oneLine(err.Error())
	}
	line := summary(false, r)
	for _, h := range withoutStubs(r.Handlers) {
		line += "; " + h.Where() + ": " + h.Message
	}
	for _, c := range r.Left {
		line += "; " + c.Path + " is no longer generated, but edited by hand"
	}
	return line
}

func firstProblem(list diag.List) string {
	list.Sort()
	var first string
	more := -1
	for _, d := range list {
		if d.Severity != diag.Error {
			continue
		}
		if more++; more == 0 {
			first = oneLine(d.String())
		}
	}
	if more > 0 {
		return fmt.Sprintf("%s; and %d more", first, more)
	}
	return first
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
