// @ts-check
// What the agents print.
import { button, el } from "./dom.js";
import { virtualList } from "./list.js";
import { on, state } from "./state.js";
import { words } from "./words.js";

const w = words.agent;

/** @type {import("./places.js").View} */
export const logView = {
  id: "log", title: w.log,
  show(root, _, signal) {
    /** @type {import("./state.js").Line[]} */
    let lines = [];
    const text = /** @type {HTMLInputElement} */ (el("input", { type: "search", "aria-label": w.searchLog, placeholder: w.searchLog, input: () => changed() }));
    const list = virtualList({
      label: w.logLines, rowHeight: 20, count: () => lines.length, class: "mono",
      row: (i) => [el("span", { class: "dim" }, new Date(lines[i].at).toLocaleTimeString(), "  "), lines[i].text],
    }, signal);
    const empty = el("p", { class: "empty" });
    const changed = () => {
      const wanted = text.value.toLowerCase();
      lines = wanted ? state.lines.filter((l) => l.text.toLowerCase().includes(wanted)) : state.lines;
      empty.textContent = state.lines.length ? w.noLineLike : w.noLines;
      empty.hidden = lines.length > 0;
      list.root.hidden = lines.length === 0;
      list.changed();
    };
    root.append(el("div", { class: "column" }, el("div", { class: "bar" }, text, button(w.toEnd, () => list.toEnd(), { class: "small" })), empty, list.root));
    changed();
    list.toEnd();
    on("log", changed, signal);
    on("loaded", changed, signal);
  },
};
