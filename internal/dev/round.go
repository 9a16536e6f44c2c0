package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/a2agen/a2agen/generator/diag"
	"github.com/a2agen/a2agen/generator/scaffold"
	"github.com/a2agen/a2agen/internal/dev/program"
	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/internal/project"
	"github.com/a2agen/a2agen/runtime/server"
)

// drainTime is how long requests that are under way may take before their process is told to end.
const drainTime = 250 * time.Millisecond

// round makes an agent from the files as they are: generate, build, start, switch. After a step that failed the agent
// that answered goes on. again reports that a file changed before it was watched.
func (a *agent) round(ctx context.Context) (again bool) {
	begun := time.Now()
	a.grown = false
	a.set(func(s *status.Agent) {
		s.Rounds++
		s.Step, s.Problems, s.Notes = "", nil, nil
	})
	err := a.steps(ctx)
	switch {
	case ctx.Err() != nil:
	case err != nil && a.process == nil:
		a.down(err)
	case err != nil:
		a.fail(err)
	default:
		a.ready(time.Since(begun))
		a.tryToKeep(ctx)
	}
	return a.grown && a.watcher.ChangedSince(begun)
}

// steps are those of a round.
func (a *agent) steps(ctx context.Context) error {
	a.phase(status.Generating)
	if err := a.generate(ctx); err != nil {
		return err
	}
	a.phase(status.Building)
	built, err := a.build(ctx)
	if err != nil {
		return err
	}
	a.phase(status.Starting)
	next, err := a.start(built, a.exclusive).Run(ctx)
	if err != nil {
		_ = os.Remove(built.path) // or with the folder
		return err
	}
	a.phase(status.Switching)
	return a.swap(ctx, next, built)
}

// fail tells which step failed, and why.
func (a *agent) fail(err error) {
	var f *status.Failure
	if !errors.As(err, &f) {
		f = status.Failed(a.status().Phase, "%v", err)
	}
	a.set(func(s *status.Agent) {
		s.Step, s.Problems, s.Phase = f.Step, f.Problems, status.Down
		if a.process != nil {
			s.Phase = status.Stale
		}
	})
	a.console.failed(a.status())
}

// ready tells that the agent of the newest files answers.
func (a *agent) ready(took time.Duration) {
	a.set(func(s *status.Agent) { s.Phase, s.TookMS = status.Ready, took.Milliseconds() })
	a.console.ready(a.status(), a.Debug)
}

// generate brings the generated files up to date, in the folder of a project.
func (a *agent) generate(ctx context.Context) error {
	if !isProject(a.dir) {
		a.set(func(s *status.Agent) { s.Store = status.Own })
		return nil
	}
	r, err := project.Run(ctx, project.Options{Tool: a.Tool, Dir: a.dir})
	a.grown = a.watcher.Files(r.Inputs(a.dir)...) || a.grown
	for _, c := range append(r.Written, r.Deleted...) {
		a.watcher.Wrote(filepath.Join(a.dir, filepath.FromSlash(c.Path)))
	}
	if err != nil {
		return generateFailure(err)
	}
	var notes []string
	for _, h := range r.Handlers {
		if h.Code != scaffold.Unwritten && !h.Breaks() {
			notes = append(notes, h.String())
		}
	}
	if n := len(r.Written) + len(r.Deleted); n > 0 {
		notes = append(notes, changedFiles(n))
	}
	a.set(func(s *status.Agent) { s.Notes = append(notes, r.Notes...) })
	if !r.Fresh || a.status().Rounds == 1 {
		a.inspect(ctx)
	}
	return nil
}

func changedFiles(n int) string {
	if n == 1 {
		return "1 generated file changed"
	}
	return fmt.Sprintf("%d generated files changed", n)
}

