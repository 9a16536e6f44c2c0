package sqlite

import (
	"cmp"
	"context"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// Notes of contexts, which count in the account of their owner and make room among themselves: see [store.Note].

// SetNote implements [store.Store].
func (s *Store) SetNote(
	ctx context.Context, owner store.Owner, context string, value []byte, expect int64,
) (version int64, err error) {
	var made int64
	return result(&made, s.write(ctx, func(w *writer) (err error) {
		made, err = w.setNote(owner, context, value, expect)
		return err
	}))
}

func (w *writer) setNote(owner store.Owner, contextID string, value []byte, expect int64) (version int64, err error) {
	old, err := w.base.NoteFor(context.Background(), owner, contextID, value, expect)
	if err != nil || value == nil && old.N == 0 {
		return 0, err
	}
	o, err := w.ledger.owner(w, owner)
	if err != nil {
		return 0, err
	}
	if value == nil {
		w.dropNote(o.account, old)
		return 0, nil
	}
	bytes := int64(store.NoteBytes(owner, contextID, value))
	if err := w.roomForNote(owner.Principal, o.account, old, bytes); err != nil {
		return 0, err
	}
	if err := w.ledger.open(w, o); err != nil {
		return 0, err
	}
	version = store.NextVersion(old.Version, w.now)
	_, err = w.exec("INSERT INTO note(owner, account, context, version, at, bytes, value) VALUES(?,?,?,?,?,?,?)",
		o.n, o.account.n, contextID, version, w.now.UnixNano(), bytes, value)
	w.ledger.addNotes(o.account, bytes)
	return version, err
}

// roomForNote makes room for a note of so many bytes and drops the one in whose place it comes, or says why there is no
// room.
func (w *writer) roomForNote(principal string, a *account, old relational.NoteRow, bytes int64) error {
	share, all := store.NotesOfOwner(w.s.options.share(principal).Bytes), store.NotesOfAll(w.s.options.Bytes)
	if bytes > min(share, all) {
		return store.ErrTooLarge
	}
	var goes []relational.NoteRow
	if old.N != 0 {
		goes = append(goes, old)
	}
	if over := a.notes - old.Bytes + bytes - share; over > 0 {
		oldest, err := w.base.OldNotes(context.Background(), a.n, old, over)
		if err != nil {
			return err
		}
		goes = append(goes, oldest...)
	}
	more := bytes
	for _, n := range goes {
		more -= n.Bytes
	}
	if more > 0 {
		if ok, err := w.makeRoom(principal, &none, taskstate.Holding{Bytes: more}); err != nil || !ok {
			return cmp.Or(err, store.ErrFull)
		}
	}
	for _, n := range goes {
		w.dropNote(a, n)
	}
	for w.ledger.all.notes+bytes > all {
		if err := w.ledger.flush(w); err != nil {
			return err
		}
		if n, err := w.dropNotes(mostNotesSQL); n == 0 {
			return err
		}
	}
	return nil
}

// dropNote drops a note.
func (w *writer) dropNote(a *account, n relational.NoteRow) {
	relational.DropNote(w, n)
	w.ledger.addNotes(a, -n.Bytes)
}

// mostNotesSQL finds the note that was written longest ago, of the account with the most bytes of notes, and oldNotesSQL notes that
// were written before a time.
const (
	mostNotesSQL = `SELECT x.n, x.version, x.bytes, a.principal FROM
		(SELECT n, principal FROM account INDEXED BY account_notes WHERE notes>0 ORDER BY notes DESC LIMIT 1) a
		JOIN note x INDEXED BY note_account ON x.account=a.n ORDER BY x.at, x.n LIMIT 1`
	oldNotesSQL = `SELECT x.n, x.version, x.bytes, a.principal FROM note x INDEXED BY note_at
		JOIN account a ON a.n=x.account WHERE x.at<? ORDER BY x.at LIMIT ?`
)

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
		w.dropNote(a, n)
	}
	return len(list), err
}
