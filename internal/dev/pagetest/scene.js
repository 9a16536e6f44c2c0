// @ts-check
// The page before an agent whose calls are always the same, to the millisecond: the API of the page as a table, so that
// two pictures of a state differ only if the page does. What the API really answers is for the other tests.
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { skillsExtension } from "./fake.js";

const assets = resolve(import.meta.dirname, "../page/assets");

/** When it all happened, and how late it is on the page. */
export const noon = Date.parse("2026-03-02T12:00:00Z");

const url = "http://127.0.0.1:8080";

const schemas = {
  plan: {
    input: {
      type: "object", required: ["from", "to", "days"],
      properties: {
        from: { type: "string", minLength: 1, description: "The city where the trip begins.", examples: ["Oslo"] },
        to: { type: "string", minLength: 1, description: "The city to see.", examples: ["Rome", "Lisbon"] },
        days: { type: "integer", minimum: 1, maximum: 30, default: 3 },
        by: { oneOf: [{ title: "Train", type: "object", properties: { kind: { const: "train" }, sleeper: { type: "boolean" } } }, { title: "Car", type: "object", properties: { kind: { const: "car" } } }] },
        stops: { type: "array", items: { type: "string" }, description: "Cities on the way, in their order." },
      },
    },
  },
};

const card = {
  name: "Trip Planner", description: "Plans trips by what the weather and the roads allow.", version: "1.4.0", provider: { organization: "Example Travel", url: "https://travel.example" },
  capabilities: { streaming: true, pushNotifications: true, extensions: [{ uri: skillsExtension }] },
  defaultInputModes: ["text/plain", "application/json"], defaultOutputModes: ["text/markdown", "application/json"],
  skills: [
    { id: "plan", name: "Plan a trip", description: "A trip from a city to another one, day by day.", tags: ["travel"], examples: ["Three days in Rome, from Oslo", "A week in Lisbon by train"] },
    { id: "ask", name: "Ask", description: "Answers questions about cities.", tags: ["travel"], examples: ["When is Lisbon least crowded?"], inputModes: ["text/plain"] },
  ],
  securitySchemes: { key: { apiKeySecurityScheme: { location: "header", name: "X-Key" } } },
};

const interfaces = [["JSONRPC", "1.0", url + "/"], ["HTTP+JSON", "1.0", url], ["JSONRPC", "0.3", url + "/"]].map(([binding, version, url]) => ({ binding, version, url }));

/** @typedef {{at: number, form: any}} Told an event, in milliseconds after its call began */

let calls = /** @type {any[]} */ ([]);

/**
 * A call with all that is kept of it.
 * @param {any} c
 * @param {any} request in the form of 1.0
 * @param {Told[]} told
 */
function add(c, request, told) {
  const id = calls.length + 1;
  const said = JSON.stringify({ jsonrpc: "2.0", id: 1, method: c.operation, params: request });
  const stream = c.operation === "SendStreamingMessage" || c.operation === "SubscribeToTask";
  const eventList = told.map(({ at, form }, i) => {
    const bytes = `id: ${i + 1}\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: 1, result: form })}\n\n`;
    const t = form.task ?? form.statusUpdate ?? form.artifactUpdate ?? {};
    const parts = form.statusUpdate?.status.message?.parts ?? form.artifactUpdate?.artifact.parts ?? form.task?.status.message?.parts ?? form.message?.parts ?? [];
    return {
      n: i + 1, atMs: at, id: String(i + 1), size: bytes.length, bytes: Buffer.from(bytes).toString("base64"), kind: form.task ? "task" : form.statusUpdate ? "status" : form.message ? "message" : "artifact",
      task: t.taskId ?? t.id, context: t.contextId, state: t.status?.state, artifact: t.artifact?.artifactId, append: t.append, last: t.lastChunk, text: parts[0]?.text?.slice(0, 120) ?? (parts[0]?.data ? JSON.stringify(parts[0].data) : undefined),
    };
  });
  const answer = stream ? "" : JSON.stringify({ jsonrpc: "2.0", id: 1, ...(c.error ? { error: c.error } : { result: told.at(-1)?.form }) });
  const last = told.at(-1)?.at ?? 4;
  const summary = {
    id, agent: 0, caller: "page", method: "POST", path: "/", proto: "HTTP/1.1", called: c.operation, binding: "JSONRPC", version: "1.0", message: request.message?.messageId,
    state: "done", status: 200, firstMs: 2, tookMs: last + 1, sent: said.length, received: answer.length + eventList.reduce((n, e) => n + e.size, 0), events: stream ? eventList.length : 0, ...c, begun: new Date(noon + c.begun).toISOString(),
  };
  calls.push({
    summary,
    exchange: {
      ...summary, requestHeader: { "Content-Type": ["application/json"], "A2a-Version": ["1.0"], "User-Agent": [c.caller ?? "page"] }, request: { size: said.length, bytes: Buffer.from(said).toString("base64") },
      header: { "Content-Type": [stream ? "text/event-stream" : "application/json"] }, response: { size: answer.length, bytes: Buffer.from(answer).toString("base64") }, ...(stream ? { eventList } : {}),
    },
    forms: {
      version: "1.0", request: { form: request }, response: stream ? {} : c.error ? { error: c.error } : { form: told.at(-1)?.form },
      events: stream ? told.map(({ form }, i) => ({ n: i + 1, id: String(i + 1), form })) : [],
    },
  });
}

