// @ts-check
// What the agent printed while it worked on a task, beside the events of the task.
import { ask } from "./api.js";
import { el, fill } from "./dom.js";
import { ms, stateName } from "./format.js";
import { virtualList } from "./list.js";
import { on, state } from "./state.js";

/** @typedef {{at: number, event?: import("./api.js").Event, line?: string, named?: boolean}} Entry */

const before = 100; // milliseconds before the first call whose lines count, too

/**
 * The lines of a task: those that name it, and, unless only these count, all that came while it was called.
 * @param {import("./state.js").Line[]} lines
 * @param {number} agent
 * @param {string} task
 * @param {{from: number, to: number}[]} spans in which it was called
 * @param {boolean} only
 * @returns {Entry[]}
 */
export function linesOf(lines, agent, task, spans, only) {
  return lines.filter((l) => l.agent === agent).flatMap((l) => {
    const at = Date.parse(l.at);
    const named = l.text.includes(task);
    const during = spans.some((s) => at >= s.from - before && at <= s.to + before);
    return named || (during && !only) ? [{ at, line: l.text, named }] : [];
  });
}

let onlyNamed = false;

/**
 * @param {HTMLElement} root
 * @param {number} agent
 * @param {string} task
 * @param {AbortSignal} signal
 */
export function showTaskLog(root, agent, task, signal) {
  /** @type {Map<number, import("./api.js").Event[]>} */
  const events = new Map();
  /** @type {Entry[]} */
  let entries = [];
  let begin = 0;
  const list = virtualList({
    label: "Events and lines, in the order of time", rowHeight: 22, count: () => entries.length,
    row: (i) => entryRow(entries[i], begin), open: (i) => { whole.textContent = entries[i].line ?? entries[i].event?.text ?? ""; },
  }, signal);
  const whole = el("pre", { role: "region", "aria-label": "The whole line", "aria-live": "polite", tabindex: "0" });
  const only = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", checked: onlyNamed, change: () => { onlyNamed = only.checked; changed(); } }));
  const empty = el("p", { class: "dim" }, "The agent printed nothing meanwhile, or somebody else runs it.");
  const changed = () => {
    const calls = [...state.calls.values()].filter((c) => c.agent === agent && c.task === task);
    const spans = calls.map((c) => ({ from: Date.parse(c.begun), to: c.state === "running" ? Date.now() : Date.parse(c.begun) + c.tookMs }));
    begin = Math.min(...spans.map((s) => s.from));
    const lines = linesOf(state.lines, agent, task, spans, onlyNamed);
    const told = calls.flatMap((c) => (events.get(c.id) ?? []).map((event) => ({ at: Date.parse(c.begun) + event.atMs, event })));
    entries = [...lines, ...told].sort((a, b) => a.at - b.at);
    empty.hidden = lines.length > 0;
    list.changed();
    for (const c of calls) if (c.events > 0 && !events.has(c.id)) void load(c.id);
  };
  /** @param {number} id */
  const load = async (id) => {
    events.set(id, []);
    try {
      const x = await ask(`/api/calls/${id}?brief=1`, "GET", undefined, signal);
      const loaded = x.eventList ?? [];
      events.set(id, [...loaded, ...(events.get(id) ?? []).filter((e) => e.n > loaded.length)]);
      changed();
    } catch {
      // it is no longer kept, or nobody looks any more
    }
  };
  fill(root, el("div", { class: "bar" }, el("label", {}, only, " only lines that name the task")), empty, list.root, whole);
  changed();
  on("event", (c) => {
    const known = events.get(c.call);
    if (known && c.event.n > (known.at(-1)?.n ?? 0)) {
      known.push(c.event);
      changed();
    }
  }, signal);
  for (const kind of /** @type {const} */ (["log", "call", "loaded", "cleared"])) on(kind, changed, signal);
}

/**
 * @param {Entry} e
 * @param {number} begin
 */
function entryRow(e, begin) {
  const at = el("span", { class: "dim" }, (e.at < begin ? "" : "+") + ms(e.at - begin));
  if (e.event) {
    return [el("span", { class: "entry" }, at, el("span", { class: "good" }, "● " + [e.event.kind, stateName(e.event.state), e.event.artifact, e.event.text].filter(Boolean).join(" ")))];
  }
  return [el("span", { class: "entry" }, at, el("span", { class: e.named ? "mono" : "mono dim" }, e.line ?? ""))];
}

/** @type {import("./places.js").Panel<import("./api.js").Exchange>} */
export const logOfCall = {
  id: "lines", title: "Log lines",
  show: (root, x, signal) => (x.task ? showTaskLog(root, x.agent, x.task, signal) : fill(root, el("p", { class: "dim" }, "This call is of no task."))),
};

/** @type {import("./places.js").Panel<{agent: number, id: string}>} */
export const logOfTask = {
  id: "lines", title: "Log lines",
  show: (root, t, signal) => showTaskLog(root, t.agent, t.id, signal),
};
