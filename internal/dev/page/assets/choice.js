// @ts-check
// Why a message went to its skill, with the scores of all skills.
import { el, fill } from "./dom.js";
import { on, state } from "./state.js";
import { words } from "./words.js";

/** @typedef {import("./state.js").Choice} Choice */

const w = words.tasks;

/**
 * The choice of a call's message; undefined if the agent told none. In 0.1 messages have no id, and clients name tasks.
 * @param {import("./api.js").Summary} s
 */
export function choiceOf(s) {
  return state.choices.findLast((c) => c.agent === s.agent && (s.message ? c.choice.message === s.message : Boolean(s.task) && c.choice.task === s.task));
}

/** @type {import("./places.js").Panel<import("./api.js").Exchange>} */
export const choicePanel = {
  id: "choice", title: w.routing,
  show(root, x, signal) {
    const draw = () => fill(root, ...choiceParts(choiceOf(x), x));
    draw();
    on("choice", draw, signal);
  },
};

/** @type {import("./places.js").Panel<import("./task.js").Task>} */
export const choiceOfTask = {
  id: "choice", title: w.routing,
  show(root, t, signal) {
    const draw = () => {
      const calls = t.calls.map((id) => state.calls.get(id)).filter((s) => s?.operation?.startsWith("Send"));
      const first = calls.find((s) => s && choiceOf(s)) ?? calls[0];
      if (first) fill(root, ...choiceParts(choiceOf(first), first));
      else fill(root, el("p", { class: "dim" }, w.noFirst));
    };
    draw();
    on("choice", draw, signal);
  },
};

/**
 * @param {Choice | undefined} c
 * @param {import("./api.js").Summary} s
 */
function choiceParts(c, s) {
  if (!c) return [el("p", { class: "dim" }, s.operation?.startsWith("Send") ? w.noChoice : w.onlyMessages)];
  const { rule, skill, error, candidates } = c.choice;
  const why = /** @type {Record<string, string>} */ (w.rules)[rule ?? ""] ?? rule;
  return [
    rule ? el("p", {}, el("strong", {}, skill), ": ", why) : el("p", { class: "bad" }, `${w.noRule}: ${error || w.can}`),
    rule && error ? el("p", { class: "bad" }, error) : null,
    el("div", { class: "wide" }, el("table", {}, el("caption", { class: "unseen" }, w.scores),
      el("thead", {}, el("tr", {}, ...w.columns.map((t) => el("th", { scope: "col" }, t)))),
      el("tbody", {}, ...[...(candidates ?? [])].sort((a, b) => b.score - a.score).map((k) => el("tr", { class: k.skill === skill ? "chosen" : null },
        el("th", { scope: "row" }, k.skill === skill ? "▸ " + k.skill : k.skill), el("td", { class: k.media ? "good" : "bad" }, k.media ? w.fit : w.unfit),
        el("td", { class: k.schema === "fits" ? "good" : "" }, k.schema ?? "–"), el("td", {}, k.score ? k.score.toFixed(2) : "0"),
        el("td", {}, Object.entries(k.words ?? {}).sort((a, b) => b[1] - a[1]).map(([w, n]) => `${w} ${n.toFixed(2)}`).join(", "))))))),
  ];
}
