// Command up builds and starts three agents, the planner and the two that it calls, each as a process of its own. It
// says how to call the planner, shows what the three write to their logs, starts one again that was killed, and ends
// them all on Ctrl-C. Run it in the folder of the planner: go run ./cmd/up
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	store := flag.String("store", "trip-planner.db", "file in which the planner keeps its plans")
	port := flag.Int("port", 8080, "port of the planner; the others have the next two")
	flag.Parse()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := up(*port, *store, signals); err != nil {
		fmt.Fprintln(os.Stderr, "up:", err)
		os.Exit(1)
	}
}

// up runs the agents until a signal comes or one of them does not start. The planner is started last, so that it is
// there when all are; it would start without the others, too.
func up(port int, store string, signals <-chan os.Signal) error {
	url := func(n int) string { return "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port+n)) }
	agents := []*agent{
		{name: "weather", dir: filepath.Join("..", "weather"), port: port + 1},
		{name: "routes", dir: filepath.Join("..", "routes"), port: port + 2},
		{name: "planner", dir: ".", port: port, env: []string{
			"A2A_STORE=" + store, "A2A_AGENT_WEATHER=" + url(1), "A2A_AGENT_ROUTES=" + url(2),
		}},
	}
	for _, a := range agents {
		if err := a.portFree(); err != nil {
			return err
		}
	}
	fmt.Println("building three agents; the first time that takes a minute")
	for _, a := range agents {
		if err := a.build(); err != nil {
			return err
		}
	}
	ended := make(chan *agent, len(agents))
	defer func() { stop(agents, false) }()
	for _, a := range agents {
		if err := a.start(ended, signals); err != nil {
			return err
		}
	}
	fmt.Printf("\nAsk the planner in another terminal, in this folder:\n\n    go run ./cmd/plan -url %s Oslo Paris\n    go run ./cmd/plan -url %[1]s Oslo Springfield\n\n"+
		"Ctrl-C ends all three.\n\n", url(0))
	for {
		select {
		case a := <-ended:
			fmt.Printf("%v; it is started again\n", a.fault())
			if err := a.start(ended, signals); err != nil {
				return err
			}
		case s := <-signals:
			stop(agents, s == os.Interrupt)
			return nil
		}
	}
}

// agent is an agent as a process.
type agent struct {
	name, dir string
	port      int
	env       []string

	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
}

// portFree says whose port is taken: what listens there would be mistaken for the agent.
func (a *agent) portFree() error {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(a.port)))
	if err != nil {
		return fmt.Errorf("the port of %s is taken; -port takes others: %w", a.name, err)
	}
	return l.Close()
}

// fault says that the process has ended.
func (a *agent) fault() error {
	return fmt.Errorf("%s has ended (%v): what it wrote is above", a.name, a.cmd.ProcessState)
}

// program is where the agent is built.
func (a *agent) program() (string, error) {
	return filepath.Abs(filepath.Join("bin", a.name+map[bool]string{true: ".exe"}[os.PathSeparator == '\\']))
}

func (a *agent) build() error {
	program, err := a.program()
	if err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-o", program, ".")
	cmd.Dir, cmd.Stdout, cmd.Stderr = a.dir, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build %s in %s: %w (run this in examples/planner)", a.name, a.dir, err)
	}
	return nil
}

// start starts the process, and waits until it answers. Ended is told when it ends.
func (a *agent) start(ended chan *agent, signals <-chan os.Signal) error {
	program, err := a.program()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "-addr", net.JoinHostPort("127.0.0.1", strconv.Itoa(a.port)))
	cmd.Env = append(slices.DeleteFunc(os.Environ(), isOfAgents), a.env...)
	cmd.Stdout, cmd.Stderr = &prefixed{name: a.name}, &prefixed{name: a.name}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", a.name, err)
	}
	a.cmd, a.done = cmd, make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(a.done)
		ended <- a
	}()
	if err := a.ready(ended, signals); err != nil {
		return err
	}
	fmt.Printf("%-8s http://127.0.0.1:%d, process %d\n", a.name, a.port, cmd.Process.Pid)
	return nil
}

// isOfAgents reports whether a variable of this process is a setting of agents that is not meant for all three.
func isOfAgents(variable string) bool {
	return strings.HasPrefix(variable, "A2A_") && !strings.HasPrefix(variable, "A2A_LOG=")
}

// ready waits until the agent answers.
func (a *agent) ready(ended <-chan *agent, signals <-chan os.Signal) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for {
		if a.isWell(ctx) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer at port %d", a.name, a.port)
		case other := <-ended:
			return other.fault()
		case s := <-signals:
			return fmt.Errorf("ended by a signal: %v", s)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (a *agent) isWell(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/healthz", a.port), nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// stop ends the processes: the last one first, so that nobody calls an agent that is gone. told means that the
// terminal has told them already, as it does with Ctrl-C; a second signal would end them without the time to finish.
func stop(agents []*agent, told bool) {
	for i := len(agents) - 1; i >= 0; i-- {
		a := agents[i]
		if a.cmd == nil {
			continue
		}
		if told && a.endsWithin(time.Second) {
			continue
		}
		if a.cmd.Process.Signal(os.Interrupt) != nil || !a.endsWithin(10*time.Second) {
			_ = a.cmd.Process.Kill()
			<-a.done
		}
	}
}

func (a *agent) endsWithin(d time.Duration) bool {
	select {
	case <-a.done:
		return true
	case <-time.After(d):
		return false
	}
}

// prefixed writes lines with the name of the agent before each.
type prefixed struct {
	name string
	rest string // of the last line
}

func (p *prefixed) Write(b []byte) (int, error) {
	lines := strings.Split(p.rest+string(b), "\n")
	p.rest = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		fmt.Fprintf(os.Stderr, "%-8s %s\n", p.name, line)
	}
	return len(b), nil
}
