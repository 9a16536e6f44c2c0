// Package ledger is what clients and webhooks of an agent under test were told, and what must then be true: nothing is
// lost, nothing doubled, nothing out of order. A test makes the agent, runs clients with Begin, does harm, and compares
// with Load.End and Load.Report.
package ledger

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// The skills that the agent must have. Sturdy and Fragile make [Steps] updates, a few milliseconds apart: each is a
// progress with the text of [Step], and the step's number as a chunk of the artifact "log". Then they answer "done "
// and the text of the message. A crash has Sturdy tried again and ends Fragile. Asking asks, and answers "done " and the
// text of the answer; it is tried again.
const (
	Sturdy  = "sturdy"
	Fragile = "fragile"
	Asking  = "asking"
)

// OwnerHeader says who calls an agent whose callers have tasks of their own.
const OwnerHeader = "X-Owner"

// Agent is an agent under test, as one process or as replicas that share their tasks.
type Agent struct {
	Addresses []string      // host:port of each replica
	Owners    int           // callers that have tasks of their own; 0: nobody says who calls
	Patience  time.Duration // after which a client leaves a request and makes another one; 0: never
	Clients   int           // at the same time; 0: six
	Rest      time.Duration // of a client, after each of its conversations
	Outages   bool          // of its store, which fail what is not tried again

	// Kills counts what may have interrupted handlers so far and counts as an attempt, Terms what gave their calls back.
	Kills, Terms atomic.Int64
	unsettled    atomic.Int64 // until when what was done may still interrupt handlers, in nanoseconds since 1970
}

// Interrupt counts something that may interrupt handlers, also those that begin within a while.
func (a *Agent) Interrupt(within time.Duration) {
	for until := time.Now().Add(within).UnixNano(); ; {
		if was := a.unsettled.Load(); was >= until || a.unsettled.CompareAndSwap(was, until) {
			break
		}
	}
	a.Kills.Add(1)
}

// before is how many of its Kills cannot interrupt what begins now.
func (a *Agent) before() int64 {
	n := a.Kills.Load()
	if time.Now().UnixNano() < a.unsettled.Load() {
		n--
	}
	return n
}

// patience limits a request.
func (a *Agent) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.Patience == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, a.Patience)
}

// Load are the clients at work.
type Load struct {
	clients []*client
	hook    *Hook
	stop    chan struct{}
	group   sync.WaitGroup
	mu      sync.Mutex
	faults  []string
}

// Begin lets clients work until [Load.End]. The seed decides what they do.
func Begin(ctx context.Context, a *Agent, h *Hook, seed uint64) *Load {
	l := &Load{stop: make(chan struct{}), hook: h}
	clients := a.Clients
	if clients == 0 {
		clients = 6
	}
	for i := range clients {
		owner := ""
		if a.Owners > 0 {
			owner = fmt.Sprint("owner-", i%a.Owners)
		}
		c := &client{
			Caller: NewCaller(a, owner, rand.New(rand.NewPCG(seed, uint64(i)+1<<32))),
			name:   fmt.Sprint("c", i), rnd: rand.New(rand.NewPCG(seed, uint64(i)+2)), hookURL: h.URL,
		}
		l.clients = append(l.clients, c)
		l.group.Go(func() {
			if err := c.run(ctx, l.stop); err != nil {
				l.fault("%v", err)
			}
		})
	}
	return l
}

// Failed reports whether a client has found a fault, which ends its work.
func (l *Load) Failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.faults) > 0
}

// End lets the clients finish what they have begun, unless something is wrong already. cancel ends the context of Begin.
func (l *Load) End(cancel func()) {
	close(l.stop)
	patience := 3 * time.Minute // a busy machine has needed more than one
	if l.Failed() {
		patience = time.Second
	}
	defer time.AfterFunc(patience, cancel).Stop()
	l.group.Wait()
}

// fault notes something that is wrong.
func (l *Load) fault(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.faults = append(l.faults, fmt.Sprintf(format, args...))
}

// Tally is how much the clients have seen.
type Tally struct {
	Tasks, Failed           int // Failed: by what was done to the agent
	Events                  int
	Notifications, Repeated int
	Faults                  int // of notifications, and of tasks in the end
}

func (t *Tally) String() string {
	return fmt.Sprintf("%d tasks (%d failed by them), %d events, %d notifications and %d repeats; tasks with lost or doubled notifications: %d",
		t.Tasks, t.Failed, t.Events, t.Notifications, t.Repeated, t.Faults)
}

// lastDelivery is how long after the last harm a notification may still be on its way: some tries of it were refused, or
// the process that had claimed it is gone. A claim alone would last for two minutes.
const lastDelivery = 30 * time.Second

// Report checks the webhooks, and what all tasks are in the end, after End. It says how much it was, and what is wrong.
func (l *Load) Report(ctx context.Context) (*Tally, []string) {
	sum, until := &Tally{}, time.Now().Add(lastDelivery)
	var group sync.WaitGroup
	for _, c := range l.clients {
		for _, p := range c.promises {
			if p.id == "" || p.log == nil {
				continue
			}
			sum.Tasks++
			sum.Events += p.last
			if p.state == "TASK_STATE_FAILED" {
				sum.Failed++
			}
			if !p.hooked {
				continue
			}
			if fault := delivered(l.hook, p, until); fault != "" {
				sum.Faults++
				l.fault("%s %s, task %s: %s", p.skill, p.token, p.id, fault)
			}
		}
		group.Go(func() { c.remembered(ctx, l.fault) })
	}
	group.Wait()
	l.hook.mu.Lock()
	defer l.hook.mu.Unlock()
	sum.Notifications, sum.Repeated = len(l.hook.seen), l.hook.repeated
	return sum, append(l.faults, l.hook.faults...)
}

// remembered checks that the agent still has every task, as it was, for its owner alone.
func (c *client) remembered(ctx context.Context, fault func(format string, args ...any)) {
	for n, p := range c.promises {
		if p.id == "" {
			continue
		}
		got, err := c.Get(ctx, p.id)
		if err != nil || p.log != nil && got.Status.State != p.state {
			fault("task %s, %s, in the end: %v, %v", p.id, p.state, got, err)
		}
		if c.owner == "" || n%20 > 0 {
			continue
		}
		other := &client{Caller: NewCaller(c.agent, c.owner+"-else", c.Caller.rnd)}
		if got, err := other.Get(ctx, p.id); !Refused(err, NotFound) {
			fault("task %s of %s, for another: %v, %v", p.id, c.owner, got, err)
		}
	}
}
