package sqlite

import (
	"slices"
	"testing"

	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// Statements are in PostgreSQL's words, and mean the same here.
func TestStatementsAreTranslated(t *testing.T) {
	for sql, want := range map[string]struct {
		text  string
		order []int
	}{
		"SELECT n FROM task WHERE id=?":                                           {"SELECT n FROM task WHERE id=?", nil},
		"UPDATE a2a.push SET due=$2 WHERE task=$1 AND due<$2":                     {"UPDATE push SET due=? WHERE task=? AND due<?", []int{1, 0, 1}},
		"SELECT coalesce(sum(tasks), 0)::bigint FROM a2a.counts WHERE owner=$1":   {"SELECT coalesce(sum(tasks), 0) FROM usage WHERE owner=?", []int{0}},
		"SELECT n FROM a2a.task t WHERE t.n=ANY($1) AND skill<>ALL($2::text[])":   {"SELECT n FROM task t WHERE t.n IN (SELECT value FROM json_each(?)) AND skill NOT IN (SELECT value FROM json_each(?))", []int{0, 1}},
		"INSERT INTO a2a.call(task, n) VALUES($1,$12) -- $ and :: without a name": {"INSERT INTO call(task, n) VALUES(?,?) -- $ and :: without a name", []int{0, 11}},
	} {
		if text, order := translate(sql); text != want.text || !slices.Equal(order, want.order) {
			t.Errorf("%s becomes %s, %v", sql, text, order)
		}
	}
}

// A row is read as PostgreSQL's driver reads one: NULL into what can be nothing, and a list as an argument.
func TestRowsAndListsAreThoseOfPostgreSQL(t *testing.T) {
	c, err := connect(fresh(t), "rwc")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	type read struct {
		n, none     *int64
		text, empty *string
		yes         bool
		small       int32
		blob        []byte
	}
	var got read
	rows := 0
	err = only{c}.Ask(t.Context(), relational.Question{
		SQL: "SELECT 7, NULL, 'x', NULL, 1, 9, $1::bytea WHERE 2=ANY($2) AND 'b'<>ALL($3)", Args: []any{[]byte("y"), []int64{1, 2}, []string{"a"}},
		Row: func(row relational.Row) error {
			rows++
			return row.Scan(&got.n, &got.none, &got.text, &got.empty, &got.yes, &got.small, &got.blob)
		}})
	if err != nil || rows != 1 || *got.n != 7 || got.none != nil || *got.text != "x" || got.empty != nil || !got.yes || got.small != 9 || string(got.blob) != "y" {
		t.Errorf("%d rows, %+v: %v", rows, got, err)
	}
	err = only{c}.Ask(t.Context(), relational.Question{SQL: "SELECT 1", Row: func(row relational.Row) error { return row.Scan(new(float32)) }})
	if err == nil {
		t.Error("a column is read into what cannot have it")
	}
}
