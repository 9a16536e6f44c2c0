package sqlite

import (
	"context"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// mostNotesSQL finds the note that was written longest ago, but not a certain one, of the account with the most bytes of notes, and
// oldNotesSQL notes that were written before a time.
const (
	mostNotesSQL = `SELECT x.n, x.version, x.bytes, a.principal FROM account a INDEXED BY account_notes
		CROSS JOIN note x INDEXED BY note_account ON x.account=a.n WHERE a.notes>0 AND x.n<>? ORDER BY a.notes DESC, a.n, x.at, x.n LIMIT 1`
	oldNotesSQL = `SELECT x.n, x.version, x.bytes, a.principal FROM note x INDEXED BY note_at
		JOIN account a ON a.n=x.account WHERE x.at<? ORDER BY x.at LIMIT ?`
)

// EvictNote is that of [relational.Tx].
func (w *writer) EvictNote(_ context.Context, but int64) (dropped int, err error) {
	if err := w.ledger.flush(w); err != nil {
		return 0, err
	}
	return w.dropNotes(mostNotesSQL, but)
}

// dropNotes drops the notes that a query finds, with the principals of their accounts.
func (w *writer) dropNotes(sql string, args ...any) (dropped int, err error) {
	var list []relational.NoteRow
	var principals []string
	err = w.query(sql, func(v []value) error {
		var n relational.NoteRow
		var principal string
		err := row(v).Scan(&n.N, &n.Version, &n.Bytes, &principal)
		list, principals = append(list, n), append(principals, principal)
		return err
	}, args...)
	for i, n := range list {
		var a *account
		if err == nil {
			a, err = w.ledger.account(w, principals[i])
		}
		if err != nil {
			return 0, err
		}
		relational.DropNote(w, n)
		w.ledger.count(&owner{account: a}, &relational.Delta{Sums: relational.Sums{Bytes: -n.Bytes, Notes: -n.Bytes}})
	}
	return len(list), err
}
