package admin

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"
)

// database is one of some tasks.
type database struct {
	Store
	rows []TaskRow
	err  error
}

func (d *database) Tasks(_ context.Context, which Which) ([]TaskRow, error) {
	rows := slices.DeleteFunc(slices.Clone(d.rows), func(r TaskRow) bool { return which.Principal != nil && r.Principal != *which.Principal })
	if which.Limit > 0 && which.Limit < len(rows) {
		return rows[:which.Limit], d.err
	}
	return rows, d.err
}

func (d *database) Task(_ context.Context, row TaskRow) (TaskPage, error) {
	return TaskPage{TaskRow: d.rows[row.N]}, nil
}

func (d *database) Prune(context.Context, Which, time.Duration, bool) (int, error) {
	return len(d.rows), d.err
}

// TestATaskIsListedOnceWhileItsCallerMoves: where the caller is, and once where no database says that it has it.
func TestATaskIsListedOnceWhileItsCallerMoves(t *testing.T) {
	row := func(caller, state string, away bool) TaskRow {
		return TaskRow{Principal: caller, ID: "t", State: state, Away: away}
	}
	first := &database{rows: []TaskRow{row("ada", "old", true), row("bob", "same", true), row("cy", "new", false)}}
	second := &database{rows: []TaskRow{row("ada", "new", false), row("bob", "same", true), row("cy", "old", true)}}
	rows, err := Several([]Store{first, second}).Tasks(t.Context(), Which{})
	got := map[string]string{}
	for _, r := range rows {
		got[r.Principal] += r.State
	}
	if err != nil || got["ada"] != "new" || got["bob"] != "same" || got["cy"] != "new" {
		t.Errorf("listed are %v, %v", got, err)
	}
}

// TestSeveralDatabasesAreOneStore: tasks are in one order, each is found where it is, and what is done is counted over all.
func TestSeveralDatabasesAreOneStore(t *testing.T) {
	at := func(n int64) time.Time { return time.Unix(n, 0) }
	first := &database{rows: []TaskRow{{ID: "a", At: at(9), N: 0}, {ID: "c", At: at(5), N: 1}}}
	second := &database{rows: []TaskRow{{ID: "d", At: at(9), N: 0}, {ID: "b", At: at(7), N: 1}}}
	s, ctx := Several([]Store{first, second}), t.Context()
	for limit, want := range map[int]string{0: "adbc", 3: "adb"} {
		rows, err := s.Tasks(ctx, Which{Limit: limit})
		got := ""
		for _, r := range rows {
			page, err := s.Task(ctx, r)
			if err != nil || page.ID != r.ID {
				t.Errorf("%s is found as %s, %v", r.ID, page.ID, err)
			}
			got += r.ID
		}
		if err != nil || got != want {
			t.Errorf("limit %d: %s, %v", limit, got, err)
		}
	}
	if n, err := s.Prune(ctx, Which{}, 0, false); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	second.err = errors.New("away")
	if _, err := s.Tasks(ctx, Which{}); err == nil {
		t.Error("a database that is away has no tasks")
	}
}
