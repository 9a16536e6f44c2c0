// Command a2agen generates Go agents that speak the A2A protocol: typed protocol code, a server skeleton with a handler
// for each skill, and typed clients.
//
// Each file holds one command: flags in, a call of package generator, a report out. Exit codes: 0 clean, 1 the input is
// invalid or generated files have drifted, 2 the command could not run; call has codes of its own.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2agen/a2agen/generator/suggest"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/project/disk"
	"github.com/a2agen/a2agen/internal/talk"
)

// The exit codes.
const (
	exitClean   = 0
	exitInvalid = 1
	exitFailed  = 2
)

// Settings of the garbage collector: an ordinary run ends before the first collection, which would cost it half as much
// time again; a huge project still stays within bounds.
const (
	heapGrowth  = 800       // percent; the first collection is at 4 MiB times this
	memoryLimit = 512 << 20 // bytes; beyond it collections become frequent
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
		debug.SetMemoryLimit(memoryLimit)
	}
	// Signals kill as they do by default, but for a watch, which they end: at every moment all files are whole.
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// errInvalid is the error of a command that has printed what is wrong.
var errInvalid = errors.New("invalid")

// run is the program without its process.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	out := &results{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = out.failed()
	}
	if err == nil {
		return exitClean
	}
	if !errors.Is(err, errInvalid) {
		fmt.Fprintf(stderr, "a2agen: %v\n", err)
	}
	var said *talk.Error
	if errors.As(err, &said) {
		return said.Code
	}
	var invalid *project.InvalidError
	var refused *disk.RefusedError
	var untrusted *project.UntrustedError
	if errors.Is(err, errInvalid) || errors.As(err, &invalid) || errors.As(err, &refused) || errors.As(err, &untrusted) {
		return exitInvalid
	}
	return exitFailed
}

func rootCommand() *cobra.Command {
	cobra.EnableCommandSorting = false
	root := group("a2agen", "Generate Go agents that speak A2A")
	root.Long = `a2agen makes Go agents that speak A2A, the protocol between agents. You describe an agent and its skills in agent.yaml, from which its
public agent card is made; a2agen writes the code. From somebody else's card it makes a typed Go client.`
	root.Example = `  a2agen init weather --skill forecast     # a new agent that builds, answers and has tests
  cd weather && go run .                   # it listens on http://127.0.0.1:8080
  a2agen call . "hello"                    # in another terminal: talk to it
  a2agen generate                          # after a change of agent.yaml
  a2agen check                             # in CI: are the generated files up to date, and does it build?
  a2agen client https://agent.example.com  # a typed client for somebody else's agent`
	root.Version, root.SilenceUsage, root.SilenceErrors = project.ThisTool().Version, true, true
	root.SetVersionTemplate("a2agen {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if cmd.HasSubCommands() && cmd.Flags().NArg() > 0 {
			return none(cmd, cmd.Flags().Args()) // a command that there is not, with flags which it might have
		}
		hint := ""
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) {
			typed, known := unknown.GetSpecifiedName(), []string(nil)
			cmd.Flags().VisitAll(func(f *pflag.Flag) {
				if !f.Hidden && (len(typed) > 1 || strings.HasPrefix(f.Name, typed)) {
					known = append(known, f.Name)
				}
			})
			if near := suggest.Nearest(typed, known); near != "" {
				hint = didYouMean + "--" + near + "?"
			} else if len(typed) == 1 && len(known) > 0 {
				hint = didYouMean + "--" + known[0] + "?"
			}
		}
		return fmt.Errorf("%w (see %s --help)%s", err, cmd.CommandPath(), hint)
	})
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { sayWhatItIsNow(cmd) }
	cobra.AddTemplateFunc("flags", func(cmd *cobra.Command, rare bool) string {
		shown := pflag.NewFlagSet("", pflag.ContinueOnError)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if isRare(f) == rare {
				shown.AddFlag(f)
			}
		})
		return strings.TrimRight(shown.FlagUsages(), "\n")
	})
	root.SetUsageTemplate(usage)
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Make an agent, or a client:", []*cobra.Command{initCommand(), generateCommand(), checkCommand(), clientCommand(), importCommand(), updateCommand()}},
		{"Use agents:", []*cobra.Command{devCommand(), callCommand(), tasksCommand(), loginCommand()}},
		{"Check and publish:", []*cobra.Command{cardCommand(), conformCommand(), specCommand(), mcpCommand()}},
	} {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID, cmd.SuggestFor = g.title, alsoCalled[cmd.Name()]
		}
		root.AddCommand(g.commands...)
	}
	root.AddCommand(versionCommand())
	root.AddCommand(movedCommands()...)
	refuseStrangers(root)
	return root
}

