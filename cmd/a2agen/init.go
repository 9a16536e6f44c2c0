package main

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen"
	"github.com/a2agen/a2agen/generator/card"
	"github.com/a2agen/a2agen/generator/config"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/shell"
	"github.com/a2agen/a2agen/runtime/server"
	"github.com/a2agen/a2agen/spec"
)

func initCommand() *cobra.Command {
	var o project.InitOptions
	var yes bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a new agent that builds, answers and has tests",
		Long: `init makes a project in DIR, the working folder by default: agent.yaml, a2agen.yaml, the packages generated from them, a handler
with a sample answer for each skill, tests, main.go, go.mod, Dockerfile, Makefile, a workflow for CI and README. It needs no network. On a
terminal it asks for the name, the skills and the module unless flags give them; elsewhere it uses the defaults. The versions of A2A, the
bindings (JSON-RPC, HTTP+JSON, gRPC) and other settings are in the two YAML files: change them there, and run a2agen generate.

A skill given by --skill has an input and an output schema, and a handler with types made from them; one given by --text takes
and returns plain text.

--auth says what callers must send: an API key, a bearer token, a client certificate (mtls), a token of an OpenID provider (oidc), or nothing.

--example starts from a finished agent with handlers and tests: "weather", or "assistant", a language model with tools.

--card starts from an agent card, JSON or YAML, of A2A 0.1, 0.2, 0.3 or 1.0, in a file or at a URL. A line is printed for
each thing that was changed or left out.`,
		Example: `  a2agen init weather
  a2agen init weather --skill forecast --skill alerts --module example.com/weather
  a2agen init chat --text talk          # a skill from text to text
  a2agen init weather --store sqlite    # tasks are kept in a file and outlive the process
  a2agen init weather --store postgres  # … in a database, which many replicas share
  a2agen init vault --auth apikey       # callers need a key
  a2agen init routes --card agent-card.json
  a2agen init routes --card https://agent.example.com
  a2agen init helper --example assistant   # a language model with tools, at any OpenAI-compatible endpoint
  a2agen init weather --vendor          # with the runtime's source in the project: no downloads at all`,
		Args: between(0, 1, "at most the folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Tool, o.Dir = project.ThisTool(), "."
			if len(args) == 1 {
				o.Dir = args[0]
			}
			o.Skills, o.Texts = apart(o.Skills), apart(o.Texts)
			if !yes && isTerminal(cmd.InOrStdin()) && isTerminal(cmd.ErrOrStderr()) {
				if err := ask(cmd, &o); err != nil {
					return err
				}
			}
			r, err := project.Init(cmd.Context(), o)
			if err := report(cmd, o.DryRun, r, err); err != nil {
				return err
			}
			if !o.DryRun {
				nextSteps(cmd, o)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "the `name` of the agent; default: that of the folder")
	f.StringVar(&o.Module, "module", "", "the Go module `path`; default: example.com/NAME")
	f.StringVar(&o.CardFile, "card", "", "start from an agent card: its `file`, or the URL of an agent or a card")
	privateFlag(cmd, &o.AllowPrivate, "")
	f.StringArrayVar(&o.Skills, "skill", nil, "the `id` of a skill, with sample schemas for you to replace; may be given several times; default: echo")
	f.StringArrayVar(&o.Texts, "text", nil, "the `id` of a skill that takes and returns text; may be given several times")
	f.BoolVarP(&yes, "yes", "y", false, "for scripts on a terminal: ask nothing")
	f.StringVar(&o.Runtime, "runtime", "", "for work on a2agen itself: build against its checkout in this `folder`")
	f.StringVar(&o.Store, "store", "", "where the agent keeps its tasks, a `kind` of store: "+strings.Join(config.StoreWords(), ", ")+"; default: "+config.Stores[0].Word)
	f.StringVar(&o.Auth, "auth", "", "the `credential` that callers must send: "+strings.Join(card.FreshSchemeNames(), ", ")+"; default: undecided, only this machine can call")
	f.StringSliceVar(&o.Bindings, "binding", nil, "the `binding` to speak: "+strings.Join(config.Bindings(), ", ")+", or several with commas, the preferred one first; default: "+
		strings.Join(config.Default().BindingNames(), ","))
	f.StringSliceVar(&o.Protocol, "protocol", nil, "the `version` of the protocol to speak: "+strings.Join(spec.Versions(), ", ")+", or several with commas; default: "+strings.Join(spec.Fresh(), ","))
	f.StringVar(&o.Example, "example", "", "start from the example of this `name`: "+strings.Join(a2agen.Examples(), " or "))
	f.BoolVar(&o.Vendor, "vendor", false, "for builds without a network: copy the runtime's source into the project")
	f.BoolVar(&o.Force, "add", false, "for a folder that is not empty: add what is missing, and overwrite nothing")
	f.BoolVar(&o.DryRun, "dry-run", false, "say what would be done, and change nothing")
	takesFolder(cmd, "runtime")
	oneOf(cmd, "store", config.StoreWords()...)
	oneOf(cmd, "example", a2agen.Examples()...)
	oneOf(cmd, "auth", card.FreshSchemeNames()...)
	someOf(cmd, "binding", config.Bindings()...)
	someOf(cmd, "protocol", spec.Versions()...)
	anyWord(cmd, "name", "module", "skill", "text")
	renamed(cmd, "bindings", "binding")
	renamed(cmd, "force", "add")
	hidden(cmd, "binding", "bindings in a2agen.yaml")
	hidden(cmd, "bindings", "bindings in a2agen.yaml")
	hidden(cmd, "protocol", "protocol in a2agen.yaml")
	must(f.MarkHidden("runtime"))
	rare(cmd, "dry-run", "name", "vendor", "yes")
	return cmd
}

// apart returns the ids of flags that may have several each, with commas.
func apart(flags []string) (ids []string) {
	for _, list := range flags {
		ids = append(ids, strings.Split(list, ",")...)
	}
	return ids
}

// ask asks for what the flags leave open. An empty answer is the default in brackets.
func ask(cmd *cobra.Command, o *project.InitOptions) error {
	in := bufio.NewReader(cmd.InOrStdin())
	question := func(what, otherwise string) (string, error) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s [%s]: ", what, otherwise)
		line, err := in.ReadString('\n')
		if err != nil {
			return "", fmt.Errorf("no answer: %w", err)
		}
		if line = strings.TrimSpace(line); line == "" {
			return otherwise, nil
		}
		return line, nil
	}
	var err error
	if o.Example != "" {
		return nil
	}
	if o.CardFile == "" && o.Name == "" {
		abs, e := filepath.Abs(o.Dir)
		if e != nil {
			return e
		}
		if o.Name, err = question("Name of the agent", filepath.Base(abs)); err != nil {
			return err
		}
	}
	if o.CardFile == "" && len(o.Skills)+len(o.Texts) == 0 {
		ids, err := question("Ids of its skills", project.DefaultSkill)
		if err != nil {
			return err
		}
		o.Skills = strings.FieldsFunc(ids, func(r rune) bool { return r == ' ' || r == ',' })
	}
	if o.Module == "" && o.Name != "" {
		o.Module, err = question("Go module", project.DefaultModule(o.Name))
	}
	return err
}

// nextSteps prints what to do next.
func nextSteps(cmd *cobra.Command, o project.InitOptions) {
	out := cmd.OutOrStdout()
	fmt.Fprintln(out, "\nNext:")
	if o.Dir != "." {
		fmt.Fprintf(out, "  cd %s\n", shell.Word(o.Dir))
	}
	if o.Example != "" {
		fmt.Fprintln(out, "  less README.md    # what the example needs, and what it does")
	}
	fmt.Fprint(out, card.FreshSchemeOf(o.Auth).Next)
	if s := config.StoreOf(o.Store).Server; s != nil {
		fmt.Fprintf(out, "  export %s=%s   # where %s is; \"memory\" needs none\n", server.EnvStore, s.Address, s.Title)
	}
	fmt.Fprintln(out, "  go test ./...     # calls every skill, in process\n  go run .          # http://127.0.0.1:8080\n  a2agen call . \"hello\"    # in another terminal")
}
