package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/a2agen/a2agen/bench/internal/tenskills"
)

// generation is what a2agen generate took, by run.
type generation struct {
	wall   series // nanoseconds
	cpu    series // nanoseconds, user and system
	memory series // peak resident memory in bytes
}

// add runs the tool once, started by a process that is smaller than this one (see cmd/measure).
func (g *generation) add(ctx context.Context, bin, dir string) error {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "measure"), filepath.Join(bin, "a2agen-tool"), "generate", "-C", dir)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("a2agen generate: %w: %s", err, &stderr)
	}
	var took struct{ Wall, CPU, Peak float64 }
	if err := json.Unmarshal(out, &took); err != nil {
		return fmt.Errorf("a2agen generate: %w", err)
	}
	g.wall, g.cpu, g.memory = append(g.wall, took.Wall), append(g.cpu, took.CPU), append(g.memory, took.Peak)
	return nil
}

// agents are what is generated.
var agents = []struct {
	folder, title string
	times         int // tens of skills
	protocol      string
	share         int     // of the rounds one in share is run
	cold, fresh   float64 // target of the wall time in milliseconds; 0 sets none
	memory        float64 // target of the peak in MB; 0 sets none
}{
	{"ten", "ten skills", 1, `["1.0"]`, 1, 60, 20, 60},
	{"four", "ten skills, four protocol versions", 1, `["1.0", "0.3", "0.2", "0.1"]`, 1, 60, 20, 0},
	{"many", "200 skills", 20, `["1.0"]`, 5, 400, 0, 0},
}

// generateRows measures whole runs of the tool: from nothing, and when nothing changed.
func (b *bench) generateRows(ctx context.Context) ([]row, error) {
	tool := filepath.Join(b.bin, "a2agen-tool")
	build := exec.CommandContext(ctx, "go", "build", "-o", tool, "./cmd/a2agen")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building the tool: %w: %s", err, out)
	}
	var rows []row
	for _, a := range agents {
		dir := filepath.Join(b.bin, a.folder)
		if err := scaffold(ctx, tool, dir, tenskills.Times(a.times), a.protocol); err != nil {
			return nil, err
		}
		cold, fresh, err := b.generate(ctx, dir, max(1, b.rounds/a.share))
		if err != nil {
			return nil, err
		}
		lines, err := complete(dir, a.times*tenskills.Count)
		if err != nil {
			return nil, err
		}
		rows = append(rows,
			generationRow(fmt.Sprintf("generate, %s, from nothing (%d lines of Go)", a.title, lines), cold, a.cold, a.memory),
			generationRow(fmt.Sprintf("generate, %s, nothing changed", a.title), fresh, a.fresh, a.memory))
	}
	return rows, nil
}

// generate runs the tool on a project, from nothing and then on what it wrote, in turns.
func (b *bench) generate(ctx context.Context, dir string, rounds int) (cold, fresh generation, err error) {
	for range rounds {
		if err = clear(dir); err == nil {
			err = cold.add(ctx, b.bin, dir)
		}
		if err == nil {
			err = fresh.add(ctx, b.bin, dir)
		}
		if err != nil {
			return cold, fresh, err
		}
	}
	return cold, fresh, nil
}

// generationRow may have targets for the wall time in milliseconds and for the peak of memory in MB.
func generationRow(title string, g generation, most, memory float64) row {
	r := newRow(title)
	peak := slices.Max(g.memory) / 1e6
	took := make([]series, len(contestants))
	took[colA2Agen] = g.wall
	r.cells = timeRow("", took, 0, 0).cells
	r.cells[colA2Agen] += fmt.Sprintf(", CPU %s, %.0f MB", duration(g.cpu.median()), peak)
	var targets []string
	if most > 0 {
		targets = append(targets, fmt.Sprintf("≤ %g ms %s", most, verdict(g.wall.median()/1e6 <= most)))
	}
	if memory > 0 {
		targets = append(targets, fmt.Sprintf("≤ %g MB %s", memory, verdict(peak <= memory)))
	}
	if r.target = strings.Join(targets, ", "); r.target == "" {
		r.target = none
	}
	return r
}

// scaffold makes a project and gives it an agent and its protocol versions.
func scaffold(ctx context.Context, tool, dir, agent, protocol string) error {
	runtimePath, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, tool, "init", dir, "--name", "Ten", "--module", "example.com/ten", "--yes", "--runtime", runtimePath)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("a2agen init: %w: %s", err, out)
	}
	for name, text := range map[string]string{"agent.yaml": agent, "a2agen.yaml": "protocol: " + protocol + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generated lists the files of a project that the tool owns, and the handlers with their tests, which a run from nothing has to
// write. The Agent type in skills/agent.go is the user's from the beginning.
func generated(dir string) ([]string, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".gen.go") || filepath.Base(path) == "a2agen.lock" ||
			filepath.Base(filepath.Dir(path)) == "skills" && filepath.Base(path) != "agent.go") {
			files = append(files, path)
		}
		return err
	})
	return files, err
}

// clear removes what generation writes.
func clear(dir string) error {
	files, err := generated(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			return err
		}
	}
	return nil
}

// complete checks that generation wrote something for each skill, so that what was measured was the whole work, and
// counts the lines of Go.
func complete(dir string, skills int) (lines int, err error) {
	files, err := generated(dir)
	if err != nil {
		return 0, err
	}
	if len(files) < 2*skills+6 { // a handler and a test for each skill, and the packages
		return 0, fmt.Errorf("the tool wrote only %d files: %s", len(files), strings.Join(files, " "))
	}
	for _, f := range files {
		if !strings.HasSuffix(f, ".go") {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			return 0, err
		}
		lines += bytes.Count(src, []byte("\n"))
	}
	return lines, nil
}
