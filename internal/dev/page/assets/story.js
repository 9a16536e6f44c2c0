// @ts-check
// The story of a task: its calls, their events, its deliveries, and its messages to other agents, in the order of time.
import { ask } from "./api.js";
import { bytes, stateName } from "./format.js";
import { on, state } from "./state.js";
import { words } from "./words.js";

/** @typedef {import("./api.js").Event} Event */
/** @typedef {import("./api.js").Summary} Summary */

/**
 * Something that happened at a time (milliseconds since 1970): a call; an event, with its call; a delivery to the webhook;
 * a message to another agent; or a restart of the agent. key is what the address has of it: "12" is a call, "12.3" its
 * third event.
 * @typedef {{key: string, at: number, call?: number, event?: Event, delivery?: import("./state.js").Delivery, other?: import("./state.js").OtherCall, restart?: boolean}} Entry
 */

/** When the process of each agent began, as far as the page knows. @type {Map<number, Set<number>>} */
const begun = new Map();

/** @param {import("./api.js").Agent} a */
function learn(a) {
  const at = Date.parse(a.since ?? "");
  if (at > 0) begun.set(a.number, (begun.get(a.number) ?? new Set()).add(at));
}

on("agent", learn);
on("loaded", () => state.agents.forEach(learn));

/** When the process of an agent was another one from then on. @param {number} agent */
export function restarts(agent) {
  return [...begun.get(agent) ?? []];
}

const mostCalls = 200;

/**
 * The calls about a task, the oldest first.
 * @param {number} agent
 * @param {string} task
 * @param {Iterable<Summary>} [calls]
 */
export function callsOf(agent, task, calls = state.calls.values()) {
  return [...calls].filter((c) => c.agent === agent && c.task === task && c.operation !== "card").slice(-mostCalls);
}

/** The messages of a task to other agents, each once: one that is sent again is told again. @param {number} agent @param {string} task @param {import("./state.js").OtherCall[]} [others] */
export function othersOf(agent, task, others = state.others) {
  return [...new Map(others.filter((o) => o.agent === agent && o.call.task === task).map((o) => [o.call.message, o])).values()];
}

/** @typedef {ReturnType<typeof storyOf>} Story */

/**
 * Follows a task until the signal ends that. Events of a call are read when somebody first asks for them.
 * @param {number} agent
 * @param {string} task
 * @param {() => void} changed is called soon after something changed, and at times while a call runs
 * @param {AbortSignal} signal
 */
export function storyOf(agent, task, changed, signal) {
  /** @type {Map<number, Entry[]>} */
  const events = new Map();
  /** Those that were read to their end. @type {Set<number>} */
  const whole = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let asked;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let later;
  let took = 0; // so that a stream of many events leaves time for anything else
  const soon = () => { asked ??= setTimeout(now, 16 + 8 * took); };
  const now = () => {
    const from = performance.now();
    clearTimeout(later);
    changed();
    took = performance.now() - from;
    asked = undefined;
    if (callsOf(agent, task).some((c) => c.state === "running")) later = setTimeout(soon, 500);
  };
  /** @param {number} call @param {Event} event @returns {Entry} */
  const entry = (call, event) => ({ key: call + "." + event.n, at: Date.parse(state.calls.get(call)?.begun ?? "") + event.atMs, call, event });
  /** @param {number} call */
  const read = async (call) => {
    if (state.calls.get(call)?.state !== "running") whole.add(call);
    const x = await ask(`/api/calls/${call}?brief=1`, "GET", undefined, signal).catch(() => undefined); // it may be kept no longer
    const list = events.get(call);
    if (!x?.eventList || !list || signal.aborted) return;
    const last = x.eventList.at(-1)?.n ?? 0;
    events.set(call, [...x.eventList.map((/** @type {Event} */ e) => entry(call, e)), ...list.filter((e) => (e.event?.n ?? 0) > last)]);
    soon();
  };
  on("event", ({ call, event }) => {
    const list = events.get(call);
    if (list && event.n > (list.at(-1)?.event?.n ?? 0)) list.push(entry(call, event));
    if (list) soon();
  }, signal);
  on("call", (c) => {
    const list = events.get(c.id);
    if (list && c.state !== "running" && list.length < c.events && !whole.has(c.id)) void read(c.id);
    soon();
  }, signal);
  on("loaded", () => { [...events.keys()].forEach((id) => void read(id)); soon(); }, signal);
  for (const kind of /** @type {const} */ (["delivery", "other", "cleared", "agent", "task"])) on(kind, soon, signal);
  signal.addEventListener("abort", () => { clearTimeout(asked); clearTimeout(later); });
  /** The events of a call. @param {number} call */
  const eventsOf = (call) => {
    const list = events.get(call);
    if (list) return list;
    events.set(call, []);
    void read(call);
    return [];
  };
  return {
    agent, task, events: eventsOf,
    /** All that happened, in the order of time. */
    entries() {
      /** @type {Entry[]} */
      const all = [];
      let end = 0;
      for (const c of callsOf(agent, task)) {
        const at = Date.parse(c.begun);
        all.push({ key: String(c.id), at, call: c.id });
        for (const e of eventsOf(c.id)) all.push(e);
        end = Math.max(end, c.state === "running" ? Date.now() : at + c.tookMs);
      }
      const from = all[0]?.at ?? 0;
      for (const at of restarts(agent)) if (at > from && at < end) all.push({ key: "r" + at, at, restart: true });
      for (const o of othersOf(agent, task)) all.push({ key: "m" + o.call.message, at: Date.parse(o.at), other: o });
      for (const d of state.deliveries) if (d.task === task) all.push({ key: "w" + d.id, at: Date.parse(d.at), delivery: d });
      return all.sort((a, b) => a.at - b.at);
    },
  };
}

