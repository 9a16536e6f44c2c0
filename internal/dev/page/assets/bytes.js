// @ts-check
// What was said in a call, byte for byte.
import { textOf } from "./api.js";
import { button, el, fill } from "./dom.js";
import { bytes, ms } from "./format.js";

/** @type {import("./places.js").Panel<import("./api.js").Exchange>} */
export const bytesPanel = {
  id: "bytes", title: "Bytes",
  show(root, x) {
    fill(root,
      x.faults ? el("p", { class: "bad" }, "A fault that is switched on in Faults hit this call: " + x.faults) : null,
      x.problem ? el("p", { class: "bad" }, x.problem) : null,
      el("p", { class: "dim" }, [x.task ? "task " + x.task : "", `${bytes(x.sent)} sent, ${bytes(x.received)} received`].filter(Boolean).join(" · ")),
      el("h3", {}, "Request"), headers(x.requestHeader), body(x.request, `/api/calls/${x.id}/request`),
      el("h3", {}, "Answer " + (x.status ?? "")), headers(x.header ?? {}),
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
    more.textContent = `${Math.min(shownEvents, list.length - shown)} more of the ${list.length} events`;
    more.hidden = shown === list.length;
  };
  root.append(more);
  if (x.events > list.length) root.append(el("p", { class: "dim" }, `${x.events - list.length} more came and are not kept.`));
  add();
  return root;
}

/** @param {Record<string, string[]>} h */
function headers(h) {
  return el("pre", { class: "dim", tabindex: 0 }, Object.entries(h).flatMap(([k, list]) => list.map((v) => `${k}: ${v}`)).sort().join("\n"));
}

/**
 * What was kept of a body, and a link to all of it where that is more than is shown.
 * @param {import("./api.js").Body} b
 * @param {string} at
 */
function body(b, at) {
  const text = b.json ? b.json.map((m) => JSON.stringify(m, null, 1)).join("\n") : textOf(b.bytes);
  const pre = el("pre", { tabindex: 0 }, text);
  if (b.cut) pre.append("\n(not all of it was kept)");
  return b.more ? el("div", {}, pre, el("a", { href: at, download: "" }, `all ${bytes(b.size)}`)) : pre;
}