// isProject reports whether a folder is that of a project of a2agen.
func isProject(dir string) bool {
	for _, name := range []string{"a2agen.yaml", "agent.yaml"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// generateFailure lists the problems of a run.
func generateFailure(err error) error {
	f := &status.Failure{Step: status.Generating}
	var invalid *project.InvalidError
	if !errors.As(err, &invalid) {
		return status.Failed(status.Generating, "%v", err)
	}
	invalid.List.Sort()
	for _, d := range invalid.List {
		if d.Severity != diag.Error {
			continue
		}
		text := d.Message
		if d.Hint != "" {
			text += " (" + d.Hint + ")"
		}
		f.Problems = append(f.Problems, status.Problem{File: d.Pos.File, Line: d.Pos.Line, Col: d.Pos.Col, Text: text})
	}
	return f
}

// inspect reads from the project what the agent is called, and where it keeps its tasks.
func (a *agent) inspect(ctx context.Context) {
	out, _, err := project.Inspect(ctx, project.Options{Tool: a.Tool, Dir: a.dir})
	if err != nil || out.Model == nil || out.Model.Agent == nil {
		return
	}
	store := status.InMemory
	a.exclusive = strings.HasSuffix(out.Model.Agent.OpenStore, "store/sqlite")
	switch {
	case os.Getenv(server.EnvStore) != "" || out.Model.Agent.OpenStore != "" && !a.exclusive:
		store = status.Own
	case a.exclusive || a.keep.on:
		a.exclusive, store = true, status.InFile
	case a.Exec != "":
		store = status.Own
	}
	a.set(func(s *status.Agent) { s.Name, s.Store = out.Model.Agent.Name, store })
	var sets [][]byte
	for _, v := range out.Model.Protocol.Versions {
		sets = append(sets, v.Descriptor)
		for _, w := range v.Wires {
			sets = append(sets, w.Descriptor)
		}
	}
	a.define(traffic.Shipped(sets))
}

// build compiles the agent to a file of its own, and meanwhile asks which files that depends on.
func (a *agent) build(ctx context.Context) (binary, error) {
	found := make(chan sources, 1)
	go func() { found <- findSources(ctx, a.dir) }()
	a.built++
	out := filepath.Join(a.binaries(), fmt.Sprintf("agent-%d%s", a.built, exe()))
	b := program.Build{Dir: a.dir, Exec: a.Exec, Debug: a.Debug}
	flags, failed := a.flags(ctx)
	b.Flags = flags
	err := b.Run(ctx, out)
	if err == nil {
		err = failed // of a project that cannot be built at all the go command says more
	}
	a.grown = (<-found).follow(a.watcher) || a.grown
	if err != nil {
		_ = os.Remove(out) // or with the folder
	}
	return binary{out, a.status().Store == status.InFile}, err
}

func exe() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// start says how a program is started. A trial is one that only shows whether it gets healthy, beside the process that
// has the store.
func (a *agent) start(b binary, trial bool) program.Start {
	s := program.Start{Program: b.path, Dir: a.dir, Args: a.Args, URL: a.status().URL, Output: a.console.output()}
	if a.Page != "" {
		s.Push = inboxHost
	}
	switch {
	case trial:
		s.Store, s.Output = "memory", io.Discard // if it ends, the error has what it said
	case b.keeps:
		s.Store = a.path(tasksFile)
	}
	return s
}

// swap has the callers go to a process that is healthy, and stops the one before. Where one process at a time can have
// the store, the healthy one was a trial: the program is started again when the one before has ended.
func (a *agent) swap(ctx context.Context, next *program.Process, built binary) error {
	old, former := a.process, a.binary
	a.front.Hold()
	a.front.Drain(ctx, drainTime)
	if a.exclusive {
		next.Kill()
		if old != nil {
			old.Stop()
		}
		a.process, a.binary = nil, built
		if err := a.startReal(ctx); err != nil {
			return a.goBack(ctx, former, a.withStore(err))
		}
	} else {
		a.process, a.binary = next, built
		a.switched()
		if old != nil {
			old.Stop()
		}
	}
	if former.path != "" {
		_ = os.Remove(former.path) // or with the folder
	}
	return nil
}

// withStore says of a program that got healthy without the tasks, and does not with them, what can be done.
func (a *agent) withStore(err error) error {
	if !a.binary.keeps {
		return err
	}
	const do = "clear them (the key c, or the button of the page), or end who else has them."
	return status.Failed(status.Starting, "%v\nThe agent starts without the tasks in %s/%s: %s", err, folder, tasksFile, do)
}

// goBack starts the former program again, after the new one did not get healthy with the store.
func (a *agent) goBack(ctx context.Context, former binary, why error) error {
	if former.path == "" || ctx.Err() != nil {
		return why
	}
	a.binary = former
	if err := a.startReal(ctx); err != nil {
		return errors.Join(why, err)
	}
	return why
}

// startReal starts the program that was built last, with the store, and has the callers go to it.
func (a *agent) startReal(ctx context.Context) error {
	p, err := a.start(a.binary, false).Run(ctx)
	if err != nil {
		a.process = nil
		return err
	}
	a.process = p
	a.switched()
	return nil
}

// switched has the callers go to the process.
func (a *agent) switched() {
	a.front.Switch(a.process.Addr)
	a.set(func(s *status.Agent) {
		s.Since, s.Pid = time.Now(), a.process.Pid()
		if s.Phase == status.Down {
			s.Phase = status.Stale
		}
	})
}
