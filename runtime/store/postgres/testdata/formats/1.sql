CREATE SCHEMA a2a;
CREATE FUNCTION a2a.fence() RETURNS integer
    LANGUAGE plpgsql
    AS $$
BEGIN RAISE EXCEPTION 'somebody else was faster' USING ERRCODE = 'A2A01'; END $$;
CREATE TABLE a2a.account (
    n bigint NOT NULL,
    principal text NOT NULL COLLATE pg_catalog."C",
    moved bigint DEFAULT 0 NOT NULL,
    idle bigint DEFAULT 0 NOT NULL
);
ALTER TABLE a2a.account ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME a2a.account_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE SEQUENCE a2a.block
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;
CREATE TABLE a2a.body (
    task bigint NOT NULL,
    version bigint NOT NULL,
    wire integer NOT NULL,
    doc bytea NOT NULL
);
CREATE TABLE a2a.call (
    task bigint NOT NULL,
    n bigint NOT NULL,
    wire integer NOT NULL,
    request bytea,
    input bytea,
    value bytea
);
CREATE TABLE a2a.counts (
    owner bigint NOT NULL,
    state smallint NOT NULL,
    lane smallint NOT NULL,
    tasks bigint NOT NULL
)
WITH (fillfactor='50');
CREATE TABLE a2a.event (
    task bigint NOT NULL,
    seq bigint NOT NULL,
    kind smallint NOT NULL,
    state smallint NOT NULL,
    wire integer NOT NULL,
    run bytea,
    doc bytea NOT NULL,
    messages bytea
);
CREATE TABLE a2a.instance (
    n integer NOT NULL,
    name text NOT NULL,
    agent text NOT NULL,
    format integer NOT NULL,
    began timestamp with time zone NOT NULL,
    lease timestamp with time zone NOT NULL
);
ALTER TABLE a2a.instance ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME a2a.instance_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE a2a.meta (
    format integer NOT NULL,
    "least" integer NOT NULL,
    agent text NOT NULL,
    places text DEFAULT ''::text NOT NULL
);
CREATE TABLE a2a.note (
    n bigint NOT NULL,
    owner bigint NOT NULL,
    account bigint NOT NULL,
    context text NOT NULL COLLATE pg_catalog."C",
    version bigint NOT NULL,
    at bigint NOT NULL,
    bytes bigint NOT NULL,
    value bytea NOT NULL
);
ALTER TABLE a2a.note ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME a2a.note_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE a2a.owner (
    n bigint NOT NULL,
    account bigint NOT NULL,
    tenant text NOT NULL COLLATE pg_catalog."C",
    idle bigint DEFAULT 0 NOT NULL
);
ALTER TABLE a2a.owner ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME a2a.owner_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE a2a.push (
    task bigint NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    version text NOT NULL,
    config bytea NOT NULL,
    tasks boolean NOT NULL,
    next bigint NOT NULL,
    until bigint NOT NULL,
    attempt integer NOT NULL,
    since bigint NOT NULL,
    holder bigint NOT NULL,
    due bigint,
    dead text
)
WITH (fillfactor='70');
CREATE TABLE a2a.repeat (
    owner bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    account bigint NOT NULL,
    task text NOT NULL COLLATE pg_catalog."C",
    call bigint NOT NULL,
    digest bytea NOT NULL,
    until bigint NOT NULL
);
CREATE TABLE a2a.task (
    n bigint NOT NULL,
    rev bigint NOT NULL,
    owner bigint NOT NULL,
    account bigint NOT NULL,
    at bigint NOT NULL,
    version bigint NOT NULL,
    oldest bigint NOT NULL,
    epoch bigint NOT NULL,
    calls bigint NOT NULL,
    done bigint NOT NULL,
    said bigint NOT NULL,
    laststatus bigint NOT NULL,
    artifacts bigint NOT NULL,
    log bigint NOT NULL,
    charged bigint NOT NULL,
    rested bigint NOT NULL,
    snapshot bigint NOT NULL,
    body bigint NOT NULL,
    since bigint NOT NULL,
    began bigint NOT NULL,
    runner integer NOT NULL,
    attempt integer NOT NULL,
    made integer NOT NULL,
    saidparts integer NOT NULL,
    laststatusparts integer NOT NULL,
    artifactparts integer NOT NULL,
    pushes integer NOT NULL,
    wire integer NOT NULL,
    state smallint NOT NULL,
    rest smallint NOT NULL,
    ticketed boolean NOT NULL,
    clientid boolean NOT NULL,
    asked boolean NOT NULL,
    id text NOT NULL COLLATE pg_catalog."C",
    context text NOT NULL COLLATE pg_catalog."C",
    skill text NOT NULL COLLATE pg_catalog."C",
    trace text NOT NULL,
    stamps bytea NOT NULL,
    input bytea,
    saved bytea,
    head bytea NOT NULL
)
WITH (fillfactor='70');
CREATE TABLE a2a.ticket (
    hash bytea NOT NULL,
    task bigint NOT NULL,
    until bigint NOT NULL,
    made bigint NOT NULL,
    wire integer NOT NULL,
    request bytea
);
CREATE TABLE a2a.usage (
    account bigint NOT NULL,
    lane smallint NOT NULL,
    tasks bigint NOT NULL,
    bytes bigint NOT NULL,
    restedtasks bigint NOT NULL,
    restedbytes bigint NOT NULL,
    pushes bigint NOT NULL,
    notes bigint NOT NULL,
    heavy smallint GENERATED ALWAYS AS (
CASE
    WHEN ((account > 0) AND (restedtasks > 0)) THEN (((((8)::double precision * ln((GREATEST((bytes + (tasks * 6144)), (1)::bigint))::double precision)) / ln((2)::double precision)))::integer)::smallint
    ELSE NULL::smallint
END) STORED,
    noted smallint GENERATED ALWAYS AS (
CASE
    WHEN ((account > 0) AND (notes > 0)) THEN (((((8)::double precision * ln((notes)::double precision)) / ln((2)::double precision)))::integer)::smallint
    ELSE NULL::smallint
END) STORED,
    below boolean GENERATED ALWAYS AS (((account > 0) AND (LEAST(tasks, bytes, restedtasks, restedbytes, pushes, notes) < 0))) STORED
)
WITH (fillfactor='50');
CREATE TABLE a2a.wire (
    n integer NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C"
);
ALTER TABLE a2a.wire ALTER COLUMN n ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME a2a.wire_n_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
INSERT INTO a2a.account OVERRIDING SYSTEM VALUE VALUES (1, '', 0, 0);
INSERT INTO a2a.account OVERRIDING SYSTEM VALUE VALUES (2, 'ada', 0, 0);
INSERT INTO a2a.account OVERRIDING SYSTEM VALUE VALUES (3, 'bob', 0, 0);
INSERT INTO a2a.call VALUES (1025, 1, 1, NULL, convert_to('{"text":"hello"}','UTF8'), NULL);
INSERT INTO a2a.call VALUES (1026, 1, 1, NULL, convert_to('{"text":"hello"}','UTF8'), NULL);
INSERT INTO a2a.call VALUES (1027, 1, 1, NULL, convert_to('{"text":"hello"}','UTF8'), NULL);
INSERT INTO a2a.call VALUES (1029, 1, 1, NULL, convert_to('{"text":"hello"}','UTF8'), NULL);
INSERT INTO a2a.call VALUES (1030, 1, 1, NULL, convert_to('{"text":"hello"}','UTF8'), NULL);
INSERT INTO a2a.call VALUES (1031, 1, 1, NULL, convert_to('{"text":"hello"}','UTF8'), NULL);
INSERT INTO a2a.counts VALUES (1, 3, 2, 1);
INSERT INTO a2a.counts VALUES (4, 1, 2, 0);
INSERT INTO a2a.counts VALUES (4, 2, 2, 1);
INSERT INTO a2a.counts VALUES (5, 1, 2, 0);
INSERT INTO a2a.counts VALUES (5, 2, 2, 0);
INSERT INTO a2a.counts VALUES (5, 3, 2, 1);
INSERT INTO a2a.counts VALUES (6, 1, 2, 0);
INSERT INTO a2a.counts VALUES (6, 2, 2, 1);
INSERT INTO a2a.counts VALUES (1, 1, 2, 0);
INSERT INTO a2a.counts VALUES (1, 2, 2, 1);
INSERT INTO a2a.counts VALUES (2, 1, 2, 0);
INSERT INTO a2a.counts VALUES (2, 2, 2, 2);
INSERT INTO a2a.counts VALUES (3, 1, 2, 0);
INSERT INTO a2a.counts VALUES (3, 2, 2, 1);
INSERT INTO a2a.counts VALUES (3, 3, 2, 1);
INSERT INTO a2a.event VALUES (1024, 1, 1, 1, 1, NULL, convert_to('{"task":{"id":"t0","contextId":"talk","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-02T03:04:05Z"},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}]}}','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1024, 4, 3, 2, 1, '\x040104010302', convert_to('[{"artifactUpdate":{"taskId":"t0","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":""}]}}},{"artifactUpdate":{"taskId":"t0","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"y"}]},"append":true}},{"statusUpdate":{"taskId":"t0","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}]','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1024, 5, 3, 3, 1, NULL, convert_to('{"statusUpdate":{"taskId":"t0","contextId":"talk","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2030-01-02T03:04:05Z"}}}','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1025, 1, 1, 1, 1, NULL, convert_to('{"task":{"id":"t1","contextId":"talk","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-02T03:04:05Z"},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}]}}','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1025, 4, 3, 2, 1, '\x040104010302', convert_to('[{"artifactUpdate":{"taskId":"t1","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"'||repeat('x',1000)||'"}]}}},{"artifactUpdate":{"taskId":"t1","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"y"}]},"append":true}},{"statusUpdate":{"taskId":"t1","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}]','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1026, 1, 1, 1, 1, NULL, convert_to('{"task":{"id":"t2","contextId":"talk","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-02T03:04:05Z"},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}]}}','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1026, 4, 3, 2, 1, '\x040104010302', convert_to('[{"artifactUpdate":{"taskId":"t2","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"'||repeat('x',2000)||'"}]}}},{"artifactUpdate":{"taskId":"t2","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"y"}]},"append":true}},{"statusUpdate":{"taskId":"t2","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}]','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1027, 1, 1, 1, 1, NULL, convert_to('{"task":{"id":"t3","contextId":"talk","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-02T03:04:05Z"},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}]}}','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1027, 4, 3, 2, 1, '\x040104010302', convert_to('[{"artifactUpdate":{"taskId":"t3","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"'||repeat('x',3000)||'"}]}}},{"artifactUpdate":{"taskId":"t3","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"y"}]},"append":true}},{"statusUpdate":{"taskId":"t3","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}]','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1028, 1, 1, 1, 1, NULL, convert_to('{"task":{"id":"t4","contextId":"talk","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-02T03:04:05Z"},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}]}}','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1028, 4, 3, 2, 1, '\x040104010302', convert_to('[{"artifactUpdate":{"taskId":"t4","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"'||repeat('x',4000)||'"}]}}},{"artifactUpdate":{"taskId":"t4","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"y"}]},"append":true}},{"statusUpdate":{"taskId":"t4","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}]','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1028, 5, 3, 3, 1, NULL, convert_to('{"statusUpdate":{"taskId":"t4","contextId":"talk","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2030-01-02T03:04:05Z"}}}','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1029, 1, 1, 1, 1, NULL, convert_to('{"task":{"id":"t5","contextId":"talk","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-02T03:04:05Z"},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}]}}','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1029, 4, 3, 2, 1, '\x040104010302', convert_to('[{"artifactUpdate":{"taskId":"t5","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"'||repeat('x',5000)||'"}]}}},{"artifactUpdate":{"taskId":"t5","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"y"}]},"append":true}},{"statusUpdate":{"taskId":"t5","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}]','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1030, 1, 1, 1, 1, NULL, convert_to('{"task":{"id":"t6","contextId":"talk","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-02T03:04:05Z"},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}]}}','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1030, 4, 3, 2, 1, '\x040104010302', convert_to('[{"artifactUpdate":{"taskId":"t6","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"'||repeat('x',6000)||'"}]}}},{"artifactUpdate":{"taskId":"t6","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"y"}]},"append":true}},{"statusUpdate":{"taskId":"t6","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}]','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1031, 1, 1, 1, 1, NULL, convert_to('{"task":{"id":"t7","contextId":"talk","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-02T03:04:05Z"},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}]}}','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1031, 4, 3, 2, 1, '\x040104010302', convert_to('[{"artifactUpdate":{"taskId":"t7","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"'||repeat('x',7000)||'"}]}}},{"artifactUpdate":{"taskId":"t7","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"y"}]},"append":true}},{"statusUpdate":{"taskId":"t7","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}]','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1032, 1, 1, 1, 1, NULL, convert_to('{"task":{"id":"t8","contextId":"talk","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-02T03:04:05Z"},"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}]}}','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1032, 4, 3, 2, 1, '\x040104010302', convert_to('[{"artifactUpdate":{"taskId":"t8","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"'||repeat('x',8000)||'"}]}}},{"artifactUpdate":{"taskId":"t8","contextId":"talk","artifact":{"artifactId":"a","parts":[{"text":"y"}]},"append":true}},{"statusUpdate":{"taskId":"t8","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}]','UTF8'), NULL);
INSERT INTO a2a.event VALUES (1032, 5, 3, 3, 1, NULL, convert_to('{"statusUpdate":{"taskId":"t8","contextId":"talk","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2030-01-02T03:04:05Z"}}}','UTF8'), NULL);
INSERT INTO a2a.instance OVERRIDING SYSTEM VALUE VALUES (1, 'agent/25428/VS7RL3QDGURDPUIO6BTVKIHPIG', '', 1, '2026-11-28 22:10:52.164556+00', '2026-11-26 22:10:52.405664+00');
INSERT INTO a2a.meta VALUES (1, 1, '', '');
INSERT INTO a2a.note OVERRIDING SYSTEM VALUE VALUES (1, 1, 1, 'c0', 1795903852242460041, 1795903852242460091, 518, convert_to('note','UTF8'));
INSERT INTO a2a.note OVERRIDING SYSTEM VALUE VALUES (2, 2, 2, 'c1', 1795903852264208889, 1795903852264208939, 522, convert_to('note','UTF8'));
INSERT INTO a2a.note OVERRIDING SYSTEM VALUE VALUES (3, 3, 3, 'c2', 1795903852283606160, 1795903852283606290, 518, convert_to('note','UTF8'));
INSERT INTO a2a.note OVERRIDING SYSTEM VALUE VALUES (4, 4, 1, 'c3', 1795903852314087505, 1795903852314087766, 522, convert_to('note','UTF8'));
INSERT INTO a2a.note OVERRIDING SYSTEM VALUE VALUES (5, 5, 2, 'c4', 1795903852342714249, 1795903852342714439, 518, convert_to('note','UTF8'));
INSERT INTO a2a.note OVERRIDING SYSTEM VALUE VALUES (6, 6, 3, 'c5', 1795903852352079349, 1795903852352079529, 522, convert_to('note','UTF8'));
INSERT INTO a2a.note OVERRIDING SYSTEM VALUE VALUES (7, 1, 1, 'c6', 1795903852365196452, 1795903852365196492, 518, convert_to('note','UTF8'));
INSERT INTO a2a.note OVERRIDING SYSTEM VALUE VALUES (8, 2, 2, 'c7', 1795903852370305759, 1795903852370305809, 522, convert_to('note','UTF8'));
INSERT INTO a2a.note OVERRIDING SYSTEM VALUE VALUES (9, 3, 3, 'c8', 1795903852379596693, 1795903852379596753, 518, convert_to('note','UTF8'));
INSERT INTO a2a.owner OVERRIDING SYSTEM VALUE VALUES (1, 1, '', 0);
INSERT INTO a2a.owner OVERRIDING SYSTEM VALUE VALUES (2, 2, 'acme', 0);
INSERT INTO a2a.owner OVERRIDING SYSTEM VALUE VALUES (3, 3, '', 0);
INSERT INTO a2a.owner OVERRIDING SYSTEM VALUE VALUES (4, 1, 'acme', 0);
INSERT INTO a2a.owner OVERRIDING SYSTEM VALUE VALUES (5, 2, '', 0);
INSERT INTO a2a.owner OVERRIDING SYSTEM VALUE VALUES (6, 3, 'acme', 0);
INSERT INTO a2a.push VALUES (1026, 'hook', '1.0', convert_to('{"id":"","url":"https://ada.example.com","token":"secret"}','UTF8'), false, 2, 0, 0, 0, 0, 1795903852278215875, NULL);
INSERT INTO a2a.push VALUES (1027, 'hook', '1.0', convert_to('{"id":"","url":"https://ada.example.com","token":"secret"}','UTF8'), false, 2, 0, 0, 0, 0, 1795903852298156814, NULL);
INSERT INTO a2a.push VALUES (1028, 'hook', '1.0', convert_to('{"id":"","url":"https://ada.example.com","token":"secret"}','UTF8'), false, 2, 0, 0, 0, 0, 1795903852331749131, NULL);
INSERT INTO a2a.push VALUES (1029, 'hook', '1.0', convert_to('{"id":"","url":"https://ada.example.com","token":"secret"}','UTF8'), false, 2, 0, 0, 0, 0, 1795903852350169590, NULL);
INSERT INTO a2a.push VALUES (1030, 'hook', '1.0', convert_to('{"id":"","url":"https://ada.example.com","token":"secret"}','UTF8'), false, 2, 0, 0, 0, 0, 1795903852362337221, NULL);
INSERT INTO a2a.push VALUES (1031, 'hook', '1.0', convert_to('{"id":"","url":"https://ada.example.com","token":"secret"}','UTF8'), false, 2, 0, 0, 0, 0, 1795903852368996933, NULL);
INSERT INTO a2a.push VALUES (1032, 'hook', '1.0', convert_to('{"id":"","url":"https://ada.example.com","token":"secret"}','UTF8'), false, 2, 0, 0, 0, 0, 1795903852373528160, NULL);
INSERT INTO a2a.push VALUES (1024, 'hook', '1.0', convert_to('{"id":"","url":"https://ada.example.com","token":"secret"}','UTF8'), false, 2, 0, 0, 0, 0, NULL, '410 Gone');
INSERT INTO a2a.push VALUES (1025, 'hook', '1.0', convert_to('{"id":"","url":"https://ada.example.com","token":"secret"}','UTF8'), false, 2, 0, 1, 1795903852399885089, 0, 4949503852399885089, NULL);
INSERT INTO a2a.repeat VALUES (1, 't0', 1, 't0', 1, '\x0000000000000000000000000000000000000000000000000000000000000000', 1795907452189985670);
INSERT INTO a2a.repeat VALUES (2, 't1', 2, 't1', 1, '\x0000000000000000000000000000000000000000000000000000000000000000', 1795907452255634079);
INSERT INTO a2a.repeat VALUES (3, 't2', 3, 't2', 1, '\x0000000000000000000000000000000000000000000000000000000000000000', 1795907452274332902);
INSERT INTO a2a.repeat VALUES (4, 't3', 1, 't3', 1, '\x0000000000000000000000000000000000000000000000000000000000000000', 1795907452289034200);
INSERT INTO a2a.repeat VALUES (5, 't4', 2, 't4', 1, '\x0000000000000000000000000000000000000000000000000000000000000000', 1795907452330431672);
INSERT INTO a2a.repeat VALUES (6, 't5', 3, 't5', 1, '\x0000000000000000000000000000000000000000000000000000000000000000', 1795907452348796708);
INSERT INTO a2a.repeat VALUES (1, 't6', 1, 't6', 1, '\x0000000000000000000000000000000000000000000000000000000000000000', 1795907452353208798);
INSERT INTO a2a.repeat VALUES (2, 't7', 2, 't7', 1, '\x0000000000000000000000000000000000000000000000000000000000000000', 1795907452366242117);
INSERT INTO a2a.repeat VALUES (3, 't8', 3, 't8', 1, '\x0000000000000000000000000000000000000000000000000000000000000000', 1795907452371058979);
INSERT INTO a2a.task VALUES (1024, 3, 1, 1, 1893553445000000000, 5, 0, 2, 1, 1, 0, 0, 194, 867, 2662, 1795903852226958863, 0, 0, 867, 0, 0, 0, 0, 0, 0, 2, 1, 1, 3, 1, false, false, false, 't0', 'talk', 'echo', '00-1', '\x00000000000000020000000000000001', NULL, NULL, convert_to('{"task":{"id":"t0","contextId":"talk","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2030-01-02T03:04:05Z"}}}','UTF8'));
INSERT INTO a2a.task VALUES (1025, 2, 2, 2, 1893553445000000000, 4, 0, 1, 1, 0, 0, 0, 1194, 1675, 3418, 0, 0, 0, 1675, 3, 1, 1, 0, 0, 0, 2, 1, 1, 2, 0, true, false, false, 't1', 'talk', 'echo', '00-1', '\x00000000000000040000000000000003', convert_to('{"a":1}','UTF8'), convert_to('saved','UTF8'), convert_to('{"task":{"id":"t1","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}','UTF8'));
INSERT INTO a2a.task VALUES (1026, 2, 3, 3, 1893553445000000000, 4, 0, 1, 1, 0, 0, 0, 2194, 2675, 4418, 0, 0, 0, 2675, 5, 1, 1, 0, 0, 0, 2, 1, 1, 2, 0, true, false, false, 't2', 'talk', 'echo', '00-1', '\x00000000000000060000000000000005', convert_to('{"a":1}','UTF8'), convert_to('saved','UTF8'), convert_to('{"task":{"id":"t2","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}','UTF8'));
INSERT INTO a2a.task VALUES (1027, 2, 4, 1, 1893553445000000000, 4, 0, 1, 1, 0, 0, 0, 3194, 3675, 5418, 0, 0, 0, 3675, 7, 1, 1, 0, 0, 0, 2, 1, 1, 2, 0, true, false, false, 't3', 'talk', 'echo', '00-1', '\x00000000000000080000000000000007', convert_to('{"a":1}','UTF8'), convert_to('saved','UTF8'), convert_to('{"task":{"id":"t3","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}','UTF8'));
INSERT INTO a2a.task VALUES (1028, 3, 5, 2, 1893553445000000000, 5, 0, 2, 1, 1, 0, 0, 4194, 4867, 6662, 1795903852332725373, 0, 0, 4867, 0, 0, 0, 0, 0, 0, 2, 1, 1, 3, 1, false, false, false, 't4', 'talk', 'echo', '00-1', '\x000000000000000a0000000000000009', NULL, NULL, convert_to('{"task":{"id":"t4","contextId":"talk","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2030-01-02T03:04:05Z"}}}','UTF8'));
INSERT INTO a2a.task VALUES (1029, 2, 6, 3, 1893553445000000000, 4, 0, 1, 1, 0, 0, 0, 5194, 5675, 7418, 0, 0, 0, 5675, 11, 1, 1, 0, 0, 0, 2, 1, 1, 2, 0, true, false, false, 't5', 'talk', 'echo', '00-1', '\x000000000000000c000000000000000b', convert_to('{"a":1}','UTF8'), convert_to('saved','UTF8'), convert_to('{"task":{"id":"t5","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}','UTF8'));
INSERT INTO a2a.task VALUES (1030, 2, 1, 1, 1893553445000000000, 4, 0, 1, 1, 0, 0, 0, 6194, 6675, 8418, 0, 0, 0, 6675, 13, 1, 1, 0, 0, 0, 2, 1, 1, 2, 0, true, false, false, 't6', 'talk', 'echo', '00-1', '\x000000000000000e000000000000000d', convert_to('{"a":1}','UTF8'), convert_to('saved','UTF8'), convert_to('{"task":{"id":"t6","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}','UTF8'));
INSERT INTO a2a.task VALUES (1031, 2, 2, 2, 1893553445000000000, 4, 0, 1, 1, 0, 0, 0, 7194, 7675, 9418, 0, 0, 0, 7675, 15, 1, 1, 0, 0, 0, 2, 1, 1, 2, 0, true, false, false, 't7', 'talk', 'echo', '00-1', '\x0000000000000010000000000000000f', convert_to('{"a":1}','UTF8'), convert_to('saved','UTF8'), convert_to('{"task":{"id":"t7","contextId":"talk","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-02T03:04:05Z"}}}','UTF8'));
INSERT INTO a2a.task VALUES (1032, 3, 3, 3, 1893553445000000000, 5, 0, 2, 1, 1, 0, 0, 8194, 8867, 10662, 1795903852376742630, 0, 0, 8867, 0, 0, 0, 0, 0, 0, 2, 1, 1, 3, 1, false, false, false, 't8', 'talk', 'echo', '00-1', '\x00000000000000120000000000000011', NULL, NULL, convert_to('{"task":{"id":"t8","contextId":"talk","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2030-01-02T03:04:05Z"}}}','UTF8'));
INSERT INTO a2a.ticket VALUES ('\x0100010000000000000000000000000000000000000000000000000000000000', 1025, 1795907452259315653, 4, 1, NULL);
INSERT INTO a2a.ticket VALUES ('\x0200010000000000000000000000000000000000000000000000000000000000', 1026, 1795907452278217958, 4, 1, NULL);
INSERT INTO a2a.ticket VALUES ('\x0300010000000000000000000000000000000000000000000000000000000000', 1027, 1795907452298159558, 4, 1, NULL);
INSERT INTO a2a.ticket VALUES ('\x0500010000000000000000000000000000000000000000000000000000000000', 1029, 1795907452350172133, 4, 1, NULL);
INSERT INTO a2a.ticket VALUES ('\x0600010000000000000000000000000000000000000000000000000000000000', 1030, 1795907452362339675, 4, 1, NULL);
INSERT INTO a2a.ticket VALUES ('\x0700010000000000000000000000000000000000000000000000000000000000', 1031, 1795907452369035120, 4, 1, NULL);
INSERT INTO a2a.usage VALUES (1, 2, 3, 18056, 1, 2662, 3, 1558, DEFAULT, DEFAULT, DEFAULT);
INSERT INTO a2a.usage VALUES (2, 2, 3, 21060, 1, 6662, 3, 1562, DEFAULT, DEFAULT, DEFAULT);
INSERT INTO a2a.usage VALUES (0, 2, 9, 63172, 3, 19986, 9, 4678, DEFAULT, DEFAULT, DEFAULT);
INSERT INTO a2a.usage VALUES (3, 2, 3, 24056, 1, 10662, 3, 1558, DEFAULT, DEFAULT, DEFAULT);
INSERT INTO a2a.wire OVERRIDING SYSTEM VALUE VALUES (1, '1.0');
SELECT pg_catalog.setval('a2a.account_n_seq', 6, true);
SELECT pg_catalog.setval('a2a.block', 1, true);
SELECT pg_catalog.setval('a2a.instance_n_seq', 1, true);
SELECT pg_catalog.setval('a2a.note_n_seq', 9, true);
SELECT pg_catalog.setval('a2a.owner_n_seq', 6, true);
SELECT pg_catalog.setval('a2a.wire_n_seq', 1, true);
ALTER TABLE ONLY a2a.account
    ADD CONSTRAINT account_pkey PRIMARY KEY (n);
