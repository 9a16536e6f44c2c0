package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/a2agen/a2agen/interop/internal/desk"
)

// process is a script that runs: an agent, or a client that does what it is asked, line by line of JSON.
type process struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	lines  chan []byte
	stderr lastLines
}

// startProcess runs a command in a folder. Standard input that ends tells it to end, and then a signal.
func startProcess(dir string, args []string) (*process, error) {
	p := &process{cmd: exec.Command(args[0], args[1:]...), lines: make(chan []byte)}
	p.cmd.Dir = dir
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in = in
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.lines)
		s := bufio.NewScanner(out)
		s.Buffer(nil, 1<<20)
		for s.Scan() {
			p.lines <- bytes.Clone(s.Bytes())
		}
	}()
	return p, nil
}

// line is the next one that the process prints and that begins with prefix.
func (p *process) line(ctx context.Context, prefix string) ([]byte, error) {
	for {
		select {
		case line, open := <-p.lines:
			if !open {
				return nil, fmt.Errorf("it ended: %s", p.stderr.String())
			}
			if bytes.HasPrefix(line, []byte(prefix)) {
				return line, nil
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("no answer in time: %s", p.stderr.String())
		}
	}
}

// Do sends the ask as a line and reads the answer.
func (p *process) Do(ctx context.Context, ask *desk.Ask) *desk.Answer { return p.exchange(ctx, ask) }

// Try does the same with an attempt.
func (p *process) Try(ctx context.Context, a *attempt) *desk.Answer { return p.exchange(ctx, a) }

func (p *process) exchange(ctx context.Context, ask any) *desk.Answer {
	text, err := json.Marshal(ask)
	if err != nil {
		return &desk.Answer{Error: err.Error()}
	}
	if _, err := p.in.Write(append(text, '\n')); err != nil {
		return &desk.Answer{Error: "it ended: " + p.stderr.String()}
	}
	line, err := p.line(ctx, "{")
	if err != nil {
		p.stop() // a late answer would be taken for that of the next ask
		return &desk.Answer{Error: err.Error()}
	}
	a := &desk.Answer{}
	if err := json.Unmarshal(line, a); err != nil {
		return &desk.Answer{Error: "not an answer: " + string(line)}
	}
	return a
}

// stop ends the process.
func (p *process) stop() {
	_ = p.in.Close()
	kill := time.AfterFunc(time.Second, func() { _ = p.cmd.Process.Kill() })
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	for range p.lines { // until it has ended
	}
	_ = p.cmd.Wait()
	kill.Stop()
}

// lastLines keeps the end of what a process says.
type lastLines struct {
	mu   sync.Mutex
	text []byte
}

func (l *lastLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, p...)
	l.text = l.text[max(0, len(l.text)-4096):]
	return len(p), nil
}

// String is the last line.
func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := strings.TrimSpace(string(l.text))
	return text[strings.LastIndexByte(text, '\n')+1:]
}
