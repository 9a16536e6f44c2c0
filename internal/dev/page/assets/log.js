// @ts-check
// What the agents print.
import { button, el } from "./dom.js";
import { on, state } from "./state.js";
import { virtualList } from "./list.js";

/** @type {import("./places.js").View} */
export const logView = {
  id: "log", title: "Log",
  show(root, _, signal) {
    const list = virtualList({
      label: "Log lines", rowHeight: 20, count: () => state.lines.length, class: "mono",
      row: (i) => [el("span", { class: "dim" }, new Date(state.lines[i].at).toLocaleTimeString(), " "), state.lines[i].text],
    }, signal);
    root.append(el("div", { class: "bar" }, el("h2", {}, "Log"), button("To the end", () => list.toEnd())), list.root);
    list.changed();
    list.toEnd();
    on("log", () => list.changed(), signal);
    on("loaded", () => list.changed(), signal);
  },
};