/** @param {string} taskId @param {string} contextId @param {string} state @param {any[]} [parts] @param {any} [metadata] */
const status = (taskId, contextId, state, parts, metadata) => ({ statusUpdate: { taskId, contextId, status: { state: "TASK_STATE_" + state, timestamp: new Date(noon).toISOString(), ...(parts ? { message: { messageId: "a-" + state, role: "ROLE_AGENT", parts, ...(metadata ? { metadata } : {}) } } : {}) } } });

/** @param {string} taskId @param {string} contextId @param {any[]} parts @param {boolean} append @param {boolean} last */
const artifact = (taskId, contextId, parts, append = false, last = false) => ({ artifactUpdate: { taskId, contextId, artifact: { artifactId: "plan", name: "Plan", parts }, append, lastChunk: last } });

const plan = `## Three days in Rome

Take the **night train**: rain is likely on the roads until Tuesday.

1. *Monday*: the Forum early, Trastevere in the evening
2. *Tuesday*: the Vatican museums
3. *Wednesday*: the Appian Way by bicycle

> Bring an umbrella for Monday.
`;

function fillScene() {
  calls = [];
  const trip = "7f3a2c1e-5b64-4f0e-9a51-0c2d86b1f001", talk = "c0ffee00-1111-4222-8333-444455556666";
  const chunks = plan.match(/[\s\S]{1,12}/g) ?? [];
  add({ begun: 0, operation: "SendStreamingMessage", skill: "plan", task: trip, context: talk, outcome: "TASK_STATE_COMPLETED" },
    { message: { messageId: "m-1", role: "ROLE_USER", contextId: talk, parts: [{ text: "Three days in Rome, from Oslo" }] } },
    [
      { at: 6, form: { task: { id: trip, contextId: talk, status: { state: "TASK_STATE_SUBMITTED" } } } },
      { at: 30, form: status(trip, talk, "WORKING", [{ text: "asking for the weather" }]) },
      { at: 420, form: status(trip, talk, "WORKING", [{ text: "comparing roads and rails" }]) },
      ...chunks.map((text, i) => ({ at: 700 + i * 28 + (i > 12 ? 160 : 0), form: artifact(trip, talk, [{ text, mediaType: "text/markdown" }], i > 0, i === chunks.length - 1) })),
      { at: 1640, form: status(trip, talk, "COMPLETED") },
    ]);
  const asks = "91d0b5a7-23f4-45a6-8b6e-77d6a0aa2002";
  add({ begun: 20_000, operation: "SendStreamingMessage", skill: "plan", task: asks, context: talk, outcome: "TASK_STATE_INPUT_REQUIRED" },
    { message: { messageId: "m-2", role: "ROLE_USER", contextId: talk, parts: [{ text: "And how do I get back?" }] } },
    [
      { at: 5, form: { task: { id: asks, contextId: talk, status: { state: "TASK_STATE_WORKING" } } } },
      { at: 240, form: status(asks, talk, "INPUT_REQUIRED", [{ text: "Which day do you leave Rome?" }, { data: { skill: "plan", input: { type: "object", required: ["day"], properties: { day: { enum: ["Wednesday", "Thursday"] } } } } }]) },
    ]);
  const failed = "3b1f77c2-0d1a-4c7b-b3ce-5d5d5d5d3003";
  add({ begun: 61_000, caller: "tripctl/2.1", operation: "SendMessage", skill: "plan", task: failed, context: "ctx-2", outcome: "TASK_STATE_FAILED", binding: "HTTP+JSON", called: "POST /message:send" },
    { message: { messageId: "m-3", role: "ROLE_USER", parts: [{ data: { from: "Oslo", to: "Atlantis", days: 3 } }] } },
    [{ at: 88, form: { task: { id: failed, contextId: "ctx-2", status: { state: "TASK_STATE_FAILED", message: { messageId: "a", role: "ROLE_AGENT", parts: [{ text: "no road leads to Atlantis" }] } } } } }]);
  add({ begun: 75_000, caller: "tripctl/2.1", operation: "GetTask", outcome: "error", version: "0.3", called: "tasks/get", error: { code: -32001, message: "task not found" } }, { id: "nothing" }, []);
  add({ begun: 80_000, caller: "Go-http-client/1.1", method: "GET", path: "/.well-known/agent-card.json", operation: "card", binding: undefined, version: undefined, called: undefined, outcome: undefined }, {}, [{ at: 1, form: {} }]);
}

