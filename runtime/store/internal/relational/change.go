package relational

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// Out takes the statements of a change: it makes them at once, or sends them with those of others.
type Out interface {
	Add(sql string, args ...any)
	// Fenced adds a statement without RETURNING that must change a row, or else nothing of the change is made.
	Fenced(sql string, args ...any)
	// Event adds a row of the log, in the order of [Dialect.Event].
	Event(row []any)
}

// Change is a new task, or an update of one.
type Change struct {
	*stored.Change
	Key     store.Key
	N       int64 // of the task
	Owner   int64 // number of it
	Account int64
	Was     *stored.Meta
	Run     *store.Call // to begin now

	view *store.View
	snap store.Snapshot // the answer
}

// OnlyContent reports whether a change is that of most chunks of an artifact.
func (c *Change) OnlyContent() bool {
	a, b := c.Was.State, c.Next.State
	a.Version, a.Stamps, a.Artifacts = b.Version, b.Stamps, b.Artifacts
	return c.Head == nil && a == b && c.Was.Oldest == c.Next.Oldest && c.Was.Snapshot == c.Next.Snapshot && c.Was.Asked == c.Next.Asked &&
		bytes.Equal(c.Was.Input, c.Next.Input) && bytes.Equal(c.Was.Saved, c.Next.Saved)
}

// Event are the columns of an event.
func (d *Dialect) Event() string {
	return "task seq kind state wire run doc messages" + d.Columns.Event
}

// insert is a statement that inserts a row of columns with spaces between.
func insert(table, columns string) string {
	list := strings.Fields(columns)
	sql := "INSERT INTO a2a." + table + "(" + strings.Join(list, ", ") + ") VALUES($1"
	for i := range list[1:] {
		sql += fmt.Sprint(",$", i+2)
	}
	return sql + ")"
}

// Statements that every change may have.
const (
	overSQL = "DELETE FROM a2a.call WHERE task=$1 AND n<=$2"

	// wakeSQL makes the configurations of a task due that sleep, as [taskstate.Cursor.Wake] does.
	wakeSQL = "UPDATE a2a.push SET due=$1 WHERE task=$2 AND due IS NULL AND dead IS NULL"

	redeemSQL      = "DELETE FROM a2a.ticket WHERE hash=$1 AND task=$2"
	dropTicketsSQL = "DELETE FROM a2a.ticket WHERE task=$1"
	addTicketSQL   = `INSERT INTO a2a.ticket(hash, task, until, made, wire, request) VALUES($1,$2,$3,$4,$5,$6) ON CONFLICT (hash) DO UPDATE
		SET task=excluded.task, until=excluded.until, made=excluded.made, wire=excluded.wire, request=excluded.request`
	fewTicketsSQL = `DELETE FROM a2a.ticket WHERE task=$1 AND hash NOT IN
		(SELECT hash FROM a2a.ticket WHERE task=$1 ORDER BY until DESC, made DESC LIMIT $2)`

	bodySQL       = "INSERT INTO a2a.body(task, version, wire, doc) VALUES($1,$2,$3,$4)"
	dropBodiesSQL = "DELETE FROM a2a.body WHERE task=$1 AND version<$2"
	trimSQL       = "DELETE FROM a2a.event WHERE task=$1 AND seq<=$2"
)

