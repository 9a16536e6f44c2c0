// @ts-check
// A webhook for push notifications, and what came to it.
import { ask, textOf } from "./api.js";
import { announce, button, copy, el, fill, form, labelled, select, sides } from "./dom.js";
import { bytes, stateName } from "./format.js";
import { virtualList } from "./list.js";
import { go, link } from "./route.js";
import { on, state } from "./state.js";
import { words } from "./words.js";

/** @typedef {import("./state.js").Delivery} Delivery */

const w = words.webhooks;

/** @type {import("./places.js").View} */
export const inboxView = {
  id: "webhooks", title: w.title,
  badge: () => String(state.deliveries.length || ""),
  show(root, parts, signal) {
    const address = el("div", { class: "boxed" });
    const detail = el("section", { class: "detail", "aria-label": w.delivery });
    /** @type {Delivery[]} */
    let newest = [];
    const empty = el("p", { class: "empty" }, w.none);
    const list = virtualList({
      label: w.list, rowHeight: 44, count: () => newest.length, row: (i) => deliveryRow(newest[i]), open: (i) => go("traffic", "webhooks", newest[i].id),
    }, signal);
    const changed = () => {
      newest = [...state.deliveries].reverse();
      empty.hidden = newest.length > 0;
      list.root.hidden = newest.length === 0;
      clear.disabled = newest.length === 0;
      list.changed();
    };
    const load = () => ask("/api/inbox", "GET", undefined, signal).then((all) => {
      state.deliveries = all.deliveries;
      drawAddress(address, all, load);
      changed();
    }).catch((err) => { if (!signal.aborted) fill(address, el("p", { class: "bad" }, err.message)); });
    const clear = button(words.traffic.clear, async () => {
      await ask("/api/inbox", "DELETE");
      await load();
    }, { class: "small plain push" });
    const pane = sides(el("section", { "aria-label": w.deliveries }, address, el("div", { class: "bar" }, el("h2", {}, w.deliveries), clear), empty, list.root), detail,
      el("a", { href: link("traffic", "webhooks") }, w.back));
    root.append(pane.root);
    void load();
    on("delivery", () => void load(), signal);
    on("loaded", changed, signal);
    /** @param {string[]} parts */
    const moved = ([id]) => {
      pane.open(Boolean(id));
      void showDelivery(detail, Number(id || 0), signal);
    };
    moved(parts);
    return moved;
  },
};

/**
 * @param {HTMLElement} root
 * @param {{url: string, token: string, answer: {status: number, left?: number, retryAfter?: number}}} inbox
 * @param {() => Promise<void>} load
 */
function drawAddress(root, inbox, load) {
  /** @param {string} label @param {string} value */
  const shown = (label, value) => [el("dt", {}, label), el("dd", { class: "bar" }, el("code", {}, value), button(w.copy, () => void copy(value), { class: "small plain", "aria-label": w.copyOf(label) }))];
  const config = JSON.stringify({ url: inbox.url, token: inbox.token });
  const now = root.querySelector(".answer");
  if (now) { // what somebody writes there stays
    now.textContent = answerText(inbox.answer);
    return;
  }
  const left = /** @type {HTMLInputElement} */ (el("input", { type: "number", min: "1", class: "short", placeholder: w.always }));
  const status = select(Object.entries(w.refusals), "500", () => {});
  /** @param {number} code */
  const set = async (code) => {
    await ask("/api/inbox", "PUT", { status: code, left: code === 200 ? 0 : Number(left.value || 0) });
    announce(code === 200 ? w.taken : w.refused);
    await load();
  };
  fill(root, el("p", { class: "dim" }, w.about), el("dl", {}, ...shown(w.url, inbox.url), ...shown(w.token, inbox.token)),
    button(w.copyConfig, () => void copy(`"taskPushNotificationConfig": ${config}`), { class: "small" }),
    el("details", {}, el("summary", {}, w.refuseTitle, " ", el("span", { class: "answer dim small", role: "status" }, answerText(inbox.answer))),
      form(() => set(Number(status.value)), { class: "bar" },
        labelled(w.status, status), labelled(w.times, left), el("button", { type: "submit" }, w.refuse), button(w.take, () => void set(200)))));
}

/** @param {{status: number, left?: number}} a */
function answerText(a) {
  return a.status < 400 ? w.allTaken : w.allRefused(a.status, a.left);
}

/** @param {Delivery} d */
function deliveryRow(d) {
  const bad = d.status >= 400;
  const what = [d.kind, stateName(d.state), d.artifact, d.text].filter(Boolean).join(" ") || bytes(d.size);
  const detail = [d.task ? w.task(d.task.slice(0, 8)) : "", d.sequence ? w.event(d.sequence) : "", d.repeat ? w.repeat : "", checks(d)].filter(Boolean).join(" · ");
  return [el("span", { class: "call" }, el("span", { class: "dim num" }, "#" + d.id), el("span", { class: "two" }, what, el("br"), el("span", { class: "dim small" }, detail)),
    el("span", { class: bad ? "bad num" : "good num" }, d.status), el("span", { class: "dim small" }, new Date(d.at).toLocaleTimeString()))];
}

/** @param {Delivery} d */
function checks(d) {
  return [w.tokens[d.token], w.signatures[d.signature.check]].filter(Boolean).join(", ");
}

/**
 * @param {HTMLElement} root
 * @param {number} id
 * @param {AbortSignal} signal
 */
async function showDelivery(root, id, signal) {
  if (!id) {
    fill(root, el("p", { class: "empty" }, w.choose));
    return;
  }
  try {
    /** @type {Delivery} */
    const d = await ask("/api/inbox/" + id, "GET", undefined, signal);
    const s = d.signature;
    const signed = s.check === "good" ? w.signedBy(s.issuer ?? "", s.agent ?? "") : s.check === "bad" ? w.badSignature(s.issuer ?? "", s.why ?? "") : w.signatures[s.check];
    const known = [...state.agents.keys()].find((n) => [...state.calls.values()].some((c) => c.agent === n && c.task && c.task === d.task));
    /** @param {string} label @param {Node | string} value @param {boolean} [bad] */
    const row = (label, value, bad = false) => [el("dt", {}, label), el("dd", { class: bad ? "bad" : null }, value)];
    fill(root, el("h2", {}, `#${d.id} ${d.kind ?? w.delivery} ${stateName(d.state)}`),
      el("dl", {}, ...row(w.answered, `HTTP ${d.status}`, d.status >= 400), ...row(w.token, w.tokensLong[d.token] ?? d.token, d.token === "bad"), ...row(w.signature, signed, s.check === "bad"),
        ...(d.repeat ? row(w.attempt, w.repeatLong) : []),
        ...(d.task ? row(w.ofTask, known === undefined ? el("code", {}, d.task) : el("a", { href: link("tasks", known, d.task) }, d.task)) : [])),
      el("h3", {}, w.body(bytes(d.size))), el("pre", { role: "region", tabindex: "0", "aria-label": w.bodyLabel }, textOf(d.body)),
      el("h3", {}, w.headers), el("pre", { role: "region", tabindex: "0", "aria-label": w.headers }, Object.entries(d.header).flatMap(([k, list]) => list.map((v) => `${k}: ${v}`)).sort().join("\n")));
  } catch (err) {
    if (!signal.aborted) fill(root, el("p", { class: "bad" }, /** @type {Error} */ (err).message));
  }
}
