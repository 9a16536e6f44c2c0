// @ts-check
// The calls of all callers.
import { ask } from "./api.js";
import { button, el, fill, tabs } from "./dom.js";
import { ms } from "./format.js";
import { virtualList } from "./list.js";
import { go } from "./route.js";
import { clearCalls, on, state } from "./state.js";
import { callPanels } from "./panels.js";

/** @typedef {import("./api.js").Summary} Summary */

/** @type {import("./views.js").View} */
export const trafficView = {
  id: "traffic", title: "Traffic", key: "t",
  badge: () => String(state.calls.size || ""),
  show(root, parts, signal) {
    /** @type {Summary[]} */
    let newest = [];
    const list = virtualList({
      label: "Calls, the newest first", rowHeight: 44, count: () => newest.length,
      row: (i) => callRow(newest[i]), open: (i) => go("traffic", newest[i].id),
    }, signal);
    const detail = el("section", { class: "detail", "aria-label": "Call" });
    const empty = el("p", { class: "dim" }, "No call yet. Call an agent at the address above.");
    const changed = () => {
      newest = [...state.calls.values()].reverse();
      empty.hidden = newest.length > 0;
      list.changed();
    };
    root.append(el("div", { class: "sides" },
      el("section", { "aria-label": "Calls" }, el("div", { class: "bar" }, el("h2", {}, "Calls"), button("Forget all", () => void clearCalls())), empty, list.root), detail));
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

/** @param {Summary} s */
function callRow(s) {
  const status = s.state === "running" ? "…" : s.state === "broken" ? "broken" : String(s.status ?? "");
  const bad = s.state === "broken" || (s.status ?? 0) >= 400 || s.outcome === "error";
  const what = s.operation && s.operation !== "card" ? s.called || s.operation : s.method + " " + s.path;
  const detail = [s.caller, s.binding, s.version, s.outcome, s.events ? s.events + " events" : ""].filter(Boolean).join(" · ");
  return [el("span", { class: "call" }, el("span", { class: "dim" }, "#" + s.id), el("span", { class: "two" }, what, el("br"), el("span", { class: "dim" }, detail)),
    el("span", { class: bad ? "bad" : "good" }, status), el("span", { class: "dim" }, s.tookMs ? ms(s.tookMs) : ""))];
}

let panel = "bytes";

/**
 * @param {HTMLElement} root
 * @param {number} id
 * @param {AbortSignal} signal
 */
async function showCall(root, id, signal) {
  try {
    let s = state.calls.get(id);
    const title = el("h2", {}, s ? `#${id} ${s.called || s.method} ${s.path}` : "#" + id);
    const body = el("div");
    let inner = new AbortController();
    signal.addEventListener("abort", () => inner.abort());
    const draw = async () => {
      /** @type {import("./api.js").Exchange} */
      const x = await ask("/api/calls/" + id, "GET", undefined, signal);
      inner.abort();
      inner = new AbortController();
      fill(body);
      (callPanels.find((p) => p.id === panel) ?? callPanels[0]).show(body, x, inner.signal);
    };
    fill(root, title, callPanels.length > 1 ? tabs("Of this call", callPanels, panel, (p) => { panel = p; void draw(); }) : null, body);
    await draw();
    on("call", (c) => { if (c.id === id && c.state !== "running") void draw(); }, signal);
  } catch (err) {
    if (!signal.aborted) fill(root, el("p", { class: "bad" }, String(/** @type {Error} */ (err).message)));
  }
}
