// Package proc starts contestants as processes of their own on one core and reads their figures.
package proc

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/a2agen/a2agen/bench/internal/child"
	"github.com/a2agen/a2agen/bench/internal/work"
)

// Process is a running contestant. It is not safe for concurrent use.
type Process struct {
	Addr  string // host:port
	GRPC  string // host:port, if it is not Addr
	Token string // what its answers carry
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	log   *recent
	tls   *tls.Config // how it is called; nil: in clear text

	drained chan struct{} // of an agent: closed when log is complete
}

// newProcess prepares a process that has one core and a token of its own.
func newProcess(ctx context.Context, binary string, args ...string) *Process {
	p := &Process{Token: strings.ToLower(rand.Text()[:16]), cmd: exec.CommandContext(ctx, binary, args...), log: new(recent)}
	p.cmd.Env = append(os.Environ(), "GOMAXPROCS=1", work.TokenEnv+"="+p.Token)
	p.cmd.Cancel = func() error { return p.cmd.Process.Signal(syscall.SIGTERM) }
	p.cmd.WaitDelay = 2 * time.Second
	return p
}

// Start starts a contestant on one core and checks that whoever answers at its address is this process: the pid it
// names must be the one that was started, and the card it serves must carry a token that only it was given.
func Start(ctx context.Context, binary string, args ...string) (*Process, error) {
	return StartSecured(ctx, nil, binary, args...)
}

// StartSecured starts a contestant that is called over TLS; nil: that is called in clear text.
func StartSecured(ctx context.Context, secured *tls.Config, binary string, args ...string) (*Process, error) {
	p := newProcess(ctx, binary, args...)
	p.tls = secured
	p.cmd.Stderr = p.log
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", binary, err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", binary, err)
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", binary, err)
	}
	p.in, p.out = in, bufio.NewReader(out)
	if err := p.handshake(ctx); err != nil {
		return nil, fmt.Errorf("starting %s: %w", binary, errors.Join(err, p.Stop()))
	}
	return p, nil
}

// patience is how long a contestant may take to say that it is there.
const patience = 10 * time.Second

func (p *Process) handshake(ctx context.Context) error {
	late := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer late.Stop()
	var hello child.Hello
	if err := p.read(&hello); err != nil {
		return err
	}
	if hello.PID != p.cmd.Process.Pid || hello.Procs != 1 {
		return fmt.Errorf("pid %d on %d cores answered, not pid %d on 1", hello.PID, hello.Procs, p.cmd.Process.Pid)
	}
	p.Addr, p.GRPC = hello.Addr, hello.GRPC
	return p.checkCard(ctx)
}

func (p *Process) checkCard(ctx context.Context) error {
	client, scheme := http.DefaultClient, "http"
	if p.tls != nil {
		client, scheme = &http.Client{Transport: &http.Transport{TLSClientConfig: p.tls}}, "https"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+p.Addr+"/.well-known/agent-card.json", nil)
	if err != nil {
		return err
	}
	req.Close = true
	res, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("fetching the card: %w", err)
	}
	defer res.Body.Close()
	var card struct{ Name string }
	if err := json.NewDecoder(res.Body).Decode(&card); err != nil {
		return fmt.Errorf("reading the card: %w", err)
	}
	if card.Name != work.CardName(p.Token) {
		return fmt.Errorf("the card at %s is that of %q, not of the process that was started", p.Addr, card.Name)
	}
	return nil
}

// CPU returns the CPU time, user and system, that the process has used so far: the kernel has a clock of it.
func (p *Process) CPU() (time.Duration, error) {
	const processClock = 2 // CPUCLOCK_SCHED, of all threads; the rest of the clock's number is the pid, inverted
	var t syscall.Timespec
	clock := ^p.cmd.Process.Pid<<3 | processClock
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(clock), uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0, fmt.Errorf("reading CPU time of %s: %w", p.cmd.Path, errno)
	}
	return time.Duration(t.Nano()), nil
}

// Settle lets the process collect its garbage and give free memory back, and returns its resident memory in bytes.
func (p *Process) Settle() (int64, error) {
	u, err := p.ask("settle")
	return u.RSS, err
}

// Profile runs f while the process writes a CPU profile to base.cpu, and then its allocations to base.allocs. With
// an empty base it only runs f.
func (p *Process) Profile(base string, f func() error) error {
	if base == "" {
		return f()
	}
	if _, err := p.ask("profile " + base); err != nil {
		return err
	}
	err := f()
	_, perr := p.ask("profiled " + base)
	return errors.Join(err, perr)
}

func (p *Process) ask(command string) (child.Usage, error) {
	var u child.Usage
	if _, err := io.WriteString(p.in, command+"\n"); err != nil {
		return u, fmt.Errorf("asking for %s: %w: %s", command, err, p.log)
	}
	if err := p.read(&u); err != nil {
		return u, fmt.Errorf("asking for %s: %w", command, err)
	}
	if u.Err != "" {
		return u, fmt.Errorf("asking for %s: %s", command, u.Err)
	}
	return u, nil
}

func (p *Process) read(v any) error {
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("reading from the process: %w: %s", err, p.log)
	}
	return json.Unmarshal(line, v)
}

// Log returns what the process wrote to standard error. It may be called after Stop.
func (p *Process) Log() string { return p.log.String() }

// Stop ends the process and waits for its end.
func (p *Process) Stop() error {
	if p.in != nil {
		p.in.Close()
	} else if err := p.quit(); err != nil {
		return fmt.Errorf("ending %s: %w", p.cmd.Path, err)
	}
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("ending %s: %w: %s", p.cmd.Path, err, p.log)
	}
	return nil
}
