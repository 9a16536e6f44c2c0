package dev

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/a2agen/a2agen/internal/dev/program"
	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/project"
)

// keeping has an agent whose tasks would end with each program keep them in a file, as one with "store: sqlite" does: by
// files that stand in for some of its own while it is built. The first time SQLite is compiled, which takes a minute;
// until then the agent runs as it is.
type keeping struct {
	tries  int
	failed string     // why the last one did
	ready  chan error // of what is tried in the background; nil: nothing is
	on     bool       // programs are built so
}

// mostTries is how often it is tried. One may have met a mistake that somebody saved meanwhile.
const mostTries = 5

// keptIn is the store in which tasks are kept.
const keptIn = "sqlite"

// overlay writes the files that stand in for the agent's own, and returns their list; "" if the agent is built as it is.
func (a *agent) overlay(ctx context.Context) (string, error) {
	folder := a.path("overlay")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	return project.Overlay(ctx, project.Options{Tool: a.Tool, Dir: a.dir}, keptIn, folder)
}

// tryToKeep builds in the background what would keep the tasks, until that went well.
func (a *agent) tryToKeep(ctx context.Context) {
	if a.keep.ready != nil || a.keep.tries == mostTries || a.status().Store != status.InMemory {
		return
	}
	a.keep.tries++
	ready := make(chan error, 1)
	a.keep.ready = ready
	list, err := a.overlay(ctx)
	if err != nil {
		ready <- err
		return
	}
	go func() {
		b := program.Build{Dir: a.dir, Flags: []string{"-overlay", list}, Debug: a.Debug}
		out := a.path(fmt.Sprintf("bin-%d/trial%s", os.Getpid(), exe()))
		err := b.Run(ctx, out)
		_ = os.Remove(out) // or with the folder
		ready <- err
	}()
}

// kept has a round begin that keeps the tasks from now on, if the trial went well.
func (a *agent) kept(err error) (round bool) {
	a.keep.ready = nil
	if err != nil {
		if !errors.Is(err, context.Canceled) && err.Error() != a.keep.failed {
			a.keep.failed = err.Error()
			a.console.say(`tasks end with each restart: SQLite, which would keep them during development, cannot be built into this agent: ` + err.Error())
		}
		return false
	}
	a.console.say("tasks are kept in " + folder + " from now on, although \"store: memory\" ends them with each program elsewhere")
	a.keep.on, a.exclusive = true, true
	a.set(func(s *status.Agent) { s.Store = status.InFile })
	return true
}

// flags are those of a build.
func (a *agent) flags(ctx context.Context) ([]string, error) {
	if !a.keep.on {
		return nil, nil
	}
	list, err := a.overlay(ctx)
	if err != nil {
		return nil, status.Failed(status.Building, "keep the tasks in a file: %v", err)
	}
	return []string{"-overlay", list}, nil
}
