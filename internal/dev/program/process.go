package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/a2agen/a2agen/internal/dev/status"
	"github.com/a2agen/a2agen/runtime/server"
)

// How long a program may take.
const (
	startTime = 20 * time.Second      // to be healthy
	askAgain  = 10 * time.Millisecond // between two looks at its health
	Grace     = time.Second           // for handlers to finish, when it is stopped
	killAfter = 8 * time.Second       // to end after it was told to: the grace, and what the runtime takes after that
	drainTime = time.Second           // for what it printed to be read after it ended
)

// Start says how a program is started.
type Start struct {
	Program string
	Dir     string
	Args    []string
	URL     string    // where the agent's callers find it
	Store   string    // for the environment's A2A_STORE; "" leaves it
	Push    string    // an address more to which the agent may send push notifications; "": none
	Output  io.Writer // gets what the program prints
}

// ours are the variables of the environment that are not passed on: the loop says where a program listens.
var ours = []string{server.EnvAddr, server.EnvPort, server.EnvURL, server.EnvTLSCert, server.EnvTLSKey, server.EnvGrace, server.EnvExplain}

// environment is that of a program that listens at an address.
func (s Start) environment(addr string) []string {
	names := ours
	if s.Store != "" {
		names = append(slices.Clone(names), server.EnvStore)
	}
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(names, name)
	})
	env = append(env, server.EnvAddr+"="+addr, server.EnvURL+"="+s.URL, server.EnvGrace+"="+Grace.String(), server.EnvExplain+"=1")
	if s.Store != "" {
		env = append(env, server.EnvStore+"="+s.Store)
	}
	if s.Push != "" {
		env = append(env, server.EnvPushTargets+"="+strings.Trim(os.Getenv(server.EnvPushTargets)+","+s.Push, ","))
	}
	return env
}

// Process is a program that was started.
type Process struct {
	Addr  string // where it listens
	Begun time.Time

	cmd  *exec.Cmd
	tail *tail
	done chan struct{}
	err  error // why it ended; valid when done is closed
	stop sync.Once
}

// Run starts the program on a free port of the loopback interface, and waits until it is healthy. Else it is stopped,
// and the error is a *[status.Failure], or the context's.
func (s Start) Run(ctx context.Context) (*Process, error) {
	p, err := s.begin()
	if err != nil {
		return nil, status.Failed(status.Starting, "start the agent: %v", err)
	}
	if err := p.healthy(ctx); err != nil {
		p.Kill()
		return nil, err
	}
	return p, nil
}

func (s Start) begin() (*Process, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &Process{Addr: addr, Begun: time.Now(), tail: &tail{}, done: make(chan struct{})}
	p.cmd = exec.Command(s.Program, s.Args...)
	p.cmd.Dir, p.cmd.Env = s.Dir, s.environment(addr)
	out := io.MultiWriter(s.Output, p.tail)
	p.cmd.Stdout, p.cmd.Stderr = out, out
	p.cmd.WaitDelay = drainTime
	ownGroup(p.cmd)
	endWithParent(p.cmd)
	started := make(chan error, 1)
	go func() {
		// It ends with the thread that started it: see endWithParent.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		if started <- err; err != nil {
			return
		}
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, <-started
}

// freeAddress returns an address of the loopback interface that nobody uses.
func freeAddress() (string, error) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return ln.Addr().String(), ln.Close()
}

// healthy waits until the program answers.
func (p *Process) healthy(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	var last error
	for {
		if last = p.ask(limited); last == nil {
			return nil
		}
		select {
		case <-p.done:
			if p.cmd.ProcessState.Success() {
				return status.Failed(status.Starting, "the agent ended at once, without an error: %s%s", p.mustListen(), p.Said())
			}
			return status.Failed(status.Starting, "the agent ended at once (%s)%s", p.Ended(), p.Said())
		case <-limited.Done():
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return status.Failed(status.Starting, "the agent is not healthy after %v: %v: %s%s", startTime, last, p.mustListen(), p.Said())
		case <-time.After(askAgain):
		}
	}
}

// mustListen says what a program must do.
func (p *Process) mustListen() string {
	return fmt.Sprintf("it must listen on %s, which the environment's %s says, as server.Main does, until it is told to end",
		p.Addr, server.EnvAddr)
}

// asking is for questions after the health of a program.
var asking = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true},
	Timeout:       2 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// ask asks the program for its health. An agent that was not generated may not know the path.
func (p *Process) ask(ctx context.Context) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.Addr+server.HealthPath, nil)
	if err != nil {
		return err
	}
	resp, err := asking.Do(r)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("%s answers %s", server.HealthPath, resp.Status)
	}
	return nil
}

// Pid returns the number of the process.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Ended says how the process ended, which it must have: "exit status 2".
func (p *Process) Ended() string {
	<-p.done
	if p.err == nil || errors.Is(p.err, exec.ErrWaitDelay) {
		return p.cmd.ProcessState.String()
	}
	return p.err.Error()
}

// Stop has the program finish, and returns when it has ended: killed, if it takes too long.
func (p *Process) Stop() {
	p.stop.Do(func() {
		if terminate(p.cmd) != nil {
			kill(p.cmd)
		}
	})
	select {
	case <-p.done:
	case <-time.After(killAfter):
		p.Kill()
	}
}

// Kill ends the program at once, with the programs that it started.
func (p *Process) Kill() {
	select {
	case <-p.done: // its number may be another one's now
	default:
		kill(p.cmd)
		<-p.done
	}
}

// Said returns the last lines that the program printed, for the end of an error; "" if it printed nothing.
func (p *Process) Said() string {
	if text := p.tail.String(); text != "" {
		return "; it said:\n" + text
	}
	return ""
}

// tail keeps the last lines that are written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const (
	tailBytes = 4 << 10
	tailLines = 10
)

// Write takes everything.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p[max(0, len(p)-tailBytes):]...)
	t.kept = append(t.kept[:0], t.kept[max(0, len(t.kept)-tailBytes):]...)
	return len(p), nil
}

// String returns the lines.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.kept), []byte("\n"))
	return strings.ToValidUTF8(string(bytes.Join(lines[max(0, len(lines)-tailLines):], []byte("\n"))), "�")
}
