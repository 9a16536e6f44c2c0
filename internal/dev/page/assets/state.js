// @ts-check
// What the page knows: loaded once, and then as the server's feed tells.
import { ask, away, follow } from "./api.js";
import { words } from "./words.js";

/** @typedef {import("./api.js").Agent} Agent */
/** @typedef {import("./api.js").Summary} Summary */
/** @typedef {import("./api.js").Event} Event */
/** @typedef {{agent: number, at: string, text: string}} Line */
/** @typedef {{call: number, event: Event}} Change */
/** @typedef {{kind: string, with: string, is: string, hits: number}} Fault */
/** @typedef {{agent: number, faults: Fault[], problem?: string}} Faults */
/** @typedef {{check: string, issuer?: string, agent?: string, why?: string}} Signature */
/** @typedef {{id: number, at: string, path?: string, header: Record<string, string[]>, body?: string, size: number, version?: string, notification?: string, config?: string, sequence?: string, repeat?: boolean, token: string, signature: Signature, status: number, kind?: string, task?: string, state?: string, artifact?: string, text?: string}} Delivery */
/** @typedef {{skill: string, media: boolean, schema?: string, score: number, words?: Record<string, number>}} Candidate */
/** @typedef {{agent: number, at: string, call: {task: string, agent: string, skill: string, message: string}}} OtherCall */
/** @typedef {{agent: number, at: string, choice: {message?: string, task?: string, rule?: string, skill?: string, error?: string, candidates: Candidate[]}}} Choice */

/**
 * What a listener can be told of. "loaded" is after everything was read, anew if changes were missed; "link" when the
 * connection to the command is lost (with why) or found again (""); "chosen" when another agent is looked at;
 * "task" when something is known of a task that was not.
 * @typedef {{faults: Faults, delivery: Delivery, choice: Choice, other: OtherCall, agent: Agent, call: Summary, event: Change, log: Line, cleared: null, loaded: null, link: string, chosen: Agent, task: import("./task.js").Task}} Kinds
 */

const mostLines = 5000;
const mostLast = 500;

export const state = {
  /** The version of the command. */
  version: "",
  /** @type {Map<number, Agent>} */
  agents: new Map(),
  /** The number of the agent that is looked at. */
  chosen: 0,
  /** The oldest first. @type {Map<number, Summary>} */
  calls: new Map(),
  /** @type {Line[]} */
  lines: [],
  /** What goes wrong with the calls of each agent. @type {Map<number, Faults>} */
  faults: new Map(),
  /** What came to the webhook, the oldest first. @type {Delivery[]} */
  deliveries: [],
  /** Why messages went to their skills. @type {Choice[]} */
  choices: [],
  /** Messages of handlers to other agents. @type {OtherCall[]} */
  others: [],
  limits: { calls: 1000, bytes: 0, kept: 0 },
};

/** @type {Map<string, Set<(what: any) => void>>} */
const listeners = new Map();

/**
 * Has a function told of changes, until the signal ends that.
 * @template {keyof Kinds} K
 * @param {K} kind
 * @param {(what: Kinds[K]) => void} f
 * @param {AbortSignal} [signal]
 */
export function on(kind, f, signal) {
  if (signal?.aborted) return;
  const set = listeners.get(kind) ?? new Set();
  listeners.set(kind, set.add(f));
  signal?.addEventListener("abort", () => set.delete(f));
}

/**
 * @template {keyof Kinds} K
 * @param {K} kind
 * @param {Kinds[K]} what
 */
export function tell(kind, what) {
  for (const f of [...(listeners.get(kind) ?? [])]) f(what);
}

/** The agent that is looked at. @returns {Agent | undefined} */
export function agent() {
  return state.agents.get(state.chosen);
}

/** @param {number} number */
export function choose(number) {
  const a = state.agents.get(number);
  if (!a || number === state.chosen) return;
  state.chosen = number;
  tell("chosen", a);
}

/** Forgets the calls that have ended, here and in the command. */
export async function clearCalls() {
  await ask("/api/calls", "DELETE");
  for (const c of [...state.calls.values()]) {
    if (c.state !== "running") state.calls.delete(c.id);
  }
  tell("cleared", null);
}

/** @param {Summary} s */
function addCall(s) {
  state.calls.set(s.id, s);
  for (const id of state.calls.keys()) {
    if (state.calls.size <= state.limits.calls) break;
    state.calls.delete(id);
  }
}

/** @param {Line} line */
function addLine(line) {
  state.lines.push(line);
  if (state.lines.length > 2 * mostLines) state.lines.splice(0, mostLines);
}

/**
 * Adds to a list of which the last ones count.
 * @template T
 * @param {T[]} list
 * @param {T} what
 */
function addLast(list, what) {
  list.push(what);
  if (list.length > 2 * mostLast) list.splice(0, mostLast);
}

/** @param {any} r */
function addReport(r) {
  if (r.choice) addLast(state.choices, r);
  else addLast(state.others, r);
}

/** Reads everything. @returns {Promise<number>} the number of the last change that is in it */
async function load() {
  const s = await ask("/api/state");
  /** @param {string} what @returns {Promise<any[]>} what there is of each agent */
  const each = (what) => Promise.all(s.agents.map((/** @type {Agent} */ a) => ask(`/api/agents/${a.number}/${what}`)));
  const [calls, inbox, logs, faults, reports] = await Promise.all([ask("/api/calls"), ask("/api/inbox"), each("log"), each("faults"), each("reports")]);
  state.version = s.version;
  state.limits = s.limits;
  state.agents = new Map(s.agents.map((/** @type {Agent} */ a) => [a.number, a]));
  if (!state.agents.has(state.chosen)) state.chosen = s.agents[0]?.number ?? 0;
  state.calls.clear();
  calls.calls.forEach(addCall);
  state.choices = [];
  state.others = [];
  reports.flatMap((r) => r.reports).forEach(addReport);
  state.faults = new Map(faults.map((f) => [f.agent, f]));
  state.deliveries = inbox.deliveries;
  state.lines = logs.flatMap((l) => l.lines).sort((a, b) => a.at < b.at ? -1 : 1);
  tell("loaded", null);
  return s.seq;
}

/** Begins to know things, and never ends. */
export async function begin() {
  const seq = await load();
  follow(seq, {
    agent: (a) => { state.agents.set(a.number, a); tell("agent", a); },
    call: (s) => { addCall(s); tell("call", s); },
    event: (c) => tell("event", c),
    log: (l) => { addLine(l); tell("log", l); },
    faults: (f) => { state.faults.set(f.agent, f); tell("faults", f); },
    delivery: (d) => { if (d.id > (state.deliveries.at(-1)?.id ?? 0)) addLast(state.deliveries, d); tell("delivery", d); },
    report: (r) => { addReport(r); tell(r.choice ? "choice" : "other", r); },
    reset: () => void load(),
    lost: (over) => tell("link", over ? words.frame.older : away),
    found: () => tell("link", ""),
  });
}
