// @ts-check
// Has calls fail on purpose.
import { ask } from "./api.js";
import { announce, button, el, fill, labelled, select } from "./dom.js";
import { agent, on, state } from "./state.js";

/** @typedef {{name: string, takes: string, usage: string}} Kind */
/** @typedef {{kind: string, with: string}} Asked */

/** @type {import("./places.js").View} */
export const faultsView = {
  id: "faults", title: "Faults",
  badge: () => String(state.faults.get(state.chosen)?.faults.length || ""),
  show(root, _parts, signal) {
    const list = el("div");
    const wrong = el("p", { class: "bad", role: "alert", hidden: true });
    /** @param {Asked[]} faults */
    const set = async (faults) => {
      try {
        const now = await ask(`/api/agents/${state.chosen}/faults`, "PUT", { faults: faults.map((f) => ({ kind: f.kind, with: f.with })) });
        wrong.hidden = true;
        announce(now.faults.length ? now.faults.length + " faults are on" : "calls pass as they are");
      } catch (err) {
        wrong.textContent = /** @type {Error} */ (err).message;
        wrong.hidden = false;
      }
    };
    const current = () => state.faults.get(state.chosen)?.faults ?? [];
    const draw = () => drawList(list, state.faults.get(state.chosen), set);
    const form = el("div");
    root.append(el("h2", {}, "Calls that fail on purpose"),
      el("p", { class: "dim" }, "What is on here meets all calls of ", el("strong", {}, agent()?.name ?? "the agent"),
        ", whoever makes them, over each version and binding. The card is left alone unless it is named."),
      list, form, wrong);
    draw();
    on("faults", draw, signal);
    on("loaded", draw, signal);
    ask(`/api/agents/${state.chosen}/faults`, "GET", undefined, signal).then((all) =>
      drawForm(form, all.kinds, all.operations, (f) => void set([...current(), f])))
      .catch((err) => { if (!signal.aborted) fill(form, el("p", { class: "bad" }, err.message)); });
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
    fill(root, el("p", { class: "good" }, "No fault is on: calls pass as they are."));
    return;
  }
  fill(root, el("table", {}, el("caption", { class: "unseen" }, "Faults that are on"),
    el("thead", {}, el("tr", {}, ...["Fault", "Calls it hit", "Do"].map((t) => el("th", { scope: "col" }, t)))),
    el("tbody", {}, ...faults.map((f, i) => el("tr", {}, el("td", { class: "mono" }, f.is), el("td", {}, f.hits),
      el("td", {}, button("Remove", () => void set(faults.filter((_, n) => n !== i)), { "aria-label": "Remove " + f.is })))))),
  el("div", { class: "bar" }, button("All off", () => void set([]))),
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
  const usage = el("span", { class: "dim" });
  /** @param {Record<string, string>} attributes */
  const input = (attributes) => /** @type {HTMLInputElement} */ (el("input", attributes));
  const value = input({ type: "text", required: "", size: "12" });
  const times = input({ type: "number", min: "1", size: "6" });
  const skip = input({ type: "number", min: "0", size: "6" });
  const percent = input({ type: "number", min: "1", max: "100", size: "6" });
  const kind = select(kinds.map((k) => [k.name, k.name]), kinds[0].name, () => choose());
  const operation = select([["", "all operations"], ...operations.map((o) => /** @type {[string, string]} */ ([o, o]))], "", () => {});
  const valueField = labelled("", value);
  const choose = () => {
    const k = kinds.find((k) => k.name === kind.value) ?? kinds[0];
    usage.textContent = k.usage;
    value.value = examples[k.name] ?? "";
    /** @type {HTMLElement} */ (valueField.firstElementChild).textContent = k.takes.toLowerCase().replaceAll("|", " or ");
  };
  choose();
  const form = el("form", {
    submit: (/** @type {Event} */ e) => {
      e.preventDefault();
      add({
        kind: kind.value,
        with: value.value.trim() + (times.value && ":" + times.value) + (skip.value && "+" + skip.value) +
          (percent.value && "%" + percent.value) + (operation.value && "@" + operation.value),
      });
    },
  }, el("h3", {}, "One more"), el("div", { class: "bar" }, labelled("Fault", kind), valueField, labelled("Of", operation),
    labelled("Times (empty: always)", times), labelled("After so many calls", skip), labelled("Per cent of calls", percent)),
  el("p", {}, usage), el("button", { type: "submit", class: "main" }, "Switch on"));
  fill(root, form);
}
