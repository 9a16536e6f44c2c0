package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/internal/shell"
	"github.com/a2agen/a2agen/internal/talk"
)

func callCommand() *cobra.Command {
	var o talk.Options
	var stream bool
	var output string
	cmd := &cobra.Command{
		Use:   "call URL|DIR [TEXT]",
		Short: "Talk to an agent: send a message, see the answer, answer its questions",
		Long: `call sends a message to an agent of any protocol version and prints the answer. The agent is a URL, or the folder of a project
("." is this one), whose agent must be running: its address is read from A2A_PUBLIC_URL, A2A_ADDR or PORT, else it is
http://127.0.0.1:8080.

On a terminal the answer and the progress appear as they come, and you answer the agent's questions at a prompt; an
empty line leaves the question open. In a pipe stdout has all text of the agent, or, if the skill's result is data, the data alone,
with the text on stderr. A question ends the command with exit code 3, and the command that answers it is printed. Ctrl-C stops
waiting, not the task: the commands that wait for it again and cancel it are printed.

Credentials are A2A_TOKEN, a bearer token, or --header; else A2A_CLIENT_<SCHEME> for the card's security scheme of that name (a token, an API key
or user:password; with _FILE a file that has it, with _CERT and _KEY a client certificate, with _ISSUER, _ID and _SECRET client credentials of OAuth 2); else
"a2agen login". If a credential is missing, nothing is sent, and the error says how to give it.

Exit codes: 0 answered; 1 the task failed, was rejected or canceled, or the agent answered with an error (401 and 403, too); 2 wrong arguments, or
the agent cannot be reached or understood; 3 the task waits for an answer or an authorization; 130 interrupted.`,
		Example: `  a2agen call . "How will the weather be in Rome?"             # the agent of this project, started by go run .
  a2agen call . --skill forecast --data '{"city": "Rome"}'     # the data is checked by the skill's schema
  A2A_TOKEN=… a2agen call https://agent.example.com "Plan a trip"      # not needed after a2agen login
  A2A_CLIENT_KEY=… a2agen call https://agent.example.com "Plan a trip" # for the scheme "key" of the card
  a2agen call . "hello" --trace                                # requests, answers and events byte for byte
  a2agen call . "hello" --binding GRPC                         # over gRPC, which the card offers beside others
  a2agen call . --task 7d1c "Friday"                           # answer the question of a task
  a2agen call . --task 7d1c                                    # wait for a task; --cancel cancels it
  a2agen call . "Draw a map" --file area.json --save maps      # files in, files out
  jq .order in.json | a2agen call . --skill order --data - | jq .price`,
		Args:              between(1, 2, "the agent's URL or the folder of its project, and one text in quotes"),
		ValidArgsFunction: cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch o.Target = args[0]; output {
			case "text":
			case "json":
				o.JSON = true
			default: // a folder, in earlier versions
				tellNow(cmd, "--output FOLDER", "--save FOLDER")
				o.Output = output
			}
			if o.Output == "json" {
				return errors.New("-o is --save FOLDER: for JSON write --output json, for a folder of that name --save ./json")
			}
			if len(args) == 2 {
				o.Text = args[1]
			}
			o.Again = sameCall(o)
			o.Token = cmp.Or(o.Token, token(o.Headers))
			o.In, o.Out, o.Err = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
			o.Screen = isTerminal(o.Out)
			o.Asks = isTerminal(o.In) && isTerminal(o.Err)
			asked := cmd.Flags().Changed("stream")
			o.Live, o.OneGo = stream || !asked && o.Screen && !o.JSON, asked && !stream
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			context.AfterFunc(ctx, stop) // a second signal ends the process at once
			return talk.Run(ctx, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Skill, "skill", "", "the `id` of a skill to call; default: the agent chooses by the message")
	f.StringVar(&o.Data, "data", "", "send data, with or without a text: `JSON`, @FILE, or - for stdin")
	f.StringArrayVar(&o.Files, "file", nil, "send a file from this `path`; may be given several times")
	f.StringVar(&output, "output", "text", "the `format` of the result: text; json, the task or message on one line, with --stream every event")
	f.StringVarP(&o.Output, "save", "o", "", "save the result in a `folder` for its files; none is overwritten")
	f.BoolVar(&stream, "stream", false, "print the answer as it comes, the default on a terminal; --stream=false waits for all of it")
	f.StringVar(&o.Context, "context", "", "the `id` of a conversation to continue")
	f.StringVar(&o.Task, "task", "", "continue the task with this `id`: answer it, or without a text wait for it")
	f.BoolVar(&o.Cancel, "cancel", false, "cancel the task of --task")
	f.StringArrayVarP(&o.Headers, "header", "H", nil, "send this `'Name: value'` with every request; may be given several times")
	tokenFlag(cmd, &o.Token)
	f.StringVar(&o.Protocol, "protocol", "", "for agents of several versions: the `version` of the protocol to speak; default: what the card prefers")
	f.StringVar(&o.Binding, "binding", "", "for agents with several bindings: the `binding` to speak, "+strings.Join(talk.Bindings(), ", ")+"; default: what the card prefers")
	f.BoolVar(&o.JSON, "json", false, "")
	hidden(cmd, "json", "--output json")
	f.BoolVarP(&o.Verbose, "verbose", "v", false, "print more: each step, on stderr")
	f.BoolVar(&o.Trace, "trace", false, "for debugging: print requests, answers and events byte for byte on stderr, with times; secrets are masked")
	oneOf(cmd, "protocol", talk.Versions()...)
	oneOf(cmd, "binding", talk.Bindings()...)
	must(cmd.RegisterFlagCompletionFunc("skill", skillsOf))
	takesFolder(cmd, "save")
	oneOf(cmd, "output", string(formatText), string(formatJSON))
	anyWord(cmd, "context", "task", "header")
	rare(cmd, "binding", "protocol", "trace")
	return cmd
}

// tokenFlag adds --token, which other users of this machine can see: help shows the variable alone.
func tokenFlag(cmd *cobra.Command, token *string) {
	cmd.Flags().StringVar(token, "token", "", "send this bearer `token`, to the agent's host only")
	anyWord(cmd, "token")
	hidden(cmd, "token", envToken+"=…, which other users of this machine cannot see")
}

// envToken is the environment variable with a bearer token for the agent.
const envToken = "A2A_TOKEN"

// token returns that of the environment, unless a header has credentials.
func token(headers []string) string {
	for _, h := range headers {
		if name, _, _ := strings.Cut(h, ":"); strings.EqualFold(name, "Authorization") {
			return ""
		}
	}
	return strings.TrimSpace(os.Getenv(envToken))
}

// sameCall returns the command that calls the same agent in the same way. Credentials are secret: it has a "…" in
// their place.
func sameCall(o talk.Options) string {
	words := []string{"a2agen", "call", shell.Word(o.Target)}
	if o.Token == "" && token(o.Headers) != "" {
		words = append([]string{envToken + "=…"}, words...)
	}
	if o.Protocol != "" {
		words = append(words, "--protocol", shell.Word(o.Protocol))
	}
	if o.Binding != "" {
		words = append(words, "--binding", shell.Word(o.Binding))
	}
	for _, h := range o.Headers {
		name, _, _ := strings.Cut(h, ":")
		words = append(words, "--header", "'"+strings.ReplaceAll(name, "'", "")+": …'")
	}
	if o.Token != "" {
		words = append(words, "--token", "…")
	}
	return strings.Join(words, " ")
}
