package mcptools

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"syscall"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// process is a command that speaks MCP over its standard input and output.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.Reader
	errors *tail
	end    sync.Once
}

// start starts the server's command.
func (s *Server) start() (*process, error) {
	argv, err := s.argv()
	if err != nil {
		return nil, err
	}
	env, err := s.environment()
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(argv[0], argv[1:]...), errors: &tail{}}
	p.cmd.Env, p.cmd.Stderr = env, p.errors
	p.cmd.WaitDelay = graceful // for what a child of the command holds open
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", s.Command[0], err)
	}
	return p, nil
}

// transport speaks to the process. tap sees what it says.
func (p *process) transport(tap *tap) sdk.Transport {
	return &sdk.IOTransport{Reader: reader{tap.of(p.stdout), p}, Writer: p.stdin, MaxLineLength: defaultMaxBytes}
}

// reader is the output of a process, and ends the process when it is closed.
type reader struct {
	io.Reader
	p *process
}

func (r reader) Close() error {
	r.p.close()
	return nil
}

// graceful is how long a command may take to end after its input has ended, and again after it was asked to.
const graceful = 2 * time.Second

// close has the process end: by the end of its input, else by a signal.
func (p *process) close() {
	p.end.Do(func() {
		_ = p.stdin.Close()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_ = p.cmd.Wait()
		}()
		for _, signal := range []func(){
			func() { _ = p.cmd.Process.Signal(syscall.SIGTERM) },
			func() { _ = p.cmd.Process.Kill() },
		} {
			timer := time.NewTimer(graceful)
			select {
			case <-ended:
				timer.Stop()
				return
			case <-timer.C:
				signal()
			}
		}
	})
}

// maxTail is how many bytes of what a command prints to its standard error are kept.
const maxTail = 2 << 10

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// Write keeps the end of it all.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - maxTail; over > 0 {
		t.text = append(t.text[:0], t.text[over:]...)
	}
	return len(b), nil
}

// String is what was kept, on one line.
func (t *tail) String() string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return excerpt(string(bytes.TrimSpace(t.text)), maxTail)
}
