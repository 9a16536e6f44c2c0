package postgres

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// metaColumns are the columns of a task without its content, in the order of scanMeta.
const metaColumns = `t.n, t.rev, t.context, t.skill, t.clientid, t.trace, t.at, t.oldest, t.charged, t.asked, t.input, t.saved, t.log,
	octet_length(t.head), t.body, t.snapshot, t.since, t.state, t.ticketed, t.runner, t.pushes, t.version, t.epoch, t.calls, t.done,
	t.attempt, t.made, t.began, t.stamps, t.said, t.saidparts, t.laststatus, t.laststatusparts, t.artifacts, t.artifactparts, t.rested`

// scanMeta reads them, and some more.
func scanMeta(rows relational.Row, n, rev *int64, m *stored.Meta, more ...any) error {
	var state int16
	var head int32
	var began int64
	var stamps []byte
	err := rows.Scan(append([]any{
		n, rev, &m.Context, &m.Skill, &m.ClientID, &m.Trace, &m.At, &m.Oldest, &m.Charged, &m.Asked, &m.Input, &m.Saved, &m.Log,
		&head, &m.Body, &m.Snapshot, &m.Since, &state, &m.Ticketed, &m.Runner, &m.Pushes, &m.Version, &m.Epoch, &m.Calls, &m.Done,
		&m.Attempt, &m.Made, &began, &stamps, &m.Messages.Bytes, &m.Messages.Parts, &m.LastStatus.Bytes, &m.LastStatus.Parts,
		&m.Artifacts.Bytes, &m.Artifacts.Parts, &m.Rested,
	}, more...)...)
	m.Status, m.Head, m.Began = runtime.State(state), int64(head), uint64(began) //nolint:gosec // few, and bits
	readStamps(stamps, &m.State)
	return err
}

// logColumns are the columns of the log, in the order of scanLog.
const logColumns = "e.task, e.seq, e.kind, e.state, e.run, e.wire, e.doc, e.messages"

// logged is a row of the log.
type logged struct {
	task int64
	stored.Line
	wire          int64
	doc, messages []byte
}

func scanLog(rows pgx.Rows, l *logged) error {
	var kind, state int16
	err := rows.Scan(&l.task, &l.Seq, &kind, &state, &l.Run, &l.wire, &l.doc, &l.messages)
	l.Kind, l.State = runtime.EventKind(kind), runtime.State(state) //nolint:gosec // few
	return err
}

// asked is a task as it was asked for, before it is decoded.
type asked struct {
	row  *row
	body struct {
		version, wire *int64
		doc           []byte
	}
	log []logged
}

// Which tasks are read: $1 is the version as of which.
const (
	byKey     = "t.n=(SELECT x.n FROM a2a.account y JOIN a2a.owner z ON z.account=y.n JOIN a2a.task x ON x.owner=z.n WHERE y.principal=$2 AND z.tenant=$3 AND x.id=$4)"
	byNumbers = "t.n=ANY($2)"
)

// latest is the version of a task as it is.
const latest = int64(math.MaxInt64)

// load reads whole tasks as of a version, in one round trip.
func (s *Store) load(ctx context.Context, at int64, which string, args ...any) ([]*row, error) {
	for tries := 1; ; tries++ {
		list, err := s.ask(ctx, which, append([]any{at}, args...))
		if err != nil {
			return nil, err
		}
		rows := make([]*row, 0, len(list))
		for _, one := range list {
			if err = s.decode(ctx, one, at); err != nil {
				break
			}
			rows = append(rows, one.row)
		}
		if errors.Is(err, errTorn) && tries < mostTries {
			continue
		}
		return rows, err
	}
}

// errTorn: between the two statements of a read, the log was trimmed.
var errTorn = fmt.Errorf("%w: the log was trimmed meanwhile", store.ErrUnavailable)

