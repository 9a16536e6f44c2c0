//go:build unix

package ringtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/internal/test/postgrestest"
)

// fault is one of the things that happen to replicas, connections and servers. It is over when do returns.
type fault struct {
	name string
	do   func(r *ring, rnd *rand.Rand) error
}

// lane is faults of one kind, which happen one after the other, at most pause apart. Lanes do not wait for one another.
type lane struct {
	name   string
	pause  time.Duration
	faults []fault
}

var processes = lane{"processes", lease / 2, []fault{
	{"kill", func(r *ring, rnd *rand.Rand) error { return r.kill(rnd, r.any(rnd)) }},
	{"kill two", func(r *ring, rnd *rand.Rand) error {
		n := rnd.IntN(len(r.replicas))
		return r.kill(rnd, r.replicas[n], r.replicas[(n+1)%len(r.replicas)])
	}},
	{"kill all", func(r *ring, rnd *rand.Rand) error { return r.kill(rnd, r.replicas...) }},
	{"stop for longer than a lease", func(r *ring, rnd *rand.Rand) error {
		return r.any(rnd).pause(lease + between(rnd, lease/5, lease))
	}},
	{"stop for a moment", func(r *ring, rnd *rand.Rand) error { return r.any(rnd).pause(between(rnd, 0, lease/4)) }},
	{"stop, then kill", func(r *ring, rnd *rand.Rand) error {
		one := r.any(rnd)
		err := one.Signal(syscall.SIGSTOP)
		time.Sleep(between(rnd, 0, 2*lease))
		return errors.Join(err, r.kill(rnd, one))
	}},
	{"terminate", func(r *ring, rnd *rand.Rand) error { return r.again(r.any(rnd)) }},
	{"rolling restart", func(r *ring, rnd *rand.Rand) error { return r.again(r.replicas...) }},
	{"kill, and another clock", func(r *ring, rnd *rand.Rand) error {
		one := r.any(rnd)
		one.skew = skews[rnd.IntN(len(skews))]
		return r.kill(rnd, one)
	}},
}}

var connections = lane{"connections", lease / 2, []fault{
	{"cut", func(r *ring, rnd *rand.Rand) error { r.any(rnd).link.Cut(); return nil }},
	{"cut all", func(r *ring, _ *rand.Rand) error {
		for _, one := range r.replicas {
			one.link.Cut()
		}
		return nil
	}},
	{"cut before the answers", func(r *ring, rnd *rand.Rand) error {
		link := r.any(rnd).link
		link.Stop(false, true)
		time.Sleep(between(rnd, 0, lease/8))
		link.Cut()
		link.Stop(false, false)
		return nil
	}},
	{"silent, then on", func(r *ring, rnd *rand.Rand) error {
		link := r.any(rnd).link
		link.Stop(true, true)
		time.Sleep(between(rnd, lease/10, 2*lease))
		link.Stop(false, false)
		return nil
	}},
	{"silent, then cut", func(r *ring, rnd *rand.Rand) error {
		link := r.any(rnd).link
		link.Stop(true, true)
		time.Sleep(between(rnd, lease/10, 2*lease))
		link.Cut()
		link.Stop(false, false)
		return nil
	}},
	{"slow", func(r *ring, rnd *rand.Rand) error {
		link := r.any(rnd).link
		link.Delay(between(rnd, time.Millisecond, 40*time.Millisecond))
		time.Sleep(between(rnd, lease/2, lease))
		link.Delay(0)
		return nil
	}},
	{"away", func(r *ring, rnd *rand.Rand) error {
		link := r.any(rnd).link
		link.Refuse(true)
		link.Cut()
		time.Sleep(between(rnd, lease/10, 2*lease))
		link.Refuse(false)
		return nil
	}},
	{"pg_terminate_backend", func(r *ring, rnd *rand.Rand) error { return r.terminateBackends(rnd) }},
}}

var servers = lane{"server", 2 * lease, []fault{
	{"restart, fast", func(r *ring, _ *rand.Rand) error { return r.cluster.Restart(postgrestest.Fast) }},
	{"restart, immediate", func(r *ring, _ *rand.Rand) error { return r.cluster.Restart(postgrestest.Immediate) }},
	{"kill -9", func(r *ring, rnd *rand.Rand) error {
		err := r.cluster.Kill()
		time.Sleep(between(rnd, 0, lease/2))
		return errors.Join(err, r.cluster.Start())
	}},
	{"failover to the standby", func(r *ring, _ *rand.Rand) error { return r.failOver() }},
}}

