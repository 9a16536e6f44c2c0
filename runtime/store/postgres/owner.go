package postgres

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// knownOwner is an owner as it was read.
type knownOwner struct {
	relational.Owner
	read time.Time
}

// ownersLast is for how long the numbers of an owner are used: a sweep deletes those that were empty for longer.
const ownersLast = 5 * time.Minute

// owner returns that of a tenant and a principal. It writes nothing.
func (l *ledger) owner(ctx context.Context, of store.Owner) (o relational.Owner, err error) {
	l.mu.Lock()
	known, ok := l.owners[of]
	l.mu.Unlock()
	if ok && time.Since(known.read) < ownersLast {
		return known.Owner, nil
	}
	began := time.Now()
	const sql = `SELECT a.n, coalesce(o.n, 0), coalesce(o.idle<>0, false) FROM a2a.account a
		LEFT JOIN a2a.owner o ON o.account=a.n AND o.tenant=$2 WHERE a.principal=$1`
	o.Of = of
	if _, err := l.db.one(ctx, sql, []any{of.Principal, of.Tenant}, &o.Account, &o.N, &o.Idle); err != nil {
		return o, err
	}
	if o.N != 0 && !o.Idle {
		l.remember(o, began)
	}
	return o, nil
}

const makeOwnerSQL = `WITH a AS (INSERT INTO a2a.account(principal) VALUES($1) ON CONFLICT (principal) DO UPDATE SET idle=0 RETURNING n)
	INSERT INTO a2a.owner(account, tenant) SELECT n, $2 FROM a ON CONFLICT (account, tenant) DO UPDATE SET idle=0 RETURNING account, n`

// makeOwner inserts the rows of an owner that has none, and sees to it that they stay.
func (l *ledger) makeOwner(ctx context.Context, o *relational.Owner) error {
	if o.N != 0 && !o.Idle {
		return nil
	}
	began := time.Now()
	if _, err := l.db.one(ctx, makeOwnerSQL, []any{o.Of.Principal, o.Of.Tenant}, &o.Account, &o.N); err != nil {
		return err
	}
	o.Idle = false
	l.remember(*o, began)
	return nil
}

func (l *ledger) remember(o relational.Owner, read time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.owners) >= mostKnown {
		clear(l.owners)
	}
	l.owners[o.Of] = knownOwner{o, read}
}

// forgetOwner has an owner read anew.
func (l *ledger) forgetOwner(of store.Owner) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.owners, of)
}