func (s *Store) ask(ctx context.Context, which string, args []any) (list []*asked, err error) {
	byN := map[int64]*asked{}
	var b pgx.Batch
	b.Queue(s.sql("SELECT "+metaColumns+`, o.tenant, a.principal, t.id, b.version, b.wire, b.doc FROM a2a.task t
		JOIN a2a.owner o ON o.n=t.owner JOIN a2a.account a ON a.n=t.account LEFT JOIN LATERAL
		(SELECT version, wire, doc FROM a2a.body WHERE task=t.n AND version<=$1 ORDER BY version DESC LIMIT 1) b ON true WHERE `+which),
		args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			one, r := &asked{}, s.newRow(0, store.Key{})
			if err := scanMeta(rows, &r.N, &r.rev, &r.Meta, &r.Key.Owner.Tenant, &r.Key.Owner.Principal, &r.Key.Task, &one.body.version,
				&one.body.wire, &one.body.doc); err != nil {
				return err
			}
			one.row = r
			list, byN[r.N] = append(list, one), one
		}
		return rows.Err()
	})
	b.Queue(s.sql("SELECT "+logColumns+` FROM a2a.task t, LATERAL
		(SELECT coalesce(max(version), 0) AS version FROM a2a.body WHERE task=t.n AND version<=$1) b, a2a.event e
		WHERE e.task=t.n AND e.seq>b.version AND `+which+" ORDER BY e.task, e.seq"), args...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			var l logged
			if err := scanLog(rows, &l); err != nil {
				return err
			}
			if one := byN[l.task]; one != nil {
				one.log = append(one.log, l)
			}
		}
		return rows.Err()
	})
	err = s.batch(ctx, &b)
	return list, err
}

// decode makes the task of a row as it was at a version: its last body before that, and the events after it.
func (s *Store) decode(ctx context.Context, of *asked, at int64) error {
	r, version := of.row, int64(0)
	at = min(at, r.Meta.Version)
	if of.body.version != nil {
		version = *of.body.version
		if err := s.base.KnowWire(ctx, *of.body.wire); err != nil {
			return err
		}
		var err error
		if r.Task, err = s.base.Codec.ReadTask(*of.body.wire, of.body.doc); err != nil {
			return err
		}
	}
	if r.Task == nil && r.Meta.Oldest > 0 {
		return store.ErrTrimmed
	}
	version, err := s.replay(ctx, r, of.log, version, at)
	if err == nil && version != at {
		err = errTorn
	}
	return err
}

// replay applies rows of the log to a task that has a version, up to another one, and returns which it came to.
func (s *Store) replay(ctx context.Context, r *row, log []logged, version, upTo int64) (int64, error) {
	for i := range log {
		l := &log[i]
		if err := s.base.KnowWire(ctx, l.wire); err != nil {
			return version, err
		}
		list, err := l.Split(l.doc)
		if err != nil {
			return version, err
		}
		if list[0].Seq > version+1 {
			return version, errTorn
		}
		for j := range list {
			e := &list[j]
			if e.Seq > upTo {
				return version, nil
			}
			if r.Task, err = s.base.Codec.Apply(r.Task, l.wire, e); err != nil {
				return version, fmt.Errorf("event %d of task %d: %w", e.Seq, r.N, err)
			}
			if version = e.Seq; version > 1 {
				rec, err := s.base.Codec.ReadRecord(e, l.wire)
				if err != nil {
					return version, err
				}
				r.Append(rec)
			}
		}
		if err := s.base.Codec.ReadMessages(l.wire, l.messages, r.Task.AddMessage); err != nil {
			return version, err
		}
	}
	return version, nil
}

// row returns a task as it is now, and keeps it.
func (s *Store) row(ctx context.Context, of ref) (*row, error) {
	for {
		r, current, err := s.cached(ctx, of)
		if err != nil || current {
			return r, err
		}
		if err = s.bringUp(ctx, r); !errors.Is(err, store.ErrNotFound) { // else it may be there by another number
			return r, err
		}
	}
}

// cached returns a task from the cache, or reads it. current: it was just read.
func (s *Store) cached(ctx context.Context, of ref) (r *row, current bool, err error) {
	if of.key == (store.Key{}) {
		if of.key, err = s.keyOf(ctx, of.n); err != nil {
			return nil, false, err
		}
	}
	if r = s.cache.Get(of.key); r != nil {
		return r, false, nil
	}
	if r, err = s.read(ctx, of.key, latest); err != nil {
		return nil, false, err
	}
	s.cache.Put(of.key, r, r.Meta.Cost())
	return r, true, nil
}

// read reads a whole task as of a version.
func (s *Store) read(ctx context.Context, key store.Key, at int64) (*row, error) {
	rows, err := s.load(ctx, at, byKey, key.Owner.Principal, key.Owner.Tenant, key.Task)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, store.ErrNotFound
	}
	return rows[0], nil
}

