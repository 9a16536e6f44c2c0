package sqlite

import (
	"context"
	"fmt"

	"github.com/a2agen/a2agen/runtime"
)

// Check reports what is wrong with the file: see [admin.Store].
func (f *File) Check(context.Context) (tasks int, wrong []string, err error) {
	if err := f.c.script("BEGIN"); err != nil {
		return 0, nil, err
	}
	defer func() { _ = f.c.script("ROLLBACK") }()
	wrong, err = check(f.c)
	if err != nil || len(wrong) > 0 {
		return 0, wrong, err
	}
	n, _, err := f.c.one("SELECT count(*) FROM task")
	return int(n), nil, err
}

// mostWrong is how many sentences one question to the file leads to at most.
const mostWrong = 100

// question is one to the file: each row that it finds is something wrong.
type question struct {
	sql string
	say func(v []value) string
}

// questions are asked in this order: what comes first may explain the rest. Every one but the first begins with a task,
// an account, or an owner.
var questions = []question{
	{fmt.Sprintf("PRAGMA integrity_check(%d)", mostWrong), func(v []value) string {
		if text(v[0]) == "ok" {
			return ""
		}
		return "the database is damaged: " + text(v[0])
	}},
	{`SELECT id, oldest, version, sum(events), min(first), max(seq) FROM (SELECT t.n, t.id, t.oldest, t.version,
		coalesce(e.seq, 0) AS seq, coalesce(e.seq-` + eventsOf + `+1, 0) AS first, iif(e.seq IS NULL, 0, ` + eventsOf + `) AS events
		FROM task t LEFT JOIN event e ON e.task=t.n) GROUP BY n
		HAVING sum(events)<>max(version, max(seq))-oldest OR sum(events)>0 AND min(first)<=oldest`, sayGap},
	{`SELECT id FROM task t WHERE oldest>0 AND NOT EXISTS(SELECT 1 FROM body WHERE task=t.n AND version>=t.oldest)`,
		sayTask("its first events are gone, and what they made of it")},
	{`SELECT t.id, t.calls-t.done, (SELECT count(*) FROM call c WHERE c.task=t.n AND c.n>t.done AND c.n<=t.calls) AS open
		FROM task t WHERE open<>t.calls-t.done OR open<>(SELECT count(*) FROM call c WHERE c.task=t.n)`,
		func(v []value) string {
			return fmt.Sprintf("task %q has %d messages to be worked off, of which %d are there", text(v[0]), num(v[1]), num(v[2]))
		}},
	orphaned("event"), orphaned("body"), orphaned("call"), orphaned("ticket"), orphaned("push"),
	{`SELECT t.id FROM task t WHERE NOT EXISTS(SELECT 1 FROM owner o JOIN account a ON a.n=o.account
		WHERE o.n=t.owner AND a.n=t.account)`, sayTask("it is nobody's")},
	{`SELECT a.principal, a.tasks, a.bytes, a.restedtasks, a.restedbytes, a.pushes, coalesce(sum(t.n>0),0) AS tasks_,
		coalesce(sum(t.charged),0)+(SELECT coalesce(sum(bytes),0) FROM note WHERE account=a.n) AS bytes_, coalesce(sum(t.rest>0),0) AS restedtasks_,
		coalesce(sum(iif(t.rest>0,t.charged,0)),0) AS restedbytes_,
		(SELECT count(*) FROM push p JOIN task q ON q.n=p.task WHERE q.account=a.n) AS pushes_
		FROM account a LEFT JOIN task t ON t.account=a.n GROUP BY a.n HAVING a.tasks<>tasks_ OR a.bytes<>bytes_
		OR a.restedtasks<>restedtasks_ OR a.restedbytes<>restedbytes_ OR a.pushes<>pushes_`, sayAccount},
	{`SELECT a.principal, a.notes, (SELECT coalesce(sum(bytes),0) FROM note WHERE account=a.n) AS there FROM account a
		WHERE a.notes<>there`, func(v []value) string {
		return fmt.Sprintf("caller %q: %d bytes of notes are counted, there are %d", text(v[0]), num(v[1]), num(v[2]))
	}},
	{`SELECT a.principal, o.tenant, s.state, coalesce(u.tasks,0) AS counted,
		(SELECT count(*) FROM task t WHERE t.owner=o.n AND t.state=s.state) AS there
		FROM (SELECT owner, state FROM usage UNION SELECT owner, state FROM task) s JOIN owner o ON o.n=s.owner
		JOIN account a ON a.n=o.account LEFT JOIN usage u ON u.owner=s.owner AND u.state=s.state WHERE counted<>there`,
		func(v []value) string {
			return fmt.Sprintf("caller %q of tenant %q is counted %d tasks that are %s, and has %d", text(v[0]), text(v[1]), num(v[3]),
				runtime.State(num(v[2])), num(v[4])) //nolint:gosec // there are few
		}},
}

func sayTask(what string) func([]value) string {
	return func(v []value) string { return fmt.Sprintf("task %q: %s", text(v[0]), what) }
}

// sayGap is about a task whose log is not what its row says.
func sayGap(v []value) string {
	oldest, version, n, first, last := num(v[1]), num(v[2]), num(v[3]), num(v[4]), num(v[5])
	return fmt.Sprintf("task %q has %d events from %d to %d, and should have all from %d to %d", text(v[0]), n, first, last,
		oldest+1, max(version, last))
}

// sayAccount is about an account whose sums are not those of its tasks.
func sayAccount(v []value) string {
	s := fmt.Sprintf("caller %q:", text(v[0]))
	for i, what := range []string{"tasks", "bytes", "tasks that rest", "bytes that rest", "push configurations"} {
		if counted, there := num(v[1+i]), num(v[6+i]); counted != there {
			s += fmt.Sprintf(" %d %s are counted, there are %d;", counted, what, there)
		}
	}
	return s[:len(s)-1]
}

// orphaned asks for rows of a table that belong to no task.
func orphaned(table string) question {
	sql := "SELECT task, count(*) FROM " + table + " WHERE NOT EXISTS(SELECT 1 FROM task t WHERE t.n=task) GROUP BY task"
	return question{sql, func(v []value) string {
		return fmt.Sprintf("%d rows of %q belong to task number %d, which is not there", num(v[1]), table, num(v[0]))
	}}
}

// check asks all questions.
func check(c *conn) (wrong []string, err error) {
	for _, q := range questions {
		n := 0
		err := c.query(q.sql, func(v []value) error {
			if n++; n > mostWrong {
				return errStop
			}
			if s := q.say(v); s != "" {
				wrong = append(wrong, s)
			}
			return nil
		})
		switch err := unlessStopped(err); {
		case code(err) == codeCorrupt:
			return append(wrong, "the database is damaged, and the rest of it cannot be read: "+err.Error()), nil
		case err != nil:
			return nil, err
		}
	}
	return wrong, nil
}