var fullDisk = fault{"full disk", func(r *ring, rnd *rand.Rand) error { return r.fillDisk(between(rnd, lease/4, lease)) }}

// between draws a time.
func between(rnd *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(rnd.Int64N(int64(most-least)))
}

func (r *ring) any(rnd *rand.Rand) *replica { return r.replicas[rnd.IntN(len(r.replicas))] }

// kill kills replicas, and starts them again.
func (r *ring) kill(rnd *rand.Rand, killed ...*replica) error {
	var err error
	for _, one := range killed {
		err = errors.Join(err, one.Kill())
	}
	time.Sleep(between(rnd, 0, lease/4))
	for _, one := range killed {
		err = errors.Join(err, one.run(r.t))
	}
	return err
}

// again ends replicas in order, one after the other, and starts each again.
func (r *ring) again(replicas ...*replica) error {
	for _, one := range replicas {
		if err := errors.Join(one.Terminate(), one.run(r.t)); err != nil {
			return err
		}
	}
	return nil
}

// pause stops the process for a while, after which it goes on.
func (one *replica) pause(d time.Duration) error {
	err := one.Signal(syscall.SIGSTOP)
	time.Sleep(d)
	return errors.Join(err, one.Signal(syscall.SIGCONT))
}

// terminateBackends ends about half of the connections of the replicas, from the server.
func (r *ring) terminateBackends(rnd *rand.Rand) error {
	return r.admin(func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE application_name=$1 AND usename=current_user AND pid<>pg_backend_pid() AND pid%2=$2`, r.name, rnd.IntN(2))
		return err
	})
}

// admin calls f with a connection to the server, unless that is away.
func (r *ring) admin(f func(context.Context, *pgx.Conn) error) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
	defer cancel()
	r.mu.Lock()
	address := r.database
	r.mu.Unlock()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := f(ctx, conn); err != nil && !conn.IsClosed() {
		return err
	}
	return nil
}

// failOver kills the server, and has its standby take over. A copy of that is the next standby.
func (r *ring) failOver() error {
	old := r.cluster
	if err := errors.Join(old.Kill(), r.standby.Promote()); err != nil {
		return err
	}
	r.use(r.standby)
	if err := os.RemoveAll(old.Data()); err != nil {
		return err
	}
	return r.follow()
}

// use leads all replicas to a server.
func (r *ring) use(c *postgrestest.Cluster) {
	r.mu.Lock()
	r.cluster, r.database = c, c.Address()
	r.mu.Unlock()
	for _, one := range r.replicas {
		one.link.Switch(c.HostPort())
	}
}

// follow starts a standby, without which nothing is committed from then on.
func (r *ring) follow() error {
	if err := r.synchronize(""); err != nil {
		return err
	}
	r.standby = r.cluster.Standby(r.t)
	if err := r.synchronize("*"); err != nil {
		return err
	}
	return r.awaitStandby(time.Minute)
}

// synchronize says which standbys must have what is committed.
func (r *ring) synchronize(names string) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, r.cluster.Address())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, "ALTER SYSTEM SET synchronous_standby_names = '"+names+"'")
	if err == nil {
		_, err = conn.Exec(ctx, "SELECT pg_reload_conf()")
	}
	return err
}

// awaitStandby waits until the standby has what is committed.
func (r *ring) awaitStandby(patience time.Duration) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, r.cluster.Address())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for {
		var there bool
		err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum'))").Scan(&there)
		if err != nil {
			return fmt.Errorf("the standby does not follow: %w", err)
		}
		if there {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// fillDisk leaves the servers no room for a while. One that has ended by that is started again, and a standby that has
// fallen behind is made anew.
func (r *ring) fillDisk(d time.Duration) error {
	if err := theDisk.fill(); err != nil {
		return err
	}
	time.Sleep(d)
	if err := theDisk.free(); err != nil {
		return err
	}
	for _, c := range []*postgrestest.Cluster{r.cluster, r.standby} {
		if err := r.revive(c); err != nil {
			return err
		}
	}
	if r.awaitStandby(10*time.Second) == nil {
		return nil
	}
	if err := errors.Join(r.standby.Stop(postgrestest.Immediate), os.RemoveAll(r.standby.Data())); err != nil {
		return err
	}
	return r.follow()
}

// revive restarts a server that does not answer: without room for its log it ends.
func (r *ring) revive(c *postgrestest.Cluster) error {
	ctx, cancel := context.WithTimeout(r.t.Context(), 5*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if conn, err := pgx.Connect(ctx, c.Address()); err == nil {
			return conn.Close(ctx)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return c.Restart(postgrestest.Immediate)
}
