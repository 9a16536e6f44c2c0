package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/a2agen/a2agen/generator/diag"
)

// isTerminal reports whether a stream of the command is a person's terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// patience is how long a command may take before it says what it is doing.
const patience = time.Second

// announce prints what takes long, on a terminal only. The returned function ends the announcement.
func announce(cmd *cobra.Command, what string) (done func()) {
	if !isTerminal(cmd.ErrOrStderr()) {
		return func() {}
	}
	timer := time.AfterFunc(patience, func() { fmt.Fprintf(cmd.ErrOrStderr(), "%s…\n", what) })
	return func() { timer.Stop() }
}

// printDiagnostics prints problems of the inputs, one on each line.
func printDiagnostics(w io.Writer, list diag.List) error {
	list.Sort()
	return list.WriteText(w)
}
