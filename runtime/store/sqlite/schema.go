package sqlite

import (
	"fmt"
)

// application marks the file as one of ours ("a2ag"), so that no other database is taken for one.
const application = 0x61326167

// steps make the tables, each from the format before it: the format of a file is how many steps it has seen. A step is
// never changed once it was released.
var steps = []string{schema1, schema2, schema3, schema4}

// Times are nanoseconds since 1970, by the store's clock, but for task.at, which is the status's own. A doc is JSON in
// the protocol version that its wire names: an event with its envelope, as a stream has it.
const schema1 = `
CREATE TABLE wire(n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE instance(n INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL, host TEXT NOT NULL, began INTEGER NOT NULL);

-- What is held: of one principal in all tenants, and by state, of a principal in a tenant.
CREATE TABLE account(n INTEGER PRIMARY KEY AUTOINCREMENT, principal TEXT UNIQUE, tasks INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0, restedtasks INTEGER NOT NULL DEFAULT 0, restedbytes INTEGER NOT NULL DEFAULT 0,
  pushes INTEGER NOT NULL DEFAULT 0, weight INTEGER NOT NULL DEFAULT 0);
CREATE INDEX account_weight ON account(weight) WHERE restedtasks>0;
CREATE INDEX account_empty ON account(n) WHERE tasks=0;
CREATE TABLE owner(n INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, tenant TEXT NOT NULL, UNIQUE(account,tenant));
CREATE TABLE usage(owner INTEGER, state INTEGER, tasks INTEGER NOT NULL, PRIMARY KEY(owner,state)) WITHOUT ROWID;

-- The task without history and artifacts. Chunks of artifacts do not change it: the version is that of the last event.
CREATE TABLE task(
  n INTEGER PRIMARY KEY, owner INTEGER NOT NULL, account INTEGER NOT NULL, id TEXT NOT NULL, context TEXT NOT NULL,
  skill TEXT NOT NULL, clientid INTEGER NOT NULL, state INTEGER NOT NULL, at INTEGER NOT NULL,
  version INTEGER NOT NULL, oldest INTEGER NOT NULL,              -- events up to oldest are gone
  epoch INTEGER NOT NULL, runner INTEGER, calls INTEGER NOT NULL, done INTEGER NOT NULL,
  said INTEGER NOT NULL, status INTEGER NOT NULL, made INTEGER NOT NULL, -- content: messages, of them the status's, artifacts
  log INTEGER NOT NULL, charged INTEGER NOT NULL,                 -- bytes of the events, and that the account holds
  rest INTEGER NOT NULL, rested INTEGER NOT NULL,                 -- 1 ended, 2 parked, since when
  asked INTEGER NOT NULL, input BLOB, saved BLOB, wire INTEGER NOT NULL, head BLOB NOT NULL,
  UNIQUE(owner,id));
CREATE INDEX task_at ON task(owner, at DESC, id);
CREATE INDEX task_state ON task(owner, state, at DESC, id);
CREATE INDEX task_context ON task(owner, context, at DESC, id);
CREATE INDEX task_rest ON task(rest, rested) WHERE rest>0;
CREATE INDEX task_share ON task(account, rest, rested) WHERE rest>0;

-- The truth. Event 1 is the task as it was created; messages are what came with a status beside it.
CREATE TABLE event(task INTEGER, seq INTEGER, kind INTEGER NOT NULL, state INTEGER NOT NULL, stamp INTEGER NOT NULL,
  wire INTEGER NOT NULL, doc BLOB NOT NULL, messages BLOB, PRIMARY KEY(task,seq)) WITHOUT ROWID;
-- The whole task at a version, so that nobody reads a long log from its beginning: the last one, and one that is needed
-- to show the task as it was at an event which is still to be sent.
CREATE TABLE body(task INTEGER, version INTEGER, wire INTEGER NOT NULL, doc BLOB NOT NULL, PRIMARY KEY(task,version));

-- Work that is not done. The first of a task is at work if the task has a runner.
CREATE TABLE call(task INTEGER, n INTEGER, stamp INTEGER NOT NULL, attempt INTEGER NOT NULL, made INTEGER NOT NULL,
  wire INTEGER NOT NULL, request BLOB, input BLOB, PRIMARY KEY(task,n)) WITHOUT ROWID;

CREATE TABLE push(task INTEGER, id TEXT, version TEXT NOT NULL, config BLOB NOT NULL, tasks INTEGER NOT NULL,
  next INTEGER NOT NULL, until INTEGER NOT NULL,
  attempt INTEGER NOT NULL, since INTEGER NOT NULL, holder INTEGER NOT NULL, due INTEGER, dead TEXT,
  PRIMARY KEY(task,id)) WITHOUT ROWID;
CREATE INDEX push_due ON push(due) WHERE due IS NOT NULL;
CREATE INDEX push_dead ON push(task) WHERE dead IS NOT NULL;

-- Messages that may be sent again.
CREATE TABLE repeat(owner INTEGER, key TEXT, task TEXT NOT NULL, call INTEGER NOT NULL,
  digest BLOB NOT NULL, until INTEGER NOT NULL, PRIMARY KEY(owner,key)) WITHOUT ROWID;
CREATE INDEX repeat_until ON repeat(until);

`