// Write writes all of a change but the row of its task, and what comes with a repeat.
func (b *Base) Write(ctx context.Context, c *Change, out Out) error {
	wire, u := int32(b.Codec.Wire), c.U //nolint:gosec // few
	columns := &b.Dialect().Columns
	for i, line := range c.Lines(c.Was.Version, c.Was.Status) {
		e := &c.Log[i]
		row := []any{c.N, line.Seq, int16(line.Kind), int16(line.State), wire, line.Run, e.Doc(), e.Messages}
		if columns.Event != "" {
			stamp := uint64(0) // it is kept with the last row
			if i == len(c.Log)-1 {
				stamp = u.Stamp
			}
			row = append(row, stamp)
		}
		out.Event(row)
	}
	if err := b.writeCalls(ctx, c, out); err != nil {
		return err
	}
	if c.Was.Pushes > 0 {
		out.Add(wakeSQL, b.Now().UnixNano(), c.N)
	}
	if u.Push != nil {
		b.PutPush(out, c.N, u.Push, c.Config, c.Next.Version)
	}
	if u.Redeem != nil {
		out.Fenced(redeemSQL, u.Redeem[:], c.N)
	}
	if c.Effects.DropTickets {
		out.Add(dropTicketsSQL, c.N)
	}
	if t := u.Ticket; t != nil && c.Next.Ticketed {
		out.Add(addTicketSQL, t.Hash[:], c.N, b.Now().Add(t.For).UnixNano(), c.Next.Version, wire, c.Ticket)
		out.Add(fewTicketsSQL, c.N, int64(store.MaxTickets))
	}
	return nil
}

// The table of calls has the open ones alone: a row is deleted when its call is over.

// writeCalls deletes calls that are over, and stores a new one, unless that is over at once, or begins the next.
func (b *Base) writeCalls(ctx context.Context, c *Change, out Out) (err error) {
	m, e, columns := &c.Next, &c.Effects, &b.Dialect().Columns
	if m.Done > c.Was.Done && c.Was.Open() {
		out.Add(overSQL, c.N, m.Done)
	}
	switch call := c.U.Call; {
	case e.Call > m.Done:
		var began uint64
		if call.N, call.Attempt, call.Made = e.Call, 0, 0; e.Begin == e.Call {
			call.Attempt, call.Made, began, c.Run = int(m.Attempt), int(m.Made), m.Began, call
		}
		row := []any{c.N, call.N, int32(b.Codec.Wire), c.Request, call.Input, call.Value} //nolint:gosec // few
		if columns.Call != "" {
			row = append(row, began, call.Attempt, call.Made)
		}
		out.Add(b.Dialect().texts().call, row...)
	case e.Call != 0:
		call.N = e.Call
	case e.Begin != 0:
		b.begin(c, out, e.Begin)
		c.Run, err = b.Began(ctx, c.N, m)
	}
	return err
}

// begin notes the call at work, where its row says that.
func (b *Base) begin(c *Change, out Out, call int64) {
	if m := &c.Next; b.Dialect().Columns.Call != "" {
		out.Add("UPDATE a2a.call SET attempt=$1, made=$2, stamp=$3 WHERE task=$4 AND n=$5", m.Attempt, m.Made, m.Began, c.N, call)
	}
}

// ErrStale: the task is no longer what the decision was about. Nothing happened; the task is to be read anew.
var ErrStale = fmt.Errorf("another was faster")

// Began reads the call that a task is at by its state.
func (b *Base) Began(ctx context.Context, task int64, m *stored.Meta) (*store.Call, error) {
	c := &store.Call{N: m.Done + 1, Attempt: int(m.Attempt), Made: int(m.Made)}
	var wire int64
	var request []byte
	found, err := One(ctx, b, "SELECT wire, request, input, value FROM a2a.call WHERE task=$1 AND n=$2", []any{task, c.N}, &wire, &request,
		&c.Input, &c.Value)
	if err == nil && !found {
		err = ErrStale
	}
	if err == nil {
		err = b.KnowWire(ctx, wire)
	}
	if err == nil {
		c.Request, err = b.Codec.ReadRequest(wire, request)
	}
	return c, err
}

// Admits says why a ticket is not one of the task that is good.
func (b *Base) Admits(ctx context.Context, task int64, hash [32]byte) error {
	found, err := One(ctx, b, "SELECT made FROM a2a.ticket WHERE hash=$1 AND task=$2 AND until>$3",
		[]any{hash[:], task, b.Now().UnixNano()}, new(int64))
	if err == nil && !found {
		err = store.ErrTicket
	}
	return err
}

