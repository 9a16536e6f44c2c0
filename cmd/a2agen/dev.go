package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/a2agen/a2agen/internal/dev"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/runtime/client/oauth"
)

func devCommand() *cobra.Command {
	var o dev.Options
	var dir string
	var poll, open bool
	cmd := &cobra.Command{
		Use:   "dev [DIR…] [-- ARGUMENT…]",
		Short: "Run an agent while you write it, and restart it whenever a file changes",
		Long: `dev serves an agent at one address while you write it. Whenever a file changes, it generates, builds, starts the new
program, waits until that is healthy, and sends its callers there. No call fails meanwhile: requests wait, and streams
continue on the new program after the last event that their reader has. When a step fails, the old program stays,
and the errors are printed with file and line.

Tasks are kept in .a2agen/dev, which git ignores, even those of an agent whose store is memory. Handlers have one second
to finish when their program is replaced.

dev watches agent.yaml, a2agen.yaml and the schemas they name, the Go files of the module's packages, embedded files and
go.mod; --poll looks at them every second where there are no file events (containers, network drives).

The page, whose address is printed, has the places Chat, Call, Tasks, Traffic and Agent. It shows the last 1,000 calls of
all callers byte for byte, at most 64 MiB. Secrets are masked before they are kept. Only this machine can open it, with
the token in its address. --to shows the calls of an agent that already runs, in any language: callers use the address
of --addr in place of its own.

--faults makes calls fail, so that you see how callers cope: KIND VALUE[:TIMES][+SKIP][%PERCENT][@OPERATION,...], several with
semicolons between them, or in a file with one on each line. The page switches them on and off. Each request with a fault is printed.
docs/testing.md has the kinds: delay, delay-events, slow, drop, double, reorder, status, cut, truncate, half-close, stall, drop-event, double-event.

Several folders are several agents, the first at --addr, each further one at the next port. Arguments after "--" go to the
agents. On a terminal r rebuilds the agent, p pauses and resumes watching, c deletes all tasks, q quits.`,
		Example: `  a2agen dev                                  # the agent of this folder, at http://127.0.0.1:8080
  a2agen dev weather routes                   # two agents, at ports 8080 and 8081
  a2agen dev --to https://agent.example.com   # somebody else's agent
  a2agen dev --to http://localhost:9000 --faults 'cut 3:2; drop reply%20@SendMessage'   # streams end after three events, twice
  a2agen dev --faults @faults.txt --page off
  a2agen dev --exec 'make build OUT=$A2A_DEV_OUT'  # your own build of the program
  a2agen dev --debug                          # for a debugger: dlv attach PID
  a2agen dev -- -model small                  # arguments for the agent`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				args, o.Args = args[:n], args[n:]
			}
			if o.Dirs = args; len(args) == 0 {
				o.Dirs = []string{dir}
			} else if cmd.Flags().Changed("dir") {
				return errors.New("give folders, or -C, not both (see a2agen dev --help)")
			}
			if o.To != "" && (len(args) > 0 || cmd.Flags().Changed("dir")) {
				return errors.New("--to looks at an agent that runs: give it, or folders (see a2agen dev --help)")
			}
			if file, ok := strings.CutPrefix(o.Faults, "@"); ok {
				text, err := os.ReadFile(file)
				if err != nil {
					return fmt.Errorf("--faults: %w", err)
				}
				o.Faults = string(text)
			}
			if o.Page == noPage {
				o.Page = ""
			}
			if open {
				o.Open = oauth.OpenBrowser
			}
			o.PageElsewhere = !cmd.Flags().Changed("page")
			if poll {
				o.Poll = time.Second
			}
			debug.SetGCPercent(100) // it stays; main has settings for what ends soon
			o.Tool, o.Out = project.ThisTool(), cmd.ErrOrStderr()
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			context.AfterFunc(ctx, stop) // a second signal ends the process at once
			defer withKeys(cmd, &o)()
			return dev.Run(ctx, o)
		},
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
	}
	dirFlag(cmd, &dir)
	f := cmd.Flags()
	f.StringVar(&o.Addr, "addr", "127.0.0.1:8080", "the agent's `address` on this machine; port 0: any free port")
	f.StringVar(&o.Page, "page", "127.0.0.1:8090", "the page's `address` on this machine; port 0: any free port, \"off\": no page")
	f.BoolVar(&open, "open", false, "show the page in a browser")
	f.StringVar(&o.To, "to", "", "for agents that already run: show the one at this `URL`, and build none")
	f.StringVar(&o.Faults, "faults", "", "inject these `faults` into calls, or those in @FILE")
	f.BoolVar(&poll, "poll", false, "for containers and network drives, which report no changes: look at the files every second")
	f.StringVar(&o.Exec, "exec", "", "for your own builds: a shell `command` that writes the program to the file $A2A_DEV_OUT")
	f.BoolVar(&o.Debug, "debug", false, "for a debugger: build without optimizations, and print the process id")
	anyWord(cmd, "addr", "page", "to", "exec")
	hidden(cmd, "dir", "dev DIR")
	rare(cmd, "debug", "exec", "poll")
	return cmd
}

// noPage is the word of --page for none.
const noPage = "off"

// withKeys has single keys read, if a person sits at a terminal. The returned function gives the terminal back.
func withKeys(cmd *cobra.Command, o *dev.Options) (restore func()) {
	in, ok := cmd.InOrStdin().(*os.File)
	if !ok || !isTerminal(in) || !isTerminal(cmd.ErrOrStderr()) {
		return func() {}
	}
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return func() {}
	}
	o.Keys, o.Raw = in, true
	return func() { _ = term.Restore(int(in.Fd()), was) } // the process ends
}
