package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/a2agen/a2agen/generator/yamlx"
	"github.com/a2agen/a2agen/testkit/conform"
)

// formatJUnit is a format of conform alone.
const formatJUnit formatName = "junit"

func conformCommand() *cobra.Command {
	var c conform.Config
	var headers, others []string
	var contract string
	var all bool
	format := formatText
	cmd := &cobra.Command{
		Use:   "conform URL",
		Short: "Check an agent in any language against the specification, over every binding and version of its card",
		Long: `conform reads the card of an agent and tests every interface that it lists. A finding says what was sent and received, which sentence of
the specification that breaks, whether it is a MUST or a SHOULD, and whether official releases differ among themselves.

The agent needs one skill that answers a text, by default the first example of a skill. Checks that need more, such as a question or a task
that works long, run if a skill has their tag (conform:ask) or --contract has a text for them. Checks that could not run are listed, and never
count as passed. Calls are made one after another. The only webhook that the agent gets is this command's own, if both are on one machine or
--webhook is given.

Exit codes: 0 every tested MUST is kept; 1 one is broken; 2 nothing could be tested: no agent, wrong arguments, no credentials.`,
		Example: `  a2agen conform http://127.0.0.1:8080
  a2agen conform https://agent.example.com --header "Authorization: Bearer $TOKEN"
  a2agen conform https://agent.example.com --contract conform.yaml --output junit > report.xml
  a2agen conform http://127.0.0.1:8080 --only list,stream.ends,R24
  a2agen conform --list                                # all checks, with their requirements`,
		Args: func(cmd *cobra.Command, args []string) error {
			if all {
				return none(cmd, args)
			}
			return exactly(1, "the URL of an agent")(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVar((*string)(&format), "output", string(formatText), "the `format` of the result: text, json or junit")
	f.StringArrayVarP(&headers, "header", "H", nil, "send this `'Name: value'` with every request, as credentials, which reports leave out; may be given several times")
	f.StringArrayVar(&others, "other-header", nil, "credentials of a second caller, who must not see the first one's tasks: `'Name: value'`; may be given several times")
	f.StringVar(&contract, "contract", "", "a YAML or JSON `file` with texts that make the agent ask, work long, stream …")
	f.StringSliceVar(&c.Only, "only", nil, "run these `checks` alone: ids or their beginnings (send), or requirements (R24)")
	f.StringSliceVar(&c.Hosts, "host", nil, "for cards with interfaces on another `host`: test those, too, and send it the headers")
	f.DurationVar(&c.Timeout, "timeout", 10*time.Second, "for slow agents: the longest time of one call")
	f.IntVar(&c.Requests, "requests", conform.DefaultRequests, "for cards with many interfaces: the largest `number` of requests")
	f.StringVar(&c.Webhook, "webhook", "", "for agents on another machine: the `URL`, http://HOST:PORT, by which they send push notifications to this one")
	f.BoolVar(&all, "list", false, "list the checks, and run none")
	rare(cmd, "host", "requests", "timeout", "webhook")
	oneOf(cmd, "output", string(formatText), string(formatJSON), string(formatJUnit))
	renamed(cmd, "format", "output")
	var ids []string
	for _, check := range conform.Checks() {
		ids = append(ids, check.ID)
	}
	someOf(cmd, "only", ids...)
	anyWord(cmd, "header", "other-header", "host", "timeout", "requests", "webhook")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if format != formatText && format != formatJSON && format != formatJUnit {
			return fmt.Errorf("--output %q: write text, json or junit", string(format))
		}
		if all {
			return listChecks(cmd, format)
		}
		var err error
		if c.Header, err = headersOf(headers); err != nil {
			return err
		}
		if c.Other, err = headersIn("--other-header", others); err != nil {
			return err
		}
		if c.Contract, err = readContract(contract); err != nil {
			return err
		}
		c.URL = args[0]
		return runConform(cmd, c, format)
	}
	return cmd
}

func runConform(cmd *cobra.Command, c conform.Config, format formatName) error {
	if isTerminal(cmd.ErrOrStderr()) {
		c.Progress = progressTo(cmd.ErrOrStderr())
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	r, err := conform.Run(ctx, c)
	if err != nil {
		return err
	}
	write := map[formatName]func(io.Writer) error{formatText: r.WriteText, formatJSON: r.WriteJSON, formatJUnit: r.WriteJUnit}[format]
	switch err := write(cmd.OutOrStdout()); {
	case err != nil:
		return err
	case r.Count(conform.Failed, conform.Must) > 0:
		return errInvalid
	case !r.Tried():
		return fmt.Errorf("nothing of the agent could be tried: %s", r.Interfaces[0].NotTried)
	}
	return nil
}

// progressTo prints which interface is tried, and each finding as it is there.
func progressTo(w io.Writer) func(conform.Result) {
	on := ""
	return func(x conform.Result) {
		if x.On != on {
			on = x.On
			fmt.Fprintf(w, "%s …\n", on)
		}
		if x.Outcome == conform.Failed {
			fmt.Fprintf(w, "  %s %s\n", x.Level, x.Check)
		}
	}
}

// headersOf are the credentials of --header, and of the environment if there are none of Authorization.
func headersOf(lines []string) (http.Header, error) {
	h, err := headersIn("--header", lines)
	if secret := token(lines); secret != "" && err == nil {
		h.Set("Authorization", "Bearer "+secret)
	}
	return h, err
}

// headersIn reads "Name: value". An error does not have the value, which is secret.
func headersIn(flag string, lines []string) (http.Header, error) {
	h := http.Header{}
	for i, line := range lines {
		name, value, ok := strings.Cut(line, ":")
		if name, value = strings.TrimSpace(name), strings.TrimSpace(value); !ok || name == "" || value == "" || strings.ContainsAny(line, "\r\n") {
			return nil, fmt.Errorf("%s number %d is not 'Name: value'", flag, i+1)
		}
		h.Add(name, value)
	}
	return h, nil
}

// maxContract is how long a contract may be, in bytes.
const maxContract = 1 << 20

// readContract reads a contract from YAML or JSON; nil for no file.
func readContract(file string) (*conform.Contract, error) {
	if file == "" {
		return nil, nil
	}
	open, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer open.Close()
	src, err := io.ReadAll(io.LimitReader(open, maxContract+1))
	if err != nil {
		return nil, err
	}
	if len(src) > maxContract {
		return nil, fmt.Errorf("%s is longer than %d bytes", file, maxContract)
	}
	root, problems := yamlx.Parse(file, src)
	if problems.HasErrors() {
		return nil, errors.New(problems[0].String())
	}
	c, err := conform.ParseContract(yamlx.JSON(root))
	var wrong *conform.ContractError
	if errors.As(err, &wrong) {
		at := root
		if key, value := yamlx.Pair(root, wrong.Step); key != nil {
			if at = key; wrong.Member != "" {
				if inner, _ := yamlx.Pair(value, wrong.Member); inner != nil {
					at = inner
				}
			}
		}
		return nil, fmt.Errorf("%s: %w", yamlx.Pos(file, at), err)
	}
	return c, err
}

func listChecks(cmd *cobra.Command, format formatName) error {
	if format == formatJSON {
		return printJSON(cmd, struct {
			Checks       []conform.Check       `json:"checks"`
			Requirements []conform.Requirement `json:"requirements"`
		}{conform.Checks(), conform.Coverage()})
	}
	for _, c := range conform.Checks() {
		needs := ""
		if c.Needs != "" {
			needs = " (needs: " + c.Needs + ")"
		}
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "%-24s %-6s %-28s %s%s\n", c.ID, c.Level, strings.Join(c.Requirements, ","), c.Sentence, needs)
		if err != nil {
			return err
		}
	}
	return nil
}
