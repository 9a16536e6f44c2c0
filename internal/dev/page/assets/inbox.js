// @ts-check
// A webhook for push notifications, and what came to it.
import { ask, textOf } from "./api.js";
import { announce, button, copy, el, fill, labelled, select } from "./dom.js";
import { bytes, stateName } from "./format.js";
import { virtualList } from "./list.js";
import { go } from "./route.js";
import { on, state } from "./state.js";

/** @typedef {import("./state.js").Delivery} Delivery */

/** @type {import("./views.js").View} */
export const inboxView = {
  id: "inbox", title: "Inbox", key: "i",
  badge: () => String(state.deliveries.length || ""),
  show(root, parts, signal) {
    const address = el("div");
    const detail = el("section", { class: "detail", "aria-label": "Delivery" });
    /** @type {Delivery[]} */
    let newest = [];
    const empty = el("p", { class: "dim" }, "Nothing came yet. Send a message with this address as its webhook; the agent must have capabilities.pushNotifications.");
    const list = virtualList({
      label: "Deliveries, the newest first", rowHeight: 44, count: () => newest.length,
      row: (i) => deliveryRow(newest[i]), open: (i) => go("inbox", newest[i].id),
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
  ["200", "200: it is taken"], ["500", "500: refused, and sent again"], ["503", "503: try later"], ["429", "429: too many"], ["401", "401: not known"], ["410", "410: no more, for ever"],
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
  const left = /** @type {HTMLInputElement} */ (el("input", { type: "number", min: "0", size: "5", value: String(inbox.answer.left || "") }));
  const status = select(answers.some(([v]) => v === String(inbox.answer.status)) ? answers : [...answers, [String(inbox.answer.status), String(inbox.answer.status)]],
    String(inbox.answer.status), () => void set());
  const set = async () => {
    await ask("/api/inbox", "PUT", { status: Number(status.value), left: status.value === "200" ? 0 : Number(left.value || 0) });
    announce("the next deliveries are answered with " + status.value);
    await load();
  };
  left.addEventListener("change", () => void set());
  if (root.contains(document.activeElement) && root.childElementCount > 0) {
    const now = root.querySelector(".answer");
    if (now) now.textContent = answerText(inbox.answer);
    return;
  }
  fill(root, el("h2", {}, "A webhook of your own"), shown("Address", inbox.url), shown("Token", inbox.token),
    el("div", { class: "bar" }, button("Copy as taskPushNotificationConfig of a message", () => void copy(`"taskPushNotificationConfig": ${config}`))),
    el("div", { class: "bar" }, labelled("Deliveries are answered with", status), labelled("so many (empty: all)", left), el("span", { class: "answer", role: "status" }, answerText(inbox.answer))));
}

/** @param {{status: number, left?: number}} a */
function answerText(a) {
  return a.status === 200 ? "all are taken" : a.left ? `the next ${a.left} are refused` : "all are refused";
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
