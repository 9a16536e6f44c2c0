//go:build unix

package killtest

import (
	"path/filepath"
	"testing"

	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/internal/test/gotool"
	"github.com/a2agen/a2agen/internal/test/projecttest"
)

const agentYAML = `name: victim
description: Is killed.
version: "1"
capabilities: {streaming: true, pushNotifications: true}
skills:
  - {id: sturdy, name: Sturdy, description: Is tried again., tags: [a], onCrash: retry}
  - {id: fragile, name: Fragile, description: Fails., tags: [b]}
  - {id: asking, name: Asking, description: Asks., tags: [c], onCrash: retry}
`

const configYAML = `protocol: ["1.0"]
protocol_import: github.com/a2agen/a2agen/a2a
store: sqlite
`

const handlers = `package skills

import (
	"context"
	"fmt"
	"time"

	"example.com/victim/agent"
	"github.com/a2agen/a2agen/a2a"
)

type Agent struct{}

func New() *Agent { return &Agent{} }

func (*Agent) Sturdy(ctx context.Context, _ *a2a.Message, t *agent.Task) (string, error) { return work(ctx, t) }

func (*Agent) Fragile(ctx context.Context, _ *a2a.Message, t *agent.Task) (string, error) { return work(ctx, t) }

func (*Agent) Asking(_ context.Context, _ *a2a.Message, t *agent.Task) (string, error) {
	if !t.Resumed() {
		return "", t.Ask("And then?")
	}
	return "done " + t.Text(), nil
}

func work(ctx context.Context, t *agent.Task) (string, error) {
	w := t.Stream("log")
	for i := range 5 {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(4 * time.Millisecond):
		}
		if err := t.Progress("step %d of attempt %d", i, t.Call().Attempt()); err != nil {
			return "", err
		}
		if _, err := fmt.Fprintf(w, "%d", i); err != nil {
			return "", err
		}
	}
	return "done " + t.Text(), w.Close()
}
`

const mainGo = `package main

import (
	"os"

	"example.com/victim/agent"
	"example.com/victim/skills"
	"github.com/a2agen/a2agen/runtime/server"
)

func main() { os.Exit(server.Main(agent.NewServer(skills.New()))) }
`

// build generates the agent and compiles it.
func build(t *testing.T) (binary string) {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	projecttest.Write(t, dir, map[string]string{
		"go.mod":     projecttest.GoMod("example.com/victim", root),
		"agent.yaml": agentYAML, "a2agen.yaml": configYAML, "skills/skills.go": handlers, "main.go": mainGo,
	})
	report, err := project.Run(t.Context(), project.Options{Tool: project.ThisTool(), Dir: dir})
	if err != nil {
		t.Fatal(err, report.Diagnostics)
	}
	binary = filepath.Join(dir, "victim")
	if out, err := gotool.Command(dir, "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}
