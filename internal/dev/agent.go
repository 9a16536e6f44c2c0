package dev

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/internal/dev/page"
	"github.com/a2agen/a2agen/internal/dev/program"
	"github.com/a2agen/a2agen/internal/dev/proxy"
	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/internal/dev/traffic"
	"github.com/a2agen/a2agen/internal/filelock"
	"github.com/a2agen/a2agen/internal/watch"
)

// Command is what a person asks of an agent's loop.
type Command string

// The commands.
const (
	Rebuild Command = "rebuild" // a round now
	Pause   Command = "pause"   // stop watching files, or go on
	Clear   Command = "clear"   // delete all tasks, and start the agent again
)

// folder of everything that the loop writes, in the agent's folder; tasks are there in the file of this name.
const (
	folder    = ".a2agen/dev"
	tasksFile = "tasks.db"
)

// shortLived is how long a process must have answered to be started again when it ends by itself.
const shortLived = 3 * time.Second

// agent is the loop of an agent that is built here.
type agent struct {
	*Options
	dir      string // absolute
	front    *proxy.Front
	watcher  *watch.Watcher
	commands chan Command
	console  *console
	changed  func() // called after a change of now
	define   func(*traffic.Definitions)
	recorded http.Handler // of front
	printed  *lineLog
	reports  *reportLog

	mu  sync.Mutex
	now status.Agent

	// These are the loop's own.
	exclusive bool // one process at a time can have the store
	process   *program.Process
	binary    binary // of process, or the last one that was
	built     int    // how many were
	keep      keeping
	grown     bool     // folders are watched that were not before this round
	lock      *os.File // of the folder; nil where there are no locks
}

// binary is a program that was built.
type binary struct {
	path  string // "" for none
	keeps bool   // its tasks are in the file of the loop
}

// status returns what the agent does.
func (a *agent) status() status.Agent {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.now.Clone()
}

// set changes what is told of the agent.
func (a *agent) set(change func(*status.Agent)) {
	a.mu.Lock()
	change(&a.now)
	a.mu.Unlock()
	a.changed()
}

// handler is where its callers go.
func (a *agent) handler() http.Handler { return a.recorded }

// lines are the last ones that it printed.
func (a *agent) lines() []page.Line { return a.printed.all() }

// obeys has a command carried out, after the one that is being carried out. One more than that is dropped: it asks for
// what is about to happen.
func (a *agent) obeys(c Command) bool {
	if c != Rebuild && c != Pause && c != Clear {
		return false
	}
	select {
	case a.commands <- c:
	default:
	}
	return true
}

func (a *agent) phase(p status.Phase) { a.set(func(s *status.Agent) { s.Phase = p }) }

// path returns the name of a file of the loop.
func (a *agent) path(name string) string {
	return filepath.Join(a.dir, filepath.FromSlash(folder), name)
}

// binaries is the folder of the programs of this loop.
func (a *agent) binaries() string { return a.path(fmt.Sprintf("bin-%d", os.Getpid())) }

// prepare makes the folder of the loop, which is never in git and no other loop's, and begins to watch.
func (a *agent) prepare() error {
	if err := os.MkdirAll(a.path(""), 0o700); err != nil {
		return fmt.Errorf("make the folder for what is built: %w", err)
	}
	var err error
	if a.lock, err = lockFolder(a.path("")); err != nil {
		return fmt.Errorf("%s: %w", a.dir, err)
	}
	if a.watcher, err = a.prepareIn(); err != nil {
		_ = a.lock.Close() // nothing was written
	}
	return err
}

// lockFolder takes the folder of a loop for this process, until the file is closed or the process ends. The file is nil where there are no locks.
func lockFolder(dir string) (*os.File, error) {
	name := filepath.Join(dir, "lock")
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	switch err = filelock.Try(f); {
	case err == filelock.ErrHeld:
		pid, _ := os.ReadFile(name) // "" if it is not written yet
		_ = f.Close()               // nothing was written
		return nil, fmt.Errorf("another a2agen dev runs in this folder (process %s): use that one, or end it",
			strings.TrimSpace(string(pid)))
	case err != nil:
		return nil, f.Close()
	}
	_ = f.Truncate(0)                                          // the number is for people
	_, _ = f.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0) // likewise
	return f, nil
}

func (a *agent) prepareIn() (*watch.Watcher, error) {
	if err := os.Mkdir(a.binaries(), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("make the folder for what is built: %w", err)
	}
	if err := os.WriteFile(a.path(".gitignore"), []byte("*\n"), 0o600); err != nil {
		return nil, fmt.Errorf("keep %s out of git: %w", folder, err)
	}
	a.removeOld()
	return watch.New(a.dir, a.Poll)
}