/** A time that passed, in few characters. @param {number} ms */
export function span(ms) {
  if (ms < 999.5) return Number(ms.toFixed(ms < 10 ? 1 : 0)) + " ms";
  if (ms < 59_950) return Number((ms / 1000).toFixed(ms < 10_000 ? 2 : 1)) + " s";
  return Number((ms / 60_000).toFixed(1)) + " min";
}

/**
 * What an entry is, in words.
 * @param {Entry} e
 * @returns {{what: string, state?: string, text: string, size: string, bad?: boolean}}
 */
export function describe(e) {
  const w = words.story;
  if (e.event) {
    const { kind, state, artifact, append, last, text = "", size } = e.event;
    const what = artifact ? `artifact ${artifact}${append ? " +" : ""}${last ? " ." : ""}` : [kind ?? w.event, stateName(state)].filter(Boolean).join(" ");
    return { what, state: stateName(state) || undefined, text, size: bytes(size), bad: kind === "error" };
  }
  if (e.delivery) {
    const d = e.delivery;
    return { what: w.delivery, text: [w.answered(d.status), d.kind, stateName(d.state), d.artifact, d.repeat ? w.repeated : ""].filter(Boolean).join(" · "), size: bytes(d.size), bad: d.status >= 400 };
  }
  if (e.other) return { what: w.asks, text: `${e.other.call.agent}: ${e.other.call.skill}`, size: "" };
  if (e.restart) return { what: w.restarted, text: w.restartedLong, size: "" };
  const c = state.calls.get(e.call ?? 0);
  if (!c) return { what: w.call, text: w.notKept, size: "" };
  return {
    what: c.operation || c.called || c.method, size: bytes(c.sent), bad: isBad(c),
    text: [c.caller, c.binding, c.version, outcomeOf(c), isRepeat(c, callsOf(c.agent, c.task ?? "")) ? w.repeat : "", c.resumed ? w.resumed : "", c.faults ? w.fault(c.faults) : ""].filter(Boolean).join(" · "),
  };
}

/** @param {Summary} c */
export function isBad(c) {
  return c.state === "broken" || (c.status ?? 0) >= 400 || c.outcome === "error";
}

/** Whether a message was sent before, in an older one of some calls. @param {Summary} c @param {Summary[]} calls */
export function isRepeat(c, calls) {
  return Boolean(c.message) && calls.some((o) => o.id < c.id && o.message === c.message);
}

/** @param {Summary} c */
function outcomeOf(c) {
  if (c.state === "running") return words.story.running;
  return c.state === "broken" ? words.story.broken(c.problem ?? "") : String(c.status ?? "");
}
