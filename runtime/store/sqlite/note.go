package sqlite

import (
	"cmp"
	"context"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store"
)

// Notes of contexts, which count in the account of their owner and make room among themselves: see [store.Note].

const noteOf = `FROM note WHERE context=?3 AND owner=
	(SELECT o.n FROM account a JOIN owner o ON o.account=a.n WHERE a.principal=?1 AND o.tenant=?2)`

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

// note is the row of a note without its value.
type note struct{ n, account, version, bytes int64 }

func (n *note) scan(v []value) error {
	*n = note{num(v[0]), num(v[1]), num(v[2]), num(v[3])}
	return nil
}

func (w *writer) setNote(owner store.Owner, context string, value []byte, expect int64) (version int64, err error) {
	var old note
	err = w.query("SELECT n, account, version, bytes "+noteOf, old.scan, owner.Principal, owner.Tenant, context)
	switch {
	case err != nil:
		return 0, err
	case expect != store.AnyVersion && expect != old.version:
		return 0, store.ErrConflict
	case value == nil && old.n == 0:
		return 0, nil
	case len(value) > store.MaxNote:
		return 0, store.ErrTooLarge
	}
	o, err := w.ledger.owner(w, owner)
	if err != nil {
		return 0, err
	}
	if value == nil {
		return 0, w.dropNote(o.account, old)
	}
	bytes := int64(store.NoteBytes(owner, context, value))
	if err := w.roomForNote(owner.Principal, o.account, old, bytes); err != nil {
		return 0, err
	}
	if err := w.ledger.open(w, o); err != nil {
		return 0, err
	}
	version = store.NextVersion(old.version, w.now)
	_, err = w.exec("INSERT INTO note(owner, account, context, version, at, bytes, value) VALUES(?,?,?,?,?,?,?)",
		o.n, o.account.n, context, version, w.now.UnixNano(), bytes, value)
	w.ledger.addNotes(o.account, bytes)
	return version, err
}

// roomForNote makes room for a note of so many bytes and drops the one in whose place it comes, or says why there is no
// room.
func (w *writer) roomForNote(principal string, a *account, old note, bytes int64) error {
	share, all := store.NotesOfOwner(w.s.options.share(principal).Bytes), store.NotesOfAll(w.s.options.Bytes)
	if bytes > min(share, all) {
		return store.ErrTooLarge
	}
	goes, err := w.oldNotes(a, old, share-bytes)
	if err != nil {
		return err
	}
	more := bytes
	for _, n := range goes {
		more -= n.bytes
	}
	if more > 0 {
		if ok, err := w.makeRoom(principal, &none, taskstate.Holding{Bytes: more}); err != nil || !ok {
			return cmp.Or(err, store.ErrFull)
		}
	}
	for _, n := range goes {
		if err := w.dropNote(a, n); err != nil {
			return err
		}
	}
	for w.ledger.all.notes+bytes > all {
		if ok, err := w.dropNoteOfMost(); !ok {
			return err
		}
	}
	return nil
}

// oldNotes are those without which an account has so many bytes of notes at most: the one that is about to be replaced,
// and those written longest ago.
func (w *writer) oldNotes(a *account, old note, most int64) (goes []note, err error) {
	left := a.notes
	if old.n != 0 {
		goes, left = append(goes, old), left-old.bytes
	}
	if left <= most {
		return goes, nil
	}
	err = w.query("SELECT n, account, version, bytes FROM note INDEXED BY note_account WHERE account=? AND n<>? ORDER BY at, n",
		func(v []value) error {
			var n note
			_ = n.scan(v)
			goes, left = append(goes, n), left-n.bytes
			if left <= most {
				return errStop
			}
			return nil
		}, a.n, old.n)
	if err == errStop {
		err = nil
	}
	return goes, err
}

// dropNoteOfMost drops the note that was written longest ago, of the account with the most bytes of notes.
func (w *writer) dropNoteOfMost() (ok bool, err error) {
	if err := w.ledger.flush(w); err != nil {
		return false, err
	}
	var principal string
	var found note
	err = w.query(`SELECT x.n, x.account, x.version, x.bytes, a.principal FROM
		(SELECT n, principal FROM account INDEXED BY account_notes WHERE notes>0 ORDER BY notes DESC LIMIT 1) a
		JOIN note x INDEXED BY note_account ON x.account=a.n ORDER BY x.at, x.n LIMIT 1`, func(v []value) error {
		principal = text(v[4])
		return found.scan(v)
	})
	if err != nil || found.n == 0 {
		return false, err
	}
	a, err := w.ledger.account(w, principal)
	if err != nil {
		return false, err
	}
	return true, w.dropNote(a, found)
}

// dropNote drops a note, if there is one.
func (w *writer) dropNote(a *account, n note) error {
	if n.n == 0 {
		return nil
	}
	_, err := w.exec("DELETE FROM note WHERE n=?", n.n)
	w.ledger.addNotes(a, -n.bytes)
	return err
}

// sweepNotes drops notes that were written before a time.
func (w *writer) sweepNotes(before int64) (dropped int, err error) {
	type owned struct {
		note
		principal string
	}
	var list []owned
	err = w.query(`SELECT x.n, x.account, x.version, x.bytes, a.principal FROM note x INDEXED BY note_at
		JOIN account a ON a.n=x.account WHERE x.at<? ORDER BY x.at LIMIT ?`, func(v []value) error {
		var n owned
		n.principal = text(v[4])
		list = append(list, n)
		return list[len(list)-1].scan(v)
	}, before, sweepAtOnce)
	for _, n := range list {
		if err != nil {
			break
		}
		var a *account
		if a, err = w.ledger.account(w, n.principal); err == nil {
			err = w.dropNote(a, n.note)
		}
	}
	return len(list), err
}
