//go:build unix

package ringtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/internal/test/ledger"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
)

// someTasks are as many as are made before and after the standby is cut off.
const someTasks = 10

// TestAStandbyThatWasBehindLosesTheRestAndNoReplicaShowsIt fails over to an asynchronous standby that has not got the
// last transactions. They are lost, though they were acknowledged: that is what asynchronous means. No replica shows
// them from its cache then, also where what is written later has the numbers of what was lost.
func TestAStandbyThatWasBehindLosesTheRestAndNoReplicaShowsIt(t *testing.T) {
	asked(t)
	if os.Getenv(postgrestest.Variable) != "" {
		t.Skip("kills a server: not that of " + postgrestest.Variable)
	}
	key, _ := newKey(t)
	r := newRing(t, &ledger.Agent{Owners: 1, Patience: 2 * lease}, key)
	r.standby = r.cluster.Standby(t)
	v := &visitor{t: t, any: ledger.NewCaller(r.agent, "owner", rand.New(rand.NewPCG(1, 1)))}
	for n := range r.replicas {
		one := &ledger.Agent{Addresses: r.agent.Addresses[n : n+1], Patience: r.agent.Patience}
		v.each = append(v.each, ledger.NewCaller(one, "owner", rand.New(rand.NewPCG(1, 1))))
	}
	var kept, lost []string
	for n := range someTasks {
		kept = append(kept, v.send(v.any, "", fmt.Sprint("kept-", n), ledger.Sturdy))
	}
	asked := v.send(v.any, "", "asked", ledger.Asking)
	v.see(asked, "TASK_STATE_INPUT_REQUIRED", "And then?")
	r.leaveBehind()
	for n := range someTasks {
		lost = append(lost, v.send(v.any, "", fmt.Sprint("lost-", n), ledger.Sturdy))
	}
	v.send(v.each[0], asked, "first", "")
	v.see(asked, "TASK_STATE_COMPLETED", "done first")

	if err := r.cluster.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := r.standby.Promote(); err != nil {
		t.Fatal(err)
	}
	r.use(r.standby)

	// The answer that was lost is sent again, in other words. Replicas that have not looked since know the first one, of
	// the same number.
	v.send(v.each[0], asked, "second", "")
	v.see(asked, "TASK_STATE_COMPLETED", "done second")
	for _, id := range kept {
		v.see(id, "TASK_STATE_COMPLETED", "done kept-")
	}
	for _, id := range lost {
		for n, c := range v.each {
			if task, err := c.Get(t.Context(), id); !ledger.Refused(err, ledger.NotFound) {
				t.Errorf("replica %d has the task %s, which was lost: %+v, %v", n, id, task, err)
			}
		}
	}
	for n, c := range v.each {
		v.see(v.send(c, "", fmt.Sprint("new-", n), ledger.Sturdy), "TASK_STATE_COMPLETED", "done new-")
	}
	t.Logf("of %d acknowledged tasks %d were lost, those that the standby had not got, and the answer to a question", 2*someTasks, len(lost))
}

// leaveBehind waits until the standby has everything, and lets nothing more go to it.
func (r *ring) leaveBehind() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	from, to := postgrestest.Connect(r.t, r.cluster.Address()), postgrestest.Connect(r.t, r.standby.Address())
	await := func(query string) {
		r.t.Helper()
		for done := false; !done; time.Sleep(10 * time.Millisecond) {
			if err := from.QueryRow(ctx, query).Scan(&done); err != nil {
				r.t.Fatal(query, err)
			}
		}
	}
	await("SELECT EXISTS (SELECT FROM pg_stat_replication WHERE replay_lsn = pg_current_wal_lsn())")
	for _, statement := range []string{"ALTER SYSTEM SET primary_conninfo = ''", "SELECT pg_reload_conf()"} {
		if _, err := to.Exec(ctx, statement); err != nil {
			r.t.Fatal(statement, err)
		}
	}
	await("SELECT NOT EXISTS (SELECT FROM pg_stat_replication)")
	for _, c := range []*pgx.Conn{from, to} {
		_ = c.Close(ctx)
	}
}

// visitor calls replicas, and reads tasks at each of them.
type visitor struct {
	t    *testing.T
	any  *ledger.Caller
	each []*ledger.Caller
}

// send sends a message to a skill, or to a task, and returns the task's id when the call is over.
func (v *visitor) send(c *ledger.Caller, task, text, skill string) (id string) {
	v.t.Helper()
	message := map[string]any{"messageId": text, "role": "ROLE_USER", "parts": []any{map[string]string{"text": text}}}
	if task != "" {
		message["taskId"] = task
	} else {
		message["metadata"] = map[string]string{"skillId": skill}
	}
	raw, err := c.Ask(v.t.Context(), "SendMessage", map[string]any{"message": message}, "Idempotency-Key", "key-"+text)
	if err != nil {
		v.t.Fatal(text, err)
	}
	var answer struct{ Task *ledger.Task }
	if err := json.Unmarshal(raw, &answer); err != nil || answer.Task == nil {
		v.t.Fatalf("%s: %s, %v", text, raw, err)
	}
	return answer.Task.ID
}

// see reads a task at each replica.
func (v *visitor) see(id, state, text string) {
	v.t.Helper()
	for n, c := range v.each {
		task, err := c.Get(v.t.Context(), id)
		if err != nil {
			v.t.Errorf("replica %d: task %s: %v", n, id, err)
			continue
		}
		if got := task.Says(); task.Status.State != state || !strings.HasPrefix(got, text) {
			v.t.Errorf("replica %d shows the task %s as %s %q, want %s %q", n, id, task.Status.State, got, state, text)
		}
	}
}
