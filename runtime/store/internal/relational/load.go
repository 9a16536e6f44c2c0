package relational

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Loaded is a task as it was read, at a revision of its row.
type Loaded struct {
	*stored.Row
	Rev int64
}

// MetaColumns are the columns of a task t without its content, in the order of ScanMeta.
const MetaColumns = `t.n, t.rev, t.context, t.skill, t.clientid, t.trace, t.at, t.oldest, t.charged, t.asked, t.input, t.saved, t.log,
	length(t.head), t.body, t.snapshot, t.since, t.state, t.ticketed, t.runner, t.pushes, t.version, t.epoch, t.calls, t.done,
	t.attempt, t.made, t.began, t.stamps, t.said, t.saidparts, t.laststatus, t.laststatusparts, t.artifacts, t.artifactparts, t.rested`

// ScanMeta reads them, and some more.
func (b *Base) ScanMeta(row Row, n, rev *int64, m *stored.Meta, more ...any) error {
	var state, began int64
	var stamps []byte
	err := row.Scan(append([]any{
		n, rev, &m.Context, &m.Skill, &m.ClientID, &m.Trace, &m.At, &m.Oldest, &m.Charged, &m.Asked, &m.Input, &m.Saved, &m.Log,
		&m.Head, &m.Body, &m.Snapshot, &m.Since, &state, &m.Ticketed, &m.Runner, &m.Pushes, &m.Version, &m.Epoch, &m.Calls, &m.Done,
		&m.Attempt, &m.Made, &began, &stamps, &m.Messages.Bytes, &m.Messages.Parts, &m.LastStatus.Bytes, &m.LastStatus.Parts,
		&m.Artifacts.Bytes, &m.Artifacts.Parts, &m.Rested,
	}, more...)...)
	m.Status, m.Began = stateOf(state), uint64(began) //nolint:gosec // bits
	readStamps(stamps, &m.State)
	if b.Only != 0 && m.Runner != b.Only {
		m.Runner = 0
	}
	return err
}

// LogColumns are the columns of a row e of the log, in the order of ScanLog.
const LogColumns = "e.task, e.seq, e.kind, e.state, e.run, e.wire, e.doc, e.messages"

// Logged is a row of the log.
type Logged struct {
	Task int64
	stored.Line
	Wire          int64
	Doc, Messages []byte
}

// ScanLog adds a row to a list.
func ScanLog(list *[]Logged) func(Row) error {
	return func(row Row) error {
		var l Logged
		var kind, state int64
		err := row.Scan(&l.Task, &l.Seq, &kind, &state, &l.Run, &l.Wire, &l.Doc, &l.Messages)
		l.Kind, l.State = runtime.EventKind(kind), stateOf(state) //nolint:gosec // few
		*list = append(*list, l)
		return err
	}
}

// Which says which tasks are read. Its condition has arguments from $2 on.
type Which struct {
	where string
	args  []any
}

// ByKey is the task of a key.
func ByKey(key store.Key) Which {
	return Which{`t.n=(SELECT x.n FROM a2a.account y JOIN a2a.owner z ON z.account=y.n JOIN a2a.task x ON x.owner=z.n
		WHERE y.principal=$2 AND z.tenant=$3 AND x.id=$4)`, []any{key.Owner.Principal, key.Owner.Tenant, key.Task}}
}

// ByNumbers are the tasks of some numbers.
func ByNumbers(ns []int64) Which { return Which{"t.n=ANY($2)", []any{ns}} }

// ByNumber is the task of a number.
func ByNumber(n int64) Which { return Which{"t.n=$2", []any{n}} }

// Latest is the version of a task as it is.
const Latest = int64(math.MaxInt64)

// errGap: events are missing from the log.
var errGap = errors.New("the log has a gap")

// asked is a task as it was asked for, before it is decoded.
type asked struct {
	Loaded
	body struct {
		version, wire *int64
		doc           []byte
	}
	log []Logged
}

// taskSQL reads a task with its owner and its last body at or before $1, and logSQL the events after that.
const (
	taskSQL = `, o.tenant, a.principal, t.id, b.version, b.wire, b.doc FROM a2a.task t
		JOIN a2a.owner o ON o.n=t.owner JOIN a2a.account a ON a.n=t.account LEFT JOIN a2a.body b ON b.task=t.n AND b.version=
		(SELECT max(version) FROM a2a.body WHERE task=t.n AND version<=$1) WHERE `
	logSQL = "SELECT " + LogColumns + ` FROM a2a.task t JOIN a2a.event e ON e.task=t.n
		AND e.seq>coalesce((SELECT max(version) FROM a2a.body WHERE task=t.n AND version<=$1), 0) WHERE `
)

