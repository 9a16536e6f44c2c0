package relational

import (
	"context"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/stored"
)

// noteOf is a note x of $3 by its owner.
const noteOf = `FROM a2a.account a JOIN a2a.owner o ON o.account=a.n JOIN a2a.note x ON x.owner=o.n
	WHERE a.principal=$1 AND o.tenant=$2 AND x.context=$3`

// Note implements [store.Store].
func (s *Reads) Note(ctx context.Context, owner store.Owner, context string) (note store.Note, err error) {
	_, err = One(ctx, s.Base, "SELECT x.version, x.value "+noteOf, []any{owner.Principal, owner.Tenant, context}, &note.Version, &note.Value)
	return note, err
}

// NoteRow is the row of a note without its value.
type NoteRow struct{ N, Version, Bytes int64 }

// SetNote implements [store.Store].
func (s *Store) SetNote(ctx context.Context, owner store.Owner, contextID string, value []byte, expect int64) (int64, error) {
	var version int64
	return Answer(&version, s.db.Change(ctx, Ref{Key: store.Key{Owner: owner}, New: true}, nil, func(ctx context.Context, tx Tx, _ *stored.Row) (err error) {
		version, err = s.setNote(ctx, tx, owner, contextID, value, expect)
		return err
	}))
}

func (s *Store) setNote(ctx context.Context, tx Tx, of store.Owner, context string, value []byte, expect int64) (int64, error) {
	base := tx.Base()
	var old NoteRow
	_, err := One(ctx, base, "SELECT x.n, x.version, x.bytes "+noteOf, []any{of.Principal, of.Tenant, context}, &old.N, &old.Version, &old.Bytes)
	switch {
	case err != nil:
		return 0, err
	case expect != store.AnyVersion && expect != old.Version:
		return 0, store.ErrConflict
	case len(value) > store.MaxNote:
		return 0, store.ErrTooLarge
	case value == nil && old.N == 0:
		return 0, nil
	}
	o, err := tx.Owner(ctx, of)
	if err != nil {
		return 0, err
	}
	if value == nil {
		err := tx.Reserve(ctx, Delta{Owner: o, Sums: Sums{Bytes: -old.Bytes, Notes: -old.Bytes}})
		DropNote(tx, old)
		return 0, err
	}
	bytes := int64(store.NoteBytes(of, context, value))
	if err := s.roomForNote(ctx, tx, o, old, bytes); err != nil {
		return 0, err
	}
	if o, err = tx.Open(ctx, o); err != nil {
		return 0, err
	}
	version, now := store.NextVersion(old.Version, base.Now()), base.Now().UnixNano()
	if old.N != 0 {
		tx.Fenced("UPDATE a2a.note SET version=$3, at=$4, bytes=$5, value=$6 WHERE n=$1 AND version=$2", old.N, old.Version, version, now, bytes, value)
	} else {
		tx.Fenced(`INSERT INTO a2a.note(owner, account, context, version, at, bytes, value)
			SELECT n, account, $2, $3, $4, $5, $6 FROM a2a.owner o WHERE n=$1 FOR KEY SHARE OF o
			ON CONFLICT (owner, context) DO NOTHING`, o.N, context, version, now, bytes, value)
	}
	return version, nil
}

// roomForNote makes room for a note of so many bytes in the place of the old one: it drops those without which its owner may have it, and
// those without which all may. Or it says why there is no room.
func (s *Store) roomForNote(ctx context.Context, tx Tx, o Owner, old NoteRow, bytes int64) error {
	share, most := store.NotesOfOwner(s.limits.Share(o.Of.Principal).Bytes), store.NotesOfAll(s.limits.Bytes)
	if bytes > min(share, most) {
		return store.ErrTooLarge
	}
	own, _, err := tx.Held(ctx, o)
	if err != nil {
		return err
	}
	more := bytes - old.Bytes
	var goes []NoteRow
	if over := own.Notes + more - share; over > 0 {
		if goes, err = tx.Base().oldNotes(ctx, o.Account, old.N, over); err != nil {
			return err
		}
	}
	for _, n := range goes {
		more -= n.Bytes
	}
	if err := tx.Reserve(ctx, Delta{Owner: o, Sums: Sums{Bytes: more, Notes: more}, More: taskstate.Holding{Bytes: more}, Asked: true}); err != nil {
		return err
	}
	for _, n := range goes {
		DropNote(tx, n)
	}
	for {
		_, all, err := tx.Held(ctx, o)
		if err != nil || all.Notes <= most {
			return err
		}
		if n, err := tx.EvictNote(ctx, old.N); n == 0 || err != nil {
			return err
		}
	}
}

// oldNotes are the notes of an account that were written longest ago, of so many bytes, but not one that is replaced.
func (b *Base) oldNotes(ctx context.Context, account, replaced, bytes int64) (list []NoteRow, err error) {
	err = b.Ask(ctx, Question{`SELECT n, version, bytes FROM (SELECT n, at, version, bytes, sum(bytes) OVER (ORDER BY at, n) AS before FROM a2a.note
		WHERE account=$1 AND n<>$2) AS x WHERE before-bytes<$3 ORDER BY at, n`, []any{account, replaced, bytes}, func(row Row) error {
		var n NoteRow
		err := row.Scan(&n.N, &n.Version, &n.Bytes)
		list = append(list, n)
		return err
	}})
	return list, err
}

// DropNote drops a note, if nobody has changed it.
func DropNote(out Out, n NoteRow) {
	out.Fenced("DELETE FROM a2a.note WHERE n=$1 AND version=$2", n.N, n.Version)
}
