// @ts-check
// A call once more, with a value changed, and what is different in what came.
import { call, forms, randomID } from "./agent.js";
import { button, el, fill, form, labelled } from "./dom.js";
import { ms, stateName } from "./format.js";
import { headersFor } from "./identity.js";
import { changed, compared, leaves, typed } from "./leaves.js";
import { link } from "./route.js";
import { ended } from "./wait.js";
import { words } from "./words.js";

const w = words.call;

/** @typedef {import("./api.js").Summary} Summary */

/** @type {import("./places.js").Panel<import("./api.js").Exchange>} */
export const againPanel = {
  id: "again", title: w.again,
  show(root, x, signal) {
    void show(root, x, signal).catch((err) => { if (!signal.aborted) fill(root, el("p", { class: "bad" }, err.message)); });
  },
};

/**
 * @param {HTMLElement} root
 * @param {import("./api.js").Exchange} x
 * @param {AbortSignal} signal
 */
async function show(root, x, signal) {
  const before = await forms(x.id, 0, signal);
  const operation = x.operation ?? "";
  if (!before.request.form || !x.binding || operation === "card") {
    fill(root, el("p", { class: "dim" }, before.request.problem ?? w.cannotAgain));
    return;
  }
  let request = before.request.form;
  if (request.message) request = changed(request, ["message", "messageId"], randomID());
  const bad = el("p", { class: "bad", role: "alert" });
  const result = el("div", { "aria-live": "polite" });
  const fields = leaves(request).filter((l) => l.path.at(-1) !== "messageId").map((leaf) => {
    const text = typeof leaf.value === "string" ? leaf.value : JSON.stringify(leaf.value);
    const input = /** @type {HTMLInputElement | HTMLTextAreaElement} */ (text.includes("\n") || text.length > 80
      ? el("textarea", { rows: 3 }) : el("input", { autocomplete: "off" }));
    input.value = text;
    return { leaf, text, input, root: labelled(leaf.path.join(" › "), input) };
  });
  const send = async () => {
    bad.textContent = "";
    let to = request;
    const other = fields.filter((f) => f.input.value !== f.text);
    for (const f of other) to = changed(to, f.leaf.path, typed(f.input.value, f.leaf.value));
    if (to.message) to = changed(to, ["message", "messageId"], randomID());
    try {
      const id = await call(x.agent, { binding: x.binding ?? "", version: x.version || before.version, operation, request: to, header: headersFor(x.agent) });
      fill(result, el("p", { role: "status" }, w.underWay(id)));
      const s = await ended(id, signal);
      await compare(result, x, before, s, await forms(id, 0, signal), other.map((f) => f.leaf.path.join(" › ")));
    } catch (err) {
      if (!signal.aborted) bad.textContent = /** @type {Error} */ (err).message;
    }
  };
  fill(root, form(send, {},
    el("p", { class: "dim" }, w.aboutAgain),
    ...fields.map((f) => f.root), bad,
    el("div", { class: "bar" }, el("button", { class: "main" }, w.again), button(w.undo, () => fields.forEach((f) => { f.input.value = f.text; })))), result);
}

/** @param {import("./agent.js").Forms} f */
function said(f) {
  const all = f.events.length ? f.events.map((e) => e.form ?? e.error ?? e.problem) : f.response.form ?? f.response.error ?? f.response.problem;
  return JSON.stringify(all ?? null, null, 1);
}

/**
 * @param {HTMLElement} root
 * @param {Summary} was
 * @param {import("./agent.js").Forms} before
 * @param {Summary} is
 * @param {import("./agent.js").Forms} now
 * @param {string[]} other the places that were changed
 */
async function compare(root, was, before, is, now, other) {
  const [a, b] = compared(said(before), said(now));
  /** @param {Summary} s @param {{text: string, only: boolean}[]} lines @param {string} title */
  const side = (s, lines, title) => el("section", { "aria-label": title },
    el("h3", {}, title + " ", el("a", { href: link("traffic", s.id) }, "#" + s.id)),
    el("p", {}, [stateName(s.outcome) || String(s.status ?? ""), ms(s.tookMs), s.received + " B", s.events ? w.events(s.events) : ""].filter(Boolean).join(" · ")),
    el("pre", { tabindex: 0, class: "compared" }, ...lines.map((l) => (l.only ? el("mark", {}, l.text + "\n") : l.text + "\n"))));
  fill(root, el("h3", {}, other.length ? w.changedOf(other.join(", ")) : w.nothingChanged), el("div", { class: "pair" }, side(was, a, w.before), side(is, b, w.after)));
}