// Repeated returns what is known of a message that was sent before; nil: nothing is.
func (b *Base) Repeated(ctx context.Context, owner int64, r *store.Repeat) (*store.Repeated, error) {
	var again store.Repeated
	var digest []byte
	found, err := One(ctx, b, "SELECT task, call, digest FROM a2a.repeat WHERE owner=$1 AND key=$2 AND until>$3",
		[]any{owner, r.Key, b.Now().UnixNano()}, &again.Task, &again.Call, &digest)
	if err != nil || !found {
		return nil, err
	}
	again.Same = string(digest) == string(r.Digest[:])
	return &again, nil
}

// AddRepeat notes a message that is taken on. If another one with its key came at the same time the change is stale.
func (b *Base) AddRepeat(c *Change, out Out) {
	r, now := c.U.Repeat, b.Now()
	var call int64
	if c.U.Call != nil {
		call = c.U.Call.N
	}
	row := []any{c.Owner, r.Key, c.Key.Task, call, r.Digest[:], now.Add(r.For).UnixNano()}
	if b.Dialect().Columns.Repeat != "" {
		row = append(row, c.Account)
	}
	out.Fenced(b.Dialect().texts().repeat, append(row, now.UnixNano())...)
}

const repeatColumns = "owner key task call digest until"

// repeatSQL inserts a row, or replaces one that counts no more. more are further columns. The time is the last argument.
func repeatSQL(more string) string {
	sql := strings.Replace(insert("repeat", repeatColumns+more), "repeat(", "repeat AS r(", 1) + " ON CONFLICT (owner, key) DO UPDATE SET "
	list := strings.Fields(repeatColumns + more)
	for _, column := range list[2:] {
		sql += column + "=excluded." + column + ", "
	}
	return fmt.Sprintf("%s WHERE r.until<=$%d", strings.TrimSuffix(sql, ", "), len(list)+1)
}

// Compact writes the body of a task when one is due, and drops those that nobody needs any more. Then it trims old events, of which a
// log keeps so many, and of a task of so many bytes.
func (b *Base) Compact(ctx context.Context, c *Change, r *stored.Row, out Out, events int, bytes int64) error {
	m := &c.Next
	doc := c.Body(b.Codec, r.Task)
	if doc != nil {
		out.Add(bodySQL, c.N, m.Version, int32(b.Codec.Wire), doc) //nolint:gosec // few
	}
	upTo, least := m.Trim(events, bytes)
	if doc == nil && upTo == 0 {
		return nil
	}
	needed, err := b.needed(ctx, c)
	if err != nil {
		return err
	}
	if doc != nil {
		out.Add(dropBodiesSQL, c.N, needed)
	}
	if upTo = min(upTo, needed); upTo-m.Oldest <= least || upTo == 0 {
		return nil
	}
	var last, gone int64 // of the rows that end there or before
	_, err = One(ctx, b, `SELECT coalesce(max(seq), 0), coalesce(sum($1+length(doc)+coalesce(length(messages), 0)), 0)::bigint
		FROM a2a.event WHERE task=$2 AND seq<=$3`, []any{int64(stored.EventBytes), c.N, upTo}, &last, &gone)
	if err != nil || last == 0 {
		return err
	}
	out.Add(trimSQL, c.N, last)
	m.Oldest, m.Log = last, m.Log-gone
	return nil
}

// needed is the version of the body from which all notifications still to be sent can be shown: the last one if there
// are none, 0 if they need the whole log.
func (b *Base) needed(ctx context.Context, c *Change) (v int64, err error) {
	m := &c.Next
	if m.Pushes == 0 {
		return m.Snapshot, nil
	}
	var next int64
	_, err = One(ctx, b, `SELECT coalesce((SELECT min(next) FROM a2a.push WHERE task=$1 AND dead IS NULL), $2),
		coalesce((SELECT max(version) FROM a2a.body WHERE task=$1 AND version<coalesce((SELECT min(next) FROM a2a.push WHERE task=$1
		AND dead IS NULL), $2)), 0)`, []any{c.N, m.Version + 1}, &next, &v)
	if m.Snapshot < next { // it may be new, and not stored yet
		v = max(v, m.Snapshot)
	}
	return v, err
}
