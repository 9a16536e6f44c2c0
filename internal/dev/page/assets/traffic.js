// @ts-check
// The calls of all callers.
import { ask } from "./api.js";
import { button, el, fill, labelled, select, tabs } from "./dom.js";
import { ms } from "./format.js";
import { virtualList } from "./list.js";
import { go } from "./route.js";
import { clearCalls, on, state } from "./state.js";
import { callPanels } from "./panels.js";

/** @typedef {import("./api.js").Summary} Summary */

/** @type {import("./places.js").View} */
export const trafficView = {
  id: "calls", title: "Calls",
  badge: () => String(state.calls.size || ""),
  show(root, parts, signal) {
    /** @type {Summary[]} */
    let newest = [];
    const list = virtualList({
      label: "Calls, the newest first", rowHeight: 44, count: () => newest.length,
      row: (i) => callRow(newest[i]), open: (i) => go("traffic", newest[i].id),
    }, signal);
    const detail = el("section", { class: "detail", "aria-label": "Call" });
    const empty = el("p", { class: "dim" });
    const picks = el("span", { class: "bar" });
    const text = /** @type {HTMLInputElement} */ (el("input", { type: "search", value: chosen.text, size: 14, input: () => { chosen.text = text.value; changed(); } }));
    const bad = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", checked: chosen.failed, change: () => { chosen.failed = bad.checked; changed(); } }));
    const changed = () => {
      newest = [...state.calls.values()].filter(passes).reverse();
      empty.textContent = state.calls.size === 0 ? "No call yet. Call an agent at the address above." : "No call is like that.";
      empty.hidden = newest.length > 0;
      drawPicks(picks, changed);
      list.changed();
    };
    root.append(el("div", { class: "sides" },
      el("section", { "aria-label": "Calls" }, el("div", { class: "bar" }, el("h2", {}, "Calls"), button("Forget all", () => void clearCalls())), el("div", { class: "bar" }, labelled("Has", text), picks, el("label", {}, bad, " failed alone")), empty, list.root), detail));
    changed();
    for (const kind of /** @type {const} */ (["call", "cleared", "loaded"])) on(kind, changed, signal);
    let inner = new AbortController();
    signal.addEventListener("abort", () => inner.abort());
    /** @param {string[]} parts */
    const moved = ([id]) => {
      inner.abort();
      inner = new AbortController();
      if (id) void showCall(detail, Number(id), inner.signal);
      else fill(detail, el("p", { class: "dim" }, "Choose a call to see what was said."));
    };
    moved(parts);
    return moved;
  },
};

/** Which calls are shown; "" is all. */
const chosen = { caller: "", agent: "", binding: "", text: "", failed: false };

/** @param {Summary} s */
function passes(s) {
  const has = [s.caller, s.called, s.operation, s.path, s.task, s.context, s.skill, s.outcome, s.version, s.faults, "#" + s.id].join(" ").toLowerCase();
  return (!chosen.caller || s.caller === chosen.caller) && (!chosen.agent || String(s.agent) === chosen.agent) && (!chosen.binding || s.binding === chosen.binding) &&
    (!chosen.failed || failed(s)) && has.includes(chosen.text.toLowerCase());
}

/**
 * Draws what can be chosen from, if that is something else than before and nobody is about to choose.
 * @param {HTMLElement} root
 * @param {() => void} changed
 */
function drawPicks(root, changed) {
  const calls = [...state.calls.values()];
  /** @param {"caller" | "agent" | "binding"} key @param {string} label @param {string} all @param {(value: string) => string} [text] */
  const pick = (key, label, all, text = (v) => v) => {
    const values = [...new Set([...calls.map((s) => String(s[key] ?? "")), chosen[key]])].filter(Boolean).sort();
    return { key, label, options: /** @type {[string, string][]} */ ([["", all], ...values.map((v) => [v, text(v)])]) };
  };
  const picks = [pick("caller", "Caller", "all callers"), pick("binding", "Binding", "all bindings")];
  if (state.agents.size > 1) picks.push(pick("agent", "Agent", "all agents", (n) => state.agents.get(Number(n))?.name ?? n));
  const now = JSON.stringify(picks);
  if (root.dataset.now === now || root.contains(document.activeElement)) return;
  root.dataset.now = now;
  fill(root, ...picks.map((p) => labelled(p.label, select(p.options, chosen[p.key], (v) => { chosen[p.key] = v; changed(); }))));
}

/** @param {Summary} s */
function failed(s) {
  return s.state === "broken" || (s.status ?? 0) >= 400 || s.outcome === "error";
}

/** @param {Summary} s */
function callRow(s) {
  const status = s.state === "running" ? "…" : s.state === "broken" ? "broken" : String(s.status ?? "");
  const bad = failed(s);
  const what = s.operation && s.operation !== "card" ? s.called || s.operation : s.method + " " + s.path;
  const detail = [s.caller, s.binding, s.version, s.outcome, s.events ? s.events + " events" : ""].filter(Boolean).join(" · ");
  const hit = s.faults ? el("span", { class: "bad" }, "fault: " + s.faults + " ") : null;
  return [el("span", { class: "call" }, el("span", { class: "dim" }, "#" + s.id), el("span", { class: "two" }, what, el("br"), hit, el("span", { class: "dim" }, detail)),
    el("span", { class: bad ? "bad" : "good" }, status), el("span", { class: "dim" }, s.tookMs ? ms(s.tookMs) : ""))];
}

let panel = "bytes";

/**
 * @param {HTMLElement} root
 * @param {number} id
 * @param {AbortSignal} signal
 */
async function showCall(root, id, signal) {
  const s = state.calls.get(id);
  const title = el("h2", {}, s ? `#${id} ${s.called || s.method} ${s.path}` : "#" + id);
  const body = el("div");
  let inner = new AbortController();
  signal.addEventListener("abort", () => inner.abort());
  const draw = async () => {
    try {
      /** @type {import("./api.js").Exchange} */
      const x = await ask("/api/calls/" + id, "GET", undefined, signal);
      inner.abort();
      inner = new AbortController();
      fill(body);
      (callPanels.find((p) => p.id === panel) ?? callPanels[0]).show(body, x, inner.signal);
    } catch (err) {
      if (!signal.aborted) fill(body, el("p", { class: "bad" }, String(/** @type {Error} */ (err).message)));
    }
  };
  fill(root, title, callPanels.length > 1 ? tabs("Of this call", callPanels, panel, (p) => { panel = p; void draw(); }) : null, body);
  on("call", (c) => { if (c.id === id && c.state !== "running") void draw(); }, signal);
  await draw();
}
