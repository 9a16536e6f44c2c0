// @ts-check
// An agent of A2A 1.0 over JSON-RPC that does what a test says, in as few lines as that takes. "a2agen dev --to" stands
// before it, as before any agent that is not built here.
import { once } from "node:events";
import { createServer } from "node:http";

/** The extension by which skills have schemas and are named. */
export const skillsExtension = "https://github.com/a2agen/a2agen/extensions/skills/v1";

/**
 * A skill: run is called with each message of a task, and sends events by the task's methods.
 * @typedef {{name?: string, description?: string, examples?: string[], input?: unknown, run: (t: FakeTask, message: any) => void}} FakeSkill
 */

/** A task of the fake. */
export class FakeTask {
  /** @param {string} id @param {string} contextId @param {FakeSkill} skill */
  constructor(id, contextId, skill) {
    this.id = id;
    this.contextId = contextId;
    this.skill = skill;
    this.state = "TASK_STATE_WORKING";
    /** @type {any} */
    this.message = undefined;
    /** @type {any[]} */
    this.artifacts = [];
    /** @type {any[]} */
    this.events = [];
    /** @type {Set<() => void>} */
    this.readers = new Set();
    this.over = false;
    /** The event after which the stream of the last message begins. */
    this.from = 0;
  }

  /** @param {any} e */
  emit(e) {
    this.events.push(e);
    this.readers.forEach((f) => f());
  }

  /**
   * @param {string} state "COMPLETED"
   * @param {any[]} [parts] of the message with it
   * @param {any} [metadata] of that
   */
  status(state, parts, metadata) {
    this.state = "TASK_STATE_" + state;
    this.message = parts && { messageId: "m" + this.events.length, role: "ROLE_AGENT", parts, ...(metadata ? { metadata } : {}) };
    this.over = /COMPLETED|FAILED|CANCELED|REJECTED|REQUIRED/.test(state);
    this.emit({ statusUpdate: { taskId: this.id, contextId: this.contextId, status: this.status_() } });
  }

  status_() {
    return { state: this.state, timestamp: "2026-01-02T03:04:05Z", ...(this.message ? { message: this.message } : {}) };
  }

  /** @param {string} artifactId @param {any[]} parts @param {boolean} [append] @param {boolean} [lastChunk] */
  artifact(artifactId, parts, append = false, lastChunk = false) {
    this.emit({ artifactUpdate: { taskId: this.id, contextId: this.contextId, artifact: { artifactId, parts }, append, lastChunk } });
  }

  task() {
    return { id: this.id, contextId: this.contextId, status: this.status_(), artifacts: this.artifacts };
  }
}

/**
 * Starts one.
 * @param {Record<string, FakeSkill>} skills
 * @param {any} [more] members of its card
 */
export async function fake(skills, more = {}) {
  /** @type {Map<string, FakeTask>} */
  const tasks = new Map();
  /** @type {any[]} the requests of JSON-RPC, with their headers */
  const asked = [];
  let url = "";
  /** The error that the next message is answered with. @type {any} */
  let refusal;
  const card = () => ({
    name: "Fake", description: "A fake.", version: "1", defaultInputModes: ["application/json"], defaultOutputModes: ["application/json"],
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
    capabilities: { streaming: true, extensions: [{ uri: skillsExtension, params: { skills: Object.fromEntries(Object.entries(skills).map(([id, s]) => [id, { input: s.input }])) } }] },
    skills: Object.entries(skills).map(([id, s]) => ({ id, name: s.name ?? id, description: s.description ?? "", tags: ["test"], examples: s.examples ?? [] })), ...more,
  });
  const web = createServer(async (req, resp) => {
    if (req.method === "GET") {
      resp.writeHead(req.url === "/.well-known/agent-card.json" ? 200 : 404, { "Content-Type": "application/json" });
      resp.end(JSON.stringify(card()));
      return;
    }
    let body = "";
    for await (const piece of req) body += piece;
    const { id, method, params } = JSON.parse(body);
    asked.push({ method, params, headers: req.headers });
    /** @param {any} result */
    const answer = (result) => resp.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    /** @param {number} code @param {string} message */
    const refuse = (code, message) => resp.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
    if (refusal && method.startsWith("Send")) {
      resp.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ jsonrpc: "2.0", id, error: refusal }));
      refusal = undefined;
      return;
    }
    const t = method.startsWith("Send") ? begin(params.message) : tasks.get(params.id);
    if (!t) {
      refuse(-32001, "there is no such task");
    } else if (method === "GetTask") {
      answer(t.task());
    } else if (method === "CancelTask") {
      t.status("CANCELED");
      answer(t.task());
    } else if (method === "SendMessage") {
      answer({ task: t.task() });
    } else {
      const after = Number(req.headers["last-event-id"] ?? -1);
      stream(resp, id, t, method === "SendStreamingMessage" ? t.from : after, method === "SubscribeToTask" && after < 0);
    }
  });
  /** @param {any} message */
  const begin = (message) => {
    const id = message.taskId ?? "task-" + (tasks.size + 1);
    const name = message.metadata?.[skillsExtension]?.skill ?? Object.keys(skills)[0];
    const t = tasks.get(id) ?? new FakeTask(id, message.contextId ?? "context-" + (tasks.size + 1), skills[name]);
    tasks.set(id, t);
    t.from = t.events.length;
    t.over = false;
    if (t.events.length === 0) t.emit({ task: t.task() });
    t.skill.run(t, message);
    return t;
  };
  /** @param {any} resp @param {any} id @param {FakeTask} t @param {number} from @param {boolean} snapshot */
  const stream = (resp, id, t, from, snapshot) => {
    resp.writeHead(200, { "Content-Type": "text/event-stream" });
    let next = Math.max(0, from);
    /** @param {number} n @param {any} result */
    const write = (n, result) => resp.write(`id: ${n}\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result })}\n\n`);
    if (snapshot) {
      next = t.events.length;
      write(next, { task: t.task() });
    }
    const more = () => {
      while (next < t.events.length) write(next + 1, t.events[next++]);
      if (t.over) resp.end();
    };
    t.readers.add(more);
    resp.on("close", () => t.readers.delete(more));
    more();
  };
  web.listen(0, "127.0.0.1");
  await once(web, "listening");
  url = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (web.address()).port}`;
  return {
    url, asked, tasks,
    /** Has the next message answered with an error. @param {any} error */
    refuses(error) { refusal = error; },
    end() {
      web.closeAllConnections();
      web.close();
    },
  };
}