ALTER TABLE ONLY a2a.account
    ADD CONSTRAINT account_principal_key UNIQUE (principal);
ALTER TABLE ONLY a2a.body
    ADD CONSTRAINT body_pkey PRIMARY KEY (task, version);
ALTER TABLE ONLY a2a.call
    ADD CONSTRAINT call_pkey PRIMARY KEY (task, n);
ALTER TABLE ONLY a2a.counts
    ADD CONSTRAINT counts_pkey PRIMARY KEY (owner, state, lane);
ALTER TABLE ONLY a2a.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (task, seq);
ALTER TABLE ONLY a2a.instance
    ADD CONSTRAINT instance_pkey PRIMARY KEY (n);
ALTER TABLE ONLY a2a.note
    ADD CONSTRAINT note_owner_context_key UNIQUE (owner, context);
ALTER TABLE ONLY a2a.note
    ADD CONSTRAINT note_pkey PRIMARY KEY (n);
ALTER TABLE ONLY a2a.owner
    ADD CONSTRAINT owner_account_tenant_key UNIQUE (account, tenant);
ALTER TABLE ONLY a2a.owner
    ADD CONSTRAINT owner_pkey PRIMARY KEY (n);
ALTER TABLE ONLY a2a.push
    ADD CONSTRAINT push_pkey PRIMARY KEY (task, id);
