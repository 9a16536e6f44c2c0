package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/a2agen/a2agen/runtime"
)

// mostWrong is how many sentences one question to the schema leads to at most.
const mostWrong = 100

// question is one to the schema: each row that it finds is something wrong, and has what the sentence says, in its
// order.
type question struct{ sql, says string }

// questions are asked in this order: what comes first may explain the rest.
var questions = []question{
	{`SELECT t.id, coalesce(e.n, 0), coalesce(e.first, 0), coalesce(e.last, 0), t.oldest+1, t.version FROM a2a.task t LEFT JOIN
		(SELECT task, sum(coalesce(length(run)/2, 1))::bigint AS n, min(seq-coalesce(length(run)/2, 1)+1) AS first, max(seq) AS last
		FROM a2a.event GROUP BY task) AS e ON e.task=t.n
		WHERE coalesce(e.n, 0)<>t.version-t.oldest OR e.n>0 AND (e.first<=t.oldest OR e.last<>t.version)`,
		"task %q has %d events from %d to %d, and should have all from %d to %d"},
	{`SELECT id FROM a2a.task t WHERE oldest>0 AND NOT EXISTS(SELECT 1 FROM a2a.body WHERE task=t.n AND version>=t.oldest)`,
		"task %q: its first events are gone, and what they made of it"},
	{`SELECT id, calls-done, there FROM (SELECT t.id, t.calls, t.done, (SELECT count(*) FROM a2a.call c WHERE c.task=t.n AND c.n>t.done AND c.n<=t.calls)
		AS there, (SELECT count(*) FROM a2a.call c WHERE c.task=t.n) AS rows FROM a2a.task t) AS x WHERE there<>calls-done OR there<>rows`,
		"task %q has %d messages to be worked off, of which %d are there"},
	orphaned("event"), orphaned("body"), orphaned("call"), orphaned("ticket"), orphaned("push"),
	{`SELECT t.id FROM a2a.task t WHERE NOT EXISTS(SELECT 1 FROM a2a.owner o JOIN a2a.account a ON a.n=o.account WHERE o.n=t.owner AND a.n=t.account)`,
		"task %q: it is nobody's"},
	{`SELECT t.id, t.pushes, count(p.id) FROM a2a.task t LEFT JOIN a2a.push p ON p.task=t.n GROUP BY t.n HAVING t.pushes<>count(p.id)`,
		"task %q is counted %d push configurations, and has %d"},
	{accountsSQL + " AND account=0", "all callers: %[2]d %[3]s are counted, there are %[4]d"},
	{accountsSQL + " AND account<>0", "caller %q: %d %s are counted, there are %d"},
	{`WITH c AS (SELECT owner, state, sum(tasks)::bigint AS n FROM a2a.counts GROUP BY owner, state),
		t AS (SELECT owner, state, count(*) AS n FROM a2a.task GROUP BY owner, state)
		SELECT coalesce(a.principal, ''), coalesce(o.tenant, ''), coalesce(c.n, 0), state, coalesce(t.n, 0) FROM c FULL JOIN t USING (owner, state)
		LEFT JOIN a2a.owner o ON o.n=owner LEFT JOIN a2a.account a ON a.n=o.account WHERE coalesce(c.n, 0)<>coalesce(t.n, 0)`,
		"caller %q of tenant %q is counted %d tasks that are %s, and has %d"},
}

// accountsSQL finds accounts whose sums, over all lanes, are not those of what they hold. Account 0 is everybody.
const accountsSQL = `WITH
	held AS (SELECT account, sum(tasks) AS tasks, sum(bytes) AS bytes, sum(restedtasks) AS restedtasks, sum(restedbytes) AS restedbytes,
		sum(pushes) AS pushes, sum(notes) AS notes FROM a2a.usage GROUP BY account),
	ones AS (SELECT account, 1 AS tasks, charged AS bytes, (rest>0)::int AS restedtasks, CASE WHEN rest>0 THEN charged ELSE 0 END AS restedbytes,
		pushes, 0 AS notes FROM a2a.task UNION ALL SELECT account, 0, bytes, 0, 0, 0, bytes FROM a2a.note),
	everything AS (SELECT * FROM ones UNION ALL SELECT 0, tasks, bytes, restedtasks, restedbytes, pushes, notes FROM ones),
	there AS (SELECT account, sum(tasks) AS tasks, sum(bytes) AS bytes, sum(restedtasks) AS restedtasks, sum(restedbytes) AS restedbytes,
		sum(pushes) AS pushes, sum(notes) AS notes FROM everything GROUP BY account)
	SELECT coalesce(a.principal, ''), v.counted::bigint, v.what, v.there::bigint
	FROM held h FULL JOIN there t USING (account) LEFT JOIN a2a.account a ON a.n=account
	CROSS JOIN LATERAL (VALUES ('tasks', coalesce(h.tasks, 0), coalesce(t.tasks, 0)), ('bytes', coalesce(h.bytes, 0), coalesce(t.bytes, 0)),
		('tasks that rest', coalesce(h.restedtasks, 0), coalesce(t.restedtasks, 0)),
		('bytes that rest', coalesce(h.restedbytes, 0), coalesce(t.restedbytes, 0)),
		('push configurations', coalesce(h.pushes, 0), coalesce(t.pushes, 0)), ('bytes of notes', coalesce(h.notes, 0), coalesce(t.notes, 0)))
		AS v(what, counted, there) WHERE v.counted<>v.there`

// orphaned asks for rows of a table that belong to no task.
func orphaned(table string) question {
	return question{"SELECT count(*), '" + table + "', task FROM a2a." + table + " x WHERE NOT EXISTS(SELECT 1 FROM a2a.task t WHERE t.n=x.task) GROUP BY task",
		"%d rows of %q belong to task number %d, which is not there"}
}

// Check implements [admin.Store]. All questions are asked of one snapshot, so that agents may go on. Damaged pages
// are for the extension amcheck to find.
func (a *Admin) Check(ctx context.Context) (tasks int, wrong []string, err error) {
	tx, err := a.c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return 0, nil, a.t.openFailed(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	for _, q := range questions {
		err := a.query(ctx, fmt.Sprintf("%s LIMIT %d", q.sql, mostWrong), func(row pgx.Rows) error {
			values, err := row.Values()
			for i, v := range values {
				if state, ok := v.(int16); ok {
					values[i] = runtime.State(state) //nolint:gosec // there are few
				}
			}
			wrong = append(wrong, fmt.Sprintf(q.says, values...))
			return err
		})
		if err != nil {
			return 0, nil, err
		}
	}
	if len(wrong) > 0 {
		return 0, wrong, nil
	}
	err = a.query(ctx, "SELECT count(*) FROM a2a.task", func(row pgx.Rows) error { return row.Scan(&tasks) })
	return tasks, nil, err
}
