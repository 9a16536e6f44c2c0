package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// agents are those whose programs are measured: one skill, made by "a2agen init" with these flags, and with the card's
// capabilities added.
var agents = []struct {
	name, capabilities string
	flags              []string
}{
	{"1.0, JSON-RPC alone", "", []string{"--protocol=1.0", "--binding=JSONRPC"}},
	{"1.0", "", []string{"--protocol=1.0"}},
	{"as init makes it", "", nil},
	{"with push, keys, gRPC and SQLite", "\n  pushNotifications: true", []string{
		"--binding=JSONRPC,HTTP+JSON,GRPC", "--auth=apikey", "--store=sqlite",
	}},
}

// tags leave out of grpc-go what the generated Dockerfile leaves out.
const tags = "-tags=grpcnotrace"

// linked is what of this module's runtime is in a program.
type linked struct {
	bytes    int64          // of the program, as its Dockerfile builds it
	packages map[string]int // lines of the packages that it imports
	kept     map[string]int // lines of the functions that the linker kept, by package
}

// printLinked builds agents and prints what of the runtime is in each.
func printLinked(list bool) error {
	dir, err := os.MkdirTemp("", "measure")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	tool := filepath.Join(dir, "a2agen.exe")
	if err := command("go", "build", "-o", tool, "./cmd/a2agen"); err != nil {
		return err
	}
	fmt.Println("an agent of one skill links of runtime")
	fmt.Printf("\t%9s %9s %9s %9s\n", "MB", "packages", "lines", "kept")
	for i, a := range agents {
		project := filepath.Join(dir, fmt.Sprint("agent", i))
		l, err := measureAgent(tool, project, a.capabilities, a.flags)
		if err != nil {
			return fmt.Errorf("agent %q: %w", a.name, err)
		}
		fmt.Printf("\t%9.2f %9d %9d %9d  %s\n", float64(l.bytes)/1e6, len(l.packages), sum(l.packages), sum(l.kept), a.name)
		if list {
			printCounts(l.kept, len(l.kept))
		}
	}
	return nil
}

func measureAgent(tool, dir, capabilities string, flags []string) (l linked, err error) {
	root, err := os.Getwd()
	if err != nil {
		return l, err
	}
	init := append([]string{"init", dir, "--yes", "--name=hello", "--module=example.com/hello", "--runtime=" + root}, flags...)
	if err := command(tool, init...); err != nil {
		return l, err
	}
	if capabilities != "" {
		if err := addCapabilities(filepath.Join(dir, "agent.yaml"), capabilities); err != nil {
			return l, err
		}
		if err := command(tool, "-C", dir, "generate"); err != nil {
			return l, err
		}
	}
	for _, p := range []struct{ name, ldflags string }{{"small", "-s -w"}, {"whole", ""}} {
		args := []string{"build", "-trimpath", "-mod=mod", tags, "-ldflags=" + p.ldflags, "-o", p.name, "."}
		if _, err := goIn(dir, args...); err != nil {
			return l, err
		}
	}
	info, err := os.Stat(filepath.Join(dir, "small"))
	if err != nil {
		return l, err
	}
	l.bytes = info.Size()
	names, err := functionsIn(filepath.Join(dir, "whole"))
	if err != nil {
		return l, err
	}
	return l, l.count(dir, names)
}

// addCapabilities adds lines to the capabilities of a new agent's card.
func addCapabilities(file, lines string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	const after = "\n  streaming: true"
	if !bytes.Contains(text, []byte(after)) {
		return fmt.Errorf("%s has no line %q", file, strings.TrimSpace(after))
	}
	return os.WriteFile(file, bytes.Replace(text, []byte(after), []byte(after+lines), 1), 0o600)
}

// goIn runs the go command in a folder as the generated Dockerfile does, so that the figures are the same on every machine.
func goIn(dir string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS=linux", "GOARCH=amd64")
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w\n%s", err, exit.Stderr)
		}
		return nil, fmt.Errorf("go %s: %w", args[0], err)
	}
	return out, nil
}

func sum(counts map[string]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}
