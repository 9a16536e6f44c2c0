// @ts-check
// A webhook for push notifications, and what came to it.
import { ask, textOf } from "./api.js";
import { announce, button, copy, el, fill, form, labelled, select } from "./dom.js";
import { bytes, stateName } from "./format.js";
import { virtualList } from "./list.js";
import { go } from "./route.js";
import { on, state } from "./state.js";

/** @typedef {import("./state.js").Delivery} Delivery */

/** @type {import("./places.js").View} */
export const inboxView = {
  id: "webhooks", title: "Webhooks",
  badge: () => String(state.deliveries.length || ""),
  show(root, parts, signal) {
    const address = el("div");
    const detail = el("section", { class: "detail", "aria-label": "Delivery" });
    /** @type {Delivery[]} */
    let newest = [];
    const empty = el("p", { class: "dim" }, "Nothing came yet. Send a message with this address as its webhook; the agent must have capabilities.pushNotifications.");
    const list = virtualList({
      label: "Deliveries, the newest first", rowHeight: 44, count: () => newest.length,
      row: (i) => deliveryRow(newest[i]), open: (i) => go("traffic", "webhooks", newest[i].id),
    }, signal);
    const changed = () => {
      newest = [...state.deliveries].reverse();
      empty.hidden = newest.length > 0;
      list.changed();
    };
    const load = () => ask("/api/inbox", "GET", undefined, signal).then((all) => {
      state.deliveries = all.deliveries;
      drawAddress(address, all, load);
      changed();
    }).catch((err) => { if (!signal.aborted) fill(address, el("p", { class: "bad" }, err.message)); });
    const forget = async () => {
      await ask("/api/inbox", "DELETE");
      await load();
    };
    root.append(address, el("div", { class: "sides" }, el("section", { "aria-label": "Deliveries" },
      el("div", { class: "bar" }, el("h2", {}, "Deliveries"), button("Forget all", () => void forget())), empty, list.root), detail));
    void load();
    on("delivery", () => void load(), signal);
    on("loaded", changed, signal);
    /** @param {string[]} parts */
    const moved = ([id]) => void showDelivery(detail, Number(id || 0), signal);
    moved(parts);
    return moved;
  },
};

const answers = /** @type {[string, string][]} */ ([
  ["500", "500: refused, and sent again"], ["503", "503: try later"], ["429", "429: too many"], ["401", "401: not known"], ["410", "410: no more, for ever"],
]);

/**
 * @param {HTMLElement} root
 * @param {{url: string, token: string, answer: {status: number, left?: number, retryAfter?: number}}} inbox
 * @param {() => Promise<void>} load
 */
function drawAddress(root, inbox, load) {
  /** @param {string} label @param {string} value */
  const shown = (label, value) => el("div", { class: "bar" }, el("span", {}, label), el("code", {}, value), button("Copy", () => void copy(value), { "aria-label": "Copy " + label.toLowerCase() }));
  const config = JSON.stringify({ url: inbox.url, token: inbox.token });
  const now = root.querySelector(".answer");
  if (now) { // what somebody writes there stays
    now.textContent = answerText(inbox.answer);
    return;
  }
  const left = /** @type {HTMLInputElement} */ (el("input", { type: "number", min: "1", size: "5" }));
  const status = select(answers, "500", () => {});
  /** @param {number} code */
  const set = async (code) => {
    await ask("/api/inbox", "PUT", { status: code, left: code === 200 ? 0 : Number(left.value || 0) });
    announce(code === 200 ? "deliveries are taken" : "deliveries are refused");
    await load();
  };
  fill(root, el("h2", {}, "A webhook of your own"), shown("Address", inbox.url), shown("Token", inbox.token),
    el("div", { class: "bar" }, button("Copy as taskPushNotificationConfig of a message", () => void copy(`"taskPushNotificationConfig": ${config}`))),
    form(() => set(Number(status.value)), { class: "bar" },
      labelled("Refuse with", status), labelled("so many (empty: all)", left), el("button", { type: "submit" }, "Refuse"), button("Take all", () => void set(200)),
      el("span", { class: "answer", role: "status" }, answerText(inbox.answer))));
}

/** @param {{status: number, left?: number}} a */
function answerText(a) {
  return a.status < 400 ? "all are taken" : (a.left ? `the next ${a.left} are` : "all are") + ` refused with ${a.status}`;
}

/** @param {Delivery} d */
function deliveryRow(d) {
  const bad = d.status >= 400;
  const what = [d.kind, stateName(d.state), d.artifact, d.text].filter(Boolean).join(" ") || bytes(d.size);
  const detail = [d.task ? "task " + d.task : "", d.sequence ? "event " + d.sequence : "", d.repeat ? "again" : "", checks(d)].filter(Boolean).join(" · ");
  return [el("span", { class: "call" }, el("span", { class: "dim" }, "#" + d.id), el("span", { class: "two" }, what, el("br"), el("span", { class: "dim" }, detail)),
    el("span", { class: bad ? "bad" : "good" }, d.status), el("span", { class: "dim" }, new Date(d.at).toLocaleTimeString()))];
}

/** @param {Delivery} d */
function checks(d) {
  return [d.token === "bad" ? "wrong token" : d.token === "good" ? "token" : "no token", { good: "signed", bad: "bad signature", absent: "not signed" }[d.signature.check]].join(", ");
}

/**
 * @param {HTMLElement} root
 * @param {number} id
 * @param {AbortSignal} signal
 */
async function showDelivery(root, id, signal) {
  if (!id) {
    fill(root, el("p", { class: "dim" }, "Choose a delivery to see what was sent."));
    return;
  }
  try {
    /** @type {Delivery} */
    const d = await ask("/api/inbox/" + id, "GET", undefined, signal);
    const s = d.signature;
    const signed = s.check === "good" ? `signed by ${s.issuer}, with a key of the agent at ${s.agent}` : s.check === "bad" ? `the signature is not good${s.issuer ? " (it names " + s.issuer + ")" : ""}: ${s.why}` : "not signed";
    const text = textOf(d.body);
    fill(root, el("h2", {}, `#${d.id} ${d.kind ?? "delivery"} ${stateName(d.state)}`),
      el("p", {}, el("span", { class: d.status >= 400 ? "bad" : "good" }, `answered with ${d.status}`), " · ",
        el("span", { class: d.token === "bad" ? "bad" : "" }, { good: "the token is right", bad: "the token is not that of this inbox", absent: "no token" }[d.token] ?? d.token), " · ",
        el("span", { class: s.check === "bad" ? "bad" : "" }, signed), d.repeat ? " · sent again" : ""),
      d.task ? el("p", {}, "task ", el("code", {}, d.task)) : null,
      el("h3", {}, "Headers"), el("pre", { role: "region", tabindex: "0", "aria-label": "Headers" }, Object.entries(d.header).flatMap(([k, list]) => list.map((v) => `${k}: ${v}`)).sort().join("\n")),
      el("h3", {}, "Body, " + bytes(d.size)), el("pre", { role: "region", tabindex: "0", "aria-label": "Body" }, text));
  } catch (err) {
    if (!signal.aborted) fill(root, el("p", { class: "bad" }, /** @type {Error} */ (err).message));
  }
}
