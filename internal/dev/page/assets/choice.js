// @ts-check
// Why a message went to its skill, with the scores of all skills.
import { el, fill } from "./dom.js";
import { on, state } from "./state.js";

/** @typedef {import("./state.js").Choice} Choice */

/** What each rule says. @type {Record<string, string>} */
const rules = {
  metadata: "the message's metadata name the skill",
  data: "the data names the skill",
  only: "the agent has no other skill",
  media: "no other skill takes the media types of all parts",
  schema: "the data satisfies the input schema of this skill alone",
  words: "this skill shares most words with the text",
  router: "the agent's router (WithRouter) says so",
  default: "it is plain text that fits no skill, and this one is the default",
};

/**
 * The choice of a call's message; undefined if the agent told none. In 0.1 messages have no id, and clients name tasks.
 * @param {import("./api.js").Summary} s
 */
export function choiceOf(s) {
  return state.choices.findLast((c) => c.agent === s.agent && (s.message ? c.choice.message === s.message : Boolean(s.task) && c.choice.task === s.task));
}

/** @type {import("./places.js").Panel<import("./api.js").Exchange>} */
export const choicePanel = {
  id: "choice", title: "Why this skill",
  show(root, x, signal) {
    const draw = () => fill(root, ...choiceParts(choiceOf(x), x));
    draw();
    on("choice", draw, signal);
  },
};

/** @type {import("./places.js").Panel<import("./task.js").Task>} */
export const choiceOfTask = {
  id: "choice", title: "Why this skill",
  show(root, t, signal) {
    const draw = () => {
      const calls = t.calls.map((id) => state.calls.get(id)).filter((s) => s?.operation?.startsWith("Send"));
      const first = calls.find((s) => s && choiceOf(s)) ?? calls[0];
      if (first) fill(root, ...choiceParts(choiceOf(first), first));
      else fill(root, el("p", { class: "dim" }, "The message that began this task is not kept."));
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
  if (!c) {
    const why = !s.operation?.startsWith("Send") ? "Only a message is routed to a skill."
      : "The agent told no choice: the message continued a task, was one that the agent knew already, or the agent is not built by this command.";
    return [el("p", { class: "dim" }, why)];
  }
  const { rule, skill, error, candidates } = c.choice;
  return [
    rule ? el("p", {}, el("strong", {}, skill), ": ", rules[rule] ?? rule) : el("p", { class: "bad" }, error ? "No rule decided: " + error : "No rule decided: the agent answered with what it can do."),
    rule && error ? el("p", { class: "bad" }, error) : null,
    el("table", {}, el("caption", { class: "unseen" }, "What the rules make of each skill"),
      el("thead", {}, el("tr", {}, ...["Skill", "Media types", "Input schema", "Score", "Words"].map((t) => el("th", { scope: "col" }, t)))),
      el("tbody", {}, ...[...(candidates ?? [])].sort((a, b) => b.score - a.score).map((k) => el("tr", { class: k.skill === skill ? "chosen" : null },
        el("th", { scope: "row" }, k.skill === skill ? "▸ " + k.skill : k.skill), el("td", { class: k.media ? "good" : "bad" }, k.media ? "fit" : "do not fit"),
        el("td", { class: k.schema === "fits" ? "good" : "" }, k.schema ?? "–"), el("td", {}, k.score ? k.score.toFixed(2) : "0"),
        el("td", {}, Object.entries(k.words ?? {}).sort((a, b) => b[1] - a[1]).map(([w, n]) => `${w} ${n.toFixed(2)}`).join(", ")))))),
  ];
}
