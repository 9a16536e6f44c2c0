// @ts-check
// All agents of this command, who calls whom, and the calls in their order.
import { button, el, fill } from "./dom.js";
import { ms } from "./format.js";
import { virtualList } from "./list.js";
import { go } from "./route.js";
import { choose, on, state } from "./state.js";
import { failed, outcomeOf } from "./traffic.js";
import { words } from "./words.js";

/** @typedef {import("./api.js").Summary} Summary */

const w = words.agent;

/** Agents that are told apart by a colour; further ones begin anew. */
const colours = 6;

/**
 * Who makes a call: the number of an agent whose handler does, or the name of another program.
 * @param {Summary} c
 * @param {{agent: number, call: {message: string}}[]} others calls of handlers, as the agents tell them
 * @returns {number | string}
 */
export function callerOf(c, others) {
  const by = c.message ? others.find((o) => o.call.message === c.message) : undefined;
  return by ? by.agent : c.caller;
}

/**
 * Who calls whom, how often, and with what success.
 * @param {Iterable<Summary>} calls
 * @param {{agent: number, call: {message: string}}[]} others
 */
export function pairsOf(calls, others) {
  /** @type {Map<string, {from: number | string, to: number, calls: number, bad: number, took: number}>} */
  const pairs = new Map();
  for (const c of calls) {
    if (c.operation === "card") continue;
    const from = callerOf(c, others);
    const key = JSON.stringify([from, c.agent]);
    const p = pairs.get(key) ?? { from, to: c.agent, calls: 0, bad: 0, took: 0 };
    pairs.set(key, p);
    p.calls++;
    p.took += c.tookMs;
    if (failed(c)) p.bad++;
  }
  return [...pairs.values()];
}

/** @param {number | string} who */
const nameOf = (who) => (typeof who === "number" ? state.agents.get(who)?.name ?? "agent " + who : who);

/** @param {number | string} who */
const named = (who) => el("span", { class: typeof who === "number" ? "agent-name c" + (who % colours) : "" }, nameOf(who));

/** @type {import("./places.js").View} */
export const agentsView = {
  id: "agents", title: w.agents,
  badge: () => (state.agents.size > 1 ? String(state.agents.size) : ""),
  show(root, _parts, signal) {
    /** @type {Summary[]} */
    let calls = [];
    const cards = el("ul", { class: "plain cards" });
    const pairs = el("tbody");
    const list = virtualList({
      label: w.callsOfAll, rowHeight: 28, elsewhere: true, count: () => calls.length, row: (i) => laneRow(calls[i]),
      open: (i) => { choose(calls[i].agent); go("traffic", calls[i].id); },
    }, signal);
    const agents = () => fill(cards, ...[...state.agents.values()].map((a) => el("li", { class: "card" }, el("strong", {}, named(a.number)), " ",
      el("span", { class: ["stale", "down"].includes(a.phase) ? "bad" : "good" }, a.phase), el("div", { class: "mono about dim" }, a.url),
      button(w.choose, () => choose(a.number), { class: "small", "aria-pressed": String(a.number === state.chosen), "aria-label": w.chooseOf(a.name) }))));
    const changed = () => {
      calls = [...state.calls.values()].filter((c) => c.operation !== "card").reverse();
      fill(pairs, ...pairsOf(calls, state.others).map((p) => el("tr", {}, el("td", {}, named(p.from)), el("td", {}, named(p.to)), el("td", { class: "num" }, p.calls),
        el("td", { class: "num " + (p.bad ? "bad" : "") }, p.bad), el("td", { class: "num" }, ms(p.took / p.calls)))));
      list.changed();
    };
    root.append(cards, el("h2", {}, w.pairs),
      el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": w.pairs },
        el("table", {}, el("thead", {}, el("tr", {}, ...w.pairColumns.map((t, i) => el("th", { scope: "col", class: i > 1 ? "num" : null }, t)))), pairs)),
      el("h2", {}, w.calls), list.root);
    agents();
    changed();
    for (const kind of /** @type {const} */ (["agent", "chosen", "loaded"])) on(kind, agents, signal);
    for (const kind of /** @type {const} */ (["call", "cleared", "loaded", "other"])) on(kind, changed, signal);
  },
};

/** @param {Summary} c */
function laneRow(c) {
  const from = callerOf(c, state.others);
  return [el("span", { class: "lane" }, el("span", { class: "dim" }, new Date(c.begun).toLocaleTimeString()), el("span", { class: "two" }, named(from), " → ", named(c.agent), " ", c.skill || c.called || c.path),
    outcomeOf(c), el("span", { class: "dim num small" }, c.tookMs ? ms(c.tookMs) : ""))];
}
