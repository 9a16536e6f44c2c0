// @ts-check
// Calls of skills: what they take as a form, and what came of it beside it.
import { call, forms, known, randomID } from "./agent.js";
import { composer } from "./composer.js";
import { button, el, fill, form, labelled, select, tabs } from "./dom.js";
import { headersOf, tryPanels } from "./panels.js";
import { complain, errorBox, refuse, violationsOf } from "./rejection.js";
import { link } from "./route.js";
import { agent, on, state } from "./state.js";
import { task } from "./task.js";
import { showTask } from "./taskview.js";

/**
 * A call that somebody writes, as it would be sent.
 * @typedef {{agent: number, skill: string, binding: string, version: string, operation: string, request: any, header: Record<string, string[]>}} Draft
 */

/**
 * What panels of Try look at. draft throws when something is wrong with what the form holds.
 * @typedef {{agent: number, skill: string, known: import("./agent.js").Known, draft: () => Promise<Draft>}} Trying
 */

/** What was chosen last, for all skills. */
const last = { way: "", operation: "SendStreamingMessage" };

/** @type {import("./places.js").View} */
export const callView = {
  id: "call", title: "Call",
  show(root, parts, signal) {
    const skills = el("nav", { class: "skills", "aria-label": "Skills" });
    const middle = el("section", { "aria-label": "Message" });
    const result = el("section", { class: "detail", "aria-label": "What came of it" }, el("p", { class: "dim" }, "Send something, and what comes of it is here."));
    root.append(el("div", { class: "thirds" }, skills, middle, result));
    let inner = new AbortController();
    signal.addEventListener("abort", () => inner.abort());
    let here = parts;
    let card = "";
    /** @type {import("./composer.js").Composer | undefined} */
    let write;
    /** @param {string[]} parts a skill, and a call to say again */
    const moved = (parts) => {
      here = parts;
      inner.abort();
      inner = new AbortController();
      void show(parts, inner.signal);
    };
    /** @param {string[]} parts @param {AbortSignal} signal */
    const show = async ([skill = "", again = ""], signal) => {
      try {
        if (!agent()) return;
        const k = await known(state.chosen);
        if (signal.aborted) return;
        card = JSON.stringify(k);
        const list = Array.isArray(k.card.skills) ? k.card.skills : [];
        const chosen = list.find((/** @type {any} */ s) => s.id === skill) ?? (skill === "any" ? undefined : list[0]);
        fill(skills, el("h2", {}, "Skills"), ...[...list, { id: "any", name: "Whatever fits", description: "The agent chooses the skill." }].map((s) => skillLink(s, (chosen?.id ?? "any") === s.id)));
        write = showForm(middle, result, k, chosen, again, signal);
      } catch (err) {
        write = undefined;
        if (!signal.aborted) fill(middle, el("p", { class: "bad", role: "alert" }, /** @type {Error} */ (err).message), button("Again", () => moved([skill, again])));
      }
    };
    /** The card may be another one. What was written stays, in the form of now. */
    const renew = async () => {
      const k = await known(state.chosen).catch(() => undefined);
      if (!k || signal.aborted || JSON.stringify(k) === card) return;
      const parts = await write?.parts().catch(() => []) ?? [];
      inner.abort();
      inner = new AbortController();
      await show(here, inner.signal);
      fillWith(write, parts);
    };
    moved(parts);
    on("loaded", () => void renew(), signal);
    on("agent", (a) => { if (a.number === state.chosen && a.phase === "ready") void renew(); }, signal);
    return moved;
  },
};

/** @param {import("./composer.js").Composer | undefined} write @param {import("./composer.js").Part[]} parts */
function fillWith(write, parts) {
  const data = parts.find((p) => p.data !== undefined);
  const text = parts.map((p) => p.text ?? "").filter(Boolean).join("\n");
  if (data) write?.set(data.data);
  else if (text) write?.setText(text);
}

/** @param {import("./agent.js").Skill} s @param {boolean} chosen */
function skillLink(s, chosen) {
  return el("a", { href: link("call", s.id), "aria-current": chosen ? "true" : null }, el("strong", {}, s.name || s.id), el("span", { class: "dim about" }, s.description ?? ""));
}

/**
 * @param {HTMLElement} root
 * @param {HTMLElement} result
 * @param {import("./agent.js").Known} k
 * @param {import("./agent.js").Skill | undefined} skill undefined: the agent chooses
 * @param {string} again the number of a call whose message is said again; ""
 * @param {AbortSignal} signal
 */
