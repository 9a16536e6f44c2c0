package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	rpc "github.com/a2agen/a2agen/runtime/client"
)

// demo is the state of one run: the folders, and the agent's process while it runs.
type demo struct {
	root   string // the checkout
	tool   string // the built a2agen
	agent  string // the agent's project
	caller string // another project, which calls it

	process *process
	webhook *webhook
	search  string                  // the task that a crash interrupts
	parked  *rpc.InputRequiredError // the task that waits for its client meanwhile
}

// sh runs a command and prints it with its output, indented.
func sh(ctx context.Context, dir, name string, args ...string) error {
	fmt.Printf("\n  $ %s %s\n", filepath.Base(name), strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "[no test files]") {
			continue
		}
		fmt.Print("  ", line)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(name), err)
	}
	return nil
}

func (d *demo) buildTool(ctx context.Context) error {
	return sh(ctx, d.root, "go", "build", "-o", d.tool, "./cmd/a2agen")
}

func (d *demo) scaffold(ctx context.Context) error {
	card := filepath.Join(d.root, "generator", "card", "testdata", "routeplanner.json")
	if err := sh(ctx, d.root, d.tool, "init", d.agent, "--card", card, "--module", "example.com/routes", "--store", "sqlite", "--yes", "--runtime", d.root); err != nil {
		return err
	}
	return sh(ctx, d.agent, "go", "test", "./...")
}

// implement does what the agent's author does: schemas in agent.yaml, code in the handlers.
func (d *demo) implement(ctx context.Context) error {
	source := filepath.Join(d.root, "examples", "routes")
	for _, name := range []string{"agent.yaml", "schemas", "skills", "cmd"} {
		if err := os.RemoveAll(filepath.Join(d.agent, name)); err != nil {
			return err
		}
		if err := copyTree(filepath.Join(source, name), filepath.Join(d.agent, name)); err != nil {
			return err
		}
	}
	fmt.Println("  agent.yaml, schemas/ and skills/ are now those of examples/routes")
	if err := sh(ctx, d.agent, d.tool, "generate"); err != nil {
		return err
	}
	return sh(ctx, d.agent, d.tool, "check")
}

func (d *demo) talk(ctx context.Context) error {
	return sh(ctx, d.agent, "go", "run", "./cmd/talk", d.process.url)
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if e.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		data, err := os.ReadFile(path)
		return errors.Join(err, os.WriteFile(target, data, 0o666))
	})
}