ALTER TABLE ONLY a2a.repeat
    ADD CONSTRAINT repeat_pkey PRIMARY KEY (owner, key);
ALTER TABLE ONLY a2a.task
    ADD CONSTRAINT task_owner_id_key UNIQUE (owner, id);
ALTER TABLE ONLY a2a.task
    ADD CONSTRAINT task_pkey PRIMARY KEY (n);
ALTER TABLE ONLY a2a.ticket
    ADD CONSTRAINT ticket_pkey PRIMARY KEY (hash);
ALTER TABLE ONLY a2a.usage
    ADD CONSTRAINT usage_pkey PRIMARY KEY (account, lane);
ALTER TABLE ONLY a2a.wire
    ADD CONSTRAINT wire_name_key UNIQUE (name);
ALTER TABLE ONLY a2a.wire
    ADD CONSTRAINT wire_pkey PRIMARY KEY (n);
CREATE INDEX account_idle ON a2a.account USING btree (idle) WHERE (idle > 0);
CREATE INDEX instance_lease ON a2a.instance USING btree (lease);
CREATE INDEX note_account ON a2a.note USING btree (account, at, n);
CREATE INDEX note_at ON a2a.note USING btree (at);
CREATE INDEX owner_idle ON a2a.owner USING btree (idle) WHERE (idle > 0);
CREATE INDEX push_dead ON a2a.push USING btree (task) WHERE (dead IS NOT NULL);
CREATE INDEX push_due ON a2a.push USING btree (due) WHERE (due IS NOT NULL);
CREATE INDEX push_held ON a2a.push USING btree (holder) WHERE (holder <> 0);
CREATE INDEX repeat_account ON a2a.repeat USING btree (account, until);
CREATE INDEX repeat_until ON a2a.repeat USING btree (until);
CREATE INDEX task_at ON a2a.task USING btree (owner, at DESC, id);
CREATE INDEX task_context ON a2a.task USING btree (owner, context, at DESC, id);
CREATE INDEX task_rest ON a2a.task USING btree (rest, rested, n) WHERE (rest > 0);
CREATE INDEX task_runner ON a2a.task USING btree (runner) WHERE (done < calls);
CREATE INDEX task_share ON a2a.task USING btree (account, rest, rested, n) WHERE (rest > 0);
CREATE INDEX task_state ON a2a.task USING btree (owner, state, at DESC, id);
CREATE INDEX ticket_task ON a2a.ticket USING btree (task, until);
CREATE INDEX usage_below ON a2a.usage USING btree (account) WHERE below;
CREATE INDEX usage_heavy ON a2a.usage USING btree (heavy) WHERE (heavy IS NOT NULL);
CREATE INDEX usage_noted ON a2a.usage USING btree (noted) WHERE (noted IS NOT NULL);
