package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// covered are the packages whose functions are counted, what an agent links of ours, and this one, which a build of it
// that counts must have.
const covered = "./runtime/...,./internal/sse,./internal/taskstate,./a2a,./internal/measure"

// printEntered counts what one message enters, by a build of this command that counts.
func printEntered(list bool) error {
	dir, err := os.MkdirTemp("", "measure")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "measure.exe")
	build := []string{"build", "-cover", "-covermode=atomic", "-coverpkg=" + covered, "-o", program, "./internal/measure"}
	if err := command("go", build...); err != nil {
		return err
	}
	counters := filepath.Join(dir, "counters")
	if err := os.Mkdir(counters, 0o700); err != nil {
		return err
	}
	if err := command(program, "-message", counters); err != nil {
		return err
	}
	out, err := exec.Command("go", "tool", "covdata", "func", "-i="+counters).Output()
	if err != nil {
		return fmt.Errorf("read the coverage: %w", err)
	}
	packages, files := map[string]int{}, map[string]int{}
	functions := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line) // file.go:line:  name  share%
		if len(fields) < 3 || fields[len(fields)-1] == "0.0%" || !strings.Contains(fields[0], ".go:") ||
			strings.Contains(fields[0], "/internal/measure/") {
			continue
		}
		file, _, _ := strings.Cut(fields[0], ":")
		packages[path.Dir(file)]++
		files[file]++
		functions++
	}
	fmt.Println("a message for a typed skill, answered with a task in memory, enters")
	fmt.Printf("\t%d packages\n\t%d files\n\t%d functions\n", len(packages), len(files), functions)
	if list {
		printCounts(packages, len(packages))
		printCounts(files, len(files))
	}
	return nil
}

// command runs a command, with what it says in its error.
func command(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// printCounts prints the largest counts.
func printCounts(counts map[string]int, n int) {
	names := make([]string, 0, len(counts))
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(a, b)
	})
	for _, name := range names[:min(n, len(names))] {
		fmt.Printf("\t%5d  %s\n", counts[name], name)
	}
}
