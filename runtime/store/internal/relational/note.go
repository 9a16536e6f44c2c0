package relational

import (
	"context"

	"github.com/a2agen/a2agen/runtime/store"
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

// NoteFor reads the note that a value is to replace, the zero row if there is none, and says why it must not; nil is the value of a note
// that is to be dropped.
func (b *Base) NoteFor(ctx context.Context, owner store.Owner, context string, value []byte, expect int64) (old NoteRow, err error) {
	_, err = One(ctx, b, "SELECT x.n, x.version, x.bytes "+noteOf, []any{owner.Principal, owner.Tenant, context}, &old.N, &old.Version, &old.Bytes)
	switch {
	case err != nil:
		return old, err
	case expect != store.AnyVersion && expect != old.Version:
		return old, store.ErrConflict
	case len(value) > store.MaxNote:
		return old, store.ErrTooLarge
	}
	return old, nil
}

// OldNotes are the notes of an account that were written longest ago, of so many bytes, but not one that is replaced.
func (b *Base) OldNotes(ctx context.Context, account int64, replaced NoteRow, bytes int64) (list []NoteRow, err error) {
	err = b.Ask(ctx, Question{`SELECT n, version, bytes FROM (SELECT n, at, version, bytes, sum(bytes) OVER (ORDER BY at, n) AS before FROM a2a.note
		WHERE account=$1 AND n<>$2) AS x WHERE before-bytes<$3 ORDER BY at, n`, []any{account, replaced.N, bytes}, func(row Row) error {
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
