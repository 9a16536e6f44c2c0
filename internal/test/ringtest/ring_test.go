//go:build unix

package ringtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/a2agen/a2agen/internal/test/ledger"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
)

// ring is the replicas of an agent, and the servers of their database.
type ring struct {
	t        *testing.T
	name     string // of their connections
	agent    *ledger.Agent
	replicas []*replica

	cluster, standby *postgrestest.Cluster // nil: the server is not the test's own

	calm atomic.Bool // nothing is done to it any more, and no handler runs

	mu       sync.Mutex
	database string         // where the server is, not through a proxy
	counts   map[string]int // faults
	failed   error
}

// settings are those of the servers: little log before it is recycled, so that a disk can be full of anything.
var settings = map[string]string{"max_wal_size": "128MB", "min_wal_size": "32MB", "wal_keep_size": "64MB"}

// newRing starts the servers, unless A2A_POSTGRES names one, and the replicas.
func newRing(t *testing.T, a *ledger.Agent, key string) *ring {
	t.Helper()
	r := &ring{t: t, name: "ring" + strconv.Itoa(os.Getpid()), agent: a, counts: map[string]int{}}
	if os.Getenv(postgrestest.Variable) != "" {
		r.database = postgrestest.Server(t)
		t.Log("nothing is done to the server of " + postgrestest.Variable + ": no restarts, no failover, no full disk")
	} else {
		r.cluster = postgrestest.New(t, postgrestest.Options{Settings: settings})
		r.database = r.cluster.Address()
	}
	r.replicas = newReplicas(t, a, r.database, key)
	for _, one := range r.replicas {
		one.env = append(one.env, "PGAPPNAME="+r.name)
		one.Faulty = func(line string) bool { // before that errors are what a database makes that is away
			return r.calm.Load() && strings.Contains(line, "handlers ignore their canceled context")
		}
		if err := one.run(t); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// asked skips a test where FOR does not say how long the ring turns, so that only make replicas, which is a step of .ci/run, takes the time.
func asked(t *testing.T) {
	t.Helper()
	if os.Getenv("FOR") == "" {
		t.Skip("kills replicas and servers: make replicas FOR=3s does it")
	}
}

func TestReplicasLoseNothing(t *testing.T) {
	asked(t)
	seed, span := number(t, "SEED", uint64(time.Now().UnixNano())), duration(t, "FOR", 0)
	t.Logf("SEED=%d FOR=%v", seed, span)
	var faults []string
	t.Cleanup(func() { // the last one, below the logs of the servers
		for _, fault := range faults {
			t.Error(fault)
		}
	})
	a := &ledger.Agent{Owners: 3, Clients: 9, Patience: 2 * lease, Outages: true, Rest: duration(t, "REST", 0)}
	key, keysURL := newKey(t)
	r := newRing(t, a, key)
	lanes := []lane{processes, connections}
	if r.cluster != nil {
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
		lanes = append(lanes, servers)
		if theDisk != nil {
			lanes[2].faults = append(slices.Clip(servers.faults), fullDisk)
		} else {
			t.Log("no disk is full: that needs root, on Linux, for a file system of the test's own")
		}
	}
	h := ledger.NewHook(rand.New(rand.NewPCG(seed, 0)))
	defer h.Close()
	checkSignatures(t, h, keysURL)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	load := ledger.Begin(ctx, a, h, seed)
	r.turn(lanes, seed, span, load.Failed)
	load.End(cancel)
	r.calm.Store(true)
	sum, found := load.Report(t.Context())
	t.Logf("%v\n%v", r, sum)
	faults = r.end(found)
}

// end ends the replicas. It returns everything that is wrong, found among it, below the logs of the replicas.
func (r *ring) end(found []string) []string {
	if err := r.broken(); err != nil {
		found = append(found, err.Error())
	}
	for _, one := range r.replicas {
		if err := one.Terminate(); err != nil {
			found = append(found, err.Error())
		}
	}
	if len(found) > 0 {
		r.t.Fail() // so that the servers show their logs too
		for n, one := range r.replicas {
			r.t.Logf("the log of replica %d ends with\n%s", n, one.Log())
		}
	}
	return found
}

// turn does harm in all lanes for as long as span, or until stop says so.
func (r *ring) turn(lanes []lane, seed uint64, span time.Duration, stop func() bool) {
	end := time.Now().Add(span)
	var group sync.WaitGroup
	for n, l := range lanes {
		rnd := rand.New(rand.NewPCG(seed, uint64(n)+1<<33))
		group.Go(func() {
			for time.Now().Before(end) && !stop() && r.broken() == nil {
				for _, f := range shuffled(l.faults, rnd) {
					time.Sleep(between(rnd, 0, l.pause))
					if !time.Now().Before(end) || stop() || r.broken() != nil {
						break
					}
					r.do(l, f, rnd)
				}
			}
		})
	}
	group.Wait()
}

func shuffled(faults []fault, rnd *rand.Rand) []fault {
	deck := slices.Clone(faults)
	rnd.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	return deck
}

func (r *ring) do(l lane, f fault, rnd *rand.Rand) {
	r.agent.Interrupt(time.Minute) // it has ended by then
	err := f.do(r, rnd)
	r.agent.Interrupt(2 * lease) // until all leases are known to be over
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[l.name+": "+f.name]++
	if err != nil {
		r.failed = errors.Join(r.failed, fmt.Errorf("%s: %s: %w", l.name, f.name, err))
	}
}

func (r *ring) broken() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// String lists what was done.
func (r *ring) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	sum := 0
	for _, name := range slices.Sorted(maps.Keys(r.counts)) {
		list = append(list, fmt.Sprintf("  %4d  %s", r.counts[name], name))
		sum += r.counts[name]
	}
	return fmt.Sprintf("%d faults:\n%s", sum, strings.Join(list, "\n"))
}

// number reads a number of the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), fmt.Sprint(otherwise)), 10, 64)
	if err != nil {
		t.Fatal(name, err)
	}
	return n
}

// duration reads a duration of the environment.
func duration(t *testing.T, name string, otherwise time.Duration) time.Duration {
	t.Helper()
	d, err := time.ParseDuration(cmp.Or(os.Getenv(name), otherwise.String()))
	if err != nil {
		t.Fatal(name, err)
	}
	return d
}
