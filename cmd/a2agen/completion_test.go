package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/a2agen/a2agen/internal/talk"
	"github.com/a2agen/a2agen/internal/test/talktest"
	"github.com/a2agen/a2agen/runtime/signedcard"
	"github.com/a2agen/a2agen/testkit/conform"
)

// complete is what a shell offers after some words, the last of which is being typed.
func complete(t *testing.T, words ...string) []string {
	t.Helper()
	var out bytes.Buffer
	if code := run(t.Context(), append([]string{"__complete"}, words...), strings.NewReader(""), &out, &bytes.Buffer{}); code != 0 {
		t.Fatalf("%q: exit code %d", words, code)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	return lines[:len(lines)-1] // the last one tells the shell what to do with them
}

// states are those of a task.
var states = []string{"submitted", "working", "completed", "failed", "canceled", "input-required", "rejected", "auth-required"}

// enumerated are the flags that take one or some of a few words, and the words.
var enumerated = map[string][]string{
	"init --auth": {"apikey", "bearer", "mtls", "oidc", "none"}, "init --store": {"memory", "sqlite", "postgres"}, "init --example": {"assistant", "weather"},
	"call --binding": {"JSONRPC", "HTTP+JSON", "GRPC"}, "call --protocol": talk.Versions(),
	"tasks list --state": states, "tasks prune --state": states, "spec diff --fail-on": {"breaking", "none"}, "--output": {"text", "json"},
	"card keygen --algorithm": signedcard.Algorithms(), "call --output": {"text", "json"}, "conform --output": {"text", "json", "junit"}, "check --explain": {"model", "bindings"}, "conform --only": checkIDs(),
}

func checkIDs() (ids []string) {
	for _, c := range conform.Checks() {
		ids = append(ids, c.ID)
	}
	return ids
}

// free are the flags that take a word of the user's own, and files those that take a file. A name without a command is of all commands.
var (
	free = []string{"import openapi --operation", "import openapi --tag", "import openapi --name", "import mcp --tool", "import mcp --env", "import mcp --header", "import mcp --name", "card catalog add --name", "card catalog find --skill", "card catalog find --tag", "init --name", "init --module", "init --skill", "init --text", "client --module", "client --name", "call --context", "call --task", "call --header", "mcp --header", "conform --header", "conform --other-header", "conform --host", "conform --webhook", "dev --addr", "dev --page", "dev --to", "dev --exec", "tasks timeline --agent", "tasks timeline --header",
		"--context", "--principal", "--tenant", "login --issuer", "login --client-id", "login --scope", "login --scheme",
		"login --resource", "login --audience", "login --token-url", "login --auth-url", "login --device-url", "login --redirect"}
	files = []string{"card catalog find --gives", "card catalog find --takes", "init --card", "conform --contract", "call --data", "call --file", "--store", "--jwks", "dev --faults", "card sign --key", "card sign --save", "card verify --save"}
)

// TestEveryFlagIsCompleted: by its words, by folders, by files, or by nothing. A new flag has to say by what.
func TestEveryFlagIsCompleted(t *testing.T) {
	eachFlag(rootCommand(), func(cmd *cobra.Command, f *pflag.Flag) {
		name := strings.TrimPrefix(cmd.CommandPath(), "a2agen ") + " --" + f.Name
		of := func(list []string) bool { return slices.Contains(list, name) || slices.Contains(list, "--"+f.Name) }
		words, ok := enumerated[name]
		if !ok {
			words, ok = enumerated["--"+f.Name]
		}
		line := append(strings.Fields(strings.TrimPrefix(cmd.CommandPath(), "a2agen ")), "--"+f.Name, "")
		_, folder := f.Annotations[cobra.BashCompSubdirsInDir]
		complement, declared := cmd.GetFlagCompletionFunc(f.Name)
		switch {
		case ok:
			if diff := cmp.Diff(words, withoutComments(complete(t, line...))); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		case folder, name == "call --skill":
		case of(free):
			if !declared {
				t.Errorf("%s takes a word of the user's own, and shells offer files", name)
			} else if offered, how := complement(cmd, nil, ""); len(offered) > 0 || how != cobra.ShellCompDirectiveNoFileComp {
				t.Errorf("%s offers %q", name, offered)
			}
		case of(files):
			if declared {
				t.Errorf("%s takes a file, and shells offer none", name)
			}
		default:
			t.Errorf("%s: say in this test what shells offer for it", name)
		}
	})
}

// eachFlag calls do with every flag that takes a value which is no number and no time.
func eachFlag(cmd *cobra.Command, do func(*cobra.Command, *pflag.Flag)) {
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if strings.HasPrefix(f.Value.Type(), "string") && !f.Hidden {
			do(cmd, f)
		}
	})
	for _, sub := range cmd.Commands() {
		if !sub.Hidden { // what is hidden takes the flags of what it is now
			eachFlag(sub, do)
		}
	}
}

// withoutComments drops what an offer says of itself.
func withoutComments(offers []string) []string {
	for i, o := range offers {
		offers[i], _, _ = strings.Cut(o, "\t")
	}
	return offers
}

// TestListsAreCompletedAfterACommaToo, with what is not in them yet.
func TestListsAreCompletedAfterACommaToo(t *testing.T) {
	if got := complete(t, "init", "x", "--binding", "GRPC,"); !slices.Equal(got, []string{"GRPC,JSONRPC", "GRPC,HTTP+JSON"}) {
		t.Errorf("got %q", got)
	}
	if got := complete(t, "tasks", "list", "--state", "working,f"); !slices.Contains(got, "working,failed") {
		t.Errorf("got %q", got)
	}
}

// TestSkillsAreCompleted by the card of a project, or of an agent that answers. An id that a shell would read otherwise is left out.
func TestSkillsAreCompleted(t *testing.T) {
	dir := t.TempDir()
	card := "name: x\nskills:\n  - id: forecast\n  - id: $(touch x)\n  - id: -rf\n  - name: no id\n  - id: alerts/2\n"
	if err := os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte(card), 0o600); err != nil {
		t.Fatal(err)
	}
	url, stop, err := talktest.Agent()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for target, want := range map[string][]string{dir: {"forecast", "alerts/2"}, url: {"chat", "forecast"}, t.TempDir(): nil, "http://127.0.0.1:1": nil} {
		if got := complete(t, "call", target, "--skill", ""); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}
