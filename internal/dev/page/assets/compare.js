// @ts-check
// The same call in every version and binding of an agent, side by side, with what is lost.
import { call, forms, offers, randomID } from "./agent.js";
import { ask } from "./api.js";
import { announce, button, el, fill } from "./dom.js";
import { bytes, ms, stateName } from "./format.js";
import { lost } from "./lost.js";
import { go, link } from "./route.js";
import { state } from "./state.js";
import { ended } from "./wait.js";
import { words } from "./words.js";

const w = words.call;

/** @typedef {import("./agent.js").Interface} Interface */
/** @typedef {import("./callview.js").Trying} Trying */

/**
 * A call in one version and binding, as far as it has come.
 * @typedef {object} Column
 * @property {Interface} how
 * @property {any} sent the request, in the form of 1.0
 * @property {number} [id] of the call
 * @property {string} [problem] why there is no answer
 * @property {import("./api.js").Exchange} [exchange] without bytes
 * @property {import("./agent.js").Forms} [forms]
 */

/** What was compared last, or is. @type {{agent: number, text: string, columns: Column[], end: AbortController} | undefined} */
let last;
let streaming = true;
/** Draws what is compared, where somebody looks. @type {() => void} */
let draw = () => {};

/** Has the message of a form called in every way. @type {import("./places.js").Panel<Trying>} */
export const comparePanel = {
  id: "compare", title: w.compare,
  show(root, trying) {
    const stream = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", checked: streaming, change: () => { streaming = stream.checked; } }));
    const bad = el("p", { class: "bad", role: "alert" });
    const run = async () => {
      bad.textContent = "";
      try {
        const begun = await begin(trying, streaming);
        go("traffic", "compare");
        await begun.done;
      } catch (err) {
        bad.textContent = /** @type {Error} */ (err).message;
      }
    };
    fill(root, el("p", { class: "dim" }, w.aboutCompare),
      el("div", { class: "bar" }, button(w.compareAll, () => void run()), el("label", {}, stream, " " + w.asStream)), bad);
  },
};

/** What came of it. @type {import("./places.js").View} */
export const compareView = {
  id: "compare", title: w.compare,
  show(root, _parts, signal) {
    const title = el("h2", {}, w.everyWay);
    const result = el("div", { class: "compare", tabindex: "0", role: "region", "aria-label": w.everyWay });
    const empty = el("p", { class: "empty" }, w.notCompared, " ", el("a", { href: link("call") }, w.toCall));
    root.append(title, empty, result);
    draw = () => {
      empty.hidden = last !== undefined;
      result.hidden = last === undefined;
      if (!last) return;
      title.textContent = `${state.agents.get(last.agent)?.name ?? w.agentOf(last.agent)}: ${last.text}`;
      fill(result, table(last.columns));
    };
    draw();
    signal.addEventListener("abort", () => { draw = () => {}; });
  },
};

/**
 * Begins a comparison, in place of the one before.
 * @param {Trying} trying
 * @param {boolean} stream
 * @returns {Promise<{done: Promise<void>}>}
 */
async function begin(trying, stream) {
  const { request, header } = await trying.draft();
  delete request.configuration?.returnImmediately;
  const { ways } = offers(trying.known);
  if (ways.length === 0) throw new Error(w.noInterface);
  last?.end.abort();
  const columns = ways.map((how) => ({ how, sent: copyOf(request) }));
  last = { agent: trying.agent, text: trying.skill || w.aMessage, columns, end: new AbortController() };
  draw();
  return { done: callAll(trying.agent, columns, stream ? "SendStreamingMessage" : "SendMessage", header, last.end.signal) };
}

/**
 * @param {number} agent
 * @param {Column[]} columns
 * @param {string} operation
 * @param {Record<string, string[]>} header
 * @param {AbortSignal} signal
 */
