// @ts-check
// The tasks of an agent.
import { el, fill, select, sides } from "./dom.js";
import { virtualList } from "./list.js";
import { go, link } from "./route.js";
import { on, state } from "./state.js";
import { span } from "./story.js";
import { lasts, tasksOf } from "./task.js";
import { showTask } from "./taskview.js";
import { words } from "./words.js";

const w = words.tasks;

/** Which tasks are shown; "" is all. */
const chosen = { text: "", state: "" };

/** @type {import("./places.js").View} */
export const tasksView = {
  id: "tasks", title: w.title,
  badge: () => String(tasksOf(state.chosen).length || ""),
  show(root, parts, signal) {
    /** @type {import("./task.js").Task[]} */
    let tasks = [];
    const list = virtualList({
      label: w.list, rowHeight: 56, count: () => tasks.length, row: (i) => cells(tasks[i]), open: (i) => go("tasks", tasks[i].agent, tasks[i].id),
    }, signal);
    const detail = el("section", { class: "detail", "aria-label": w.task });
    const empty = el("p", { class: "empty" });
    const text = /** @type {HTMLInputElement} */ (el("input", { type: "search", "aria-label": w.search, placeholder: w.search, autocomplete: "off", value: chosen.text, input: () => { chosen.text = text.value; changed(); } }));
    const which = el("span");
    const pane = sides(el("section", { "aria-label": w.title }, el("div", { class: "bar filters" }, text, which), empty, list.root), detail, el("a", { href: link("tasks") }, w.back));
    let shown = parts;
    const changed = () => {
      const all = tasksOf(state.chosen);
      const words = chosen.text.toLowerCase();
      tasks = all.filter((t) => (!chosen.state || t.state === chosen.state) && [t.id, t.skill, t.context, t.text, t.state].join(" ").toLowerCase().includes(words));
      const states = [...new Set([...all.map((t) => t.state), chosen.state])].filter(Boolean).sort();
      if (which.dataset.states !== states.join() && !which.contains(document.activeElement)) {
        which.dataset.states = states.join();
        fill(which, select([["", w.anyState], ...states.map((s) => /** @type {[string, string]} */ ([s, s]))], chosen.state, (s) => { chosen.state = s; changed(); }, { "aria-label": w.state }));
      }
      empty.hidden = tasks.length > 0;
      list.root.hidden = tasks.length === 0;
      if (!empty.hidden) fill(empty, all.length ? w.none : w.empty, ...(all.length ? [] : [" ", el("a", { href: link("chat") }, w.chat), ", ", el("a", { href: link("call") }, w.call)]));
      list.changed();
      list.choose(tasks.findIndex((t) => t.id === shown[1] && String(t.agent) === shown[0]), false);
    };
    root.append(pane.root);
    let inner = new AbortController();
    signal.addEventListener("abort", () => inner.abort());
    /** @type {{select: (key: string) => void} | undefined} the task that is shown */
    let view;
    /** @param {string[]} parts an agent's number, a task's id, and what is chosen in it */
    const moved = (parts) => {
      const [agent, id, key = ""] = parts;
      const same = view && shown[0] === agent && shown[1] === id;
      shown = parts;
      if (same) {
        view?.select(key);
        return;
      }
      inner.abort();
      inner = new AbortController();
      view = undefined;
      pane.open(Boolean(id));
      list.choose(tasks.findIndex((t) => t.id === id && String(t.agent) === agent));
      if (!id) {
        fill(detail, el("p", { class: "empty" }, w.choose));
        return;
      }
      view = showTask(detail, Number(agent), id, inner.signal, {
        key, select: (key, how) => {
          if (how === "click") {
            go("tasks", agent, id, key);
          } else { // Back goes to where the keys began
            shown = [agent, id, key];
            history.replaceState(null, "", link("tasks", agent, id, key));
          }
        },
      });
    };
    changed();
    moved(parts);
    for (const kind of /** @type {const} */ (["task", "cleared"])) on(kind, changed, signal);
    on("loaded", () => { changed(); view = undefined; moved(shown); }, signal);
    return moved;
  },
};

/** @param {import("./task.js").Task} t */
function cells(t) {
  const first = state.calls.get(t.calls[0]);
  return [el("span", { class: "task-row" }, el("strong", { class: "words" }, t.skill || t.id.slice(0, 8)), el("span", { class: "state " + t.state }, t.state || "?"),
    el("span", { class: "words dim" }, t.text || [first?.caller, first?.operation].filter(Boolean).join(" · ")), el("span", { class: "num dim small" }, new Date(t.begun).toLocaleTimeString() + (t.ended ? " · " + span(lasts(t)) : "")))];
}