/** The tasks of the scene, by what came of them. */
export const tasks = { completed: "7f3a2c1e-5b64-4f0e-9a51-0c2d86b1f001", asks: "91d0b5a7-23f4-45a6-8b6e-77d6a0aa2002" };

const types = /** @type {Record<string, string>} */ ({ html: "text/html", js: "text/javascript", css: "text/css" });

/** Starts it. */
export async function scene() {
  fillScene();
  const agent = /** @type {any} */ ({ number: 0, name: card.name, url, folder: "/home/ann/trips", phase: "ready", since: new Date(noon).toISOString(), tookMs: 840, paused: false, problems: null, notes: null });
  const deliveries = [
    { id: 1, at: new Date(noon + 1650).toISOString(), header: { "Content-Type": ["application/json"] }, size: 214, token: "good", signature: { check: "good", issuer: url, agent: url }, status: 503, kind: "status", task: tasks.completed, state: "TASK_STATE_COMPLETED", config: "push-1" },
    { id: 2, at: new Date(noon + 2150).toISOString(), header: { "Content-Type": ["application/json"] }, size: 214, token: "good", signature: { check: "good", issuer: url, agent: url }, status: 200, kind: "status", task: tasks.completed, state: "TASK_STATE_COMPLETED", config: "push-1", repeat: true },
  ];
  const lines = [[2, "INFO call operation=SendStreamingMessage skill=plan task=7f3a2c1e"], [31, "INFO weather asked city=Rome"], [1641, "INFO task ended state=completed took=1.64s"]]
    .map(([at, text]) => ({ agent: 0, at: new Date(noon + Number(at)).toISOString(), text }));
  /** @type {Record<string, () => unknown>} */
  const api = {
    "/api/state": () => ({ seq: 1, version: "1.0.0", agents: [agent], limits: { calls: 1000, bytes: 64 << 20, kept: 1 << 16 } }),
    "/api/calls": () => ({ calls: calls.map((c) => c.summary) }),
    "/api/inbox": () => ({ url: "http://127.0.0.1:8081/WEBHOOK", token: "TOKEN", answer: { status: 200 }, deliveries }),
    "/api/agents/0/log": () => ({ lines }),
    "/api/agents/0/faults": () => ({ agent: 0, faults: [], kinds: [{ name: "delay", takes: "TIME", usage: "each request waits: 200ms" }], operations: ["SendMessage"] }),
    "/api/agents/0/reports": () => ({ reports: [{ agent: 0, at: new Date(noon + 8).toISOString(), choice: { message: "m-1", rule: "words", skill: "plan", candidates: [{ skill: "plan", media: true, score: 1.82, words: { days: 0.91, rome: 0.91 } }, { skill: "ask", media: true, score: 0 }] } }] }),
    "/api/agents/0/card": () => ({ card, interfaces, schemas, extension: skillsExtension }),
    "/api/agents/0/identities": () => ({ schemes: [{ name: "key", credential: "API key", place: "header X-Key" }], identities: [{ name: "alice", schemes: ["key"] }] }),
    "/api/agents/0/published": () => ({ status: 200, type: "application/json", text: JSON.stringify(card) }),
    "/api/agents/0/lint": () => ({ findings: [] }),
    "/api/agents/0/call": () => ({ call: 1 }),
  };
  const server = createServer(async (req, resp) => {
    const path = new URL(req.url ?? "/", url).pathname;
    if (path === "/api/live") {
      resp.writeHead(200, { "Content-Type": "text/event-stream" }).write(": here\n\n"); // and never more
      return;
    }
    const [, , , id, what, n] = path.split("/");
    const c = path.startsWith("/api/calls/") ? calls[Number(id) - 1] : undefined;
    const json = api[path]?.() ?? (c && (what === "forms" ? c.forms : what === "copy" ? { text: "curl -sS " + url + "/ …" } : what === "events" ? undefined : c.exchange));
    if (json) {
      resp.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(json));
    } else if (what === "events") {
      resp.writeHead(200).end(Buffer.from(c.exchange.eventList[Number(n) - 1].bytes, "base64"));
    } else {
      const file = path === "/" ? "index.html" : path.slice(1);
      const text = await readFile(join(assets, file)).catch(() => undefined);
      resp.writeHead(text ? 200 : 404, { "Content-Type": types[file.split(".").pop() ?? ""] ?? "text/plain" }).end(text ?? "{}");
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    page: `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}/`,
    agent,
    end() {
      server.closeAllConnections();
      server.close();
    },
  };
}