async function callAll(agent, columns, operation, header, signal) {
  for (const c of columns) {
    try {
      c.id = await call(agent, { binding: c.how.binding, version: c.how.version, operation, request: c.sent, header });
      await ended(c.id, signal);
      [c.exchange, c.forms] = await Promise.all([ask(`/api/calls/${c.id}?brief=1`, "GET", undefined, signal), forms(c.id, 0, signal)]);
    } catch (err) {
      if (signal.aborted) return;
      c.problem = /** @type {Error} */ (err).message;
    }
    draw();
  }
  announce(w.allAnswered);
}

/** A request like another one, whose message is none that the agent knows. @param {any} request */
function copyOf(request) {
  const copy = structuredClone(request);
  if (copy.message) copy.message.messageId = randomID();
  return copy;
}

/** All that was answered, in the form of 1.0. @param {Column} c */
function answers(c) {
  return [c.forms?.response?.form, ...(c.forms?.events ?? []).map((e) => e.form)].filter((f) => f !== undefined && f !== null);
}

/** The column that the others are compared with: 1.0, over JSON-RPC if it is. @param {Column[]} columns */
function baseOf(columns) {
  const good = columns.filter((c) => answers(c).length > 0);
  return good.find((c) => c.how.version.startsWith("1.") && c.how.binding === "JSONRPC") ?? good.find((c) => c.how.version.startsWith("1.")) ?? good[0];
}

const mostEvents = 50;

/** @param {Column[]} columns */
function table(columns) {
  const base = baseOf(columns);
  /** @param {string} title @param {(c: Column) => (Node | string)} cell */
  const row = (title, cell) => el("tr", {}, el("th", { scope: "row" }, title), ...columns.map((c) => el("td", {}, c.problem ? "" : c.exchange ? cell(c) : "…")));
  const events = Math.min(mostEvents, Math.max(0, ...columns.map((c) => c.exchange?.eventList?.length ?? 0)));
  return el("table", {}, el("caption", { class: "unseen" }, w.everyWay),
    el("thead", {}, el("tr", {}, el("td", {}), ...columns.map((c) => el("th", { scope: "col" }, `${c.how.version} ${c.how.binding}`, c === base ? el("span", { class: "dim" }, " " + w.base) : null)))),
    el("tbody", {},
      columns.some((c) => c.problem) ? el("tr", {}, el("th", { scope: "row" }, w.rows.failed), ...columns.map((c) => el("td", { class: "bad" }, c.problem ?? ""))) : null,
      row(w.rows.call, (c) => el("a", { href: link("traffic", c.id ?? 0) }, "#" + c.id)),
      row(w.rows.asked, (c) => c.exchange?.called || `${c.exchange?.method} ${c.exchange?.path}`),
      row(w.rows.outcome, (c) => stateName(c.exchange?.outcome) || c.exchange?.problem || String(c.exchange?.status ?? "")),
      row(w.rows.first, (c) => ms(c.exchange?.firstMs ?? 0)),
      row(w.rows.whole, (c) => ms(c.exchange?.tookMs ?? 0)),
      row(w.rows.sent, (c) => bytes(c.exchange?.sent ?? 0)),
      row(w.rows.received, (c) => bytes(c.exchange?.received ?? 0)),
      ...Array.from({ length: events }, (_, i) => row(w.rows.event(i + 1), (c) => {
        const e = c.exchange?.eventList?.[i];
        return e ? [e.kind, stateName(e.state), bytes(e.size)].filter(Boolean).join(" ") : "–";
      })),
      row(w.rows.lostSent, (c) => lostCell([c.sent], c.forms?.request?.form ? [c.forms.request.form] : undefined, c.forms?.request?.problem)),
      row(w.rows.lostBack, (c) => c === base ? "–" : lostCell(answers(base), answers(c).length ? answers(c) : undefined, c.forms?.response?.problem))));
}

/**
 * @param {unknown[]} whole
 * @param {unknown[] | undefined} here undefined if there is none
 * @param {string} [problem]
 */
function lostCell(whole, here, problem) {
  if (!here) return el("span", { class: "bad" }, problem ?? w.nothingToCompare);
  const list = lost(whole, here);
  return list.length === 0 ? el("span", { class: "good" }, w.nothingLost) : el("ul", { class: "mono" }, ...list.map((p) => el("li", {}, p)));
}
