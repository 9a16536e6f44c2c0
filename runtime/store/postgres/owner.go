package postgres

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
)

// owner is a principal in a tenant, with the numbers of its rows; 0: there is none yet.
type owner struct {
	n, account int64
	of         store.Owner
	idle       bool  // a sweep has found it empty, and may delete it
	moved      int64 // steps of its account's moves
}

// knownOwner is an owner as it was read.
type knownOwner struct {
	owner
	read time.Time
}

// ownersLast is for how long the numbers of an owner are used: a sweep deletes those that were empty for longer.
const ownersLast = 5 * time.Minute

// owner returns that of a tenant and a principal. It writes nothing.
func (l *ledger) owner(ctx context.Context, of store.Owner) (o owner, err error) {
	l.mu.Lock()
	known, ok := l.owners[of]
	l.mu.Unlock()
	if ok && time.Since(known.read) < ownersLast {
		return known.owner, nil
	}
	began := time.Now()
	const sql = `SELECT a.n, coalesce(o.n, 0), coalesce(o.idle<>0, false), a.moved FROM a2a.account a
		LEFT JOIN a2a.owner o ON o.account=a.n AND o.tenant=$2 WHERE a.principal=$1`
	o.of = of
	if _, err := l.db.one(ctx, sql, []any{of.Principal, of.Tenant}, &o.account, &o.n, &o.idle, &o.moved); err != nil {
		return o, err
	}
	if o.n != 0 && !o.idle && o.moved%4 == 0 {
		l.remember(o, began)
	}
	return o, nil
}

// makeOwnerSQL makes an account only where the database is alone: of several, one makes it ([spread.Ledger]).
const makeOwnerSQL = `WITH m AS (SELECT 1 FROM a2a.meta WHERE places='' AND NOT $3::bool),
	i AS (INSERT INTO a2a.account(principal) SELECT $1 FROM m ON CONFLICT (principal) DO UPDATE SET idle=0 RETURNING n),
	u AS (UPDATE a2a.account SET idle=0 WHERE principal=$1 AND NOT EXISTS(SELECT 1 FROM m) RETURNING n),
	a AS (SELECT n FROM i UNION ALL SELECT n FROM u)
	INSERT INTO a2a.owner(account, tenant) SELECT n, $2 FROM a ON CONFLICT (account, tenant) DO UPDATE SET idle=0 RETURNING account, n`

// makeOwner inserts the rows of an owner that has none, and sees to it that they stay.
func (l *ledger) makeOwner(ctx context.Context, o *owner) error {
	if o.n != 0 && !o.idle {
		return nil
	}
	began := time.Now()
	if found, err := l.db.one(ctx, makeOwnerSQL, []any{o.of.Principal, o.of.Tenant, l.options.placed != ""}, &o.account, &o.n); err != nil {
		return err
	} else if !found {
		return errMoved
	}
	o.idle = false
	l.remember(*o, began)
	return nil
}

func (l *ledger) remember(o owner, read time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.owners) >= mostKnown {
		clear(l.owners)
	}
	l.owners[o.of] = knownOwner{o, read}
}

// forgetOwner has an owner read anew.
func (l *ledger) forgetOwner(of store.Owner) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.owners, of)
}