// LoadSQL are the statements that read whole tasks: their rows, and the events after their last bodies.
func (d *Dialect) LoadSQL(which Which) (tasks, log string) {
	return "SELECT " + d.Meta + taskSQL + which.where, logSQL + which.where + " ORDER BY e.task, e.seq"
}

// Load reads whole tasks as of a version, in one round trip.
func (b *Base) Load(ctx context.Context, at int64, which Which) ([]Loaded, error) {
	var list []*asked
	var log []Logged
	byN, args := map[int64]*asked{}, append([]any{at}, which.args...)
	tasksSQL, logSQL := b.Dialect().LoadSQL(which)
	err := b.Ask(ctx, Question{tasksSQL, args, func(row Row) error {
		one := &asked{Loaded: Loaded{Row: new(stored.Row)}}
		err := b.ScanMeta(row, &one.N, &one.Rev, &one.Meta, &one.Key.Owner.Tenant, &one.Key.Owner.Principal, &one.Key.Task,
			&one.body.version, &one.body.wire, &one.body.doc)
		list, byN[one.N] = append(list, one), one
		return err
	}}, Question{logSQL, args, ScanLog(&log)})
	if err != nil {
		return nil, err
	}
	for _, l := range log {
		if one := byN[l.Task]; one != nil {
			one.log = append(one.log, l)
		}
	}
	rows := make([]Loaded, 0, len(list))
	for _, one := range list {
		if err := b.decode(ctx, one, at); err != nil {
			return nil, err
		}
		rows = append(rows, one.Loaded)
	}
	return rows, nil
}

// LoadOne reads one whole task as of a version.
func (b *Base) LoadOne(ctx context.Context, at int64, which Which) (one Loaded, err error) {
	rows, err := b.Load(ctx, at, which)
	if err == nil && len(rows) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return one, err
	}
	return rows[0], nil
}

// decode makes the task of a row as it was at a version: its last body before that, and the events after it.
func (b *Base) decode(ctx context.Context, of *asked, at int64) error {
	r, version := of.Row, int64(0)
	at = min(at, r.Meta.Version)
	if of.body.version != nil {
		version = *of.body.version
		if err := b.KnowWire(ctx, *of.body.wire); err != nil {
			return err
		}
		var err error
		if r.Task, err = b.Codec.ReadTask(*of.body.wire, of.body.doc); err != nil {
			return err
		}
	}
	if r.Task == nil && r.Meta.Oldest > 0 {
		return store.ErrTrimmed
	}
	version, err := b.Replay(ctx, r, of.log, version, at)
	switch lags := b.Dialect().Lags; {
	case err != nil:
	case r.Task == nil || version != at && !lags:
		err = errGap
	case lags:
		of.catchUp()
	}
	if errors.Is(err, errGap) {
		err = fmt.Errorf("task %d: %w after event %d", r.N, err, version)
	}
	return err
}

// catchUp counts what the row of the task lags behind its log.
func (of *asked) catchUp() {
	m := &of.Meta
	m.Since = 0
	for i := range of.log {
		l := &of.log[i]
		bytes := int64(stored.EventBytes + len(l.Doc) + len(l.Messages))
		if m.Since += bytes; l.Seq > of.Rev {
			m.Log += bytes
		}
	}
	m.Content = stored.Recount(of.Task)
}

// Replay applies rows of the log to a task that has a version, up to another one, and returns which it came to.
func (b *Base) Replay(ctx context.Context, r *stored.Row, log []Logged, version, upTo int64) (int64, error) {
	for i := range log {
		l := &log[i]
		if err := b.KnowWire(ctx, l.Wire); err != nil {
			return version, err
		}
		list, err := l.Split(l.Doc)
		if err != nil {
			return version, err
		}
		if list[0].Seq > version+1 {
			return version, errGap
		}
		for j := range list {
			e := &list[j]
			if e.Seq > upTo {
				return version, nil
			}
			if r.Task, err = b.Codec.Apply(r.Task, l.Wire, e); err != nil {
				return version, fmt.Errorf("event %d of task %d: %w", e.Seq, r.N, err)
			}
			if version = e.Seq; version > 1 {
				rec, err := b.Codec.ReadRecord(e, l.Wire)
				if err != nil {
					return version, err
				}
				r.Append(rec)
			}
		}
		if err := b.Codec.ReadMessages(l.Wire, l.Messages, r.Task.AddMessage); err != nil {
			return version, err
		}
	}
	return version, nil
}

// MetaOf reads a task without its content; ErrNotFound: there is none.
func (b *Base) MetaOf(ctx context.Context, which Which) (n, rev int64, m stored.Meta, err error) {
	found := false
	err = b.Ask(ctx, Question{"SELECT " + b.Dialect().Meta + " FROM a2a.task t WHERE $1::bigint>0 AND " + which.where,
		append([]any{Latest}, which.args...), func(row Row) error {
			found = true
			return b.ScanMeta(row, &n, &rev, &m)
		}})
	if err == nil && !found {
		err = store.ErrNotFound
	}
	return n, rev, m, err
}

