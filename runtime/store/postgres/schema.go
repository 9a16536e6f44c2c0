package postgres

// Step is a change of the schema.
type Step struct {
	Format int    // of the schema afterwards
	Least  int    // programs that know at least this format may go on beside newer ones
	What   string // it does, in a sentence
	SQL    string
}

// steps make the schema, each from the format before it. A step is never changed once it was released.
var steps = []Step{{1, 1, "makes the tables", schema1}, {2, 2, "drops a column that nothing uses any more", schema2}}

// Times are nanoseconds since 1970 by the clock of the database, but for task.at, which is the status's own. A doc is
// JSON in the protocol version that its wire names: an event with its envelope, as a stream has it.
//
// fence is called for a statement that must change a row and did not: it ends the transaction, in which nobody waits
// for the number of rows.
const schema1 = `
CREATE TABLE a2a.meta(format int NOT NULL, least int NOT NULL, agent text NOT NULL, places text NOT NULL DEFAULT '');
CREATE TABLE a2a.wire(n int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE);

CREATE TABLE a2a.instance(n int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, agent text NOT NULL,
  format int NOT NULL,                                            -- the newest one that its program knows
  began timestamptz NOT NULL, lease timestamptz NOT NULL);
CREATE INDEX instance_lease ON a2a.instance(lease);

-- Who holds something: a principal in all tenants, and in one of them. Account 0 is everybody.
CREATE TABLE a2a.account(n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, principal text COLLATE "C" NOT NULL UNIQUE,
  moved bigint NOT NULL DEFAULT 0,                                -- steps of its moves to other databases, and from there
  idle bigint NOT NULL DEFAULT 0);                                -- since when a sweep finds nothing of it; 0: it has something
CREATE INDEX account_idle ON a2a.account(idle) WHERE idle>0;
CREATE TABLE a2a.owner(n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, account bigint NOT NULL,
  tenant text COLLATE "C" NOT NULL, idle bigint NOT NULL DEFAULT 0, UNIQUE(account, tenant));
CREATE INDEX owner_idle ON a2a.owner(idle) WHERE idle>0;

-- What is held, and how many tasks of an owner are in a state. Each writer changes the rows of its lane: the sum of all lanes
-- is what counts. heavy and noted are about eight times the binary logarithm of what weighs in the lane, and of its notes, so
-- that few changes touch the indexes by which those are found who hold most; below: a lane has less than nothing.
CREATE TABLE a2a.usage(account bigint, lane smallint, tasks bigint NOT NULL, bytes bigint NOT NULL, restedtasks bigint NOT NULL,
  restedbytes bigint NOT NULL, pushes bigint NOT NULL, notes bigint NOT NULL,
  heavy smallint GENERATED ALWAYS AS (CASE WHEN account>0 AND restedtasks>0
    THEN (8*ln(greatest(bytes+tasks*6144, 1)::float8)/ln(2::float8))::int::smallint END) STORED,
  noted smallint GENERATED ALWAYS AS (CASE WHEN account>0 AND notes>0 THEN (8*ln(notes::float8)/ln(2::float8))::int::smallint END) STORED,
  below bool GENERATED ALWAYS AS (account>0 AND least(tasks, bytes, restedtasks, restedbytes, pushes, notes)<0) STORED,
  PRIMARY KEY(account, lane)) WITH (fillfactor=50);
CREATE INDEX usage_heavy ON a2a.usage(heavy) WHERE heavy IS NOT NULL;
CREATE INDEX usage_noted ON a2a.usage(noted) WHERE noted IS NOT NULL;
CREATE INDEX usage_below ON a2a.usage(account) WHERE below;
CREATE TABLE a2a.counts(owner bigint, state smallint, lane smallint, tasks bigint NOT NULL, PRIMARY KEY(owner, state, lane))
  WITH (fillfactor=50);

-- The task without history and artifacts. rev grows with every change of the row. No index has a column that a chunk of an
-- artifact changes.
CREATE TABLE a2a.task(
  n bigint PRIMARY KEY, rev bigint NOT NULL, owner bigint NOT NULL, account bigint NOT NULL,
  at bigint NOT NULL, version bigint NOT NULL, oldest bigint NOT NULL, -- events up to oldest are gone
  epoch bigint NOT NULL, calls bigint NOT NULL, done bigint NOT NULL,
  said bigint NOT NULL, laststatus bigint NOT NULL, artifacts bigint NOT NULL, -- bytes of messages, of them the status's, of artifacts
  log bigint NOT NULL, charged bigint NOT NULL,                   -- bytes of the events, and that the account holds
  rested bigint NOT NULL,                                         -- since when
  snapshot bigint NOT NULL, body bigint NOT NULL, since bigint NOT NULL, -- of the last body: version, bytes, bytes of events after it
  began bigint NOT NULL,                                          -- stamp of the update that brought up the call at work
  runner int NOT NULL, attempt int NOT NULL, made int NOT NULL,   -- of the call at work
  saidparts int NOT NULL, laststatusparts int NOT NULL, artifactparts int NOT NULL, pushes int NOT NULL, wire int NOT NULL,
  state smallint NOT NULL, rest smallint NOT NULL,                -- 1 ended, 2 parked
  ticketed bool NOT NULL, clientid bool NOT NULL, asked bool NOT NULL,
  id text COLLATE "C" NOT NULL, context text COLLATE "C" NOT NULL, skill text COLLATE "C" NOT NULL, trace text NOT NULL,
  stamps bytea NOT NULL, input bytea, saved bytea, head bytea NOT NULL,
  UNIQUE(owner, id)) WITH (fillfactor=70);
CREATE INDEX task_at ON a2a.task(owner, at DESC, id);
CREATE INDEX task_state ON a2a.task(owner, state, at DESC, id);
CREATE INDEX task_context ON a2a.task(owner, context, at DESC, id);
CREATE INDEX task_rest ON a2a.task(rest, rested, n) WHERE rest>0;
CREATE INDEX task_share ON a2a.task(account, rest, rested, n) WHERE rest>0;
CREATE INDEX task_runner ON a2a.task(runner) WHERE done<calls;
CREATE SEQUENCE a2a.block; -- of numbers of tasks

-- The truth. Event 1 is the task as it was created; messages are what came with a status beside it. run has the kind and
-- state of each of several events, in a byte each; all else is the last one's.
CREATE TABLE a2a.event(task bigint, seq bigint, kind smallint NOT NULL, state smallint NOT NULL, wire int NOT NULL,
  run bytea, doc bytea NOT NULL, messages bytea, PRIMARY KEY(task, seq));
-- The whole task at a version, so that nobody reads a long log from its beginning: the last one, and one that is needed
-- to show the task as it was at an event which is still to be sent.
CREATE TABLE a2a.body(task bigint, version bigint, wire int NOT NULL, doc bytea NOT NULL, PRIMARY KEY(task, version));

-- Work that is not done. The first of a task is at work if the task has a runner.
CREATE TABLE a2a.call(task bigint, n bigint, wire int NOT NULL, request bytea, input bytea, value bytea, PRIMARY KEY(task, n));

CREATE TABLE a2a.push(task bigint, id text COLLATE "C", version text NOT NULL, config bytea NOT NULL, tasks bool NOT NULL,
  next bigint NOT NULL, until bigint NOT NULL, attempt int NOT NULL, since bigint NOT NULL, holder bigint NOT NULL, due bigint,
  dead text, PRIMARY KEY(task, id)) WITH (fillfactor=70);
CREATE INDEX push_due ON a2a.push(due) WHERE due IS NOT NULL;
CREATE INDEX push_held ON a2a.push(holder) WHERE holder<>0;
CREATE INDEX push_dead ON a2a.push(task) WHERE dead IS NOT NULL;

-- Messages that may be sent again.
CREATE TABLE a2a.repeat(owner bigint, key text COLLATE "C", account bigint NOT NULL, task text COLLATE "C" NOT NULL, call bigint NOT NULL,
  digest bytea NOT NULL, until bigint NOT NULL, PRIMARY KEY(owner, key));
CREATE INDEX repeat_until ON a2a.repeat(until);
CREATE INDEX repeat_account ON a2a.repeat(account, until);
-- Calls that somebody may have taken on who knows what the hash was made of. made is the version of the task with which it came.
CREATE TABLE a2a.ticket(hash bytea PRIMARY KEY, task bigint NOT NULL, until bigint NOT NULL, made bigint NOT NULL,
  wire int NOT NULL, request bytea);
CREATE INDEX ticket_task ON a2a.ticket(task, until);
-- Notes of contexts. Their bytes are among those of their account.
CREATE TABLE a2a.note(n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, owner bigint NOT NULL, account bigint NOT NULL,
  context text COLLATE "C" NOT NULL, version bigint NOT NULL, at bigint NOT NULL, bytes bigint NOT NULL, value bytea NOT NULL,
  UNIQUE(owner, context));
CREATE INDEX note_at ON a2a.note(at);
CREATE INDEX note_account ON a2a.note(account, at, n);

CREATE FUNCTION a2a.fence() RETURNS int LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'somebody else was faster' USING ERRCODE = 'A2A01'; END $$;
`

// schema2 drops what nothing uses since owners are in one database.
const schema2 = "ALTER TABLE a2a.account DROP COLUMN moved;\n"
