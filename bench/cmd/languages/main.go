// Command languages calls a typed skill of examples/weather from Python and JavaScript, through the official SDKs, and prints the
// forecasts. The SDKs are installed by exact version into a temporary folder. A language that is not on this machine, or whose SDK
// cannot be fetched, is left out with a line that says so; where CI is true, that is a failure.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// language is a way to call the agent. Its commands run in a folder of its own that holds the script.
type language struct {
	name    string
	needs   string     // the program that must be there
	script  string     // in interop/languages
	install [][]string // what fetches the SDK
	run     []string   // the URL of the agent is added
}

var languages = []language{
	{
		name: "Python", needs: "python3", script: "forecast.py",
		install: [][]string{
			{"python3", "-m", "venv", "sdk"},
			{"sdk/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "a2a-sdk==1.3.0"},
		},
		run: []string{"sdk/bin/python", "forecast.py"},
	},
	{
		name: "JavaScript", needs: "node", script: "forecast.mjs",
		install: [][]string{{"npm", "install", "--no-audit", "--no-fund", "--silent", "@a2a-js/sdk@1.3.0"}},
		run:     []string{"node", "forecast.mjs"},
	},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "languages:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "languages")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	agent, url, err := startAgent(ctx, dir)
	if err != nil {
		return fmt.Errorf("the agent of examples/weather: %w", err)
	}
	defer agent.Wait()
	defer agent.Process.Kill()

	errs := make([]error, len(languages))
	var all sync.WaitGroup
	for i, l := range languages {
		all.Go(func() { errs[i] = l.try(ctx, filepath.Join(dir, l.name), url) })
	}
	all.Wait()
	return errors.Join(errs...)
}

var listening = regexp.MustCompile(`msg="agent is listening" url=(\S+)`)

// startAgent builds the agent in dir and starts it on a free loopback port.
func startAgent(ctx context.Context, dir string) (*exec.Cmd, string, error) {
	binary := filepath.Join(dir, "agent")
	if err := command(ctx, "../examples/weather", "go", "build", "-trimpath", "-o", binary, "."); err != nil {
		return nil, "", err
	}
	cmd := exec.CommandContext(ctx, binary, "-addr", "127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, "", err
	}
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if m := listening.FindStringSubmatch(lines.Text()); m != nil {
			return cmd, m[1], nil
		}
	}
	return nil, "", fmt.Errorf("ended at once: %w", cmd.Wait())
}

// try installs the SDK, runs the script and prints its forecast.
func (l *language) try(ctx context.Context, dir, url string) error {
	if err := l.prepare(ctx, dir); err != nil {
		fmt.Printf("%s: not called: %v\n", l.name, err)
		if os.Getenv("CI") == "true" {
			return fmt.Errorf("%s: %w", l.name, err)
		}
		return nil
	}
	cmd := exec.CommandContext(ctx, l.run[0], append(l.run[1:], url)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", l.name, err, &stderr)
	}
	var forecast struct {
		Location string
		Days     []json.RawMessage
	}
	if err := json.Unmarshal(out, &forecast); err != nil || forecast.Location != "London" || len(forecast.Days) != 3 {
		return fmt.Errorf("%s: no forecast of three days for London (%v): %s", l.name, err, out)
	}
	fmt.Printf("%s: %s\n", l.name, bytes.TrimSpace(out))
	return nil
}

// prepare makes a folder with the script and the SDK.
func (l *language) prepare(ctx context.Context, dir string) error {
	if _, err := exec.LookPath(l.needs); err != nil {
		return fmt.Errorf("%s is not on this machine", l.needs)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	script, err := os.ReadFile(filepath.Join("interop/languages", l.script))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, l.script), script, 0o644); err != nil {
		return err
	}
	for _, c := range l.install {
		if err := command(ctx, dir, c[0], c[1:]...); err != nil {
			return fmt.Errorf("its SDK cannot be installed: %w", err)
		}
	}
	return nil
}

// command runs a command in a folder. Its error has the last line of what it said.
func command(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	said := strings.TrimSpace(string(out))
	return fmt.Errorf("%s: %w: %s", name, err, said[strings.LastIndexByte(said, '\n')+1:])
}
