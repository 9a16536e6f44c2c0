package postgres

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// TestAServerMaySpeakAnyLanguage: what pgx calls the severity is a word of lc_messages.
func TestAServerMaySpeakAnyLanguage(t *testing.T) {
	for i, want := range []struct {
		code string
		bad  int
		err  error
	}{
		{codeStale, 7, relational.ErrStale}, {"40P01", -1, errPasses}, {"23505", 7, store.ErrUnavailable},
		{"40P01", -1, errPasses}, {"23505", -1, store.ErrUnavailable}, // of the sums
	} {
		err := &pgconn.PgError{Severity: "FEHLER", SeverityUnlocalized: "ERROR", Code: want.code}
		if bad, got := blame(err, i, []int{7, 7, 7}); bad != want.bad || !errors.Is(got, want.err) {
			t.Errorf("%s of statement %d is the fault of %d: %v", want.code, i, bad, got)
		}
	}
}

func TestErrorsOfTheServerAreThoseOfAStore(t *testing.T) {
	pg := func(severity, code string) error {
		return &pgconn.PgError{Severity: severity, SeverityUnlocalized: severity, Code: code}
	}
	for _, c := range []struct {
		name                string
		err                 error
		read, unsent, given error // by a read, and by a write that may not, or may have arrived
	}{
		{"none", nil, nil, nil, nil},
		{"one of the store's", store.ErrFull, store.ErrFull, store.ErrFull, store.ErrFull},
		{"the connection is lost", io.ErrUnexpectedEOF, store.ErrUnavailable, store.ErrUnavailable, store.ErrUnknown},
		{"no time is left", context.DeadlineExceeded, store.ErrUnavailable, store.ErrUnavailable, store.ErrUnknown},
		{"disk full", pg("ERROR", "53100"), store.ErrNoSpace, store.ErrNoSpace, store.ErrNoSpace},
		{"deadlock", pg("ERROR", "40P01"), store.ErrUnavailable, store.ErrUnavailable, store.ErrUnavailable},
		{"a zero byte", pg("ERROR", "22021"), store.ErrNotFound, store.ErrUnfit, store.ErrUnfit},
		{"a key too long for an index", pg("ERROR", "54000"), store.ErrTooLarge, store.ErrTooLarge, store.ErrTooLarge},
		{"a standby", pg("ERROR", "25006"), store.ErrUnavailable, store.ErrUnavailable, store.ErrUnavailable},
		{"the connection is ended by an administrator", pg("FATAL", "57P01"), store.ErrUnavailable, store.ErrUnavailable, store.ErrUnknown},
		{"no right", pg("ERROR", "42501"), store.ErrUnavailable, store.ErrUnavailable, store.ErrUnavailable},
	} {
		for what, got := range map[string]struct{ err, want error }{
			"read": {readFailed(c.err), c.read}, "unsent": {writeFailed(c.err, false), c.unsent}, "sent": {writeFailed(c.err, true), c.given},
		} {
			if !errors.Is(got.err, got.want) {
				t.Errorf("%s, %s: %v, want %v", c.name, what, got.err, got.want)
			}
		}
	}
}
