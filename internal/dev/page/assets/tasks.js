// @ts-check
// The tasks of an agent.
import { el, fill } from "./dom.js";
import { virtualList } from "./list.js";
import { go } from "./route.js";
import { on, state } from "./state.js";
import { tasksOf } from "./task.js";
import { showTask } from "./taskview.js";

/** @type {import("./places.js").View} */
export const tasksView = {
  id: "tasks", title: "Tasks",
  badge: () => String(tasksOf(state.chosen).length || ""),
  show(root, parts, signal) {
    /** @type {import("./task.js").Task[]} */
    let tasks = [];
    const list = virtualList({
      label: "Tasks, the newest first", rowHeight: 44, count: () => tasks.length, row: (i) => cells(tasks[i]), open: (i) => go("tasks", tasks[i].agent, tasks[i].id),
    }, signal);
    const detail = el("section", { class: "detail", "aria-label": "Task" });
    const empty = el("p", { class: "dim" }, "No call was about a task yet.");
    const changed = () => {
      tasks = tasksOf(state.chosen);
      empty.hidden = tasks.length > 0;
      list.changed();
    };
    root.append(el("div", { class: "sides" }, el("section", { "aria-label": "Tasks" }, el("div", { class: "bar" }, el("h2", {}, "Tasks")), empty, list.root), detail));
    changed();
    for (const kind of /** @type {const} */ (["task", "loaded", "cleared"])) on(kind, changed, signal);
    let inner = new AbortController();
    signal.addEventListener("abort", () => inner.abort());
    let shown = parts;
    /** @param {string[]} parts an agent's number and a task's id */
    const moved = (parts) => {
      inner.abort();
      inner = new AbortController();
      shown = parts;
      const [agent, id] = parts;
      if (id) showTask(detail, Number(agent), id, inner.signal);
      else fill(detail, el("p", { class: "dim" }, "Choose a task to see its events."));
    };
    moved(parts);
    on("loaded", () => moved(shown), signal);
    return moved;
  },
};

/** @param {import("./task.js").Task} t */
function cells(t) {
  return [el("span", { class: "call" }, el("span", { class: "mono" }, t.id.slice(0, 8)), el("span", { class: "two" }, t.skill || "(no skill named)", el("br"), el("span", { class: "dim" }, t.text)),
    el("span", { class: "state " + t.state }, t.state || "?"), el("span", { class: "dim" }, new Date(t.begun).toLocaleTimeString()))];
}