function showForm(root, result, k, skill, again, signal) {
  const number = state.chosen;
  const write = composer({ schema: skill && k.schemas[skill.id]?.input, name: skill?.name ?? "Message", examples: skill?.examples, text: !skill });
  const ways = k.interfaces.map((i, n) => /** @type {[string, string]} */ ([String(n), `${i.binding} ${i.version}`]));
  /** @type {HTMLSelectElement} */
  const way = select(ways, ways.find(([, text]) => text === last.way)?.[0] ?? "0", () => { last.way = way.selectedOptions[0]?.text ?? ""; });
  const operation = select([["SendStreamingMessage", "Stream"], ["SendMessage", "Send and wait"], ["now", "Send, and do not wait"]], last.operation, (o) => { last.operation = o; });
  const context = /** @type {HTMLInputElement} */ (el("input", { autocomplete: "off", placeholder: "a new one" }));
  const bad = el("div");
  /** @param {boolean} [anyway] with its mistakes */
  const draft = async (anyway) => {
    const mistakes = write.check();
    if (!anyway) refuse(mistakes);
    const i = k.interfaces[Number(way.value)];
    if (!i) throw new Error("the card has no interface that a2agen speaks");
    const parts = await write.parts();
    const message = {
      messageId: randomID(), role: "ROLE_USER", contextId: context.value.trim() || undefined, parts,
      ...(!skill ? {} : k.extension ? { metadata: { [k.extension]: { skill: skill.id } }, extensions: [k.extension] } : { metadata: { skillId: skill.id } }),
    };
    const now = operation.value === "now";
    return {
      agent: number, skill: skill?.id ?? "", binding: i.binding, version: i.version, operation: now ? "SendMessage" : operation.value,
      request: { message, ...(now ? { configuration: { returnImmediately: true } } : {}) }, header: headersOf(number),
    };
  };
  const send = async (anyway = false) => {
    fill(bad);
    try {
      const { agent, binding, version, operation, request, header } = await draft(anyway);
      follow(result, await call(agent, { binding, version, operation, request, header }), (said) => { if (box.contains(document.activeElement)) write.reject(said); });
    } catch (err) {
      complain(bad, /** @type {Error} */ (err), () => void send(true));
    }
  };
  const box = form(send, {}, el("h2", {}, skill?.name || skill?.id || "Whatever fits"), skill?.description ? el("p", { class: "dim about" }, skill.description) : null, write.root,
  el("div", { class: "bar" }, labelled("By", way), labelled("How", operation), labelled("Conversation", context)), bad, el("button", { class: "main", "aria-keyshortcuts": "Control+Enter" }, "Send"));
  const panel = el("div");
  /** @type {Trying} */
  const trying = { agent: number, skill: skill?.id ?? "", known: k, draft };
  let inner = new AbortController();
  signal.addEventListener("abort", () => inner.abort());
  /** @param {string} id */
  const show = (id) => {
    inner.abort();
    inner = new AbortController();
    fill(panel);
    tryPanels.find((p) => p.id === id)?.show(panel, trying, inner.signal);
  };
  fill(root, box, tryPanels.length ? tabs("More about this call", tryPanels, tryPanels[0].id, show) : null, panel);
  if (tryPanels.length) show(tryPanels[0].id);
  if (again) void sayAgain(write, Number(again), bad, signal);
  return write;
}

/**
 * Fills the form with what a call said.
 * @param {import("./composer.js").Composer} write
 * @param {number} id
 * @param {HTMLElement} bad
 * @param {AbortSignal} signal
 */
async function sayAgain(write, id, bad, signal) {
  try {
    const { request } = await forms(id, 0, signal);
    fillWith(write, request.form?.message?.parts ?? []);
    if (request.problem) throw new Error(`call #${id}: ${request.problem}`);
  } catch (err) {
    if (!signal.aborted) fill(bad, el("p", { class: "bad", role: "alert" }, /** @type {Error} */ (err).message));
  }
}

/** @type {AbortController | undefined} */
let following;

/**
 * Shows what comes of a call: its task, or its answer if it makes none.
 * @param {HTMLElement} root
 * @param {number} id
 * @param {(said: import("./rejection.js").Violation[]) => void} reject is told what the agent finds wrong with the input
 */
function follow(root, id, reject) {
  following?.abort();
  const end = following = new AbortController();
  let shown = "";
  const look = () => {
    const s = state.calls.get(id);
    if (!s || end.signal.aborted) return;
    if (s.task && task(s.agent, s.task) && shown !== s.task) {
      shown = s.task;
      showTask(root, s.agent, s.task, end.signal);
    } else if (!shown && s.state !== "running") {
      shown = "answer";
      void showAnswer(root, id, reject, end.signal);
    }
  };
  fill(root, el("p", { class: "dim", role: "status" }, `Call #${id} is under way.`));
  look();
  for (const kind of /** @type {const} */ (["call", "task"])) on(kind, look, end.signal);
}

/**
 * Shows an answer without a task: a message, or an error.
 * @param {HTMLElement} root
 * @param {number} id
 * @param {(said: import("./rejection.js").Violation[]) => void} reject
 * @param {AbortSignal} signal
 */
async function showAnswer(root, id, reject, signal) {
  /** @type {import("./agent.js").Forms} */
  let f;
  try {
    f = await forms(id, 0, signal);
  } catch (err) {
    if (!signal.aborted) fill(root, el("p", { class: "bad" }, /** @type {Error} */ (err).message));
    return;
  }
  const said = f.response.form || f.response.error || f.response.problem ? f.response : f.events.at(-1) ?? f.response;
  if (said.error !== undefined || said.problem) {
    fill(root, errorBox(said, id));
    reject(violationsOf(said.error));
    return;
  }
  const text = (said.form?.message?.parts ?? []).map((/** @type {any} */ p) => p.text ?? "").filter(Boolean).join("\n");
  fill(root, el("h2", {}, "It answered"), text ? el("p", { class: "said" }, text) : null,
    el("pre", { tabindex: 0 }, JSON.stringify(said.form ?? null, null, 2)), el("p", {}, el("a", { href: link("traffic", id) }, `Call #${id} in Traffic`)));
}
