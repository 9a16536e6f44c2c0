// @ts-check
// Has calls fail on purpose.
import { ask } from "./api.js";
import { announce, button, el, fill, form, labelled, select } from "./dom.js";
import { agent, on, state } from "./state.js";
import { words } from "./words.js";

/** @typedef {{name: string, takes: string, usage: string}} Kind */
/** @typedef {{kind: string, with: string}} Asked */

const w = words.faults;

/** @type {import("./places.js").View} */
export const faultsView = {
  id: "faults", title: w.title,
  badge: () => String(state.faults.get(state.chosen)?.faults.length || ""),
  show(root, _parts, signal) {
    const list = el("div");
    const wrong = el("p", { class: "bad", role: "alert", hidden: true });
    /** @param {Asked[]} faults */
    const set = async (faults) => {
      try {
        const now = await ask(`/api/agents/${state.chosen}/faults`, "PUT", { faults: faults.map((f) => ({ kind: f.kind, with: f.with })) });
        wrong.hidden = true;
        announce(w.now(now.faults.length));
      } catch (err) {
        wrong.textContent = /** @type {Error} */ (err).message;
        wrong.hidden = false;
      }
    };
    const current = () => state.faults.get(state.chosen)?.faults ?? [];
    const draw = () => drawList(list, state.faults.get(state.chosen), set);
    const add = el("div", { class: "boxed" });
    root.append(el("p", { class: "dim" }, w.about(agent()?.name ?? "")), list, add, wrong);
    draw();
    on("faults", draw, signal);
    on("loaded", draw, signal);
    ask(`/api/agents/${state.chosen}/faults`, "GET", undefined, signal).then((all) =>
      drawForm(add, all.kinds, all.operations, (f) => void set([...current(), f])))
      .catch((err) => { if (!signal.aborted) fill(add, el("p", { class: "bad" }, err.message)); });
  },
};

/**
 * @param {HTMLElement} root
 * @param {import("./state.js").Faults | undefined} now
 * @param {(faults: Asked[]) => Promise<void>} set
 */
function drawList(root, now, set) {
  const faults = now?.faults ?? [];
  if (faults.length === 0) {
    fill(root, el("p", { class: "empty" }, w.none));
    return;
  }
  fill(root, el("table", {}, el("caption", { class: "unseen" }, w.on),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, w.fault), el("th", { scope: "col", class: "num" }, w.hits), el("td", {}, button(w.allOff, () => void set([]), { class: "small plain" })))),
    el("tbody", {}, ...faults.map((f, i) => el("tr", {}, el("td", { class: "mono" }, f.is), el("td", { class: "num" }, f.hits),
      el("td", {}, button(w.remove, () => void set(faults.filter((_, n) => n !== i)), { class: "small plain", "aria-label": w.removeOf(f.is) })))))),
  now?.problem ? el("p", { class: "bad" }, now.problem) : null);
}

/** What is there to begin with, for each kind. @type {Record<string, string>} */
const examples = {
  delay: "500ms", "delay-events": "1s", slow: "1000", drop: "reply", double: "all", reorder: "requests", status: "503", cut: "2",
  truncate: "100", "half-close": "1", stall: "1", "drop-event": "2", "double-event": "2",
};

/**
 * @param {HTMLElement} root
 * @param {Kind[]} kinds
 * @param {string[]} operations
 * @param {(fault: Asked) => void} add
 */
function drawForm(root, kinds, operations, add) {
  const usage = el("p", { class: "dim small" });
  /** @param {Record<string, string>} attributes */
  const input = (attributes) => /** @type {HTMLInputElement} */ (el("input", { class: "short", ...attributes }));
  const value = input({ type: "text", required: "" });
  const times = input({ type: "number", min: "1", placeholder: w.always });
  const skip = input({ type: "number", min: "0", placeholder: "0" });
  const percent = input({ type: "number", min: "1", max: "100", placeholder: "100" });
  const kind = select(kinds.map((k) => [k.name, k.name]), kinds[0].name, () => choose());
  const operation = select([["", w.allOperations], ...operations.map((o) => /** @type {[string, string]} */ ([o, o]))], "", () => {});
  const valueField = labelled("", value);
  const choose = () => {
    const k = kinds.find((k) => k.name === kind.value) ?? kinds[0];
    usage.textContent = k.usage;
    value.value = examples[k.name] ?? "";
    const takes = k.takes.toLowerCase().replaceAll("|", w.or);
    /** @type {HTMLElement} */ (valueField.firstElementChild).textContent = takes.charAt(0).toUpperCase() + takes.slice(1);
  };
  choose();
  const send = () => add({
    kind: kind.value,
    with: value.value.trim() + (times.value && ":" + times.value) + (skip.value && "+" + skip.value) + (percent.value && "%" + percent.value) + (operation.value && "@" + operation.value),
  });
  fill(root, el("h2", {}, w.add), form(send, { novalidate: false }, el("div", { class: "bar" }, labelled(w.fault, kind), valueField, labelled(w.operation, operation)), usage,
    el("div", { class: "bar" }, labelled(w.times, times), labelled(w.skip, skip), labelled(w.percent, percent)), el("button", { type: "submit", class: "main" }, w.switchOn)));
}
