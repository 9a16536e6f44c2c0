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
	"sync"
	"testing"
	"time"
)

const clients = 6

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
	if err := v.start(); err != nil {
		t.Fatal(err)
	}
	h := newHook(rand.New(rand.NewPCG(seed, 0)))
	defer h.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	load := begin(ctx, v, h, seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	for range kills {
		var err error
		if rnd.IntN(8) == 0 {
			err = v.pause(rnd)
		}
		if err = errors.Join(err, v.harm(rnd)); err != nil {
			t.Fatal(err)
		}
		if load.failed() {
			break
		}
	}
	for _, fault := range load.end(cancel) {
		t.Error(fault)
	}
	report(t, v, h, load)
	if err := v.terminate(); err != nil {
		t.Error(err)
	}
}

// load are the clients at work.
type load struct {
	clients []*client
	stop    chan struct{}
	group   sync.WaitGroup
	mu      sync.Mutex
	faults  []string
}

func begin(ctx context.Context, v *victim, h *hook, seed uint64) *load {
	l := &load{stop: make(chan struct{})}
	for i := range clients {
		rnd := rand.New(rand.NewPCG(seed, uint64(i)+2))
		c := &client{caller: newCaller(v.address), name: fmt.Sprint("c", i), rnd: rnd, v: v, hookURL: h.URL}
		l.clients = append(l.clients, c)
		l.group.Go(func() {
			if err := c.run(ctx, l.stop); err != nil {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.faults = append(l.faults, err.Error())
			}
		})
	}
	return l
}

func (l *load) failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.faults) > 0
}

// end lets the clients finish what they have begun, unless something is wrong already.
func (l *load) end(cancel func()) []string {
	close(l.stop)
	patience := time.Minute
	if l.failed() {
		patience = time.Second
	}
	defer time.AfterFunc(patience, cancel).Stop()
	l.group.Wait()
	return l.faults
}

// report checks the webhooks, and what all tasks are in the end, and says how much it was.
func report(t *testing.T, v *victim, h *hook, l *load) {
	until := time.Now().Add(90 * time.Second)
	var tasks, events, lost, failed int
	for _, c := range l.clients {
		for _, p := range c.promises {
			if p.id == "" || p.log == nil {
				continue
			}
			tasks++
			events += p.last
			if p.state == "TASK_STATE_FAILED" {
				failed++
			}
			if !p.hooked {
				continue
			}
			if fault := delivered(h, p, until); fault != "" {
				lost++
				t.Errorf("%s %s, task %s: %s", p.skill, p.token, p.id, fault)
			}
		}
		c.remembered(t)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, fault := range h.faults {
		t.Error(fault)
	}
	t.Logf("%d kills and %d SIGTERMs (%v): %d tasks (%d failed by them), %d events, %d notifications and %d repeats; "+
		"tasks with lost or doubled notifications: %d",
		v.kills.Load(), v.terms.Load(), v.counts, tasks, failed, events, len(h.seen), h.repeated, lost)
}

// remembered checks that the agent still has every task, as it was.
func (c *client) remembered(t *testing.T) {
	for _, p := range c.promises {
		if p.id == "" {
			continue
		}
		got, err := c.get(t.Context(), p.id)
		if err != nil || p.log != nil && got.Status.State != p.state {
			t.Errorf("task %s, %s, in the end: %v, %v", p.id, p.state, got, err)
		}
	}
}
