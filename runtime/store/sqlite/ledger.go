package sqlite

import (
	"context"
	"fmt"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// ledger is what principals hold, as far as the writer has read it. Its changes are written once a transaction; when that
// fails, the ledger is cleared and read anew.
type ledger struct {
	accounts map[string]*account
	owners   map[store.Owner]*owner
	all      *account // of everybody: the sum of those in the file
	changed  map[*account]struct{}
	moved    map[*owner]struct{}
}

// account is what one principal holds, in all tenants.
type account struct {
	taskstate.Account
	n         int64 // 0: it is not in the file yet
	principal string
	pushes    int64 // push configurations
	notes     int64 // bytes of notes, which are among those held
	named     bool  // it is a principal's, not that of callers without one
	repeats   int64 // messages that may be sent again, at most; 0: not counted yet
}

// owner counts the tasks of a principal in a tenant by state.
type owner struct {
	n       int64 // 0: it is not in the file yet
	account *account
	tenant  string
	counts  [16]int64
	changed [16]bool
}

// mostOwners is how many owners the ledger remembers.
const mostOwners = 10_000

func (l *ledger) forget() { *l = ledger{} }

// shrink clears what single principals hold, once that is written, but not the sum of all: to add that up takes time in
// proportion to the accounts.
func (l *ledger) shrink() {
	clear(l.accounts)
	clear(l.owners)
}

const accountColumns = "SELECT n, tasks, bytes, restedtasks, restedbytes, pushes, notes FROM account "

func (a *account) scan(v []value) error {
	a.n, a.pushes, a.notes = num(v[0]), num(v[5]), num(v[6])
	a.Held = taskstate.Holding{Tasks: num(v[1]), Bytes: num(v[2])}
	a.Rested = taskstate.Holding{Tasks: num(v[3]), Bytes: num(v[4])}
	return nil
}

// ready reads the sum of all accounts if the ledger was cleared.
func (l *ledger) ready(w *writer) error {
	if l.all != nil {
		return nil
	}
	*l = ledger{
		accounts: map[string]*account{}, owners: map[store.Owner]*owner{},
		changed: map[*account]struct{}{}, moved: map[*owner]struct{}{},
	}
	all := new(account)
	all.Limit = w.s.options.all()
	const sums = `SELECT 0, coalesce(sum(tasks),0), coalesce(sum(bytes),0), coalesce(sum(restedtasks),0),
		coalesce(sum(restedbytes),0), coalesce(sum(pushes),0), coalesce(sum(notes),0) FROM account`
	if err := w.query(sums, all.scan); err != nil {
		return err
	}
	l.all = all
	return nil
}

// account returns that of a principal.
func (l *ledger) account(w *writer, principal string) (*account, error) {
	if err := l.ready(w); err != nil {
		return nil, err
	}
	if a := l.accounts[principal]; a != nil {
		return a, nil
	}
	a := &account{principal: principal, named: principal != ""}
	a.Limit = w.s.options.share(principal)
	if err := w.query(accountColumns+"WHERE principal=?", a.scan, principal); err != nil {
		return nil, err
	}
	l.accounts[principal] = a
	return a, nil
}

// owner returns that of a tenant and a principal.
func (l *ledger) owner(w *writer, of store.Owner) (*owner, error) {
	a, err := l.account(w, of.Principal)
	if err != nil {
		return nil, err
	}
	if o := l.owners[of]; o != nil {
		return o, nil
	}
	o := &owner{account: a, tenant: of.Tenant}
	o.n, _, err = w.one("SELECT n FROM owner WHERE account=? AND tenant=?", a.n, of.Tenant)
	if err != nil {
		return nil, err
	}
	err = w.query("SELECT state, tasks FROM usage WHERE owner=?", func(v []value) error {
		o.counts[num(v[0])&15] = num(v[1])
		return nil
	}, o.n)
	if err != nil {
		return nil, err
	}
	l.owners[of] = o
	return o, nil
}

// open inserts the rows of an owner and its account if there are none. A refused change never comes that far.
func (l *ledger) open(w *writer, o *owner) (err error) {
	if a := o.account; a.n == 0 {
		if a.n, _, err = w.one("INSERT INTO account(principal) VALUES(?) RETURNING n", a.principal); err != nil {
			return err
		}
	}
	if o.n == 0 {
		o.n, _, err = w.one("INSERT INTO owner(account, tenant) VALUES(?,?) RETURNING n", o.account.n, o.tenant)
	}
	return err
}

// none is a task that is not there.
var none stored.Meta

// move notes a change of a task in the sums of its owner. none stands for a task that does not exist.
func (l *ledger) move(o *owner, from, to *stored.Meta) {
	if from.Holding() != to.Holding() || from.Rest() != to.Rest() {
		o.account.carry(from, to)
		l.all.carry(from, to)
		l.changed[o.account] = struct{}{}
	}
	if from.Status == to.Status && from.Version != 0 && to.Version != 0 {
		return
	}
	count := func(m *stored.Meta, by int64) {
		if m.Version != 0 {
			o.counts[m.Status&15] += by
			o.changed[m.Status&15] = true
		}
	}
	count(from, -1)
	count(to, 1)
	l.moved[o] = struct{}{}
}

// carry notes a change of a task in the sums of an account.
func (a *account) carry(from, to *stored.Meta) {
	before, after := from.Holding(), to.Holding()
	a.Held = a.Held.Plus(after).Minus(before)
	if from.Rest() != taskstate.Active {
		a.Rested = a.Rested.Minus(before)
	}
	if to.Rest() != taskstate.Active {
		a.Rested = a.Rested.Plus(after)
	}
}

// addPushes counts push configurations.
func (l *ledger) addPushes(a *account, n int64) {
	a.pushes += n
	l.all.pushes += n
	l.changed[a] = struct{}{}
}

// addNotes counts bytes of notes.
func (l *ledger) addNotes(a *account, bytes int64) {
	for _, sum := range []*account{a, l.all} {
		sum.notes += bytes
		sum.Held.Bytes += bytes
	}
	l.changed[a] = struct{}{}
}

// flush writes what has changed.
func (l *ledger) flush(w *writer) error {
	for a := range l.changed {
		if _, err := w.exec("UPDATE account SET tasks=?, bytes=?, restedtasks=?, restedbytes=?, pushes=?, notes=?, weight=? WHERE n=?",
			a.Held.Tasks, a.Held.Bytes, a.Rested.Tasks, a.Rested.Bytes, a.pushes, a.notes, taskstate.Weigh(a.Held), a.n); err != nil {
			return err
		}
	}
	clear(l.changed)
	for o := range l.moved {
		for state, changed := range o.changed {
			if !changed {
				continue
			}
			if _, err := w.exec("INSERT INTO usage(owner, state, tasks) VALUES(?1,?2,?3) ON CONFLICT DO UPDATE SET tasks=?3",
				o.n, state, o.counts[state]); err != nil {
				return err
			}
		}
		o.changed = [16]bool{}
	}
	clear(l.moved)
	return nil
}

// makeRoom drops tasks until an account may hold more, or nothing when that cannot be enough. The task that grows, the
// zero meta if it is new, cannot go for its own sake.
func (w *writer) makeRoom(principal string, from *stored.Meta, more taskstate.Holding) (bool, error) {
	a, err := w.ledger.account(w, principal)
	if err != nil {
		return false, err
	}
	all, stays := w.ledger.all, taskstate.Holding{}
	if from.Rest() != taskstate.Active {
		stays = from.Holding()
	}
	if verdict := taskstate.Room(&a.Account, &all.Account, stays, more); verdict != taskstate.Evict {
		return verdict == taskstate.Fits, nil
	}
	others := len(w.changed)
	if from.Version != 0 {
		others-- // the task itself is among them
	}
	for !a.Fits(more) {
		if ok, err := w.evict(a); !ok {
			return false, laterIf(others > 0, err)
		}
	}
	for !all.Fits(more) {
		if ok, err := w.evictOfHeaviest(); !ok {
			return false, laterIf(others > 0, err)
		}
	}
	return true, nil
}

// laterIf returns the error when nothing is left to evict: errLater if the transaction has changed other tasks, which may
// rest and can be evicted in the next one.
func laterIf(busy bool, err error) error {
	if err == nil && busy {
		return errLater
	}
	return err
}

// evict drops the task of an account that has been ended for longest, else the one that has waited for longest. It
// passes over tasks that the transaction has changed, but not over those with notifications still to be sent: receivers
// that do not answer would keep the store full.
func (w *writer) evict(a *account) (bool, error) {
	for _, class := range []taskstate.Rest{taskstate.Ended, taskstate.Parked} {
		n, err := w.first("SELECT n FROM task INDEXED BY task_share WHERE account=? AND rest=? AND rest>0 ORDER BY rested, n",
			a.n, int64(class))
		if err != nil {
			return false, err
		}
		if n != 0 {
			return true, w.drop(n)
		}
	}
	return false, nil
}

// evictOfHeaviest drops a task of the account that holds most of those that have one to drop.
func (w *writer) evictOfHeaviest() (ok bool, err error) {
	if err := w.ledger.flush(w); err != nil {
		return false, err
	}
	if err := w.ledger.ready(w); err != nil {
		return false, err
	}
	var heaviest []string
	err = w.query("SELECT principal FROM account INDEXED BY account_weight WHERE restedtasks>0 ORDER BY weight DESC LIMIT 8",
		func(v []value) error {
			heaviest = append(heaviest, text(v[0]))
			return nil
		})
	for _, principal := range heaviest {
		a, err := w.ledger.account(w, principal)
		if err != nil {
			return false, err
		}
		if ok, err := w.evict(a); ok || err != nil {
			return ok, err
		}
	}
	return false, err
}

// first returns the first task that a query finds and that the transaction has not changed; 0: there is none.
func (w *writer) first(sql string, args ...any) (n int64, err error) {
	err = w.query(sql, func(v []value) error {
		if _, ok := w.changed[num(v[0])]; ok {
			return nil
		}
		n = num(v[0])
		return errStop
	}, args...)
	if err == errStop {
		err = nil
	}
	return n, err
}

var errStop = fmt.Errorf("enough")

// drop deletes a task that rests, with all its rows.
func (w *writer) drop(n int64) error {
	key, err := w.base.KeyOf(context.Background(), n)
	if err != nil {
		return err
	}
	_, _, m, err := w.base.MetaOf(context.Background(), relational.ByNumber(n))
	if err != nil {
		return err
	}
	o, err := w.ledger.owner(w, key.Owner)
	if err != nil {
		return err
	}
	w.changed[n] = struct{}{}
	pushes, err := deleteTask(w.conn, n)
	if err != nil {
		return err
	}
	w.ledger.move(o, &m, &none)
	w.ledger.addPushes(o.account, -pushes)
	w.then(func() {
		if r := w.s.cache.Get(key); r != nil {
			w.s.cache.Drop(key)
			r.Mu.Lock()
			r.Gone = true
			r.Mu.Unlock()
		}
	})
	return nil
}

// deleteTask deletes the rows of a task, and returns how many push configurations it had.
func deleteTask(c *conn, n int64) (pushes int64, err error) {
	for _, table := range []string{"event WHERE task", "body WHERE task", "call WHERE task", "ticket WHERE task",
		"task WHERE n", "push WHERE task"} {
		if pushes, err = c.exec("DELETE FROM "+table+"=?", n); err != nil {
			return 0, err
		}
	}
	return pushes, nil
}
