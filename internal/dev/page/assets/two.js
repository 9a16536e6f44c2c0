// @ts-check
// The same call as two callers, side by side, and whether one sees what is the other's.
import { call, forms } from "./agent.js";
import { button, el, fill, labelled } from "./dom.js";
import { stateName } from "./format.js";
import { headersAs, identities, selectIdentity } from "./identity.js";
import { errorBox } from "./rejection.js";
import { link } from "./route.js";
import { ended } from "./wait.js";
import { words } from "./words.js";

const w = words.call;

/** @type {import("./places.js").Panel<import("./callview.js").Trying>} */
export const twoPanel = {
  id: "two", title: w.two,
  show(root, subject, signal) {
    void begin(root, subject, signal).catch((err) => { if (!signal.aborted) fill(root, el("p", { class: "bad" }, err.message)); });
  },
};

/**
 * @param {HTMLElement} root
 * @param {import("./callview.js").Trying} subject
 * @param {AbortSignal} signal
 */
async function begin(root, subject, signal) {
  const k = await identities(subject.agent);
  if (signal.aborted) return;
  const names = [k.identities[0]?.name ?? "", k.identities[1]?.name ?? ""];
  const sides = names.map(() => el("section", {}));
  const verdict = el("ul", { class: "plain", "aria-live": "polite" });
  const bad = el("p", { class: "bad", role: "alert" });
  const send = async () => {
    bad.textContent = "";
    fill(verdict);
    try {
      const drafts = [await subject.draft(), await subject.draft()]; // each with an id of its own
      const sent = await Promise.all(drafts.map((d, i) => one(sides[i], d, names[i], signal)));
      for (const [i, s] of sent.entries()) {
        if (s.task) verdict.append(await sees(subject.agent, drafts[i], s.task, names[i], names[1 - i], signal));
      }
    } catch (err) {
      if (!signal.aborted) bad.textContent = /** @type {Error} */ (err).message;
    }
  };
  fill(root, el("p", { class: "dim" }, k.identities.length ? w.aboutTwo : w.noCallers),
  el("div", { class: "bar" }, labelled(w.first, selectIdentity(k, names[0], (n) => { names[0] = n; })), labelled(w.second, selectIdentity(k, names[1], (n) => { names[1] = n; })),
    button(w.sendBoth, () => void send())), bad, el("div", { class: "pair" }, ...sides), verdict);
}

/** @param {string} name */
const called = (name) => name || w.anonymous;

/**
 * Sends as somebody, and shows what came.
 * @param {HTMLElement} root
 * @param {import("./callview.js").Draft} d
 * @param {string} name
 * @param {AbortSignal} signal
 */
async function one(root, d, name, signal) {
  fill(root, el("h3", {}, w.as(called(name))), el("p", { role: "status" }, w.running));
  const id = await call(d.agent, { binding: d.binding, version: d.version, operation: d.operation, request: d.request, header: headersAs(name) });
  const s = await ended(id, signal);
  const f = await forms(id, 0, signal);
  const last = f.events.at(-1) ?? f.response;
  fill(root, el("h3", {}, w.as(called(name))), el("p", {}, stateName(s.outcome) || w.status(s.status), " ", el("a", { href: link("traffic", id) }, "#" + id)),
    last.error !== undefined || last.problem ? errorBox(last, id) : el("pre", { tabindex: 0 }, JSON.stringify(last.form ?? s.problem ?? null, null, 1)));
  return s;
}

/**
 * Asks for a task as somebody who did not make it.
 * @param {number} agent
 * @param {import("./callview.js").Draft} d
 * @param {string} task
 * @param {string} owner
 * @param {string} other
 * @param {AbortSignal} signal
 */
async function sees(agent, d, task, owner, other, signal) {
  const id = await call(agent, { binding: d.binding, version: d.version, operation: "GetTask", request: { id: task }, header: headersAs(other) });
  const s = await ended(id, signal);
  const f = await forms(id, 0, signal);
  const seen = f.response.form !== undefined && !f.response.error;
  const same = owner === other;
  const text = seen ? w.sees(called(other), called(owner)) : w.seesNot(called(other), called(owner)) + (s.status && s.status >= 400 ? ` (${w.status(s.status)})` : "");
  return el("li", { class: seen && !same ? "bad" : "good" }, text + (same ? w.sameCaller + ". " : ". "), el("a", { href: link("traffic", id) }, "#" + id));
}
