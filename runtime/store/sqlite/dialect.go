package sqlite

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/a2agen/a2agen/internal/taskstate"
	"github.com/a2agen/a2agen/runtime/store/internal/relational"
)

// words are what SQLite says otherwise than PostgreSQL, in whose words the statements of package relational are. A list is a text in
// JSON.
var words = []struct {
	theirs *regexp.Regexp
	ours   string
}{
	{regexp.MustCompile(`a2a\.counts\b`), "usage"},
	{regexp.MustCompile(`a2a\.`), ""},
	{regexp.MustCompile(` FOR KEY SHARE OF \w+`), ""},
	{regexp.MustCompile(`::\w+(\[\])?`), ""},
	{regexp.MustCompile(`=ANY\((\$\d+)\)`), " IN (SELECT value FROM json_each($1))"},
	{regexp.MustCompile(`<>ALL\((\$\d+)\)`), " NOT IN (SELECT value FROM json_each($1))"},
}

// numbered is the place of an argument.
var numbered = regexp.MustCompile(`\$(\d+)`)

// translate returns a statement in SQLite's words, and which argument goes to which of its places; nil: one after the other.
func translate(sql string) (text string, order []int) {
	for _, w := range words {
		sql = w.theirs.ReplaceAllString(sql, w.ours)
	}
	text = numbered.ReplaceAllStringFunc(sql, func(place string) string {
		n, _ := strconv.Atoi(place[1:]) // of digits
		order = append(order, n-1)
		return "?"
	})
	return text, order
}

// list is an argument of = ANY, or of <> ALL.
func list(v any) string {
	text, _ := json.Marshal(v) // of numbers or texts
	return string(text)
}

// row is a row of an answer as package relational reads it.
type row []value

func (r row) Values() ([]any, error) {
	all := make([]any, len(r))
	for i, v := range r {
		all[i] = v
	}
	return all, nil
}

func (r row) Scan(dest ...any) error {
	for i, v := range r {
		switch d := dest[i].(type) {
		case *int64:
			*d = num(v)
		case *int:
			*d = int(num(v))
		case *int32:
			*d = int32(num(v)) //nolint:gosec // few
		case *bool:
			*d = num(v) != 0
		case *string:
			*d = text(v)
		case *[]byte:
			*d = blob(v)
		case **string:
			if s, ok := v.(string); ok {
				*d = &s
			}
		case **int64:
			if n, ok := v.(int64); ok {
				*d = &n
			}
		case **bool:
			if n, ok := v.(int64); ok {
				*d = new(n != 0)
			}
		default:
			return fmt.Errorf("column %d of a row cannot be read into a %T", i, d)
		}
	}
	return nil
}

// dialect is what the tables have that those of other databases do not. Chunks of artifacts are not noted in the row of a task.
var dialect = relational.Dialect{
	Version: versionSQL,
	Meta:    metaSQL,
	Lags:    true,
	Attempt: "c.attempt",
	By:      func(index string) string { return " INDEXED BY " + index },
	Columns: struct{ Task, Event, Call, Repeat string }{
		Task: `n owner account id context skill clientid trace version oldest epoch runner calls done said status made log charged asked input saved
			rest rested state at wire head`,
		Event: " stamp", Call: " stamp attempt made",
	},
	Row: taskRow,
	Repeats: struct{ Of, Oldest string }{
		Of: ofAccount, Oldest: ofAccount + " ORDER BY until",
	},
	Checks: []relational.Check{
		{SQL: accountsSQL(), Says: "caller %q: %d %s are counted, there are %d"},
		{SQL: `SELECT * FROM (SELECT a.principal, o.tenant, coalesce(u.tasks,0) AS counted, s.state,
			(SELECT count(*) FROM task t WHERE t.owner=o.n AND t.state=s.state) AS there
			FROM (SELECT owner, state FROM usage UNION SELECT owner, state FROM task) s JOIN owner o ON o.n=s.owner
			JOIN account a ON a.n=o.account LEFT JOIN usage u ON u.owner=s.owner AND u.state=s.state) WHERE counted<>there`,
			Says: "caller %q of tenant %q is counted %d tasks that are %s, and has %d", State: 4},
	},
	Count: []string{
		"UPDATE account SET tasks=0, bytes=0, restedtasks=0, restedbytes=0, pushes=0, notes=0, weight=0",
		`UPDATE account SET (tasks, bytes, restedtasks, restedbytes, pushes, notes)=
			(h.tasks, h.bytes, h.restedtasks, h.restedbytes, h.pushes, h.notes) FROM (` + heldSQL + ") h WHERE h.account=account.n",
		"UPDATE account SET weight=bytes+tasks*" + fmt.Sprint(taskstate.Weigh(taskstate.Holding{Tasks: 1})),
		"DELETE FROM usage", "INSERT INTO usage(owner, state, tasks) SELECT owner, state, count(*) FROM task GROUP BY owner, state",
	},
}

// ofAccount is the condition of a message of an account.
const ofAccount = "owner IN (SELECT n FROM a2a.owner WHERE account=$1)"

// heldSQL is what accounts hold.
const heldSQL = `SELECT account, sum(tasks) AS tasks, sum(bytes) AS bytes, sum(restedtasks) AS restedtasks, sum(restedbytes) AS restedbytes,
	sum(pushes) AS pushes, sum(notes) AS notes FROM (SELECT account, 1 AS tasks, charged AS bytes, rest>0 AS restedtasks,
	iif(rest>0, charged, 0) AS restedbytes, (SELECT count(*) FROM push WHERE task=task.n) AS pushes, 0 AS notes FROM task
	UNION ALL SELECT account, 0, bytes, 0, 0, 0, bytes FROM note) GROUP BY account`

// accountsSQL finds accounts whose sums are not those of what they hold.
func accountsSQL() string {
	var parts []string
	for _, sum := range [][2]string{{"tasks", "tasks"}, {"bytes", "bytes"}, {"restedtasks", "tasks that rest"}, {"restedbytes", "bytes that rest"},
		{"pushes", "push configurations"}, {"notes", "bytes of notes"}} {
		parts = append(parts, fmt.Sprintf("SELECT principal, a.%[1]s, '%[2]s', coalesce(h.%[1]s, 0) FROM account a LEFT JOIN held h ON h.account=a.n "+
			"WHERE a.%[1]s<>coalesce(h.%[1]s, 0)", sum[0], sum[1]))
	}
	return "WITH held AS MATERIALIZED (" + heldSQL + ") " + strings.Join(parts, " UNION ALL ")
}