// schema2 keeps tickets, and the trace context of a task.
const schema2 = `
-- Calls that somebody may have taken on who knows what the hash was made of.
CREATE TABLE ticket(hash BLOB PRIMARY KEY, task INTEGER NOT NULL, until INTEGER NOT NULL, wire INTEGER NOT NULL,
  request BLOB) WITHOUT ROWID;
CREATE INDEX ticket_task ON ticket(task, until);
ALTER TABLE call ADD COLUMN value BLOB;
ALTER TABLE task ADD COLUMN trace TEXT NOT NULL DEFAULT '';
`

// schema3 keeps notes of contexts. Their bytes are among those of their account.
const schema3 = `
CREATE TABLE note(n INTEGER PRIMARY KEY, owner INTEGER NOT NULL, account INTEGER NOT NULL, context TEXT NOT NULL,
  version INTEGER NOT NULL, at INTEGER NOT NULL, bytes INTEGER NOT NULL, value BLOB NOT NULL, UNIQUE(owner,context));
CREATE INDEX note_at ON note(at);
CREATE INDEX note_account ON note(account, at);
ALTER TABLE account ADD COLUMN notes INTEGER NOT NULL DEFAULT 0;
CREATE INDEX account_notes ON account(notes) WHERE notes>0;
DROP INDEX account_empty;
CREATE INDEX account_empty ON account(n) WHERE tasks=0 AND notes=0;
`

// schema4 keeps events that were stored together in one row, and the order of tickets.
const schema4 = `
-- Of a row with several events: kind and state of each, in a byte each. The doc is a list of them, all else is the last's.
ALTER TABLE event ADD COLUMN run BLOB;
-- The version of the task with which the ticket came.
ALTER TABLE ticket ADD COLUMN made INTEGER NOT NULL DEFAULT 0;
`

// formatOf returns the format of the file, 0 for a new one.
func formatOf(c *conn) (int, error) {
	var app, format, tables int64
	err := c.query(`SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version),
		(SELECT count(*) FROM sqlite_master)`, func(v []value) error {
		app, format, tables = num(v[0]), num(v[1]), num(v[2])
		return nil
	})
	switch {
	case err != nil:
		return 0, err
	case app == 0 && format == 0 && tables == 0:
		return 0, nil
	case app != application:
		return 0, fmt.Errorf("it is a database of another program")
	}
	return int(format), nil
}

func tooNew(format int, known []string) error {
	return fmt.Errorf("it has format %d, and this program knows formats up to %d: use the newer program that wrote it", format, len(known))
}

// migrate brings the file to the newest format in one transaction: a process that is killed meanwhile leaves the file as it
// was, or as it is to be. Of several that do it at a time, one does, and the others wait for it.
func migrate(c *conn, steps []string) (err error) {
	if _, err := c.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = c.script("ROLLBACK")
		}
	}()
	format, err := formatOf(c)
	if err != nil {
		return err
	}
	if format > len(steps) {
		return tooNew(format, steps)
	}
	for ; format < len(steps); format++ {
		script := fmt.Sprintf("%s;\nPRAGMA application_id=%d;\nPRAGMA user_version=%d;\n", steps[format], application, format+1)
		if err := c.script(script); err != nil {
			return fmt.Errorf("change it from format %d to %d: %w", format, format+1, err)
		}
	}
	_, err = c.exec("COMMIT")
	return err
}
