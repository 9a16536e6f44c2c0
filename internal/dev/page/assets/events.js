// @ts-check
// The event log of a task: every event of every call about it, with its very bytes.
import { forms } from "./agent.js";
import { ask } from "./api.js";
import { button, copy, el, fill, tabs } from "./dom.js";
import { bytes, ms, stateName } from "./format.js";
import { virtualList } from "./list.js";
import { link } from "./route.js";
import { on, state } from "./state.js";

/** @typedef {import("./api.js").Event} Event */
/** @typedef {{call: number, at: number, event?: Event}} Row a call, or an event of one */

let shownAs = "bytes";
const shownBytes = 64 << 10;

/** @type {import("./places.js").Panel<import("./task.js").Task>} */
export const eventsPanel = {
  id: "events", title: "Events",
  show(root, task, signal) {
    /** @type {Row[]} */
    let rows = [];
    const begun = () => rows[0]?.at ?? 0;
    const detail = el("section", { class: "event", "aria-label": "Event" }, el("p", { class: "dim" }, "Choose an event to see its bytes."));
    let inner = new AbortController();
    signal.addEventListener("abort", () => inner.abort());
    const list = virtualList({
      label: "Events of the task", rowHeight: 24, class: "mono events", most: 0.45, count: () => rows.length,
      row: (i) => cells(rows[i], begun()),
      open: (i) => { inner.abort(); inner = new AbortController(); showRow(detail, rows[i], inner.signal); },
    }, signal);
    root.append(list.root, detail);
    /** @type {Map<number, number>} the events of each call that are in rows */
    const have = new Map();
    /** @param {number} id */
    const add = (id) => {
      const s = state.calls.get(id);
      if (have.has(id) || !s) return;
      have.set(id, 0);
      rows.push({ call: id, at: Date.parse(s.begun) });
      void fillIn(id);
    };
    /** Reads the events that came before the feed told of any. @param {number} id */
    const fillIn = async (id) => {
      const x = await ask(`/api/calls/${id}?brief=1`, "GET", undefined, signal).catch(() => undefined);
      if (!x || signal.aborted) return;
      for (const e of x.eventList ?? []) push(id, e);
      rows.sort((a, b) => a.at - b.at || a.call - b.call || (a.event?.n ?? 0) - (b.event?.n ?? 0));
      list.changed();
    };
    /** @param {number} id @param {Event} e */
    const push = (id, e) => {
      if (e.n <= (have.get(id) ?? 0)) return;
      have.set(id, e.n);
      rows.push({ call: id, at: Date.parse(state.calls.get(id)?.begun ?? "") + e.atMs, event: e });
    };
    const all = () => { task.calls.forEach(add); list.changed(); };
    all();
    on("event", ({ call, event }) => {
      if (!have.has(call)) return;
      if (event.n === (have.get(call) ?? 0) + 1) push(call, event); // others come with all of their call
      list.changed();
    }, signal);
    on("loaded", () => { all(); [...have.keys()].forEach((id) => void fillIn(id)); }, signal);
    on("task", (t) => { if (t.id === task.id) all(); }, signal);
    on("call", (c) => { if (have.has(c.id) && c.state !== "running") { void fillIn(c.id); list.changed(); } }, signal);
  },
};

/** @param {Row} r @param {number} begun */
function cells(r, begun) {
  const e = r.event;
  const at = el("span", { class: "num dim" }, "+" + ms(Math.max(0, r.at - begun)));
  if (!e) {
    const s = state.calls.get(r.call);
    return [el("span", { class: "log call-row" }, el("span", { class: "num" }, "#" + r.call), at, el("span", {}, s?.operation ?? ""), el("span", { class: "num dim" }, bytes(s?.sent ?? 0)),
      el("span", { class: "words" }, [s?.caller, s?.binding, s?.version, s?.state === "running" ? "running" : s?.state === "broken" ? "broken: " + (s.problem ?? "") : String(s?.status ?? ""), s?.faults ? "fault: " + s.faults : ""].filter(Boolean).join(" · ")))];
  }
  const words = [stateName(e.state), e.artifact ? "artifact " + e.artifact + (e.append ? " +" : "") + (e.last ? " ." : "") : "", e.text ?? ""].filter(Boolean).join("  ");
  return [el("span", { class: "log" }, el("span", { class: "num" }, e.id || String(e.n)), at, el("span", { class: e.kind === "error" ? "bad" : "" }, e.kind ?? "event"), el("span", { class: "num dim" }, bytes(e.size)),
    el("span", { class: "words" }, words))];
}

/**
 * @param {HTMLElement} root
 * @param {Row} r
 * @param {AbortSignal} signal
 */
function showRow(root, r, signal) {
  const e = r.event;
  if (!e) {
    fill(root, el("p", {}, el("a", { href: link("traffic", r.call) }, `Call #${r.call} in Traffic`)));
    return;
  }
  const body = el("div");
  const at = `/api/calls/${r.call}/events/${e.n}`;
  /** @param {string} as */
  const show = async (as) => {
    shownAs = as;
    try {
      const text = as === "bytes" ? await rawText(at, signal) : await formText(r.call, e.n, signal);
      if (signal.aborted) return;
      fill(body, el("pre", { tabindex: 0 }, text.slice(0, shownBytes)),
        el("div", { class: "bar" }, button("Copy", () => void copy(text), { class: "small" }), el("a", { href: at, download: `call-${r.call}-event-${e.n}` }, `all ${bytes(e.size)}, as they came`)));
    } catch (err) {
      if (!signal.aborted) fill(body, el("p", { class: "bad" }, /** @type {Error} */ (err).message));
    }
  };
  fill(root, el("h3", {}, `Event ${e.n} of call #${r.call}`), tabs("Event as", [{ id: "bytes", title: "Bytes" }, { id: "form", title: "As 1.0 has it" }], shownAs, (as) => void show(as)), body);
  void show(shownAs);
}

/** The bytes of something as a text; of large ones the beginning. @param {string} at @param {AbortSignal} signal */
async function rawText(at, signal) {
  const resp = await fetch(at, { signal });
  const read = resp.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = (await read?.read()) ?? { done: true, value: undefined };
    text += decoder.decode(value, { stream: !done });
    if (done) break;
    if (text.length > shownBytes) {
      void read?.cancel();
      break;
    }
  }
  if (!resp.ok) throw new Error(JSON.parse(text).error);
  return text;
}

/** @param {number} call @param {number} n @param {AbortSignal} signal */
async function formText(call, n, signal) {
  const f = (await forms(call, n - 1, signal)).events.find((f) => f.n === n);
  return f?.form || f?.error ? JSON.stringify(f.form ?? f.error, null, 2) : f?.problem ?? "There is nothing in it.";
}
