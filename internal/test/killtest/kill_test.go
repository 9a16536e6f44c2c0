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

func TestNothingIsLostByKills(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles an agent and kills it")
	}
	seed, kills := number(t, "SEED", uint64(time.Now().UnixNano())), int(number(t, "KILLS", 4))
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
