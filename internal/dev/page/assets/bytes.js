// @ts-check
// What was said in a call, byte for byte.
import { textOf } from "./api.js";
import { button, el, fill } from "./dom.js";
import { bytes, ms } from "./format.js";
import { words } from "./words.js";

const w = words.traffic;

/** @type {import("./places.js").Panel<import("./api.js").Exchange>} */
export const bytesPanel = {
  id: "bytes", title: w.bytes,
  show(root, x) {
    fill(root,
      x.faults ? el("p", { class: "bad" }, w.hit(x.faults)) : null,
      x.problem ? el("p", { class: "bad" }, x.problem) : null,
      el("p", { class: "dim small" }, w.sizes(bytes(x.sent), bytes(x.received))),
      el("h3", {}, w.request), el("p", { class: "mono" }, `${x.method} ${x.path}`), headers(x.requestHeader), body(x.request, `/api/calls/${x.id}/request`),
      el("h3", {}, w.answer), el("p", { class: "mono" }, x.status ? `HTTP ${x.status}` : ""), headers(x.header ?? {}),
      x.eventList ? eventsOf(x, x.eventList) : body(x.response, `/api/calls/${x.id}/response`));
  },
};

/** How many events are shown at a time: a page of thousands of them takes seconds to draw. */
const shownEvents = 100;

/** @param {import("./api.js").Exchange} x @param {import("./api.js").Event[]} list */
function eventsOf(x, list) {
  const root = el("div");
  const more = button("", () => add(), { class: "small" });
  let shown = 0;
  const add = () => {
    more.before(...list.slice(shown, shown + shownEvents).map((e) => el("div", {},
      el("h3", {}, `${e.n}  +${ms(e.atMs)}  ${e.kind ?? ""} ${e.state ?? ""} ${bytes(e.size)}`),
      body({ ...e, json: e.json ? [e.json] : undefined }, `/api/calls/${x.id}/events/${e.n}`))));
    shown = Math.min(shown + shownEvents, list.length);
    more.textContent = w.more(Math.min(shownEvents, list.length - shown), list.length);
    more.hidden = shown === list.length;
  };
  root.append(more);
  if (x.events > list.length) root.append(el("p", { class: "dim" }, w.notKept(x.events - list.length)));
  add();
  return root;
}

/** @param {Record<string, string[]>} h */
function headers(h) {
  const list = Object.entries(h).flatMap(([k, list]) => list.map((v) => `${k}: ${v}`)).sort();
  return list.length ? el("details", { class: "headers" }, el("summary", { class: "dim small" }, w.headers(list.length)), el("pre", { class: "dim", tabindex: 0 }, list.join("\n"))) : null;
}

/**
 * What was kept of a body, and a link to all of it where that is more than is shown.
 * @param {import("./api.js").Body} b
 * @param {string} at
 */
function body(b, at) {
  const text = b.json ? b.json.map((m) => JSON.stringify(m, null, 1)).join("\n") : textOf(b.bytes);
  if (!text) return el("p", { class: "dim small" }, w.nothing);
  const pre = el("pre", { tabindex: 0 }, text);
  if (b.cut) pre.append("\n" + w.cut);
  return b.more ? el("div", {}, pre, el("a", { href: at, download: "" }, w.all(bytes(b.size)))) : pre;
}
