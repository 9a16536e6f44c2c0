//go:build unix

package killtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/ledger"
)

// number reads a number of the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), fmt.Sprint(otherwise)), 10, 64)
	if err != nil {
		t.Fatal(name, err)
	}
	return n
}

// asked returns how often agents are killed. Without KILLS the test is skipped, so that only make kill, which is a step of .ci/run, takes
// the time.
func asked(t *testing.T) (kills int) {
	t.Helper()
	if os.Getenv("KILLS") == "" {
		t.Skip("compiles agents and kills them: make kill KILLS=4 does it")
	}
	return int(number(t, "KILLS", 0))
}

func TestNothingIsLostByKills(t *testing.T) {
	kills, seed := asked(t), number(t, "SEED", uint64(time.Now().UnixNano()))
	t.Logf("SEED=%d KILLS=%d", seed, kills)
	v := newVictim(t, build(t))
	if err := v.Start(); err != nil {
		t.Fatal(err)
	}
	h := ledger.NewHook(rand.New(rand.NewPCG(seed, 0)))
	defer h.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	load := ledger.Begin(ctx, v.Agent, h, seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	for range kills {
		var err error
		if rnd.IntN(8) == 0 {
			err = v.pause(rnd)
		}
		if err = errors.Join(err, v.harm(rnd)); err != nil {
			t.Fatal(err)
		}
		if load.Failed() {
			break
		}
	}
	load.End(cancel)
	sum, faults := load.Report(t.Context())
	t.Logf("%d kills and %d SIGTERMs (%v): %s", v.Agent.Kills.Load(), v.Agent.Terms.Load(), v.counts, sum)
	if err := v.Terminate(); err != nil {
		t.Error(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}
