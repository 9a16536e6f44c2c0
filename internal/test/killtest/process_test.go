//go:build unix

package killtest

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/ledger"
)

// victim is an agent: one process after the other, at one address and on one file.
type victim struct {
	ledger.Process
	address string
	env     []string // more of the environment
	counts  map[string]int
}

func newVictim(t *testing.T, binary string) *victim {
	t.Helper()
	v := &victim{address: ledger.Address(t), counts: map[string]int{}}
	file := filepath.Join(t.TempDir(), "tasks.db")
	v.Agent = &ledger.Agent{Addresses: []string{v.address}}
	v.Command = func() *exec.Cmd {
		cmd := exec.Command(binary, "-addr", v.address)
		cmd.Env = append(os.Environ(), "A2A_PUSH_TARGETS=127.0.0.0/8", "A2A_STORE="+file)
		cmd.Env = append(cmd.Env, v.env...)
		return cmd
	}
	t.Cleanup(v.Close)
	return v
}

// harm does one of the things that happen to processes, at a random moment, and starts the agent again if need be.
func (v *victim) harm(rnd *rand.Rand) error {
	time.Sleep(time.Duration(rnd.IntN(250)) * time.Millisecond)
	switch n := rnd.IntN(100); {
	case n < 70:
		v.counts["kill"]++
		return v.again(v.Kill())
	case n < 80:
		v.counts["stop, kill"]++
		err := v.Signal(syscall.SIGSTOP)
		time.Sleep(time.Duration(rnd.IntN(100)) * time.Millisecond)
		return v.again(errors.Join(err, v.Kill()))
	case n < 90:
		v.counts["kill at start"]++
		if err := v.Kill(); err != nil {
			return err
		}
		if _, err := v.Launch(); err != nil {
			return err
		}
		time.Sleep(time.Duration(rnd.IntN(60)) * time.Millisecond)
		return v.again(v.Kill())
	default:
		v.counts["term"]++
		return v.again(v.Terminate())
	}
}

// pause stops the process for a moment, after which it goes on.
func (v *victim) pause(rnd *rand.Rand) error {
	v.counts["stop, go on"]++
	err := v.Signal(syscall.SIGSTOP)
	time.Sleep(time.Duration(rnd.IntN(150)) * time.Millisecond)
	return errors.Join(err, v.Signal(syscall.SIGCONT))
}

func (v *victim) again(err error) error {
	if err != nil {
		return err
	}
	return v.Start()
}
