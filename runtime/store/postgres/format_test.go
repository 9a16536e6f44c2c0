package postgres

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/a2agen/a2agen/a2a"
	"github.com/a2agen/a2agen/internal/test/postgrestest"
	"github.com/a2agen/a2agen/runtime"
	"github.com/a2agen/a2agen/runtime/store"
	"github.com/a2agen/a2agen/runtime/store/admin"
)

var writeFormat = flag.Bool("write-format", false, "write the test database of today's format, which must not be there yet")

// formatFile names the database of a format in SQL; what a store says of it is beside it.
func formatFile(format int) string {
	return filepath.Join("testdata", "formats", fmt.Sprint(format, ".sql"))
}

func answersFile(format int) string {
	return filepath.Join("testdata", "formats", fmt.Sprint(format, ".txt"))
}

// TestWriteFormat writes the test database of today's format if it is asked to: that of an agent which was killed.
func TestWriteFormat(t *testing.T) {
	if !*writeFormat {
		return
	}
	if _, err := os.Stat(formatFile(len(steps))); err == nil {
		t.Fatalf("%s is there", formatFile(len(steps)))
	}
	address := postgrestest.Server(t)
	s := mustOpen(t, address, Options{})
	fillStore(t, s, 9)
	due, _, err := s.Due(t.Context(), 2, time.Minute)
	if err != nil || len(due) != 2 {
		t.Fatalf("%d are due: %v", len(due), err)
	}
	const century = 100 * 365 * 24 * time.Hour // it is due in no test
	for i, o := range []store.Outcome{{Dead: "410 Gone"}, {Again: century}} {
		if err := s.Settle(t.Context(), due[i], o); err != nil {
			t.Fatal(err)
		}
	}
	// It was killed days ago: whoever reads the database is never earlier than that.
	execute(t, address, s.sql("UPDATE a2a.instance SET lease=clock_timestamp()-interval '2 days'"))
	sql := dump(t, address)
	again := postgrestest.Server(t)
	restore(t, again, sql)
	for name, content := range map[string]string{formatFile(len(steps)): sql, answersFile(len(steps)): answers(t, again)} {
		if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var (
	manyX  = regexp.MustCompile(`x{256,}`)
	bytea  = regexp.MustCompile(`'\\x([0-9a-f]+)'`)
	notSQL = regexp.MustCompile(`(?m)^(--.*|SET .*|\\.*|SELECT pg_catalog\.set_config.*)?\n`)
)

// dump is what pg_dump says of a schema, without what is about the server. Bytes that are text are written as such.
func dump(t *testing.T, address string) string {
	t.Helper()
	target, err := reach(t.Context(), address, "")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	u.RawQuery = ""
	schema := strings.Trim(target.schema, `"`)
	out, err := exec.Command(filepath.Join(postgrestest.Binaries(), "pg_dump"), "--schema="+schema, "--inserts", "--no-owner", "--no-privileges",
		u.String()).Output()
	if err != nil {
		t.Fatal(err)
	}
	sql := notSQL.ReplaceAllString(string(out), "")
	sql = strings.ReplaceAll(strings.ReplaceAll(sql, schema+".", "a2a."), "SCHEMA "+schema, "SCHEMA a2a")
	return bytea.ReplaceAllStringFunc(sql, func(literal string) string {
		text, err := hex.DecodeString(bytea.FindStringSubmatch(literal)[1])
		if err != nil || !utf8.Valid(text) || strings.ContainsFunc(string(text), func(r rune) bool { return r < ' ' }) {
			return literal
		}
		quoted := manyX.ReplaceAllStringFunc(strings.ReplaceAll(string(text), "'", "''"), func(many string) string {
			return fmt.Sprintf("'||repeat('x',%d)||'", len(many))
		})
		return "convert_to('" + quoted + "','UTF8')"
	})
}

// restore makes a schema of a dump.
func restore(t *testing.T, address, sql string) {
	t.Helper()
	target, err := reach(t.Context(), address, "")
	if err != nil {
		t.Fatal(err)
	}
	sql = strings.ReplaceAll(target.inSchema(sql), "SCHEMA a2a", "SCHEMA "+target.schema)
	if _, err := postgrestest.Connect(t, address).PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// answers is what "a2agen tasks show" says of all tasks of a store, and then what an agent takes over and has to send.
func answers(t *testing.T, address string) string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s := mustOpen(t, address, Options{})
	var text strings.Builder
	say := func(what ...any) {
		line, err := json.Marshal(what)
		must(err)
		fmt.Fprintf(&text, "%s\n", line)
	}
	a, err := OpenAdmin(t.Context(), address)
	must(err)
	rows, err := a.Tasks(t.Context(), admin.Which{})
	must(err)
	for i, row := range rows {
		page, err := a.Task(t.Context(), row)
		must(err)
		k := store.Key{Owner: store.Owner{Tenant: row.Tenant, Principal: row.Principal}, Task: row.ID}
		snap, err := s.Get(t.Context(), k, store.Full)
		must(err)
		task, err := a2a.Protocol().Versions[0].AppendEvent(nil, snap.Task)
		must(err)
		note, err := s.Note(t.Context(), k.Owner, fmt.Sprint("c", i))
		must(err)
		p := &snap.Private
		say("task", k, snap.Version, snap.Epoch, string(p.Input), string(p.Saved), p.Trace, json.RawMessage(task))
		say("shown", page)
		say("note", k.Owner, string(note.Value), note.Version)
	}
	must(a.Close())
	runs, err := s.Claim(t.Context(), []string{"echo"}, 100)
	must(err)
	slices.SortFunc(runs, func(a, b store.Run) int { return cmp.Compare(a.Key.Task, b.Key.Task) })
	for _, r := range runs {
		say("run", r.Key, r.Version, r.Epoch, r.Call.N, r.Call.Attempt, string(r.Call.Input))
	}
	due, _, err := s.Due(t.Context(), 100, time.Minute)
	must(err)
	slices.SortFunc(due, func(a, b store.Delivery) int { return cmp.Compare(a.Key.Task, b.Key.Task) })
	for _, d := range due {
		say("due", d.Key, d.Push.ID, d.Push.Config, d.Next, d.Until, d.Attempt)
	}
	return manyX.ReplaceAllStringFunc(text.String(), func(many string) string { return fmt.Sprintf("x times %d", len(many)) })
}

// ofEveryFormat calls test with the database of each format, in SQL.
func ofEveryFormat(t *testing.T, test func(t *testing.T, format int, sql string)) {
	for format := 1; format <= len(steps); format++ {
		sql, err := os.ReadFile(formatFile(format))
		if err != nil && format == len(steps) {
			return // it is written before there is another one
		}
		if err != nil {
			t.Fatalf("%v: testdata/formats/README.md says how it is made", err)
		}
		t.Run(fmt.Sprint("format ", format), func(t *testing.T) { test(t, format, string(sql)) })
	}
}

// TestDatabasesOfEveryFormatSayWhatTheySaid: what the program of a format's time said about its database, today's says after it has
// brought it up to date; and an agent goes on with it.
func TestDatabasesOfEveryFormatSayWhatTheySaid(t *testing.T) {
	ofEveryFormat(t, func(t *testing.T, format int, sql string) {
		want, err := os.ReadFile(answersFile(format))
		if err != nil {
			t.Fatal(err)
		}
		address := postgrestest.Server(t)
		restore(t, address, sql)
		if got := answers(t, address); got != string(want) {
			t.Errorf("it says\n%s\nand said\n%s", got, want)
		}

		address = postgrestest.Server(t)
		restore(t, address, sql)
		s := mustOpen(t, address, Options{})
		runs, err := s.Claim(t.Context(), []string{"echo"}, 100)
		if err != nil || len(runs) == 0 {
			t.Fatalf("%d tasks go on: %v", len(runs), err)
		}
		for _, r := range runs {
			end := store.Update{Event: a2a.Protocol().NewStatus(r.Key.Task, "talk", runtime.StateCompleted, nil, start), Epoch: r.Epoch, Done: r.Call.N}
			if _, err := s.Apply(t.Context(), r.Key, 0, end, nil); err != nil {
				t.Errorf("%s: %v", r.Key.Task, err)
			}
		}
		a, err := OpenAdmin(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		if _, list, err := a.Check(t.Context()); err != nil || len(list) > 0 {
			t.Errorf("the schema is damaged: %q, %v", list, err)
		}
	})
}

// laterSteps are two more than there are.
func laterSteps() []Step {
	n := len(steps)
	return append(slices.Clip(steps),
		Step{n + 1, n, "adds a column", "ALTER TABLE a2a.task ADD COLUMN later text;\nUPDATE a2a.task SET later=id;\nALTER TABLE a2a.task ALTER later SET NOT NULL;\n"},
		Step{n + 2, n, "adds a table", "CREATE TABLE a2a.later(x bigint);\nINSERT INTO a2a.later SELECT n FROM a2a.task;\nDROP INDEX a2a.note_at;\n"})
}

// killedAfter returns the steps with the end of the connection after so many statements of those that follow a format, and whether there
// are so many.
func killedAfter(list []Step, format, statements int) ([]Step, bool) {
	list = slices.Clone(list)
	for i := format; i < len(list); i++ {
		parts := strings.SplitAfter(list[i].SQL, ";\n")
		if statements < len(parts) {
			list[i].SQL = strings.Join(slices.Insert(parts, statements, "SELECT pg_terminate_backend(pg_backend_pid());\n"), "")
			return list, true
		}
		statements -= len(parts)
	}
	return nil, false
}

// contents returns the columns and the format of a schema, and how many tasks it has; "" of one that is not there.
func contents(t *testing.T, conn *pgx.Conn, schema string) (text string) {
	t.Helper()
	const columns = `SELECT coalesce(string_agg(relname||'.'||attname||' '||format_type(atttypid, atttypmod)||' '||attnotnull, E'\n' ORDER BY relname, attname), '')
		FROM pg_class c JOIN pg_attribute a ON a.attrelid=c.oid WHERE relnamespace=to_regnamespace($1)`
	if err := conn.QueryRow(t.Context(), columns, schema).Scan(&text); err != nil {
		t.Fatal(err)
	}
	if text == "" {
		return ""
	}
	var rows string
	const counts = "SELECT format('format %s, %s tasks', format, (SELECT count(*) FROM task)) FROM meta"
	if err := conn.QueryRow(t.Context(), counts).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	return text + "\n" + rows
}

// lastQuery ends a connection before one of its queries, as a process does that is killed: nothing more reaches the server.
type lastQuery struct{ left int }

func (l *lastQuery) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if l.left--; l.left >= 0 {
		return ctx
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	return ctx
}

func (l *lastQuery) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TestAnUpdateThatIsKilledIsAsIfItWereNot: whichever statement of it was the last, the schema is as it was, and the next start makes
// what is to be.
func TestAnUpdateThatIsKilledIsAsIfItWereNot(t *testing.T) {
	test := func(t *testing.T, address string, format int) {
		target, err := reach(t.Context(), address, "")
		if err != nil {
			t.Fatal(err)
		}
		conn := postgrestest.Connect(t, address)
		before := contents(t, conn, target.schema)
		migrate := func(list []Step, tracer pgx.QueryTracer) error {
			target.steps, target.pool.ConnConfig.Tracer = list, tracer
			return target.migrate(t.Context(), "agent")
		}
		unchanged := func(where string, n int) {
			t.Helper()
			if is := contents(t, conn, target.schema); is != before {
				t.Fatalf("ended %s %d, it is\n%s\nand was\n%s", where, n, is, before)
			}
		}
		statements, queries := 0, 0
		for ; ; statements++ {
			list, ok := killedAfter(laterSteps(), format, statements)
			if !ok {
				break
			}
			const terminated = "57P01"
			if e, ok := errors.AsType[*pgconn.PgError](migrate(list, nil)); !ok || e.Code != terminated {
				t.Fatalf("after statement %d the connection should have ended: %v", statements, e)
			}
			unchanged("after statement", statements)
		}
		for migrate(laterSteps(), &lastQuery{queries}) != nil {
			unchanged("before query", queries)
			queries++
		}
		t.Logf("ended after each of %d statements, and before each of %d queries", statements, queries)
		after := contents(t, conn, target.schema)
		if want := fmt.Sprintf("format %d, ", len(steps)+2); !strings.Contains(after, want) || statements < 6 || queries < 4 {
			t.Errorf("after %d statements and %d queries it is\n%s", statements, queries, after)
		}
		if err := migrate(laterSteps(), nil); err != nil || contents(t, conn, target.schema) != after {
			t.Errorf("once more: %v", err)
		}
	}
	t.Run("format 0", func(t *testing.T) { test(t, postgrestest.Server(t), 0) })
	ofEveryFormat(t, func(t *testing.T, format int, sql string) {
		address := postgrestest.Server(t)
		restore(t, address, sql)
		test(t, address, format)
	})
}

// TestOneOfSeveralUpdatesASchema: the others wait, and find it done.
func TestOneOfSeveralUpdatesASchema(t *testing.T) {
	ofEveryFormat(t, func(t *testing.T, _ int, sql string) {
		address := postgrestest.Server(t)
		restore(t, address, sql)
		list := laterSteps()
		list[len(list)-1].SQL += "SELECT pg_sleep(0.1);\n"
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				target, err := reach(t.Context(), address, "")
				if err != nil {
					t.Error(err)
					return
				}
				target.steps = list
				if err := target.migrate(t.Context(), "agent"); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		target, err := reach(t.Context(), address, "")
		if err != nil {
			t.Fatal(err)
		}
		if is := contents(t, postgrestest.Connect(t, address), target.schema); !strings.Contains(is, fmt.Sprintf("format %d, ", len(list))) {
			t.Errorf("it is\n%s", is)
		}
	})
}
