// @ts-check
// What was sent, by whom, to be sent again or saved.
import { ask } from "./api.js";
import { save } from "./copy.js";
import { button, el, fill, labelled, select } from "./dom.js";
import { ms, stateName } from "./format.js";
import { virtualList } from "./list.js";
import { go, link } from "./route.js";
import { on, state } from "./state.js";

/** @typedef {import("./api.js").Summary} Summary */

/** What is shown. */
const filter = { caller: "", text: "", sends: true };

const sends = ["SendMessage", "SendStreamingMessage"];

/**
 * The calls that a filter lets through, the newest first.
 * @param {Iterable<Summary>} calls
 * @param {number} agent
 * @param {{caller: string, text: string, sends: boolean}} by
 */
export function matching(calls, agent, by) {
  const text = by.text.toLowerCase();
  return [...calls].filter((c) => c.agent === agent && (!by.caller || c.caller === by.caller) && (!by.sends || sends.includes(c.operation ?? "")) &&
    (!text || [c.skill, c.task, c.context, c.outcome, c.called, c.path, c.caller].some((s) => s?.toLowerCase().includes(text)))).reverse();
}

/** @type {import("./places.js").View} */
export const historyView = {
  id: "history", title: "History",
  show(root, parts, signal) {
    /** @type {Summary[]} */
    let calls = [];
    const told = el("p", { role: "status", class: "about" });
    const who = el("div");
    const detail = el("section", { class: "detail", "aria-label": "What was said" });
    const list = virtualList({
      label: "What was sent, the newest first", rowHeight: 44, count: () => calls.length, row: (i) => historyRow(calls[i]), open: (i) => go("traffic", "history", calls[i].id),
    }, signal);
    const all = button("", () => void save(calls.filter((c) => c.state !== "running").map((c) => c.id), told));
    const changed = () => {
      calls = matching(state.calls.values(), state.chosen, filter);
      all.textContent = `Save these ${calls.length} as a recording`;
      all.disabled = calls.length === 0;
      list.changed();
      const callers = [...new Set([...state.calls.values()].filter((c) => c.agent === state.chosen).map((c) => c.caller))].sort();
      if (who.dataset.callers === callers.join("\n") && who.firstChild) return;
      who.dataset.callers = callers.join("\n");
      fill(who, labelled("Of", select([["", "all callers"], ...callers.map((c) => /** @type {[string, string]} */ ([c, c]))], filter.caller, (c) => { filter.caller = c; changed(); })));
    };
    const text = /** @type {HTMLInputElement} */ (el("input", { type: "search", autocomplete: "off", input: () => { filter.text = text.value; changed(); } }));
    text.value = filter.text;
    const only = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", checked: filter.sends, change: () => { filter.sends = only.checked; changed(); } }));
    root.append(el("div", { class: "sides" }, el("section", { "aria-label": "Calls" },
      el("div", { class: "bar" }, who, labelled("With the words", text), el("label", {}, only, " messages only"), all), told, list.root), detail));
    changed();
    for (const kind of /** @type {const} */ (["call", "cleared", "loaded", "chosen"])) on(kind, changed, signal);
    let inner = new AbortController();
    signal.addEventListener("abort", () => inner.abort());
    /** @param {string[]} parts */
    const moved = ([id]) => {
      inner.abort();
      inner = new AbortController();
      if (id) void showSaid(detail, Number(id), inner.signal);
      else fill(detail, el("p", { class: "dim" }, "Choose a call to see what it said."));
    };
    moved(parts);
    return moved;
  },
};

/** @param {Summary} c */
function historyRow(c) {
  const outcome = c.state === "running" ? "…" : stateName(c.outcome) || String(c.status ?? "");
  const bad = c.state === "broken" || (c.status ?? 0) >= 400 || ["error", "failed", "rejected"].includes(outcome);
  return [el("span", { class: "call" }, el("span", { class: "dim" }, "#" + c.id),
    el("span", { class: "two" }, c.skill || c.called || c.operation || c.path, el("br"), el("span", { class: "dim" }, [new Date(c.begun).toLocaleTimeString(), c.caller, c.version, c.binding].filter(Boolean).join(" · "))),
    el("span", { class: bad ? "bad" : "good" }, outcome), el("span", { class: "dim" }, c.tookMs ? ms(c.tookMs) : ""))];
}

/**
 * @param {HTMLElement} root
 * @param {number} id
 * @param {AbortSignal} signal
 */
async function showSaid(root, id, signal) {
  try {
    const c = state.calls.get(id);
    const f = await ask(`/api/calls/${id}/forms?after=0&limit=1`, "GET", undefined, signal);
    const said = f.request.form ?? f.request.problem ?? null;
    fill(root, el("h2", {}, "#" + id + (c?.skill ? " " + c.skill : "")),
      el("div", { class: "bar" }, f.request.form?.message ? el("a", { href: link("call", c?.skill || "any", id) }, "Edit, and send again") : null,
        el("a", { href: link("traffic", id) }, "In Traffic"), c?.task ? el("a", { href: link("tasks", c.agent, c.task) }, "Its task") : null),
      el("pre", { tabindex: 0 }, typeof said === "string" ? said : JSON.stringify(said, null, 2)));
  } catch (err) {
    if (!signal.aborted) fill(root, el("p", { class: "bad" }, /** @type {Error} */ (err).message));
  }
}
