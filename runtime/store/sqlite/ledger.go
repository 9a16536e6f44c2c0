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
	n         int64 // 0: it is not in the file yet
	principal string
	limit     taskstate.Holding
	held      relational.Sums
	repeats   relational.Repeats
}

// fits reports whether there is room for more.
func (a *account) fits(more taskstate.Holding) bool {
	state := a.held.Account(a.limit)
	return state.Fits(more)
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

// ready reads the sum of all accounts if the ledger was cleared.
func (l *ledger) ready(w *writer) error {
	if l.all != nil {
		return nil
	}
	*l = ledger{
		accounts: map[string]*account{}, owners: map[store.Owner]*owner{},
		changed: map[*account]struct{}{}, moved: map[*owner]struct{}{},
	}
	limits := w.s.options.limits()
	all := &account{limit: limits.All()}
	err := w.query(`SELECT coalesce(sum(tasks),0), coalesce(sum(bytes),0), coalesce(sum(restedtasks),0), coalesce(sum(restedbytes),0),
		coalesce(sum(pushes),0), coalesce(sum(notes),0) FROM account`, func(v []value) error { return row(v).Scan(all.held.Fields()...) })
	if err == nil {
		l.all = all
	}
	return err
}

// account returns that of a principal.
func (l *ledger) account(w *writer, principal string) (*account, error) {
	if err := l.ready(w); err != nil {
		return nil, err
	}
	if a := l.accounts[principal]; a != nil {
		return a, nil
	}
	limits := w.s.options.limits()
	a := &account{principal: principal, limit: limits.Share(principal)}
	if err := w.query("SELECT n, tasks, bytes, restedtasks, restedbytes, pushes, notes FROM account WHERE principal=?", func(v []value) error {
		return row(v).Scan(append([]any{&a.n}, a.held.Fields()...)...)
	}, principal); err != nil {
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

// Owner is that of [relational.Tx].
func (w *writer) Owner(_ context.Context, of store.Owner) (relational.Owner, error) {
	o, err := w.ledger.owner(w, of)
	if err != nil {
		return relational.Owner{}, err
	}
	return relational.Owner{N: o.n, Account: o.account.n, Of: of}, nil
}

// Open is that of [relational.Tx]. A refused change never comes that far.
func (w *writer) Open(_ context.Context, of relational.Owner) (relational.Owner, error) {
	o, err := w.ledger.owner(w, of.Of)
	if err != nil {
		return of, err
	}
	if a := o.account; a.n == 0 {
		if a.n, _, err = w.one("INSERT INTO account(principal) VALUES(?) RETURNING n", a.principal); err != nil {
			return of, err
		}
	}
	if o.n == 0 {
		o.n, _, err = w.one("INSERT INTO owner(account, tenant) VALUES(?,?) RETURNING n", o.account.n, o.tenant)
	}
	of.N, of.Account = o.n, o.account.n
	return of, err
}

// Held is that of [relational.Tx].
func (w *writer) Held(_ context.Context, o relational.Owner) (own, all relational.Sums, err error) {
	a, err := w.ledger.account(w, o.Of.Principal)
	if err != nil {
		return own, all, err
	}
	return a.held, w.ledger.all.held, nil
}

// Repeats is that of [relational.Tx].
func (w *writer) Repeats(o relational.Owner) *relational.Repeats {
	a, err := w.ledger.account(w, o.Of.Principal)
	if err != nil { // which fails the transaction
		return new(relational.Repeats)
	}
	return &a.repeats
}

// Reserve is that of [relational.Tx].
func (w *writer) Reserve(_ context.Context, d relational.Delta) error {
	o, err := w.ledger.owner(w, d.Owner.Of)
	if err != nil {
		return err
	}
	if d.Asked {
		ok, err := w.makeRoom(o.account, &d)
		if err == nil && !ok && !d.Must {
			err = store.ErrFull
		}
		if err != nil {
			return err
		}
	}
	w.ledger.count(o, &d)
	return nil
}

// none is a task that is not there.
var none stored.Meta

// count adds a change to the sums.
func (l *ledger) count(o *owner, d *relational.Delta) {
	if d.Sums != (relational.Sums{}) {
		o.account.held, l.all.held = o.account.held.Plus(d.Sums), l.all.held.Plus(d.Sums)
		l.changed[o.account] = struct{}{}
	}
	for state, by := range d.States {
		if by != 0 {
			o.counts[state] += int64(by)
			o.changed[state] = true
			l.moved[o] = struct{}{}
		}
	}
}

// flush writes what has changed, but not of an account whose row is still to come, with what it is to hold.
func (l *ledger) flush(w *writer) error {
	for a := range l.changed {
		if a.n == 0 {
			continue
		}
		h := &a.held
		if _, err := w.exec("UPDATE account SET tasks=?, bytes=?, restedtasks=?, restedbytes=?, pushes=?, notes=?, weight=? WHERE n=?",
			h.Tasks, h.Bytes, h.RestedTasks, h.RestedBytes, h.Pushes, h.Notes,
			taskstate.Weigh(taskstate.Holding{Tasks: h.Tasks, Bytes: h.Bytes}), a.n); err != nil {
			return err
		}
		delete(l.changed, a)
	}
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

// makeRoom drops tasks until an account may hold more, or nothing when that cannot be enough. The task that changes cannot go for its own
// sake.
func (w *writer) makeRoom(a *account, d *relational.Delta) (ok bool, err error) {
	all, more, others := w.ledger.all, d.More, len(w.changed)
	ofOwn, ofAll := a.held.Account(a.limit), all.held.Account(all.limit)
	if verdict := taskstate.Room(&ofOwn, &ofAll, d.Stays, more); verdict != taskstate.Evict {
		return verdict == taskstate.Fits, nil
	}
	if d.Task != 0 {
		w.changed[d.Task] = struct{}{}
		defer delete(w.changed, d.Task)
	}
	for !a.fits(more) {
		if ok, err := w.evict(a); !ok {
			return false, laterIf(others > 0, err)
		}
	}
	for !all.fits(more) {
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
	d := relational.Delta{Sums: relational.Sums{Pushes: -pushes}}
	d.Move(&m, &none)
	w.ledger.count(o, &d)
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
