// @ts-check
import { ask, textOf } from "./api.js";
import { byId, el } from "./dom.js";

const most = 1000;

/** @type {Map<number, HTMLElement>} */
const rows = new Map();
let shown = 0;

/** @param {import("./api.js").Summary} s */
export function showCall(s) {
  const status = s.state === "running" ? "…" : s.state === "broken" ? "broken" : String(s.status ?? "");
  const bad = s.state === "broken" || (s.status ?? 0) >= 400 || s.outcome === "error";
  const what = s.operation && s.operation !== "card" ? s.called || s.operation : s.method + " " + s.path;
  const detail = [s.caller, s.binding, s.version, s.outcome, s.events ? s.events + " events" : ""].filter(Boolean).join(" · ");
  const row = el("button", { type: "button", class: "call", click: () => void showExchange(s.id) },
    el("span", { class: "dim" }, "#" + s.id), el("span", {}, what, el("br"), el("span", { class: "dim" }, detail)),
    el("span", { class: bad ? "bad" : "good" }, status), el("span", { class: "dim" }, s.tookMs ? s.tookMs.toFixed(1) + " ms" : ""));
  row.setAttribute("aria-current", String(s.id === shown));
  const item = el("li", {}, row);
  const old = rows.get(s.id);
  if (old) {
    old.replaceWith(item);
  } else {
    byId("calls").prepend(item);
  }
  rows.set(s.id, item);
  byId("empty").hidden = true;
  for (const [id, gone] of rows) {
    if (rows.size <= most) break;
    gone.remove();
    rows.delete(id);
  }
  if (s.id === shown && s.state !== "running") void showExchange(s.id);
}

export function forgetCalls() {
  rows.clear();
  byId("calls").replaceChildren();
  byId("empty").hidden = false;
}

/** @param {number} id */
async function showExchange(id) {
  rows.get(shown)?.firstElementChild?.setAttribute("aria-current", "false");
  rows.get(id)?.firstElementChild?.setAttribute("aria-current", "true");
  shown = id;
  const detail = byId("detail");
  try {
    /** @type {import("./api.js").Exchange} */
    const x = await ask("/api/calls/" + id);
    detail.replaceChildren(el("h2", {}, `#${x.id} ${x.called || x.method} ${x.path}`),
      el("p", { class: "dim" }, [x.task ? "task " + x.task : "", x.problem ?? "", `${x.sent} B sent, ${x.received} B received`].filter(Boolean).join(" · ")),
      el("h3", {}, "Request"), headers(x.requestHeader), bytes(x.request, `/api/calls/${id}/request`),
      el("h3", {}, "Answer " + (x.status ?? "")), headers(x.header ?? {}),
      ...(x.eventList ?? []).map((e) => el("div", {},
        el("h3", {}, `${e.n}  +${e.atMs.toFixed(1)} ms  ${e.kind ?? ""} ${e.state ?? ""} ${e.size} B`),
        bytes({ ...e, json: e.json ? [e.json] : undefined }, `/api/calls/${id}/events/${e.n}`))),
      ...(x.eventList ? [] : [bytes(x.response, `/api/calls/${id}/response`)]));
  } catch (err) {
    detail.replaceChildren(el("p", { class: "bad" }, String(err)));
  }
}

/** @param {Record<string, string[]>} h */
function headers(h) {
  return el("pre", { class: "dim" }, Object.entries(h).flatMap(([k, list]) => list.map((v) => `${k}: ${v}`)).sort().join("\n"));
}

/**
 * @param {import("./api.js").Body} b
 * @param {string} at
 */
function bytes(b, at) {
  const text = b.json ? b.json.map((m) => JSON.stringify(m, null, 1)).join("\n") : textOf(b.bytes);
  const pre = el("pre", { tabindex: "0" }, text);
  if (b.cut) pre.append("\n(not all of it was kept)");
  return b.more ? el("div", {}, pre, el("a", { href: at, download: "" }, `all ${b.size} bytes`)) : pre;
}
