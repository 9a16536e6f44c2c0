package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// Notes of contexts, which count in the account of their owner and make room among themselves: see [store.Note].

// SetNote implements [store.Store].
func (s *Store) SetNote(ctx context.Context, of store.Owner, context string, value []byte, expect int64) (version int64, err error) {
	err = rounds(ctx, func(again bool) error {
		if again {
			s.ledger.forgetOwner(of) // it may be that a sweep has deleted it
		}
		version, err = s.setNote(ctx, of, context, value, expect)
		return err
	})
	return version, err
}

func (s *Store) setNote(ctx context.Context, of store.Owner, context string, value []byte, expect int64) (int64, error) {
	old, err := s.base.NoteFor(ctx, of, context, value, expect)
	if err != nil || value == nil && old.N == 0 {
		return 0, err
	}
	o, err := s.ledger.owner(ctx, of)
	if err != nil {
		return 0, err
	}
	w := s.newWrite(0)
	d := &delta{owner: o}
	if value == nil {
		w.dropNote(d, old)
		s.ledger.count(d)
		return 0, s.sendNote(ctx, w, d)
	}
	bytes := int64(store.NoteBytes(of, context, value))
	if err := s.roomForNote(ctx, w, d, old, bytes); err != nil {
		return 0, err
	}
	version := store.NextVersion(old.Version, s.now())
	if err := s.ledger.makeOwner(ctx, &d.owner); err != nil {
		s.ledger.settled(d, err)
		return 0, err
	}
	w.putNote(&d.owner, context, old, relational.NoteRow{Version: version, Bytes: bytes}, value, s.now())
	return version, s.sendNote(ctx, w, d)
}

func (s *Store) sendNote(ctx context.Context, w *write, d *delta) error {
	w.sums = append(w.sums, d)
	return s.send(ctx, w)
}

// putNote writes a note in the place of the old one, if there is one.
func (w *write) putNote(o *owner, context string, old, is relational.NoteRow, value []byte, now time.Time) {
	if old.N != 0 {
		w.Fenced("UPDATE a2a.note SET version=$3, at=$4, bytes=$5, value=$6 WHERE n=$1 AND version=$2", old.N, old.Version, is.Version,
			now.UnixNano(), is.Bytes, value)
		return
	}
	w.Fenced(`INSERT INTO a2a.note(owner, account, context, version, at, bytes, value)
		SELECT n, account, $2, $3, $4, $5, $6 FROM a2a.owner o WHERE n=$1 FOR KEY SHARE OF o
		ON CONFLICT (owner, context) DO NOTHING`,
		o.n, context, is.Version, now.UnixNano(), is.Bytes, value)
}

// dropNote drops a note, if nobody has changed it.
func (w *write) dropNote(d *delta, n relational.NoteRow) {
	relational.DropNote(w, n)
	d.notes -= n.Bytes
	d.bytes -= n.Bytes
}

// roomForNote makes room for a note of so many bytes, drops those without which its owner may have it, and counts it
// in; or it says why there is no room.
func (s *Store) roomForNote(ctx context.Context, w *write, d *delta, old relational.NoteRow, bytes int64) error {
	share, all := store.NotesOfOwner(s.options.share(d.owner.of.Principal).Bytes), store.NotesOfAll(s.options.Bytes)
	if bytes > min(share, all) {
		return store.ErrTooLarge
	}
	d.notes, d.bytes = bytes-old.Bytes, bytes-old.Bytes // the old one is replaced
	goes, err := s.oldNotes(ctx, d, old, share)
	if err != nil {
		return err
	}
	for _, n := range goes {
		w.dropNote(d, n)
	}
	if err := s.ledger.reserve(ctx, d, taskstate.Holding{}, taskstate.Holding{Bytes: d.bytes}, false); err != nil {
		return err
	}
	for s.ledger.notes() > all {
		n, err := s.dropNotes(ctx, mostNotesSQL)
		if err != nil {
			s.ledger.settled(d, relational.ErrStale)
			return err
		}
		if n == 0 {
			break
		}
	}
	return nil
}

// notes is how many bytes of notes there are.
func (l *ledger) notes() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.held.notes
}

// oldNotes are those without which an account has so many bytes of notes at most when a change is made: those written
// longest ago, but not the one that is replaced.
func (s *Store) oldNotes(ctx context.Context, d *delta, old relational.NoteRow, most int64) (goes []relational.NoteRow, err error) {
	a := s.ledger.account(d.owner.of.Principal)
	if err := s.ledger.know(ctx, a, d.owner.account, time.Now().Add(-sumsLast)); err != nil {
		return nil, err
	}
	s.ledger.mu.Lock()
	left := a.held.notes + d.notes
	s.ledger.mu.Unlock()
	if left <= most {
		return nil, nil
	}
	return s.base.OldNotes(ctx, d.owner.account, old, left-most)
}

// droppingNotesSQL drops the notes that a query finds, and what their accounts hold for them, in the lane $1.
const droppingNotesSQL = `WITH found AS MATERIALIZED (%s),
	locked AS (SELECT x.n FROM found f JOIN a2a.note x ON x.n=f.n AND x.version=f.version FOR UPDATE OF x SKIP LOCKED),
	gone AS (DELETE FROM a2a.note x USING locked WHERE x.n=locked.n RETURNING x.account, x.bytes),
	held AS (INSERT INTO a2a.usage AS l(account, lane, tasks, bytes, restedtasks, restedbytes, pushes, notes)
		SELECT account, $1, 0, -sum(bytes)::bigint, 0, 0, 0, -sum(bytes)::bigint
		FROM (SELECT account, bytes FROM gone UNION ALL SELECT 0, bytes FROM gone) AS x GROUP BY account ORDER BY account
		` + addToUsage + `)
	SELECT a.principal, g.bytes FROM gone g JOIN a2a.account a ON a.n=g.account`

// mostNotesSQL drops the note that was written longest ago, of the account with the most bytes of notes.
var mostNotesSQL = fmt.Sprintf(droppingNotesSQL, `SELECT n, version FROM a2a.note WHERE account=(SELECT l.account FROM a2a.usage l
	WHERE l.account IN (SELECT account FROM (SELECT account FROM a2a.usage WHERE noted IS NOT NULL ORDER BY noted DESC LIMIT 64) AS h)
	GROUP BY l.account ORDER BY sum(l.notes) DESC LIMIT 1) ORDER BY at, n LIMIT 1`)

// oldNotesSQL drops notes that were written before a time.
var oldNotesSQL = fmt.Sprintf(droppingNotesSQL, "SELECT n, version FROM a2a.note WHERE at<$2 ORDER BY at LIMIT $3")

// dropNotes drops notes by a statement made of droppingNotesSQL.
func (s *Store) dropNotes(ctx context.Context, sql string, args ...any) (dropped int, err error) {
	var principal string
	var bytes int64
	err = s.query(ctx, sql, func(row relational.Row) error {
		if err := row.Scan(&principal, &bytes); err != nil {
			return err
		}
		dropped++
		s.ledger.dropped(store.Owner{Principal: principal}, sums{bytes: bytes, notes: bytes})
		return nil
	}, append([]any{s.laneOf(0)}, args...)...)
	return dropped, err
}

// sweepNotes drops notes that were not written for as long as a task waits.
func (s *Store) sweepNotes(ctx context.Context, now time.Time) (more bool, err error) {
	n, err := s.dropNotes(ctx, oldNotesSQL, now.Add(-s.options.Parked).UnixNano(), int64(sweepAtOnce))
	return n == sweepAtOnce, err
}
