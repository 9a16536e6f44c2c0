// @ts-check
// The calls of all callers: found by their words, opened, sent again, saved.
import { ask } from "./api.js";
import { save } from "./copy.js";
import { button, check, el, fill, select, sides, tabs } from "./dom.js";
import { ms, stateName } from "./format.js";
import { virtualList } from "./list.js";
import { bytesPanel } from "./bytes.js";
import { callPanels } from "./panels.js";
import { go, link } from "./route.js";
import { saidPanel } from "./said.js";
import { clearCalls, on, state } from "./state.js";
import { words } from "./words.js";

/** @typedef {import("./api.js").Summary} Summary */

const w = words.traffic;

/** Which calls are shown; "" is all. */
const chosen = { caller: "", agent: "", binding: "", text: "", messages: false, failed: false };

/** @type {import("./places.js").View} */
export const trafficView = {
  id: "calls", title: w.calls,
  badge: () => String(state.calls.size || ""),
  show(root, parts, signal) {
    /** @type {Summary[]} */
    let newest = [];
    const list = virtualList({
      label: w.list, rowHeight: 44, count: () => newest.length, row: (i) => callRow(newest[i]), open: (i) => go("traffic", newest[i].id),
    }, signal);
    const detail = el("section", { class: "detail", "aria-label": w.call });
    const empty = el("p", { class: "empty" });
    const told = el("p", { class: "about small", role: "status" });
    const picks = el("span", { class: "bar" });
    const text = /** @type {HTMLInputElement} */ (el("input", { type: "search", "aria-label": w.search, placeholder: w.search, value: chosen.text, input: () => { chosen.text = text.value; changed(); } }));
    const recorded = button("", () => void save(newest.filter((c) => c.state !== "running").map((c) => c.id), told), { class: "small plain", title: w.saveAbout });
    const clear = button(w.clear, () => void clearCalls(), { class: "small plain" });
    const changed = () => {
      newest = [...state.calls.values()].filter((s) => matches(s, chosen)).reverse();
      fill(empty, ...(state.calls.size === 0 ? [w.none, " ", el("a", { href: link("call") }, w.noneDo)] : [w.noneLike]));
      empty.hidden = newest.length > 0;
      list.root.hidden = newest.length === 0;
      recorded.textContent = w.save(newest.length);
      recorded.disabled = newest.length === 0;
      clear.disabled = state.calls.size === 0;
      drawPicks(picks, changed);
      list.changed();
    };
    const pane = sides(el("section", { "aria-label": w.calls }, el("div", { class: "bar filters" }, text, picks,
      check(w.messages, chosen.messages, (is) => { chosen.messages = is; changed(); }), check(w.failed, chosen.failed, (is) => { chosen.failed = is; changed(); }),
      el("span", { class: "push" }, recorded, clear)), told, empty, list.root), detail, el("a", { href: link("traffic") }, w.back));
    root.append(pane.root);
    changed();
    for (const kind of /** @type {const} */ (["call", "cleared", "loaded"])) on(kind, changed, signal);
    let inner = new AbortController();
    signal.addEventListener("abort", () => inner.abort());
    /** @param {string[]} parts a call's number, and a panel */
    const moved = ([id, panel]) => {
      inner.abort();
      inner = new AbortController();
      pane.open(Boolean(id));
      if (id) void showCall(detail, Number(id), panel, inner.signal);
      else fill(detail, el("p", { class: "empty" }, w.choose));
    };
    moved(parts);
    return moved;
  },
};

/**
 * Whether a call is one that is looked for.
 * @param {Summary} s
 * @param {typeof chosen} by
 */
export function matches(s, by) {
  const has = [s.caller, s.called, s.operation, s.path, s.task, s.context, s.skill, s.outcome, s.version, s.faults, "#" + s.id].join(" ").toLowerCase();
  return (!by.caller || s.caller === by.caller) && (!by.agent || String(s.agent) === by.agent) && (!by.binding || s.binding === by.binding) &&
    (!by.messages || isMessage(s)) && (!by.failed || failed(s)) && has.includes(by.text.toLowerCase());
}

