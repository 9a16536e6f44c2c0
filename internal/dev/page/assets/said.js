// @ts-check
// What was said in a call, in the form of 1.0 whatever version it was said in: the request, and its answer or events.
import { forms } from "./agent.js";
import { el, fill } from "./dom.js";
import { words } from "./words.js";

const w = words.traffic;
const mostEvents = 50;

/** @type {import("./places.js").Panel<import("./api.js").Exchange>} */
export const saidPanel = {
  id: "said", title: w.message,
  async show(root, x, signal) {
    try {
      const f = await forms(x.id, 0, signal);
      const events = f.events.slice(0, mostEvents);
      fill(root, el("p", { class: "dim small" }, f.version ? w.asIn(f.version) : w.notA2A),
        el("h3", {}, w.request), form(f.request), el("h3", {}, w.answer),
        ...(events.length ? events.map((e) => form(e)) : [form(f.response)]),
        f.events.length > events.length ? el("p", { class: "dim" }, w.moreEvents(f.events.length - events.length)) : null);
    } catch (err) {
      if (!signal.aborted) fill(root, el("p", { class: "bad" }, /** @type {Error} */ (err).message));
    }
  },
};

/** @param {import("./agent.js").Form} f */
function form(f) {
  if (f.problem) return el("p", { class: "dim" }, f.problem);
  const value = f.form ?? f.error;
  return value === undefined || value === null ? el("p", { class: "dim" }, w.nothing) : el("pre", { tabindex: 0, class: f.error ? "bad" : null }, JSON.stringify(value, null, 2));
}
