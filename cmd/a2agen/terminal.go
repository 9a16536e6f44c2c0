package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/a2agen/a2agen/generator/diag"
)

// isTerminal reports whether a stream of the command is a person's terminal.
func isTerminal(stream any) bool {
	if o, ok := stream.(*results); ok {
		stream = o.Writer
	}
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// results is a command's stdout. It keeps the first error of writing, such as that of a full disk, with which the command then fails.
type results struct {
	io.Writer
	mu  sync.Mutex
	err error
}

func (o *results) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = cmp.Or(o.err, err)
	return n, err
}

func (o *results) failed() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
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
