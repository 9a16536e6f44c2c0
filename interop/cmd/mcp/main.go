// Command mcp has official clients of the Model Context Protocol use an agent, by "a2agen mcp" and over HTTP: the command
// line of the Inspector, and the SDKs for Python and TypeScript in the newest version of MCP and an older one.
// The other way, it makes skills of tools of official servers, by "a2agen import mcp".
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/a2agen/a2agen/runtime/server/mcpserver"
)

// The hosts, by what their registries call them.
const (
	inspector  = "@modelcontextprotocol/inspector@0.15.0" // newer ones need Node.js 22
	typescript = "@modelcontextprotocol/client@2.4.0"
	python     = "mcp==2.3.0"
)

// modes are the ways in which a host begins: with the newest version of MCP, and with "initialize".
var modes = []string{"auto", "legacy"}

// scripts are those of the hosts that are libraries.
const scripts = "languages"

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "mcp:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "a2agen-mcp-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	tool := filepath.Join(dir, "a2agen")
	if err := command(ctx, "..", nil, "go", "build", "-o", tool, "./cmd/a2agen"); err != nil {
		return err
	}
	a, err := startAgent()
	if err != nil {
		return err
	}
	defer a.close()
	ways := []way{
		{name: "by a2agen mcp", target: []string{tool, "mcp", a.url, "--allow-private-network"}},
		{name: "over HTTP", target: []string{a.url + mcpserver.Path}, flags: []string{"--transport", "http"}},
	}
	if err := inPython(ctx, dir, a, ways); err != nil {
		return fmt.Errorf("%s: %w", python, err)
	}
	if err := inNode(ctx, dir, a, ways); err != nil {
		return err
	}
	return importServers(ctx, dir, tool)
}

// way is one to the agent.
type way struct {
	name   string
	target []string // a command, or a URL
	flags  []string // of the Inspector
}

// inPython plays the host of the SDK for Python.
func inPython(ctx context.Context, dir string, a *agent, ways []way) error {
	if !has("python3") {
		fmt.Printf("%s: left out: python3 is not on this machine\n", python)
		return nil
	}
	program := filepath.Join(dir, "venv", "bin", "python")
	for _, line := range [][]string{
		{"python3", "-m", "venv", filepath.Join(dir, "venv")}, {program, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", python},
	} {
		if err := command(ctx, dir, nil, line[0], line[1:]...); err != nil {
			return err
		}
	}
	return play(ctx, dir, a, python, ways, program, script("mcphost.py"))
}

// inNode plays the hosts that npm has.
func inNode(ctx context.Context, dir string, a *agent, ways []way) error {
	if !has("npm") || !has("node") {
		fmt.Printf("%s, %s: left out: node or npm is not on this machine\n", typescript, inspector)
		return nil
	}
	if err := command(ctx, dir, nil, "npm", "install", "--no-audit", "--no-fund", "--silent", typescript, inspector); err != nil {
		return err
	}
	src, err := os.ReadFile(script("mcphost.mjs"))
	if err != nil {
		return err
	}
	host := filepath.Join(dir, "mcphost.mjs") // beside node_modules
	if err := os.WriteFile(host, src, 0o600); err != nil {
		return err
	}
	if err := play(ctx, dir, a, typescript, ways, "node", host); err != nil {
		return fmt.Errorf("%s: %w", typescript, err)
	}
	for _, w := range ways {
		if err := inspect(ctx, dir, w); err != nil {
			return fmt.Errorf("%s, %s: %w", inspector, w.name, err)
		}
	}
	return nil
}

// play runs a host on each way and in each mode, and compares what it saw.
func play(ctx context.Context, dir string, a *agent, name string, ways []way, program, host string) error {
	for _, w := range ways {
		for _, mode := range modes {
			var seen sight
			if err := command(ctx, dir, &seen, program, append([]string{host, mode}, w.target...)...); err != nil {
				return err
			}
			if err := errors.Join(seen.check(), a.wasCanceled()); err != nil {
				return fmt.Errorf("%s, MCP %s: %w", w.name, seen.Version, err)
			}
			fmt.Printf("%s, MCP %s, %s: as it must be\n", name, seen.Version, w.name)
		}
	}
	return nil
}

// inspect calls a tool by the command line of the Inspector.
func inspect(ctx context.Context, dir string, w way) error {
	line := slices.Concat([]string{filepath.Join("node_modules", ".bin", "mcp-inspector"), "--cli"}, w.target, w.flags)
	var list struct{ Tools []tool }
	if err := command(ctx, dir, &list, line[0], append(line[1:], "--method", "tools/list")...); err != nil {
		return err
	}
	var r result
	call := []string{"--method", "tools/call", "--tool-name", "get_forecast", "--tool-arg", "city=Rome", "--tool-arg", "days=2"}
	if err := command(ctx, dir, &r, line[0], append(line[1:], call...)...); err != nil {
		return err
	}
	if err := errors.Join(checkTools(list.Tools), checkForecast(r)); err != nil {
		return err
	}
	fmt.Printf("%s, its command line, %s: as it must be\n", inspector, w.name)
	return nil
}

// command runs a program, and reads the last JSON of what it prints into v, if that is not nil.
func command(ctx context.Context, dir string, v any, name string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s %s: %w\n%s%s", filepath.Base(name), strings.Join(args, " "), err, out, stderr.String())
	}
	if v == nil {
		return nil
	}
	if err := json.Unmarshal(out, v); err != nil {
		return fmt.Errorf("%s prints %s: %w", filepath.Base(name), out, err)
	}
	return nil
}

func has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// script is the whole path of a script.
func script(name string) string {
	path, err := filepath.Abs(filepath.Join(scripts, name))
	if err != nil {
		return name
	}
	return path
}
