PRAGMA application_id=1630691687;
PRAGMA user_version=4;
BEGIN;
CREATE TABLE wire(n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE instance(n INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL, host TEXT NOT NULL, began INTEGER NOT NULL);
CREATE TABLE account(n INTEGER PRIMARY KEY AUTOINCREMENT, principal TEXT UNIQUE, tasks INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0, restedtasks INTEGER NOT NULL DEFAULT 0, restedbytes INTEGER NOT NULL DEFAULT 0,
  pushes INTEGER NOT NULL DEFAULT 0, weight INTEGER NOT NULL DEFAULT 0, notes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE owner(n INTEGER PRIMARY KEY AUTOINCREMENT, account INTEGER NOT NULL, tenant TEXT NOT NULL, UNIQUE(account,tenant));
CREATE TABLE usage(owner INTEGER, state INTEGER, tasks INTEGER NOT NULL, PRIMARY KEY(owner,state)) WITHOUT ROWID;
CREATE TABLE task(
  n INTEGER PRIMARY KEY, owner INTEGER NOT NULL, account INTEGER NOT NULL, id TEXT NOT NULL, context TEXT NOT NULL,
  skill TEXT NOT NULL, clientid INTEGER NOT NULL, state INTEGER NOT NULL, at INTEGER NOT NULL,
  version INTEGER NOT NULL, oldest INTEGER NOT NULL,              -- events up to oldest are gone
  epoch INTEGER NOT NULL, runner INTEGER, calls INTEGER NOT NULL, done INTEGER NOT NULL,
  said INTEGER NOT NULL, status INTEGER NOT NULL, made INTEGER NOT NULL, -- content: messages, of them the status's, artifacts
  log INTEGER NOT NULL, charged INTEGER NOT NULL,                 -- bytes of the events, and that the account holds
  rest INTEGER NOT NULL, rested INTEGER NOT NULL,                 -- 1 ended, 2 parked, since when
  asked INTEGER NOT NULL, input BLOB, saved BLOB, wire INTEGER NOT NULL, head BLOB NOT NULL, trace TEXT NOT NULL DEFAULT '',
  UNIQUE(owner,id));
CREATE TABLE event(task INTEGER, seq INTEGER, kind INTEGER NOT NULL, state INTEGER NOT NULL, stamp INTEGER NOT NULL,
  wire INTEGER NOT NULL, doc BLOB NOT NULL, messages BLOB, run BLOB, PRIMARY KEY(task,seq)) WITHOUT ROWID;
CREATE TABLE body(task INTEGER, version INTEGER, wire INTEGER NOT NULL, doc BLOB NOT NULL, PRIMARY KEY(task,version));
CREATE TABLE call(task INTEGER, n INTEGER, stamp INTEGER NOT NULL, attempt INTEGER NOT NULL, made INTEGER NOT NULL,
  wire INTEGER NOT NULL, request BLOB, input BLOB, value BLOB, PRIMARY KEY(task,n)) WITHOUT ROWID;
CREATE TABLE push(task INTEGER, id TEXT, version TEXT NOT NULL, config BLOB NOT NULL, tasks INTEGER NOT NULL,
  next INTEGER NOT NULL, until INTEGER NOT NULL,
  attempt INTEGER NOT NULL, since INTEGER NOT NULL, holder INTEGER NOT NULL, due INTEGER, dead TEXT,
  PRIMARY KEY(task,id)) WITHOUT ROWID;
CREATE TABLE repeat(owner INTEGER, key TEXT, task TEXT NOT NULL, call INTEGER NOT NULL,
  digest BLOB NOT NULL, until INTEGER NOT NULL, PRIMARY KEY(owner,key)) WITHOUT ROWID;
CREATE TABLE ticket(hash BLOB PRIMARY KEY, task INTEGER NOT NULL, until INTEGER NOT NULL, wire INTEGER NOT NULL,
  request BLOB, made INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE note(n INTEGER PRIMARY KEY, owner INTEGER NOT NULL, account INTEGER NOT NULL, context TEXT NOT NULL,
  version INTEGER NOT NULL, at INTEGER NOT NULL, bytes INTEGER NOT NULL, value BLOB NOT NULL, UNIQUE(owner,context));

INSERT INTO wire VALUES(1,'0.3');
INSERT INTO wire VALUES(2,'1.0');
INSERT INTO instance VALUES(2,17182,'agent',1893499200000000000);
INSERT INTO account VALUES(1,'ada',5,19150,3,10677,5,49870,551);
INSERT INTO account VALUES(2,'',2,159063,0,0,0,171351,0);
INSERT INTO account VALUES(3,'bob',5,13939,4,10390,0,44659,535);
INSERT INTO owner VALUES(1,1,'acme');
INSERT INTO owner VALUES(2,2,'');
INSERT INTO owner VALUES(3,1,'beta');
INSERT INTO owner VALUES(4,3,'');
INSERT INTO usage VALUES(1,1,0);
INSERT INTO usage VALUES(1,2,2);
INSERT INTO usage VALUES(1,3,1);
INSERT INTO usage VALUES(1,8,1);
INSERT INTO usage VALUES(2,1,1);
INSERT INTO usage VALUES(2,2,1);
INSERT INTO usage VALUES(3,1,0);
INSERT INTO usage VALUES(3,3,1);
INSERT INTO usage VALUES(4,1,0);
INSERT INTO usage VALUES(4,2,1);
INSERT INTO usage VALUES(4,3,1);
INSERT INTO usage VALUES(4,5,1);
INSERT INTO usage VALUES(4,6,2);
INSERT INTO usage VALUES(4,8,0);
INSERT INTO task VALUES(1,1,1,'old','context of old','talk',0,3,1893495602000000000,4,0,2,NULL,1,1,751,375,212,1305,3683,1,1893499200000000000,0,NULL,NULL,1,CAST('{"kind":"task","id":"old","contextId":"context of old","status":{"state":"completed","message":{"kind":"message","messageId":"message 2","contextId":"context of old","taskId":"old","role":"agent","parts":[{"kind":"text","text":"done"},{"kind":"data","data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:02Z"}}' AS BLOB),'');
INSERT INTO task VALUES(2,2,2,'given back','context of given back','talk',0,2,1893495606000000000,2,0,1,NULL,1,0,390,0,0,652,2102,0,0,0,CAST('{"said":"hello"}' AS BLOB),NULL,1,CAST('{"kind":"task","id":"given back","contextId":"context of given back","status":{"state":"working","timestamp":"2030-01-01T11:00:06Z"}}' AS BLOB),'');
INSERT INTO task VALUES(3,1,1,'at work','context of at work','talk',0,2,1893495612000000000,5,0,1,2,2,0,1157,389,214,1613,4619,0,0,0,CAST('{"said":"hello"}' AS BLOB),NULL,2,CAST('{"task":{"id":"at work","contextId":"context of at work","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-01T11:00:12Z"}}}' AS BLOB),'');
INSERT INTO task VALUES(4,3,1,'ended','context of ended','talk',0,3,1893495615000000000,3,0,2,NULL,1,1,761,380,175,985,3272,1,1893499200000000000,0,NULL,NULL,2,CAST('{"task":{"id":"ended","contextId":"context of ended","status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"message 15","contextId":"context of ended","taskId":"ended","role":"ROLE_AGENT","parts":[{"text":"done"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:15Z"}}}' AS BLOB),'');
INSERT INTO task VALUES(5,4,3,'canceled','context of canceled','talk',0,5,1893495618000000000,2,0,1,NULL,0,0,387,0,0,599,2083,1,1893499200000000000,0,NULL,NULL,2,CAST('{"task":{"id":"canceled","contextId":"context of canceled","status":{"state":"TASK_STATE_CANCELED","timestamp":"2030-01-01T11:00:18Z"}}}' AS BLOB),'');
INSERT INTO task VALUES(6,4,3,'asking','context of asking','talk',0,6,1893495620000000000,2,0,2,NULL,1,1,772,389,0,780,2750,2,1893499200000000000,0,CAST('{"said":"hello"}' AS BLOB),CAST('{"step":1}' AS BLOB),2,CAST('{"task":{"id":"asking","contextId":"context of asking","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"message 20","contextId":"context of asking","taskId":"asking","role":"ROLE_AGENT","parts":[{"text":"which city?"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:20Z"}}}' AS BLOB),'');
INSERT INTO task VALUES(7,4,3,'asked by the runtime','context of asked by the runtime','talk',1,6,1893495622000000000,2,0,0,NULL,0,0,831,420,0,895,2799,2,1893499200000000000,1,CAST('{"said":"hello"}' AS BLOB),NULL,2,CAST('{"task":{"id":"asked by the runtime","contextId":"context of asked by the runtime","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"message 22","contextId":"context of asked by the runtime","taskId":"asked by the runtime","role":"ROLE_AGENT","parts":[{"text":"a city, please"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:22Z"}}}' AS BLOB),'');
INSERT INTO task VALUES(8,2,2,'long','context of long','talk',0,1,1893495623000000000,8,4,1,2,1,0,379,0,88385,22889,156961,0,0,0,CAST('{"said":"hello"}' AS BLOB),NULL,2,CAST('{"task":{"id":"long","contextId":"context of long","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-01T11:00:23Z"}}}' AS BLOB),'');
INSERT INTO task VALUES(9,1,1,'authorizing','context of authorizing','talk',0,8,1893495634000000000,3,0,2,NULL,1,1,1187,393,0,1235,3722,2,1893499200000000000,0,CAST('{"said":"hello"}' AS BLOB),NULL,2,CAST('{"task":{"id":"authorizing","contextId":"context of authorizing","status":{"state":"TASK_STATE_AUTH_REQUIRED","message":{"messageId":"message 34","contextId":"context of authorizing","taskId":"authorizing","role":"ROLE_AGENT","parts":[{"text":"or so"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:34Z"}}}' AS BLOB),'00-0123456789abcdef0123456789abcdef-0123456789abcdef-01');
INSERT INTO task VALUES(10,4,3,'authorized','context of authorized','talk',0,2,1893495637000000000,3,0,3,2,2,1,790,0,0,1028,3014,0,0,0,CAST('{"said":"hello"}' AS BLOB),NULL,2,CAST('{"task":{"id":"authorized","contextId":"context of authorized","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-01T11:00:37Z"}}}' AS BLOB),'');
INSERT INTO task VALUES(11,1,1,'together','context of together','talk',0,2,1893495639000000000,3,0,1,2,1,0,774,387,177,875,3303,0,0,0,CAST('{"said":"hello"}' AS BLOB),NULL,2,CAST('{"task":{"id":"together","contextId":"context of together","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"message 39","contextId":"context of together","taskId":"together","role":"ROLE_AGENT","parts":[{"text":"on it"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:39Z"}}}' AS BLOB),'');
INSERT INTO task VALUES(12,4,3,'answered at once','context of answered at once','talk',0,3,1893495645000000000,2,0,2,NULL,1,1,806,403,0,788,2758,1,1893499200000000000,0,NULL,NULL,2,CAST('{"task":{"id":"answered at once","contextId":"context of answered at once","status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"message 45","contextId":"context of answered at once","taskId":"answered at once","role":"ROLE_AGENT","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:45Z"}}}' AS BLOB),'');
INSERT INTO event VALUES(1,1,1,1,1,1,CAST('{"kind":"task","id":"old","contextId":"context of old","status":{"state":"submitted","timestamp":"2030-01-01T11:00:01Z"},"history":[{"kind":"message","messageId":"message 1","contextId":"context of old","taskId":"old","role":"user","parts":[{"kind":"text","text":"hello"},{"kind":"data","data":{"city":"Zürich"}}],"metadata":{"n":1}}]}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(1,2,4,1,3,1,CAST('{"kind":"artifact-update","taskId":"old","contextId":"context of old","artifact":{"artifactId":"report","name":"Report","parts":[{"kind":"text","text":"one, "}]}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(1,3,4,1,4,1,CAST('{"kind":"artifact-update","taskId":"old","contextId":"context of old","artifact":{"artifactId":"report","name":"Report","parts":[{"kind":"text","text":"two"}]},"append":true,"lastChunk":true}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(1,4,3,3,2,1,CAST('{"kind":"status-update","taskId":"old","contextId":"context of old","status":{"state":"completed","message":{"kind":"message","messageId":"message 2","contextId":"context of old","taskId":"old","role":"agent","parts":[{"kind":"text","text":"done"},{"kind":"data","data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:02Z"},"final":true}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(2,1,1,1,5,1,CAST('{"kind":"task","id":"given back","contextId":"context of given back","status":{"state":"submitted","timestamp":"2030-01-01T11:00:05Z"},"history":[{"kind":"message","messageId":"message 5","contextId":"context of given back","taskId":"given back","role":"user","parts":[{"kind":"text","text":"hello"},{"kind":"data","data":{"city":"Zürich"}}],"metadata":{"n":1}}]}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(2,2,3,2,6,1,CAST('{"kind":"status-update","taskId":"given back","contextId":"context of given back","status":{"state":"working","timestamp":"2030-01-01T11:00:06Z"},"final":false}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(2,3,4,2,7,1,CAST('{"kind":"artifact-update","taskId":"given back","contextId":"context of given back","artifact":{"artifactId":"report","name":"Report","parts":[{"kind":"text","text":"one, "}]}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(3,1,1,1,8,2,CAST('{"task":{"id":"at work","contextId":"context of at work","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-01T11:00:08Z"},"history":[{"messageId":"message 8","contextId":"context of at work","taskId":"at work","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}}]}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(3,2,3,2,9,2,CAST('{"statusUpdate":{"taskId":"at work","contextId":"context of at work","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"message 9","contextId":"context of at work","taskId":"at work","role":"ROLE_AGENT","parts":[{"text":"on it"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:09Z"}}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(3,3,4,2,10,2,CAST('{"artifactUpdate":{"taskId":"at work","contextId":"context of at work","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"one, "}]}}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(3,4,4,2,11,2,CAST('{"artifactUpdate":{"taskId":"at work","contextId":"context of at work","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"two, "}]},"append":true}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(3,5,3,2,12,2,CAST('{"statusUpdate":{"taskId":"at work","contextId":"context of at work","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-01T11:00:12Z"}}}' AS BLOB),CAST('[{"message":{"messageId":"message 12","contextId":"context of at work","taskId":"at work","role":"ROLE_USER","parts":[{"text":"and Bern?"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}}}]' AS BLOB),NULL);
INSERT INTO event VALUES(3,6,4,2,13,2,CAST('{"artifactUpdate":{"taskId":"at work","contextId":"context of at work","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"three"}]},"append":true}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(4,1,1,1,14,2,CAST('{"task":{"id":"ended","contextId":"context of ended","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-01T11:00:14Z"},"history":[{"messageId":"message 14","contextId":"context of ended","taskId":"ended","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}}]}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(4,2,4,1,16,2,CAST('{"artifactUpdate":{"taskId":"ended","contextId":"context of ended","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"all"}]},"lastChunk":true}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(4,3,3,3,15,2,CAST('{"statusUpdate":{"taskId":"ended","contextId":"context of ended","status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"message 15","contextId":"context of ended","taskId":"ended","role":"ROLE_AGENT","parts":[{"text":"done"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:15Z"}}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(5,1,1,1,17,2,CAST('{"task":{"id":"canceled","contextId":"context of canceled","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-01T11:00:17Z"},"history":[{"messageId":"message 17","contextId":"context of canceled","taskId":"canceled","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}}]}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(5,2,3,5,18,2,CAST('{"statusUpdate":{"taskId":"canceled","contextId":"context of canceled","status":{"state":"TASK_STATE_CANCELED","timestamp":"2030-01-01T11:00:18Z"}}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(6,1,1,1,19,2,CAST('{"task":{"id":"asking","contextId":"context of asking","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-01T11:00:19Z"},"history":[{"messageId":"message 19","contextId":"context of asking","taskId":"asking","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}}]}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(6,2,3,6,20,2,CAST('{"statusUpdate":{"taskId":"asking","contextId":"context of asking","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"message 20","contextId":"context of asking","taskId":"asking","role":"ROLE_AGENT","parts":[{"text":"which city?"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:20Z"}}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(7,1,1,1,21,2,CAST('{"task":{"id":"asked by the runtime","contextId":"context of asked by the runtime","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-01T11:00:21Z"},"history":[{"messageId":"message 21","contextId":"context of asked by the runtime","taskId":"asked by the runtime","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}}]}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(7,2,3,6,22,2,CAST('{"statusUpdate":{"taskId":"asked by the runtime","contextId":"context of asked by the runtime","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"message 22","contextId":"context of asked by the runtime","taskId":"asked by the runtime","role":"ROLE_AGENT","parts":[{"text":"a city, please"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:22Z"}}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(8,5,4,1,27,2,CAST('{"artifactUpdate":{"taskId":"long","contextId":"context of long","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"'||replace(hex(zeroblob(22000)),'00','x')||'"}]},"append":true}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(8,6,4,1,28,2,CAST('{"artifactUpdate":{"taskId":"long","contextId":"context of long","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"chunk 4"}]},"append":true}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(8,7,4,1,29,2,CAST('{"artifactUpdate":{"taskId":"long","contextId":"context of long","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"chunk 5"}]},"append":true}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(8,8,4,1,30,2,CAST('{"artifactUpdate":{"taskId":"long","contextId":"context of long","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"chunk 6"}]},"append":true}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(8,9,4,1,31,2,CAST('{"artifactUpdate":{"taskId":"long","contextId":"context of long","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"chunk 7"}]},"append":true}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(9,1,1,1,32,2,CAST('{"task":{"id":"authorizing","contextId":"context of authorizing","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-01T11:00:32Z"},"history":[{"messageId":"message 32","contextId":"context of authorizing","taskId":"authorizing","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}}]}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(9,2,3,8,33,2,CAST('{"statusUpdate":{"taskId":"authorizing","contextId":"context of authorizing","status":{"state":"TASK_STATE_AUTH_REQUIRED","message":{"messageId":"message 33","contextId":"context of authorizing","taskId":"authorizing","role":"ROLE_AGENT","parts":[{"text":"please log in"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:33Z"}}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(9,3,3,8,34,2,CAST('{"statusUpdate":{"taskId":"authorizing","contextId":"context of authorizing","status":{"state":"TASK_STATE_AUTH_REQUIRED","message":{"messageId":"message 34","contextId":"context of authorizing","taskId":"authorizing","role":"ROLE_AGENT","parts":[{"text":"or so"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:34Z"}}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(10,1,1,1,35,2,CAST('{"task":{"id":"authorized","contextId":"context of authorized","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-01T11:00:35Z"},"history":[{"messageId":"message 35","contextId":"context of authorized","taskId":"authorized","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}}]}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(10,2,3,8,36,2,CAST('{"statusUpdate":{"taskId":"authorized","contextId":"context of authorized","status":{"state":"TASK_STATE_AUTH_REQUIRED","message":{"messageId":"message 36","contextId":"context of authorized","taskId":"authorized","role":"ROLE_AGENT","parts":[{"text":"please log in"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:36Z"}}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(10,3,3,2,37,2,CAST('{"statusUpdate":{"taskId":"authorized","contextId":"context of authorized","status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-01T11:00:37Z"}}}' AS BLOB),NULL,NULL);
INSERT INTO event VALUES(11,3,4,2,38,2,CAST('[{"task":{"id":"together","contextId":"context of together","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-01T11:00:38Z"},"history":[{"messageId":"message 38","contextId":"context of together","taskId":"together","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}}]}},{"statusUpdate":{"taskId":"together","contextId":"context of together","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"message 39","contextId":"context of together","taskId":"together","role":"ROLE_AGENT","parts":[{"text":"on it"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:39Z"}}},{"artifactUpdate":{"taskId":"together","contextId":"context of together","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"one, "}]}}}]' AS BLOB),NULL,X'010103020402');
INSERT INTO event VALUES(11,6,4,2,41,2,CAST('[{"artifactUpdate":{"taskId":"together","contextId":"context of together","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"two, "}]},"append":true}},{"artifactUpdate":{"taskId":"together","contextId":"context of together","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"three, "}]},"append":true}},{"artifactUpdate":{"taskId":"together","contextId":"context of together","artifact":{"artifactId":"report","name":"Report","parts":[{"text":"four"}]},"append":true,"lastChunk":true}}]' AS BLOB),NULL,X'040204020402');
INSERT INTO event VALUES(12,2,3,3,44,2,CAST('[{"task":{"id":"answered at once","contextId":"context of answered at once","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-01T11:00:44Z"},"history":[{"messageId":"message 44","contextId":"context of answered at once","taskId":"answered at once","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}}]}},{"statusUpdate":{"taskId":"answered at once","contextId":"context of answered at once","status":{"state":"TASK_STATE_COMPLETED","message":{"messageId":"message 45","contextId":"context of answered at once","taskId":"answered at once","role":"ROLE_AGENT","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"timestamp":"2030-01-01T11:00:45Z"}}}]' AS BLOB),NULL,X'01010303');
INSERT INTO body VALUES(8,4,2,CAST('{"task":{"id":"long","contextId":"context of long","status":{"state":"TASK_STATE_SUBMITTED","timestamp":"2030-01-01T11:00:23Z"},"artifacts":[{"artifactId":"report","name":"Report","parts":[{"text":"'||replace(hex(zeroblob(22000)),'00','x')||'"},{"text":"'||replace(hex(zeroblob(22000)),'00','x')||'"},{"text":"'||replace(hex(zeroblob(22000)),'00','x')||'"}]}],"history":[{"messageId":"message 23","contextId":"context of long","taskId":"long","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}}]}}' AS BLOB));
INSERT INTO call VALUES(2,1,5,0,0,1,CAST('{"message":{"kind":"message","messageId":"message 4","contextId":"context of given back","taskId":"given back","role":"user","parts":[{"kind":"text","text":"hello"},{"kind":"data","data":{"city":"Zürich"}}],"metadata":{"n":1}},"configuration":{"acceptedOutputModes":["text/plain"],"blocking":true}}' AS BLOB),CAST('{"said":"hello"}' AS BLOB),NULL);
INSERT INTO call VALUES(3,1,8,1,0,2,CAST('{"tenant":"acme","message":{"messageId":"message 7","contextId":"context of at work","taskId":"at work","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"configuration":{"acceptedOutputModes":["text/plain"]}}' AS BLOB),CAST('{"said":"hello"}' AS BLOB),NULL);
INSERT INTO call VALUES(3,2,0,0,0,2,CAST('{"tenant":"acme","message":{"messageId":"message 12","contextId":"context of at work","taskId":"at work","role":"ROLE_USER","parts":[{"text":"and Bern?"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"configuration":{"acceptedOutputModes":["text/plain"]}}' AS BLOB),CAST('{"said":"and Bern?"}' AS BLOB),NULL);
INSERT INTO call VALUES(8,1,23,1,0,2,CAST('{"message":{"messageId":"message 22","contextId":"context of long","taskId":"long","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"configuration":{"acceptedOutputModes":["text/plain"]}}' AS BLOB),CAST('{"said":"hello"}' AS BLOB),NULL);
INSERT INTO call VALUES(10,2,37,1,0,2,CAST('{"message":{"messageId":"message 37","contextId":"context of authorized","taskId":"authorized","role":"ROLE_USER","parts":[{"text":"logged in"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"configuration":{"acceptedOutputModes":["text/plain"]}}' AS BLOB),CAST('{"said":"logged in"}' AS BLOB),CAST('"the code"' AS BLOB));
INSERT INTO call VALUES(11,1,38,1,1,2,CAST('{"tenant":"acme","message":{"messageId":"message 37","contextId":"context of together","taskId":"together","role":"ROLE_USER","parts":[{"text":"hello"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"configuration":{"acceptedOutputModes":["text/plain"]}}' AS BLOB),CAST('{"said":"hello"}' AS BLOB),NULL);
INSERT INTO push VALUES(3,'events','1.0',CAST('{"id":"events","url":"https://hook.example/events","token":"token","scheme":"Bearer","credentials":"credentials"}' AS BLOB),0,2,0,0,0,8589934593,1893499260000000000,NULL);
INSERT INTO push VALUES(3,'tasks','1.0',CAST('{"id":"tasks","url":"https://hook.example/tasks","token":"token","scheme":"Bearer","credentials":"credentials"}' AS BLOB),1,2,0,0,0,8589934594,1893499260000000000,NULL);
INSERT INTO push VALUES(4,'dead','1.0',CAST('{"id":"dead","url":"https://hook.example/dead","token":"token","scheme":"Bearer","credentials":"credentials"}' AS BLOB),0,2,0,0,0,0,NULL,'410 Gone');
INSERT INTO push VALUES(4,'failing','1.0',CAST('{"id":"failing","url":"https://hook.example/failing","token":"token","scheme":"Bearer","credentials":"credentials"}' AS BLOB),0,2,0,1,1893499200000000000,0,1893502800000000000,NULL);
INSERT INTO push VALUES(4,'sent','1.0',CAST('{"id":"sent","url":"https://hook.example/sent","token":"token","scheme":"Bearer","credentials":"credentials"}' AS BLOB),0,4,0,0,0,0,NULL,NULL);
INSERT INTO repeat VALUES(1,'message of ada','at work',1,X'2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824',1893585600000000000);
INSERT INTO ticket VALUES(X'7BBB13D6C627E82BF6E95D22BBC24DB5649F856EF9E14470B71CA8D6A45383DD',9,1893585600000000000,2,CAST('{"tenant":"acme","message":{"messageId":"message 34","contextId":"context of authorizing","taskId":"authorizing","role":"ROLE_USER","parts":[{"text":"logged in"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"configuration":{"acceptedOutputModes":["text/plain"]}}' AS BLOB),3);
INSERT INTO ticket VALUES(X'98C1EB4EE93476743763878FCB96A25FBC9A175074D64004779ECB5242F645E6',9,1893585600000000000,2,CAST('{"tenant":"acme","message":{"messageId":"message 33","contextId":"context of authorizing","taskId":"authorizing","role":"ROLE_USER","parts":[{"text":"logged in"},{"data":{"city":"Zürich"}}],"metadata":{"n":1}},"configuration":{"acceptedOutputModes":["text/plain"]}}' AS BLOB),2);
INSERT INTO note VALUES(1,1,1,'context',1893499200000000001,1893499200000000000,551,CAST('{"likes":"trains and ships"}' AS BLOB));
INSERT INTO note VALUES(2,4,3,'context',1893499200000000000,1893499200000000000,535,CAST('{"is in":"Bern"}' AS BLOB));
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('instance',2);
INSERT INTO sqlite_sequence VALUES('account',3);
INSERT INTO sqlite_sequence VALUES('owner',4);

CREATE INDEX account_weight ON account(weight) WHERE restedtasks>0;
CREATE INDEX task_at ON task(owner, at DESC, id);
CREATE INDEX task_state ON task(owner, state, at DESC, id);
CREATE INDEX task_context ON task(owner, context, at DESC, id);
CREATE INDEX task_rest ON task(rest, rested) WHERE rest>0;
CREATE INDEX task_share ON task(account, rest, rested) WHERE rest>0;
CREATE INDEX push_due ON push(due) WHERE due IS NOT NULL;
CREATE INDEX push_dead ON push(task) WHERE dead IS NOT NULL;
CREATE INDEX repeat_until ON repeat(until);
CREATE INDEX ticket_task ON ticket(task, until);
CREATE INDEX note_at ON note(at);
CREATE INDEX note_account ON note(account, at);
CREATE INDEX account_notes ON account(notes) WHERE notes>0;
CREATE INDEX account_empty ON account(n) WHERE tasks=0 AND notes=0;
COMMIT;
