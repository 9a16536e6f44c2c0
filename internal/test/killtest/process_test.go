//go:build unix

package killtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/ledger"
)

// victim is an agent: one process after the other, at one address and on one file.
type victim struct {
	binary, address, file string
	env                   []string      // more of the environment
	agent                 *ledger.Agent // as its clients see it
	counts                map[string]int

	cmd  *exec.Cmd
	said *strings.Builder // its last words
	done chan error       // closed log, then the exit
}

func newVictim(t *testing.T, binary string) *victim {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	v := &victim{binary: binary, address: address, agent: &ledger.Agent{Addresses: []string{address}}, counts: map[string]int{}}
	v.file = filepath.Join(t.TempDir(), "tasks.db")
	_ = free.Close() // the agent listens there from now on
	t.Cleanup(func() {
		if v.cmd != nil {
			_ = v.cmd.Process.Kill() // it has ended if all went well
			<-v.done
		}
	})
	return v
}

// launch starts a process. ready is closed when it listens.
func (v *victim) launch() (ready chan struct{}, err error) {
	v.cmd = exec.Command(v.binary, "-addr", v.address)
	v.cmd.Env = append(os.Environ(), "A2A_PUSH_TARGETS=127.0.0.0/8", "A2A_STORE="+v.file)
	v.cmd.Env = append(v.cmd.Env, v.env...)
	stderr, err := v.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := v.cmd.Start(); err != nil {
		return nil, err
	}
	ready, v.done, v.said = make(chan struct{}), make(chan error, 1), &strings.Builder{}
	go v.listen(v.cmd, stderr, ready, v.done, v.said)
	return ready, nil
}

func (v *victim) listen(cmd *exec.Cmd, stderr io.Reader, ready chan struct{}, done chan error, said *strings.Builder) {
	listening := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if !listening && strings.Contains(lines.Text(), "agent is listening") {
			listening = true
			close(ready)
		}
		if !strings.Contains(lines.Text(), "level=INFO") {
			fmt.Fprintln(said, lines.Text())
		}
	}
	done <- cmd.Wait()
}

// start starts a process and waits until it listens.
func (v *victim) start() error {
	ready, err := v.launch()
	if err != nil {
		return err
	}
	select {
	case <-ready:
		return nil
	case err := <-v.done:
		v.cmd = nil
		return fmt.Errorf("the agent does not start: %v\n%s", err, v.said)
	case <-time.After(time.Minute):
		return errors.New("the agent does not listen")
	}
}

// harm does one of the things that happen to processes, at a random moment, and starts the agent again if need be.
func (v *victim) harm(rnd *rand.Rand) error {
	time.Sleep(time.Duration(rnd.IntN(250)) * time.Millisecond)
	switch n := rnd.IntN(100); {
	case n < 70:
		v.counts["kill"]++
		return v.again(v.kill())
	case n < 80:
		v.counts["stop, kill"]++
		err := v.cmd.Process.Signal(syscall.SIGSTOP)
		time.Sleep(time.Duration(rnd.IntN(100)) * time.Millisecond)
		return v.again(errors.Join(err, v.kill()))
	case n < 90:
		v.counts["kill at start"]++
		if err := v.kill(); err != nil {
			return err
		}
		if _, err := v.launch(); err != nil {
			return err
		}
		time.Sleep(time.Duration(rnd.IntN(60)) * time.Millisecond)
		return v.again(v.kill())
	default:
		v.counts["term"]++
		return v.again(v.terminate())
	}
}

// pause stops the process for a moment, after which it goes on.
func (v *victim) pause(rnd *rand.Rand) error {
	v.counts["stop, go on"]++
	err := v.cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(time.Duration(rnd.IntN(150)) * time.Millisecond)
	return errors.Join(err, v.cmd.Process.Signal(syscall.SIGCONT))
}

func (v *victim) again(err error) error {
	if err != nil {
		return err
	}
	return v.start()
}

func (v *victim) kill() error {
	err := v.cmd.Process.Kill()
	<-v.done
	v.cmd = nil
	v.agent.Kills.Add(1)
	if said := v.said.String(); strings.Contains(said, "panic") || strings.Contains(said, "level=ERROR") {
		err = errors.Join(err, errors.New(said))
	}
	return err
}

// terminate asks the agent to end, as platforms do: it says that all went well.
func (v *victim) terminate() error {
	if err := v.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-v.done:
		v.cmd = nil
		v.agent.Terms.Add(1)
		if err != nil {
			return fmt.Errorf("after SIGTERM: %w\n%s", err, v.said)
		}
		return nil
	case <-time.After(30 * time.Second):
		return errors.New("the agent does not heed SIGTERM")
	}
}
