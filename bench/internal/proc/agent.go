package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"syscall"
	"time"
)

// listening is what an agent says on standard error, once, when it can be called.
var listening = regexp.MustCompile(`msg="agent is listening" url=http://(\S+)`)

// StartAgent starts an agent as its user would: its main function is the scaffolded one. It is found by what it says
// itself, and its answers carry a token that only it was given.
func StartAgent(ctx context.Context, binary string) (*Process, error) {
	p := newProcess(ctx, binary, "-addr", "127.0.0.1:0")
	stderr, err := p.cmd.StderrPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", binary, err)
	}
	late := time.AfterFunc(patience, func() { p.cmd.Process.Kill() })
	defer late.Stop()
	p.drained = make(chan struct{})
	found := make(chan string, 1)
	go func() {
		defer close(p.drained)
		p.drain(stderr, found)
	}()
	if p.Addr = <-found; p.Addr == "" {
		err := errors.Join(errors.New("it does not say that it listens"), p.Stop())
		return nil, fmt.Errorf("starting %s: %w: %s", binary, err, p.log)
	}
	return p, nil
}

// drain keeps what the process writes, and tells the address that it names; "" when it ends without.
func (p *Process) drain(stderr io.Reader, found chan<- string) {
	defer close(found)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if m := listening.FindSubmatch(lines.Bytes()); m != nil {
			found <- string(m[1])
			continue
		}
		fmt.Fprintf(p.log, "%s\n", lines.Bytes())
	}
}

// Obeys reports whether the process takes commands: an agent does not.
func (p *Process) Obeys() bool { return p.in != nil }

// quit ends the process as a platform would.
func (p *Process) quit() error {
	err := p.cmd.Process.Signal(syscall.SIGTERM)
	<-p.drained // before Wait, which closes the pipe
	return err
}
