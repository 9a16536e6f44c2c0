package relational

import (
	"context"
	"time"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Base is what the parts of a store ask.
type Base struct {
	Driver
	Codec *stored.Codec
	Now   func() time.Time
	// Only is the number of the only instance: what others ran is nobody's. 0: there may be several.
	Only int32
}

// Reads is the part of a [store.Store] that reads.
type Reads struct {
	Base *Base
	// Cached returns the decoded task as it is now, if it is in memory, else nil. keep: it will be asked for again and again.
	Cached func(ctx context.Context, key store.Key, keep bool) (*stored.Row, error)
}

// Head implements [store.Store].
func (s *Reads) Head(ctx context.Context, key store.Key) (h store.Head, err error) {
	r, err := s.Cached(ctx, key, false)
	if err != nil {
		return h, err
	}
	if r == nil {
		_, _, m, err := s.Base.MetaOf(ctx, ByKey(key))
		return m.ToHead(), err
	}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	if r.Gone {
		return h, store.ErrNotFound
	}
	return r.Meta.ToHead(), nil
}

// Get implements [store.Store].
func (s *Reads) Get(ctx context.Context, key store.Key, view store.View) (snap store.Snapshot, err error) {
	r, err := s.Cached(ctx, key, false)
	if err != nil {
		return snap, err
	}
	if r != nil {
		r.Mu.Lock()
		snap, ok, err := r.Get(&view)
		r.Mu.Unlock()
		if ok || err != nil {
			return snap, err
		}
	}
	return s.Base.Get(ctx, ByKey(key), &view)
}

// Events implements [store.Store].
func (s *Reads) Events(ctx context.Context, key store.Key, after int64, max int) (records []*store.Record, err error) {
	r, err := s.Cached(ctx, key, true)
	if err != nil {
		return nil, err
	}
	if r == nil {
		r = new(stored.Row) // without records
		if r.N, _, r.Meta, err = s.Base.MetaOf(ctx, ByKey(key)); err != nil {
			return nil, err
		}
	}
	r.Mu.Lock()
	records, ok, err := r.Events(after, max)
	version := r.Meta.Version
	r.Mu.Unlock()
	if ok || err != nil {
		return records, err
	}
	if max <= 0 || int64(max) > version-after {
		max = int(version - after)
	}
	return s.Base.Events(ctx, r.N, after, max)
}

// NameWires makes the codec of a protocol, gives its newest version a number, by a statement if it has none, and reads those of all.
func (s *Base) NameWires(ctx context.Context, p *runtime.Protocol, exec func(sql string, args ...any) error) error {
	s.Codec = stored.NewCodec(p)
	found, err := One(ctx, s, "SELECT n FROM a2a.wire WHERE name=$1", []any{s.Codec.Newest()}, new(int64))
	if err == nil && !found {
		err = exec("INSERT INTO a2a.wire(name) VALUES($1) ON CONFLICT DO NOTHING", s.Codec.Newest())
	}
	if err == nil {
		err = s.readWires(ctx)
	}
	return err
}

// readWires reads the names of protocol versions.
func (s *Base) readWires(ctx context.Context) error {
	return s.Ask(ctx, Question{"SELECT n, name FROM a2a.wire", nil, func(row Row) error {
		var n int64
		var name string
		err := row.Scan(&n, &name)
		s.Codec.Name(n, name)
		return err
	}})
}

// KnowWire reads the names of protocol versions if another process has added one.
func (s *Base) KnowWire(ctx context.Context, wire int64) error {
	if s.Codec.Knows(wire) {
		return nil
	}
	return s.readWires(ctx)
}

const numberSQL = `SELECT t.n FROM a2a.account a JOIN a2a.owner o ON o.account=a.n JOIN a2a.task t ON t.owner=o.n
	WHERE a.principal=$1 AND o.tenant=$2 AND t.id=$3`

// Number returns the number of a task, 0 if it is not there.
func (s *Base) Number(ctx context.Context, key store.Key) (n int64, err error) {
	_, err = One(ctx, s, numberSQL, []any{key.Owner.Principal, key.Owner.Tenant, key.Task}, &n)
	return n, err
}

// KeyOf returns the key of a task.
func (b *Base) KeyOf(ctx context.Context, n int64) (key store.Key, err error) {
	const sql = `SELECT o.tenant, a.principal, t.id FROM a2a.task t JOIN a2a.owner o ON o.n=t.owner JOIN a2a.account a ON a.n=t.account
		WHERE t.n=$1`
	found, err := One(ctx, b, sql, []any{n}, &key.Owner.Tenant, &key.Owner.Principal, &key.Task)
	if err == nil && !found {
		err = store.ErrNotFound
	}
	return key, err
}

// TicketSQL finds the task of a ticket.
const TicketSQL = `SELECT o.tenant, a.principal, t.id, k.wire, k.request FROM a2a.ticket k JOIN a2a.task t ON t.n=k.task
	JOIN a2a.owner o ON o.n=t.owner JOIN a2a.account a ON a.n=t.account WHERE k.hash=$1 AND k.until>$2`

// Ticket implements [store.Store].
func (s *Reads) Ticket(ctx context.Context, hash [32]byte) (key store.Key, t store.Ticket, err error) {
	var wire int64
	var request []byte
	found, err := One(ctx, s.Base, TicketSQL, []any{hash[:], s.Base.Now().UnixNano()}, &key.Owner.Tenant, &key.Owner.Principal, &key.Task, &wire, &request)
	switch {
	case err != nil:
		return store.Key{}, t, err
	case !found:
		return store.Key{}, t, store.ErrTicket
	}
	if err := s.Base.KnowWire(ctx, wire); err != nil {
		return store.Key{}, t, err
	}
	t.Hash = hash
	t.Request, err = s.Base.Codec.ReadRequest(wire, request)
	return key, t, err
}

const pushesSQL = `SELECT p.id, p.version, p.config, p.tasks FROM a2a.account a JOIN a2a.owner o ON o.account=a.n JOIN a2a.task t ON t.owner=o.n
	LEFT JOIN a2a.push p ON p.task=t.n WHERE a.principal=$1 AND o.tenant=$2 AND t.id=$3 ORDER BY p.id`

// Pushes implements [store.Store].
func (s *Reads) Pushes(ctx context.Context, key store.Key) ([]store.Push, error) {
	found, all := false, []store.Push{}
	err := s.Base.Ask(ctx, Question{pushesSQL, []any{key.Owner.Principal, key.Owner.Tenant, key.Task}, func(row Row) error {
		found = true
		var id, version *string
		var config []byte
		var tasks *bool
		if err := row.Scan(&id, &version, &config, &tasks); err != nil || id == nil {
			return err
		}
		p := store.Push{ID: *id, Version: *version, Tasks: *tasks}
		err := stored.DecodePush(config, &p)
		all = append(all, p)
		return err
	}})
	if err == nil && !found {
		err = store.ErrNotFound
	}
	return all, err
}

// NextDueSQL says when the next delivery is due, 0: there is none, and whether there are configurations.
const NextDueSQL = `SELECT coalesce((SELECT due FROM a2a.push WHERE due IS NOT NULL ORDER BY due LIMIT 1), 0),
	(SELECT task FROM a2a.push ORDER BY task, id LIMIT 1) IS NOT NULL`

// LookAgain is how long it is at most until the next look for what is due, when there are configurations: another process
// may change them.
const LookAgain = 5 * time.Second

// NextDue returns how long it is until a delivery is due; -1: there are no configurations.
func (s *Base) NextDue(ctx context.Context) (time.Duration, error) {
	var at int64
	var some bool
	_, err := One(ctx, s, NextDueSQL, nil, &at, &some)
	switch {
	case err != nil:
		return 0, err
	case !some:
		return -1, nil
	case at == 0:
		return LookAgain, nil
	}
	return min(max(time.Duration(at-s.Now().UnixNano()), 0), LookAgain), nil
}

// List implements [store.Store]. A page and its total are of one moment; the tasks are as they are just after it.
func (s *Reads) List(ctx context.Context, of store.Owner, q store.Query) (page store.Page, err error) {
	page.Tasks = []runtime.Task{}
	cur, err := store.ReadCursor(of, q)
	if err != nil {
		return page, err
	}
	var o int64
	const owner = "SELECT o.n FROM a2a.account a JOIN a2a.owner o ON o.account=a.n WHERE a.principal=$1 AND o.tenant=$2"
	found, err := One(ctx, s.Base, owner, []any{of.Principal, of.Tenant}, &o)
	if err != nil || !found {
		return page, err
	}
	var ids []string
	var ns, ats []int64
	total := s.Base.Dialect().TotalOf(o, &q, &page.Total)
	err = s.Base.Ask(ctx, total, s.Base.Dialect().PageOf(o, &q, cur, func(row Row) error {
		var n, at int64
		var id string
		err := row.Scan(&n, &at, &id)
		ids, ns, ats = append(ids, id), append(ns, n), append(ats, at)
		return err
	}))
	if err != nil {
		return page, err
	}
	token := func(i int) string { return store.Cursor{At: time.Unix(0, ats[i]), ID: ids[i]}.Token(of, q) }
	if len(ns) > q.Size {
		ns = ns[:q.Size]
		page.Next = token(q.Size - 1)
	}
	snaps, err := s.Base.snapshots(ctx, ns, &q.View)
	if err != nil {
		return page, err
	}
	for i, snap := range snaps {
		if snap.Task == nil { // dropped meanwhile
			continue
		}
		if q.Bytes > 0 && len(page.Tasks) > 0 && page.Bytes+snap.Bytes > q.Bytes {
			page.Next = token(i - 1)
			break
		}
		page.Tasks, page.Bytes = append(page.Tasks, snap.Task), page.Bytes+snap.Bytes
	}
	return page, nil
}

// filter is the condition of a query, with the index that has its order.
func filter(o int64, q *store.Query) (c Condition, index string) {
	index = "task_at"
	c.And("owner=?", o)
	if q.State != runtime.StateUnspecified {
		index = "task_state"
		c.And("state=?", int16(q.State))
	}
	if q.Context != "" {
		index = "task_context"
		c.And("context=?", q.Context)
	}
	if !q.After.IsZero() {
		c.And("at>=?", q.Since())
	}
	if len(q.Without) > 0 {
		c.And("skill<>ALL(?::text[])", q.Without)
	}
	return c, index
}

// PageOf finds up to q.Size+1 tasks behind the cursor. Both conditions on the time are needed: the first one is where the index is
// entered.
func (d *Dialect) PageOf(o int64, q *store.Query, cur store.Cursor, row func(Row) error) Question {
	c, index := filter(o, q)
	if cur.ID != "" {
		at := cur.At.UnixNano()
		c.And("at<=? AND (at<? OR id>?)", at, at, cur.ID)
	}
	from := "SELECT n, at, id FROM a2a.task" + d.By(index) + " WHERE "
	var limit Condition
	limit.Args = c.Args
	limit.And("LIMIT ?", int64(q.Size+1))
	return Question{from + c.Where + " ORDER BY at DESC, id " + limit.Where, limit.Args, row}
}

// TotalOf counts the tasks that match: by the sums if they tell.
func (d *Dialect) TotalOf(o int64, q *store.Query, total *int) Question {
	read := func(row Row) error { return row.Scan(total) }
	c, index := filter(o, q)
	if q.Context != "" || !q.After.IsZero() || len(q.Without) > 0 {
		return Question{"SELECT count(*) FROM a2a.task" + d.By(index) + " WHERE " + c.Where, c.Args, read}
	}
	return Question{"SELECT coalesce(sum(tasks), 0)::bigint FROM a2a.counts WHERE " + c.Where, c.Args, read}
}