// usage is how the help of a command ends: that of the program with its commands in groups, in the order in which one meets them.
const usage = `Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} [command]{{else}}{{.UseLine}}{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{range $group := .Groups}}

{{.Title}}{{range $.Commands}}{{if and (eq .GroupID $group.ID) .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if and .HasAvailableSubCommands (not .Groups)}}

Commands:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{with flags . false}}

Flags:
{{.}}{{end}}{{with flags . true}}

Less often:
{{.}}{{end}}{{if .HasAvailableSubCommands}}

{{if .HasParent}}"{{.CommandPath}} COMMAND --help" says more about a command.{{else}}Also: version; help COMMAND, or COMMAND --help; completion SHELL.{{end}}{{end}}
`

// alsoCalled is what people type who know other tools, or think of what a command does.
var alsoCalled = map[string][]string{
	"init": {"new", "create", "scaffold"}, "generate": {"build", "compile"}, "check": {"lint", "verify", "diff", "test"}, "client": {"consume"},
	"import": {"openapi", "add"}, "update": {"upgrade"}, "dev": {"run", "serve", "start", "watch", "proxy", "faults"}, "call": {"send", "chat", "ask", "message"},
	"tasks": {"store", "timeline"}, "login": {"auth"}, "card": {"sign", "keygen", "agents"}, "conform": {"conformance", "tck"}, "spec": {"protocol", "wires"},
	"mcp": {"bridge", "tools"},
}

// group is a command that has others, and does nothing by itself.
func group(name, short string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, Args: none, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
}

// refuseStrangers rejects unknown arguments, for which cobra's own two commands print their usage and succeed.
func refuseStrangers(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			cmd.Hidden = true
			cmd.Args, cmd.RunE = none, func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		case "help":
			cmd.Hidden = true
			cmd.Args = func(cmd *cobra.Command, args []string) error {
				of, rest, err := cmd.Root().Find(args)
				if err != nil {
					return err
				}
				return none(of, rest)
			}
		}
	}
}

// exactly takes a number of arguments, and says what they are if the number is wrong.
func exactly(n int, usage string) cobra.PositionalArgs {
	return between(n, n, fmt.Sprintf("%d: %s", n, usage))
}

// between takes as many arguments as from least to most, and says what they are if there are more or less.
func between(least, most int, usage string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s, want %s (see %s --help)", count(len(args), "argument"), usage, cmd.CommandPath())
		}
		return nil
	}
}

// none takes no arguments.
func none(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	what, hint, near := "unexpected argument", "", ""
	var known []string
	for _, sub := range cmd.Commands() {
		what = "unknown command"
		if slices.Contains(sub.SuggestFor, args[0]) {
			near = sub.Name()
		} else if sub.IsAvailableCommand() {
			known = append(known, sub.Name())
		}
	}
	if near = cmp.Or(near, suggest.Nearest(args[0], known)); near != "" {
		hint = didYouMean + cmd.CommandPath() + " " + near + "?"
	} else if info, err := os.Stat(args[0]); err == nil && info.IsDir() && cmd.Flags().Lookup("dir") != nil {
		hint = didYouMean + "-C " + args[0] + "?"
	}
	return fmt.Errorf("%s %q (see %s --help)%s", what, args[0], cmd.CommandPath(), hint)
}

const didYouMean = "; did you mean "

// rare has help show flags after the others. Their usage says who needs them.
func rare(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		must(cmd.Flags().SetAnnotation(name, "a2agen_rare", nil))
	}
}

func isRare(f *pflag.Flag) bool {
	_, is := f.Annotations["a2agen_rare"]
	return is
}

// privateFlag adds --allow-private-network, for which more says what else it allows.
func privateFlag(cmd *cobra.Command, allow *bool, more string) {
	cmd.Flags().BoolVar(allow, "allow-private-network", false, "for hosts on this machine or in your own network: also allow private and loopback addresses"+more)
	rare(cmd, "allow-private-network")
}

// dirFlag adds -C.
func dirFlag(cmd *cobra.Command, dir *string) {
	cmd.Flags().StringVarP(dir, "dir", "C", ".", "the project's `folder`")
	takesFolder(cmd, "dir")
}
