// @ts-check
// Tasks, as far as the record of calls knows them.
import { on, state, tell } from "./state.js";
import { stateName } from "./format.js";

/**
 * A task; calls are those that are about it, the oldest first, and ended is when a state that is its last was first told,
 * in milliseconds since 1970 (0: it was not).
 * @typedef {{id: string, agent: number, state: string, skill: string, context: string, begun: string, ended: number, text: string, calls: number[]}} Task
 */

/** Agents may have given the same id to tasks of theirs. @type {Map<string, Task>} */
const all = new Map();

/** @param {number} agent @param {string} id */
const key = (agent, id) => agent + "/" + id;

/** The tasks of an agent, the newest first. @param {number} agent */
export function tasksOf(agent) {
  return [...all.values()].filter((t) => t.agent === agent).reverse();
}

/** @param {number} agent @param {string} id */
export function task(agent, id) {
  return all.get(key(agent, id));
}

/** States in which nothing more comes. @param {string} s */
export function isOver(s) {
  return ["completed", "failed", "canceled", "rejected"].includes(s);
}

/** How long a task took, or takes so far, in milliseconds. @param {Task} t */
export function lasts(t) {
  return Math.max(0, (t.ended || Date.now()) - Date.parse(t.begun));
}

/** @param {import("./api.js").Summary} s */
function learn(s) {
  if (!s.task || s.operation === "card") return;
  const t = task(s.agent, s.task) ?? { id: s.task, agent: s.agent, state: "", skill: "", context: "", begun: s.begun, ended: 0, text: "", calls: [] };
  all.set(key(t.agent, t.id), t);
  if (!t.calls.includes(s.id)) t.calls.push(s.id);
  t.skill ||= s.skill ?? "";
  t.context ||= s.context ?? "";
  if (s.outcome && s.outcome !== "error" && s.outcome !== "message") t.state = stateName(s.outcome);
  if (isOver(t.state) && s.state !== "running") t.ended ||= Date.parse(s.begun) + s.tookMs;
  news(t);
}

/** @type {Set<Task>} */
const changed = new Set();

/** Tells of a task, once for all that happens before the next picture. @param {Task} t */
function news(t) {
  if (changed.size === 0) requestAnimationFrame(() => {
    const list = [...changed];
    changed.clear();
    list.forEach((t) => tell("task", t));
  });
  changed.add(t);
}

/** Tasks stay the same objects: views hold them. */
function relearn() {
  for (const t of all.values()) t.calls.length = 0;
  state.calls.forEach(learn);
  for (const t of [...all.values()]) {
    if (t.calls.length === 0) all.delete(key(t.agent, t.id));
  }
}

on("loaded", relearn);
on("cleared", relearn);
on("call", learn);
on("event", ({ call, event }) => {
  const s = state.calls.get(call);
  if (!s || !event.task) return;
  if (s.task !== event.task) {
    s.task = event.task;
    learn(s);
  }
  const t = task(s.agent, event.task);
  if (!t) return;
  if (event.state) t.state = stateName(event.state);
  if (isOver(t.state)) t.ended ||= Date.parse(s.begun) + event.atMs;
  if (event.text) t.text = event.text;
  news(t);
});