// keyOf returns the key of a task.
func (s *Store) keyOf(ctx context.Context, n int64) (key store.Key, err error) {
	const sql = `SELECT o.tenant, a.principal, t.id FROM a2a.task t JOIN a2a.owner o ON o.n=t.owner JOIN a2a.account a ON a.n=t.account
		WHERE t.n=$1`
	found, err := s.one(ctx, sql, []any{n}, &key.Owner.Tenant, &key.Owner.Principal, &key.Task)
	if err == nil && !found {
		err = store.ErrNotFound
	}
	return key, err
}

// bringUp makes a cached row what its task is now. Of one that is gone, or another by now, the key is read anew.
func (s *Store) bringUp(ctx context.Context, r *row) error {
	rev, err := s.looks.rev(ctx, r.N)
	if err != nil || rev != 0 && s.shows(r, rev) {
		return err
	}
	if err := r.lock(ctx); err != nil {
		return err
	}
	defer r.unlock()
	return s.refresh(ctx, r, rev)
}

// shows reports whether a row is what its task is at a revision, or later.
func (s *Store) shows(r *row, rev int64) bool {
	r.Mu.Lock()
	defer r.Mu.Unlock()
	return r.rev >= rev && !r.dropped && s.isFrom(r)
}

// isFrom reports whether a row was read from the server that is there now.
func (s *Store) isFrom(r *row) bool { return r.server == s.target.server.Load() }

// refresh brings a row up to a revision at least. Callers must have its turn.
func (s *Store) refresh(ctx context.Context, r *row, rev int64) error {
	if rev == 0 || !s.isFrom(r) || r.isDropped() {
		s.forget(r)
		return store.ErrNotFound
	}
	if s.shows(r, rev) {
		return nil
	}
	var next *row
	var log []logged
	var b pgx.Batch
	b.Queue(s.sql("SELECT "+metaColumns+" FROM a2a.task t WHERE t.n=$1"), r.N).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			next = s.newRow(0, r.Key)
			if err := scanMeta(rows, &next.N, &next.rev, &next.Meta); err != nil {
				return err
			}
		}
		return rows.Err()
	})
	b.Queue(s.sql("SELECT "+logColumns+" FROM a2a.event e WHERE e.task=$1 AND e.seq>$2 ORDER BY e.seq"), r.N, r.Meta.Version).Query(
		func(rows pgx.Rows) error {
			for rows.Next() {
				var l logged
				if err := scanLog(rows, &l); err != nil {
					return err
				}
				log = append(log, l)
			}
			return rows.Err()
		})
	if err := s.batch(ctx, &b); err != nil {
		return err
	}
	if next == nil {
		s.forget(r)
		return store.ErrNotFound
	}
	return s.become(ctx, r, next, log)
}

// become makes a row another revision of itself, by the events in between. If they are gone, the whole task is read.
func (s *Store) become(ctx context.Context, r, next *row, log []logged) error {
	r.Mu.Lock()
	version, err := s.replay(ctx, r, log, r.Meta.Version, next.Meta.Version)
	if err == nil && version == next.Meta.Version {
		r.Meta, r.rev = next.Meta, next.rev
		r.Mu.Unlock()
		s.cache.Put(r.Key, r, r.Meta.Cost())
		return nil
	}
	r.Mu.Unlock()
	rows, err := s.load(ctx, latest, byNumbers, []int64{r.N})
	if err == nil && len(rows) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		s.forget(r)
		return err
	}
	r.Mu.Lock()
	defer r.Mu.Unlock()
	is := rows[0]
	r.Meta, r.Task, r.Tail, r.rev = is.Meta, is.Task, is.Tail, is.rev
	return nil
}

// locked returns a task whose turn the caller has, and must end with unlock. Unless it is to be fresh it may be what
// it was a while ago.
func (s *Store) locked(ctx context.Context, of ref, fresh bool) (*row, error) {
	for {
		r, current, err := s.cached(ctx, of)
		if err != nil {
			return nil, err
		}
		if err := r.lock(ctx); err != nil {
			return nil, err
		}
		if !r.isDropped() && (fresh && !current || !s.isFrom(r)) {
			err = s.update(ctx, r)
		}
		if err == nil && !r.isDropped() {
			return r, nil
		}
		gone := r.isDropped()
		r.unlock()
		if !gone { // else it may be there by another number
			return nil, err
		}
	}
}

// update is bringUp for callers who have the turn.
func (s *Store) update(ctx context.Context, r *row) error {
	rev, err := s.looks.rev(ctx, r.N)
	if err != nil {
		return err
	}
	return s.refresh(ctx, r, rev)
}
