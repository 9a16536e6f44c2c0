package ledger

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Process is an agent that [server.Main] hosts, as one process after the other. Its methods may be called by one
// goroutine at a time.
type Process struct {
	Command func() *exec.Cmd // of the next process
	Agent   *Agent           // whose Kills and Terms it counts
	// Faulty reports whether a line of the log, which is of no level INFO, is a fault; nil: errors and panics are.
	Faulty func(line string) bool

	cmd  *exec.Cmd // nil: there is none
	log  *tail
	done chan error // closed log, then the exit
}

// Address returns an address that is free, for processes that listen there one after the other. Between two of them others must not get its
// port: on Linux every host below 127 is this machine, and none of theirs is this one.
func Address(t testing.TB) string {
	t.Helper()
	host := "127.0.0.1"
	if runtime.GOOS == "linux" {
		host = fmt.Sprintf("127.%d.%d.%d", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	}
	free, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = free.Close() }()
	return free.Addr().String()
}

// tail is the end of a log, and whether something in it is a fault.
type tail struct {
	mu    sync.Mutex
	lines []string
	fault string
}

// tailLines is how many lines of a log are kept.
const tailLines = 100

func (l *tail) add(line string, fault bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines = append(l.lines, line); len(l.lines) > 2*tailLines {
		l.lines = slices.Clone(l.lines[tailLines:])
	}
	if fault && l.fault == "" {
		l.fault = line
	}
}

// faults returns an error with the log, if something in it is a fault.
func (l *tail) faults() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fault == "" {
		return nil
	}
	return fmt.Errorf("the agent has logged %s\nand at its end\n%s", l.fault, strings.Join(l.lines, "\n"))
}

// Launch starts a process. ready is closed when it listens.
func (p *Process) Launch() (ready <-chan struct{}, err error) {
	p.cmd = p.Command()
	stderr, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		p.cmd = nil
		return nil, err
	}
	listens := make(chan struct{})
	p.done, p.log = make(chan error, 1), &tail{lines: append(p.before(), fmt.Sprint("process ", p.cmd.Process.Pid))}
	go p.read(p.cmd, stderr, listens, p.done, p.log)
	return listens, nil
}

func (p *Process) read(cmd *exec.Cmd, stderr io.Reader, listens chan struct{}, done chan error, log *tail) {
	listening, panicked := false, false
	lines := bufio.NewScanner(stderr)
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		line := lines.Text()
		if !listening && strings.Contains(line, "agent is listening") {
			listening = true
			close(listens)
		}
		if strings.Contains(line, "level=INFO") {
			continue
		}
		panicked = panicked || strings.Contains(line, "panic") || strings.Contains(line, "DATA RACE")
		log.add(line, panicked || p.faulty(line))
	}
	_, _ = io.Copy(io.Discard, stderr) // after a line that is too long
	done <- cmd.Wait()
}

func (p *Process) faulty(line string) bool {
	if p.Faulty != nil {
		return p.Faulty(line)
	}
	return strings.Contains(line, "level=ERROR")
}

// Log is the end of what the processes have logged, without what is of level INFO.
func (p *Process) Log() string { return strings.Join(p.before(), "\n") }

// before is the end of the log so far.
func (p *Process) before() []string {
	if p.log == nil {
		return nil
	}
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return slices.Clone(p.log.lines)
}

// Start starts a process and waits until it listens.
func (p *Process) Start() error {
	ready, err := p.Launch()
	if err != nil {
		return err
	}
	select {
	case <-ready:
		return nil
	case err := <-p.done:
		p.cmd = nil
		return fmt.Errorf("the agent does not start: %v\n%s", err, p.Log())
	case <-time.After(time.Minute):
		return errors.Join(errors.New("the agent does not listen"), p.Kill())
	}
}

// Signal sends the process a signal.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Kill kills the process and waits until it is gone.
func (p *Process) Kill() error {
	err := p.cmd.Process.Kill()
	<-p.done
	p.cmd = nil
	p.Agent.Kills.Add(1)
	return errors.Join(err, p.log.faults())
}

// Terminate asks the agent to end, as platforms do: it says that all went well.
func (p *Process) Terminate() error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-p.done:
		p.cmd = nil
		p.Agent.Terms.Add(1)
		if err != nil {
			return fmt.Errorf("after SIGTERM: %w\n%s", err, p.Log())
		}
		return p.log.faults()
	case <-time.After(30 * time.Second):
		return errors.New("the agent does not heed SIGTERM")
	}
}

// Close kills what a test that failed has left.
func (p *Process) Close() {
	if p.cmd != nil {
		_ = p.cmd.Process.Kill()
		<-p.done
		p.cmd = nil
	}
}
