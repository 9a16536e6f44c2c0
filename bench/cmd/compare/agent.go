package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/a2agen/a2agen/bench/internal/load"
	"github.com/a2agen/a2agen/bench/internal/proc"
	"github.com/a2agen/a2agen/bench/internal/work"
)

// handler is what the user of the agent writes. The rest is as a2agen init makes it.
//
//go:embed talk.txt
var handler string

// agentRows measures what users have: a scaffolded agent with one skill from text to text, hosted by server.Main.
func (b *bench) agentRows(ctx context.Context) ([]row, error) {
	binary, err := b.buildAgent(ctx)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, a := range []struct {
		kind      work.Kind
		name      string
		says      string
		cpu, last float64 // targets of the CPU time and of the 99th percentile; 0 sets none
	}{
		{work.Message, "message", "t.Reply", 1.3, 0},
		{work.Task, "task", "t.Progress and t.Artifact", 2, 3},
	} {
		f, err := b.startBeside(ctx, binary)
		if err != nil {
			return nil, err
		}
		var c cost
		if err := f.during(func() (err error) {
			c, err = b.measure(f, job{"agent-" + a.name, a.kind, 0, connections, 1})
			return err
		}); err != nil {
			return nil, err
		}
		title := "a scaffolded agent, " + a.says
		rows = append(rows, ratioRow(title, "request", c, a.cpu),
			percentileRow(title+": time to the answer, p50", c.waits, 0.5, 0),
			percentileRow(title+": time to the answer, p99", c.waits, 0.99, a.last))
	}
	return rows, nil
}

// buildAgent scaffolds the agent and compiles it.
func (b *bench) buildAgent(ctx context.Context) (binary string, err error) {
	checkout, err := filepath.Abs("..")
	if err != nil {
		return "", err
	}
	tool, dir, binary := filepath.Join(b.bin, "a2agen-tool"), filepath.Join(b.bin, "talk"), filepath.Join(b.bin, "agent")
	if err := step(ctx, checkout, "go", "build", "-o", tool, "./cmd/a2agen"); err != nil {
		return "", err
	}
	if err := step(ctx, b.bin, tool, "init", dir, "--text", "talk", "--name", "Talk", "--module", "example.com/talk", "--yes", "--runtime", checkout); err != nil {
		return "", err
	}
	src := fmt.Appendf(nil, handler, work.TokenEnv, work.Reply(""), work.Text(work.Message, 0), work.Working, work.ArtifactName)
	if err := os.WriteFile(filepath.Join(dir, "skills", "talk.go"), src, 0o644); err != nil {
		return "", err
	}
	if err := step(ctx, dir, "go", "build", "-o", binary, "."); err != nil {
		return "", err
	}
	return binary, nil
}

// startBeside starts the agent and the bare handler.
func (b *bench) startBeside(ctx context.Context, binary string) (field, error) {
	f := make(field, columns)
	bare, err := proc.Start(ctx, filepath.Join(b.bin, contestants[colBare].dir))
	if err != nil {
		return nil, err
	}
	f[colBare] = &load.Target{Process: bare, Name: contestants[colBare].dir, Dialect: load.Canned}
	agent, err := proc.StartAgent(ctx, binary)
	if err != nil {
		return nil, errors.Join(err, f.stop())
	}
	f[colA2Agen] = &load.Target{Process: agent, Name: contestants[colA2Agen].dir, Dialect: load.V1}
	return f, nil
}
