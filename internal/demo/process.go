package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/a2agen/a2agen/runtime/server"
)

// process is the running agent.
type process struct {
	cmd  *exec.Cmd
	url  string
	done chan error // closed log, then the exit
}

var listening = regexp.MustCompile(`msg="agent is listening" url=(\S+)`)

// start builds the agent and starts it on a free loopback port.
func (d *demo) start(ctx context.Context) error {
	if err := sh(ctx, d.agent, "go", "build", "-o", d.binary(), "."); err != nil {
		return err
	}
	return d.launch("127.0.0.1:0")
}

func (d *demo) binary() string { return filepath.Join(filepath.Dir(d.tool), "agent") }

// launch starts the agent and waits until it says that it listens. Its webhooks may be on this machine.
func (d *demo) launch(address string) error {
	const targets = server.EnvPushTargets + "=127.0.0.0/8"
	fmt.Printf("\n  $ %s agent -addr %s\n", targets, address)
	cmd := exec.Command(d.binary(), "-addr", address)
	cmd.Dir, cmd.Env = d.agent, append(os.Environ(), targets)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	d.process = &process{cmd: cmd, done: make(chan error, 1)}
	url := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			fmt.Println("  |", lines.Text())
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				url <- m[1]
			}
		}
		d.process.done <- cmd.Wait()
	}()
	select {
	case d.process.url = <-url:
		return nil
	case err := <-d.process.done:
		return fmt.Errorf("the agent ended at once: %w", err)
	case <-time.After(10 * time.Second):
		return errors.New("the agent does not say that it listens")
	}
}

// stop ends the agent as a platform would, by its process id, and expects exit code 0.
func (d *demo) stop(context.Context) error {
	if err := d.process.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-d.process.done:
		if err != nil {
			return err
		}
		fmt.Println("  exit code 0")
		d.process = nil
		return nil
	case <-time.After(20 * time.Second):
		return errors.New("the agent does not stop")
	}
}

// kill ends the agent without a word.
func (d *demo) kill() error {
	if err := d.process.cmd.Process.Kill(); err != nil {
		return err
	}
	<-d.process.done
	return nil
}

// close ends what a failed demo leaves behind.
func (d *demo) close() {
	if d.process != nil {
		_ = d.process.cmd.Process.Kill() // it may have ended already
	}
	if d.webhook != nil {
		d.webhook.Close()
	}
}