// removeOld removes the programs of loops that did not end well. Where there is no lock one may run.
func (a *agent) removeOld() {
	old, _ := filepath.Glob(a.path("bin-*")) // the pattern is a good one
	for _, dir := range old {
		info, err := os.Stat(dir)
		if err == nil && dir != a.binaries() && (a.lock != nil || time.Since(info.ModTime()) > 24*time.Hour) {
			_ = os.RemoveAll(dir) // what cannot be removed harms nobody
		}
	}
}

// run is the loop, until the context ends.
func (a *agent) run(ctx context.Context) error {
	defer a.close()
	for {
		if a.round(ctx) && ctx.Err() == nil {
			continue
		}
		if err := a.wait(ctx); err != nil || ctx.Err() != nil {
			return err
		}
	}
}

func (a *agent) close() {
	a.front.Fail("a2agen dev has ended")
	if a.process != nil {
		a.process.Stop()
	}
	if a.keep.ready != nil {
		<-a.keep.ready // the build ends with the context
	}
	_ = a.watcher.Close()
	_ = os.RemoveAll(a.binaries()) // what cannot be removed is removed when the next loop begins here
	_ = a.lock.Close()             // nothing was written
}

// wait returns when a round must begin, or the context ends.
func (a *agent) wait(ctx context.Context) error {
	watching, stop := context.WithCancel(ctx)
	changes := make(chan error, 1)
	go func() {
		_, err := a.watcher.Wait(watching)
		changes <- err
	}()
	defer func() { // one that was paused has taken its result
		stop()
		if changes != nil {
			<-changes
		}
	}()
	for {
		var ended <-chan struct{}
		if a.process != nil {
			ended = a.process.Done()
		}
		select {
		case <-ctx.Done():
			return nil
		case err := <-changes:
			changes = nil
			if err != nil || !a.status().Paused {
				return err
			}
			// What changed during a pause is for the round after it.
		case <-ended:
			a.restart(ctx)
		case err := <-a.keep.ready:
			if a.kept(err) {
				return nil
			}
		case c := <-a.commands:
			if a.obey(ctx, c) {
				return nil
			}
		}
	}
}

// obey carries out a command, and reports whether a round must begin.
func (a *agent) obey(ctx context.Context, c Command) (round bool) {
	switch c {
	case Rebuild:
		return true
	case Clear:
		return a.clearTasks(ctx)
	case Pause:
	default:
		return false
	}
	a.set(func(s *status.Agent) { s.Paused = !s.Paused })
	if a.status().Paused {
		a.console.say("paused: files are not watched")
		return false
	}
	a.console.say("files are watched again")
	return true
}

// restart starts the program again that has ended by itself.
func (a *agent) restart(ctx context.Context) {
	a.front.Hold()
	ended := a.process
	a.process = nil
	how := "the agent ended by itself (" + ended.Ended() + ")"
	if time.Since(ended.Begun) < cmp.Or(a.short, shortLived) {
		a.down(status.Failed(status.Starting, "%s soon after it was started: it is started again when a file is saved%s", how, ended.Said()))
		return
	}
	a.console.say(how + "; it is started again")
	if err := a.startReal(ctx); err != nil {
		a.down(err)
	}
}

// down tells that no agent answers.
func (a *agent) down(err error) {
	a.fail(err)
	a.front.Fail(a.refusal())
}

// refusal is what callers are told when there is no agent.
func (a *agent) refusal() string {
	s := a.status()
	lines := []string{"a2agen dev: there is no agent to answer, because of this:"}
	for _, p := range s.Problems {
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// clearTasks starts the agent anew, with no tasks. If none runs, or another one than that of the newest files, because of
// the tasks perhaps, a round must begin.
func (a *agent) clearTasks(ctx context.Context) (round bool) {
	if a.status().Store == status.Own {
		a.console.say("the tasks are kept where the agent's own configuration says: they are not cleared")
		return false
	}
	runs := a.process != nil
	if runs {
		a.front.Hold()
		a.front.Drain(ctx, drainTime)
		a.process.Stop()
	}
	files, _ := filepath.Glob(a.path(tasksFile + "*")) // the pattern is a good one
	for _, f := range files {
		if err := os.Remove(f); err != nil && !errors.Is(err, os.ErrNotExist) {
			a.console.say("clear the tasks: " + err.Error())
		}
	}
	if runs {
		if err := a.startReal(ctx); err != nil {
			a.down(err)
			return false
		}
	}
	a.console.say("the tasks are cleared")
	return !runs || a.status().Step != ""
}
