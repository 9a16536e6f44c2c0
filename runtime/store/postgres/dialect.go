package postgres

import "github.com/a2agen/a2agen/runtime/store/internal/relational"

// dialect is what the tables have that those of other databases do not.
var dialect = relational.Dialect{
	Version: "t.version",
	Meta:    relational.MetaColumns,
	Attempt: "CASE WHEN c.n=t.done+1 THEN t.attempt ELSE 0 END",
	By:      func(string) string { return "" },
	Columns: struct{ Task, Event, Call, Repeat string }{
		Task: `n rev owner account id context skill clientid trace version stamps artifacts artifactparts log since charged said saidparts
			laststatus laststatusparts oldest snapshot body epoch calls done runner attempt made began pushes ticketed asked input saved
			rest rested state at wire head`,
		Repeat: " account",
	},
	Row: taskRow,
	// By the bounds an index is entered that has the order.
	Repeats: struct{ Of, Oldest string }{Of: "account=$1", Oldest: "account BETWEEN $1 AND $1 ORDER BY account, until"},
	Checks: []relational.Check{
		{SQL: `SELECT t.id, t.pushes, count(p.id) FROM a2a.task t LEFT JOIN a2a.push p ON p.task=t.n GROUP BY t.n HAVING t.pushes<>count(p.id)`,
			Says: "task %q is counted %d push configurations, and has %d"},
		{SQL: accountsSQL + " AND account=0", Says: "all callers: %[2]d %[3]s are counted, there are %[4]d"},
		{SQL: accountsSQL + " AND account<>0", Says: "caller %q: %d %s are counted, there are %d"},
		{SQL: `WITH c AS (SELECT owner, state, sum(tasks)::bigint AS n FROM a2a.counts GROUP BY owner, state),
		t AS (SELECT owner, state, count(*) AS n FROM a2a.task GROUP BY owner, state)
		SELECT coalesce(a.principal, ''), coalesce(o.tenant, ''), coalesce(c.n, 0), state, coalesce(t.n, 0) FROM c FULL JOIN t USING (owner, state)
		LEFT JOIN a2a.owner o ON o.n=owner LEFT JOIN a2a.account a ON a.n=o.account WHERE coalesce(c.n, 0)<>coalesce(t.n, 0)`,
			Says: "caller %q of tenant %q is counted %d tasks that are %s, and has %d", State: 4},
	},
	Count: []string{
		"DELETE FROM a2a.usage", "DELETE FROM a2a.counts",
		`INSERT INTO a2a.usage(account, lane, tasks, bytes, restedtasks, restedbytes, pushes, notes)
			SELECT account, 0, sum(tasks), sum(bytes), sum(restedtasks), sum(restedbytes), sum(pushes), sum(notes)
			FROM (` + heldSQL + ` UNION ALL SELECT 0, tasks, bytes, restedtasks, restedbytes, pushes, notes FROM (` + heldSQL + `) AS x) AS x
			GROUP BY account`,
		"INSERT INTO a2a.counts(owner, state, lane, tasks) SELECT owner, state, 0, count(*) FROM a2a.task GROUP BY owner, state",
	},
}

// heldSQL is what accounts hold for each task and each note.
const heldSQL = `SELECT account, 1 AS tasks, charged AS bytes, (rest>0)::int AS restedtasks, CASE WHEN rest>0 THEN charged ELSE 0 END AS restedbytes,
	pushes, 0 AS notes FROM a2a.task UNION ALL SELECT account, 0, bytes, 0, 0, 0, bytes FROM a2a.note`

// accountsSQL finds accounts whose sums, over all lanes, are not those of what they hold. Account 0 is everybody.
const accountsSQL = `WITH
	held AS (SELECT account, sum(tasks) AS tasks, sum(bytes) AS bytes, sum(restedtasks) AS restedtasks, sum(restedbytes) AS restedbytes,
		sum(pushes) AS pushes, sum(notes) AS notes FROM a2a.usage GROUP BY account),
	ones AS (` + heldSQL + `),
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