/** @param {Summary} s */
const isMessage = (s) => s.operation === "SendMessage" || s.operation === "SendStreamingMessage";

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
  const picks = [pick("caller", w.caller, w.allCallers), pick("binding", w.binding, w.allBindings)];
  if (state.agents.size > 1) picks.push(pick("agent", w.agent, w.allAgents, (n) => state.agents.get(Number(n))?.name ?? n));
  const now = JSON.stringify(picks);
  if (root.dataset.now === now || root.contains(document.activeElement)) return;
  root.dataset.now = now;
  fill(root, ...picks.map((p) => select(p.options, chosen[p.key], (v) => { chosen[p.key] = v; changed(); }, { "aria-label": p.label })));
}

/** @param {Summary} s */
export function failed(s) {
  return s.state === "broken" || (s.status ?? 0) >= 400 || s.outcome === "error";
}

/**
 * What came of a call, in a word: the state of its task, or how it ended.
 * @param {Summary} s
 */
export function outcomeOf(s) {
  const name = stateName(s.outcome);
  if (s.state === "running") return el("span", { class: "dim" }, w.running);
  if (s.state === "broken") return el("span", { class: "bad" }, w.broken);
  if ((s.status ?? 0) >= 400) return el("span", { class: "bad num" }, s.status);
  if (name === "error") return el("span", { class: "bad" }, w.error);
  if (name && name !== "message") return el("span", { class: "state " + name }, name);
  return el("span", { class: "dim" }, name || s.status);
}

/** @param {Summary} s */
function callRow(s) {
  const what = s.operation && s.operation !== "card" ? s.called || s.operation : s.method + " " + s.path;
  const detail = [s.caller, s.binding, s.version, s.events ? w.events(s.events) : ""].filter(Boolean).join(" · ");
  const hit = s.faults ? el("span", { class: "bad" }, w.fault(s.faults) + " ") : null;
  return [el("span", { class: "call" }, el("span", { class: "dim num" }, "#" + s.id),
    el("span", { class: "two" }, what, s.skill ? el("span", { class: "dim" }, " " + s.skill) : null, el("br"), hit, el("span", { class: "dim small" }, detail)),
    outcomeOf(s), el("span", { class: "dim num small" }, s.tookMs ? ms(s.tookMs) : ""))];
}

let panel = callPanels[0].id;

/**
 * @param {HTMLElement} root
 * @param {number} id
 * @param {string | undefined} asked the panel of the address
 * @param {AbortSignal} signal
 */
async function showCall(root, id, asked, signal) {
  const s = state.calls.get(id);
  if (callPanels.some((p) => p.id === asked)) panel = String(asked);
  if (panel === saidPanel.id && s && !s.binding) panel = bytesPanel.id; // what is no operation of A2A has no form
  const body = el("div");
  let inner = new AbortController();
  signal.addEventListener("abort", () => inner.abort());
  /** @returns {Promise<import("./api.js").Exchange>} */
  const read = () => ask("/api/calls/" + id, "GET", undefined, signal);
  let exchange = read();
  const draw = async () => {
    inner.abort();
    const mine = inner = new AbortController();
    try {
      const x = await exchange;
      if (mine.signal.aborted) return;
      fill(body);
      (callPanels.find((p) => p.id === panel) ?? callPanels[0]).show(body, x, mine.signal);
    } catch (err) {
      if (!signal.aborted) fill(body, el("p", { class: "bad" }, String(/** @type {Error} */ (err).message)));
    }
  };
  const links = el("span", { class: "bar push" });
  const drawLinks = () => fill(links, s?.task ? el("a", { href: link("tasks", s.agent, s.task) }, w.task) : null, s && isMessage(s) ? el("a", { href: link("call", s.skill || "any", id) }, w.edit) : null);
  drawLinks();
  fill(root, el("div", { class: "bar" }, el("h2", {}, s ? `#${id} ${s.called || s.method + " " + s.path}` : "#" + id), s ? outcomeOf(s) : null, links),
    tabs(w.ofCall, callPanels, panel, (p) => { panel = p; void draw(); }), body);
  on("call", (c) => { if (c.id === id) drawLinks(); if (c.id === id && c.state !== "running") { exchange = read(); void draw(); } }, signal);
  await draw();
}
