// Command demo shows the whole path on this machine: it scaffolds an agent from a published card, gives it contracts and
// handlers, builds and starts it, talks to it with its typed client, with plain HTTP and with a client made from nothing but its
// URL, kills it in the middle of a task, and stops it. It prints the conversation and exits 1 when anything is not as it should be.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	start := time.Now()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "\ndemo failed:", err)
		os.Exit(1)
	}
	fmt.Printf("\nAll of it worked, in %.0f seconds.\n", time.Since(start).Seconds())
}

func run(ctx context.Context) error {
	root, err := repository()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "a2agen-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover temporary folder is no reason to fail
	d := &demo{root: root, tool: filepath.Join(dir, "a2agen"), agent: filepath.Join(dir, "routes"), caller: filepath.Join(dir, "caller")}
	defer d.close()

	for _, step := range []struct {
		title string
		do    func(context.Context) error
	}{
		{"Build a2agen", d.buildTool},
		{"Scaffold an agent from the route planner card of the A2A 0.3 specification; it builds and its tests pass", d.scaffold},
		{"Give the skills typed contracts and real handlers, and generate again", d.implement},
		{"Build the agent and start it", d.start},
		{"Talk to it through its generated client", d.talk},
		{"Talk to it with plain HTTP, as any other program would: over JSON-RPC, and over HTTP+JSON at the same URL", d.plain},
		{"Make a typed client from nothing but the agent's URL, and call it", d.stranger},
		{"Watch a task by a webhook that is down, and end the agent with kill -9 in the middle", d.crash},
		{"Start it again on the same file: the task is tried again, and the webhook hears everything in order", d.recover},
		{"Stop the agent with SIGTERM", d.stop},
	} {
		fmt.Printf("\n## %s\n", step.title)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.title, err)
		}
	}
	return nil
}

// repository finds the checkout from the working folder up.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "examples", "routes", "agent.yaml")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("run it in a checkout of a2agen")
		}
		dir = filepath.Dir(dir)
	}
}