// Get reads a task as view asks.
func (b *Base) Get(ctx context.Context, which Which, view *store.View) (snap store.Snapshot, err error) {
	if view.At == 0 && headOnly(view) {
		heads, err := b.heads(ctx, which)
		if err == nil && len(heads) == 0 {
			err = store.ErrNotFound
		}
		if err != nil {
			return snap, err
		}
		return heads[0].Snapshot(view), nil
	}
	at := Latest
	if view.At != 0 {
		at = view.At
	}
	r, err := b.LoadOne(ctx, at, which)
	if err != nil {
		return snap, err
	}
	if view.At > r.Meta.Version {
		return snap, store.ErrTrimmed
	}
	r.Meta.Version = min(at, r.Meta.Version)
	return r.Snapshot(view), nil
}

// headOnly reports whether a view shows neither history nor artifacts.
func headOnly(view *store.View) bool {
	return !view.Artifacts && view.History != nil && *view.History <= 0
}

// snapshots reads tasks as view asks, in one round trip. One that is gone has no Task.
func (b *Base) snapshots(ctx context.Context, ns []int64, view *store.View) ([]store.Snapshot, error) {
	var rows []Loaded
	var err error
	if headOnly(view) {
		rows, err = b.heads(ctx, ByNumbers(ns))
	} else {
		rows, err = b.Load(ctx, Latest, ByNumbers(ns))
	}
	if err != nil {
		return nil, err
	}
	byN := make(map[int64]*stored.Row, len(rows))
	for _, r := range rows {
		byN[r.N] = r.Row
	}
	snaps := make([]store.Snapshot, len(ns))
	for i, n := range ns {
		if r := byN[n]; r != nil {
			snaps[i] = r.Snapshot(view)
		}
	}
	return snaps, nil
}

// heads reads tasks without their history and artifacts.
func (b *Base) heads(ctx context.Context, which Which) (list []Loaded, err error) {
	type doc struct {
		wire int64
		head []byte
	}
	var docs []doc
	err = b.Ask(ctx, Question{"SELECT " + b.Dialect().Meta + ", t.wire, t.head FROM a2a.task t WHERE $1::bigint>0 AND " + which.where,
		append([]any{Latest}, which.args...), func(row Row) error {
			r, d := Loaded{Row: new(stored.Row)}, doc{}
			err := b.ScanMeta(row, &r.N, &r.Rev, &r.Meta, &d.wire, &d.head)
			list, docs = append(list, r), append(docs, d)
			return err
		}})
	for i, d := range docs {
		if err == nil {
			err = b.KnowWire(ctx, d.wire)
		}
		if err == nil {
			list[i].Task, err = b.Codec.ReadTask(d.wire, d.head)
		}
	}
	return list, err
}

// Events reads at most so many records after a version. The first event of a task is the task: it is none that a reader could get.
func (b *Base) Events(ctx context.Context, n, after int64, max int) (records []*store.Record, err error) {
	var log []Logged
	err = b.Ask(ctx, Question{"SELECT " + LogColumns + " FROM a2a.event e WHERE e.task=$1 AND e.seq>$2 ORDER BY e.seq LIMIT $3",
		[]any{n, after, int64(max)}, ScanLog(&log)})
	if err != nil {
		return nil, err
	}
	for i := range log {
		if err := b.KnowWire(ctx, log[i].Wire); err != nil {
			return nil, err
		}
		list, err := log[i].Split(log[i].Doc)
		if err != nil {
			return nil, err
		}
		for j := 0; j < len(list) && len(records) < max; j++ {
			if list[j].Seq <= after {
				continue
			}
			rec, err := b.Codec.ReadRecord(&list[j], log[i].Wire)
			if err != nil {
				return nil, err
			}
			records = append(records, rec)
		}
	}
	if len(records) == 0 || records[0].Seq != after+1 {
		return nil, store.ErrTrimmed
	}
	return records, nil
}

// Stamps writes the stamps of a task, without those that it does not have yet.
func Stamps(s *taskstate.State) []byte {
	b := make([]byte, 0, 8*len(s.Stamps))
	for _, stamp := range s.Stamps {
		if stamp == 0 {
			break
		}
		b = binary.BigEndian.AppendUint64(b, stamp)
	}
	return b
}

func readStamps(b []byte, s *taskstate.State) {
	for i := range s.Stamps {
		if len(b) < 8 {
			return
		}
		s.Stamps[i], b = binary.BigEndian.Uint64(b), b[8:]
	}
}
