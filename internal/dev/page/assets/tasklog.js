// @ts-check
// What the agent printed while it worked on a task, beside the events of the task.
import { el, fill } from "./dom.js";
import { virtualList } from "./list.js";
import { on, state } from "./state.js";
import { callsOf, describe, span, storyOf } from "./story.js";
import { words } from "./words.js";

/** @typedef {{at: number, event?: import("./story.js").Entry, line?: string, named?: boolean}} Entry */

const w = words.tasks;
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
function showTaskLog(root, agent, task, signal) {
  /** @type {Entry[]} */
  let entries = [];
  let begin = 0;
  const list = virtualList({
    label: w.lines, rowHeight: 24, class: "events", count: () => entries.length,
    row: (i) => entryRow(entries[i], begin), open: (i) => { whole.textContent = entries[i].line ?? entries[i].event?.event?.text ?? ""; },
  }, signal);
  const whole = el("pre", { role: "region", "aria-label": w.wholeLine, "aria-live": "polite", tabindex: "0" });
  const only = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", checked: onlyNamed, change: () => { onlyNamed = only.checked; changed(); } }));
  const empty = el("p", { class: "empty" }, w.noLines);
  const story = storyOf(agent, task, () => changed(), signal);
  const changed = () => {
    const calls = callsOf(agent, task);
    const spans = calls.map((c) => ({ from: Date.parse(c.begun), to: c.state === "running" ? Date.now() : Date.parse(c.begun) + c.tookMs }));
    begin = Math.min(...spans.map((s) => s.from));
    const lines = linesOf(state.lines, agent, task, spans, onlyNamed);
    entries = [...lines, ...calls.flatMap((c) => story.events(c.id)).map((event) => ({ at: event.at, event }))].sort((a, b) => a.at - b.at);
    empty.hidden = lines.length > 0;
    list.changed();
  };
  fill(root, el("div", { class: "bar" }, el("label", {}, only, " " + w.onlyNamed)), empty, list.root, whole);
  changed();
  on("log", changed, signal);
}

/**
 * @param {Entry} e
 * @param {number} begin
 */
function entryRow(e, begin) {
  const at = el("span", { class: "num dim" }, (e.at < begin ? "−" : "+") + span(Math.abs(e.at - begin)));
  if (!e.event) return [el("span", { class: "entry" }, at, el("span", { class: e.named ? "mono" : "mono dim" }, e.line ?? ""))];
  const d = describe(e.event);
  return [el("span", { class: "entry" }, at, el("span", { class: "good" }, "● " + [d.what, d.text].filter(Boolean).join(" ")))];
}

/** @type {import("./places.js").Panel<import("./api.js").Exchange>} */
export const logOfCall = {
  id: "lines", title: w.log,
  show: (root, x, signal) => (x.task ? showTaskLog(root, x.agent, x.task, signal) : fill(root, el("p", { class: "dim" }, words.story.noTask))),
};

/** @type {import("./places.js").Panel<{agent: number, id: string}>} */
export const logOfTask = {
  id: "lines", title: w.log,
  show: (root, t, signal) => showTaskLog(root, t.agent, t.id, signal),
};
