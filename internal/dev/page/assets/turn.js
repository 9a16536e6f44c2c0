// @ts-check
// A message of a conversation, and what came of it: how far its task is, what was made, what is asked.
import { call } from "./agent.js";
import { answerBox } from "./answer.js";
import { ask } from "./api.js";
import { artifactView, PartsView, Pieces, reader } from "./artifacts.js";
import { button, el, fill, newID } from "./dom.js";
import { ms, stateName } from "./format.js";
import { headersOf } from "./panels.js";
import { violationsOf } from "./rejection.js";
import { link } from "./route.js";
import { state } from "./state.js";
import { isOver, task } from "./task.js";
import { words } from "./words.js";

const w = words.chat;
const mostSteps = 200;
const longest = 2000; // characters of a step, and of why a task failed

/** @typedef {import("./composer.js").Part} Part */

/**
 * What turns of a conversation share. owners has the views of artifacts by task and id, pieces what came of each task.
 * @typedef {object} Talk
 * @property {() => Turn[]} turns
 * @property {Map<string, {put: (a: any, append: boolean) => void, turn: number}>} owners
 * @property {boolean} streams whether the agent streams
 * @property {(context: string) => void} named the agent has a name for the conversation
 * @property {() => void} changed something is drawn
 * @property {(parts: Part[]) => void} again a message is to be written again
 * @property {AbortSignal} signal
 */

/** @typedef {ReturnType<typeof makeTurn>} Turn */

/** @param {Part[]} parts */
const textOf = (parts) => parts.map((p) => p.text ?? "").filter(Boolean).join("\n");

/**
 * @param {Talk} talk
 * @param {number} id of the call that sent the message
 * @param {boolean} follow its task is followed when the call returns before it is over
 */
export function makeTurn(talk, id, follow) {
  const summary = () => state.calls.get(id);
  const agent = summary()?.agent ?? 0;
  const mine = new PartsView();
  const answer = new PartsView(talk.changed);
  const chip = el("span", { class: "state" });
  const now = el("span", { class: "now dim" });
  const status = el("p", { class: "status", role: "status" }, chip, now);
  const act = el("span", { class: "acts" });
  const links = el("span", { class: "links small" });
  const steps = el("ol", { class: "steps dim small", hidden: true, id: newID() });
  const fold = button("", () => { steps.hidden = !steps.hidden; drawFold(); }, { class: "plain small past", "aria-controls": steps.id, hidden: true });
  const made = el("div", { class: "made" });
  const asks = el("div");
  const trouble = el("div", { class: "trouble" });
  const root = el("article", { class: "turn", "aria-label": w.call(id) },
    el("div", { class: "mine", role: "group", "aria-label": w.you }, mine.root),
    el("div", { class: "theirs" }, el("div", { class: "turn-head" }, status, fold, act, links), steps, made, answer.root, asks, trouble));

  let taskID = summary()?.task ?? "";
  let taskState = "";
  /** @type {Part[]} */
  let said = [];
  /** @type {Part[]} what is asked */
  let question = [];
  let count = 0;
  let step = "";
  let wrong = "";
  let verdict = ""; // why the task failed or was rejected
  let spoken = false;
  let followed = false;
  let cut = false; // not all events of the call are kept
  let last = 0; // event of the call that was read
  let drawn = "";
  /** @type {Set<string>} messages that came already */
  const seen = new Set();
  const pieces = new Pieces((a, append) => {
    const key = taskID + "/" + a.artifactId;
    let owner = talk.owners.get(key);
    if (owner && owner.turn !== id && !append) return; // an earlier turn has it
    if (!owner) {
      const view = artifactView(a, talk.changed);
      owner = { put: view.put, turn: id };
      talk.owners.set(key, owner);
      made.append(view.root);
    }
    owner.put(a, append);
  });

  /** The calls that tell of this message: it, and those that follow its task until the next message to it. */
  const calls = () => {
    const until = talk.turns().find((t) => t.id > id && t.task() === taskID && taskID)?.id ?? Infinity;
    const others = taskID ? (task(agent, taskID)?.calls ?? []).filter((c) => c > id && c < until) : [];
    /** @param {string} operation */
    const of = (operation) => others.filter((c) => state.calls.get(c)?.operation === operation);
    return [id, ...of("SubscribeToTask"), ...of("CancelTask"), ...of("GetTask").slice(-1)];
  };

  const addStep = () => {
    steps.append(el("li", {}, step));
    if (++count > mostSteps) steps.firstChild?.remove();
    step = "";
  };
  const drawFold = () => {
    fold.hidden = count === 0;
    fold.setAttribute("aria-expanded", String(!steps.hidden));
    fold.textContent = w.steps(count) + (count > mostSteps && !steps.hidden ? ", " + w.lastSteps(mostSteps) : "") + (steps.hidden ? " ▸" : " ▾");
  };

  /** @param {any} s a status of 1.0 */
  const takeStatus = (s) => {
    taskState = stateName(String(s.state ?? ""));
    const m = s.message;
    const parts = Array.isArray(m?.parts) ? m.parts : [];
    if (!m || seen.has(String(m.messageId))) return;
    seen.add(String(m.messageId));
    if (taskState === "input-required" || taskState === "auth-required") question = parts;
    else if (taskState === "failed" || taskState === "rejected") {
      verdict = textOf(parts).slice(0, longest);
      answer.add(parts.filter((/** @type {Part} */ p) => p.text === undefined));
    } else if (isOver(taskState)) answer.add(parts);
    else {
      const text = textOf(parts) || JSON.stringify(parts.map((/** @type {Part} */ p) => p.data ?? p.filename ?? p.url));
      if (step) addStep();
      step = text.length > longest ? text.slice(0, longest) + "…" : text;
    }
  };

  /** @param {import("./agent.js").Form & {id?: string}} f @param {number} from @param {number} n */
  const take = (f, from, n) => {
    if (from === id) last = Math.max(last, n);
    if (f.error !== undefined || f.problem) {
      if (from === id) wrong = JSON.stringify(f);
      return;
    }
    const x = f.form;
    if (!x) return;
    const message = x.message ?? (x.role ? x : undefined);
    taskID ||= String(x.task?.id ?? x.statusUpdate?.taskId ?? x.artifactUpdate?.taskId ?? "");
    const context = x.task?.contextId ?? x.statusUpdate?.contextId ?? x.artifactUpdate?.contextId ?? message?.contextId ?? x.contextId;
    if (context) talk.named(String(context));
    const status = x.statusUpdate?.status ?? x.task?.status ?? (x.status?.state ? x.status : undefined);
    if (status) takeStatus(status);
    if (message && !seen.has(String(message.messageId))) {
      seen.add(String(message.messageId));
      spoken = true;
      answer.add(Array.isArray(message.parts) ? message.parts : []);
    }
    pieces.add(x, from, "", f.id && n ? f.id : undefined);
  };

  const waits = () => (taskState === "input-required" || taskState === "auth-required") && !talk.turns().some((t) => t.id > id && t.task() === taskID);
  const hasSchema = () => question.some((p) => typeof p.data === "object" && p.data !== null && ("input" in p.data || "schema" in p.data));
  const running = () => calls().filter((c) => state.calls.get(c)?.state === "running" && state.calls.get(c)?.operation !== "CancelTask");
  const way = () => ({ binding: summary()?.binding ?? "JSONRPC", version: summary()?.version || "1.0" });

  /** @param {string} operation */
  const about = async (operation) => {
    try {
      await call(agent, { ...way(), operation, request: { id: taskID }, header: headersOf(agent) });
    } catch (err) {
      showTrouble(/** @type {Error} */ (err).message, "");
    }
  };
  const stop = async () => {
    try {
      if (taskID) await about("CancelTask");
      else await Promise.all(running().map((c) => ask("/api/calls/" + c, "DELETE")));
    } catch (err) {
      showTrouble(/** @type {Error} */ (err).message, "");
    }
  };

  /** @param {string} says @param {string} todo @param {boolean} [again] */
  const showTrouble = (says, todo, again) => {
    fill(trouble, el("p", { class: "bad said" }, says), todo ? el("p", { class: "dim small" }, todo) : null, again ? button(w.edit, () => talk.again(said), { class: "small" }) : null);
  };

  /** @param {Error} [err] */
  const draw = (err) => {
    const s = summary();
    cut = s !== undefined && s.state !== "running" && s.events > last && last > 0;
    if (cut && isOver(stateName(s?.outcome))) taskState = stateName(s?.outcome); // the end came after what is kept
    const over = isOver(taskState);
    const busy = running().length > 0;
    const waiting = waits();
    const ended = over || waiting || (!busy && (spoken || wrong !== ""));
    chip.textContent = taskState;
    chip.className = "state " + taskState;
    chip.hidden = taskState === "";
    const lost = !busy && taskState !== "" && !over && !/required/.test(taskState);
    now.textContent = lost ? w.streamEnded : ended ? (s?.state !== "running" && s?.tookMs ? w.took(ms(s.tookMs)) : "") : step || (busy ? w.waiting : "");
    if (step && ended) addStep();
    drawFold();
    const key = JSON.stringify([taskID, busy, lost, over, waiting, taskState, s?.state, wrong, verdict, cut, err?.message]);
    if (key === drawn) return;
    drawn = key;
    root.setAttribute("aria-busy", String(!ended));
    fill(act, busy && !over && !waiting ? button(taskID ? w.cancel : w.stop, () => void stop(), { class: "small" }) : null,
      lost ? button(talk.streams ? w.follow : w.refresh, () => void about(talk.streams ? "SubscribeToTask" : "GetTask"), { class: "small" }) : null);
    fill(links, taskID ? el("a", { href: link("tasks", agent, taskID) }, w.task) : null, " ", el("a", { href: link("traffic", id) }, w.call(id)));
    if (lost && follow && !followed) {
      followed = true;
      void about(talk.streams ? "SubscribeToTask" : "GetTask");
    }
    drawQuestion(waiting);
    drawTrouble(err);
  };

  /** @param {boolean} waiting */
  const drawQuestion = (waiting) => {
    const t = task(agent, taskID);
    delete asks.dataset.asks;
    if (waiting && t && (hasSchema() || taskState === "auth-required")) void answerBox(asks, t, way(), talk.signal);
    else if (question.length || waiting) fill(asks, el("div", { class: waiting ? "question" : "question done" }, el("p", { class: "small dim" }, w.question), el("p", { class: "said" }, textOf(question) || w.noQuestion)));
    else fill(asks);
  };

  /** @param {Error} [err] */
  const drawTrouble = (err) => {
    const s = summary();
    if (err) showTrouble(s ? err.message : w.notKept, "");
    else if (wrong) {
      const f = JSON.parse(wrong);
      const { says, todo } = f.problem ? { says: w.unreadable(f.problem), todo: w.todo.other } : whatIsWrong(f.error, s?.status ?? 0);
      showTrouble(says, todo, true);
    } else if (s?.state === "broken" && !isOver(taskState) && !waits() && running().length === 0 && taskState === "") showTrouble(w.broken(s.problem ?? ""), w.todo.broken, true);
    else if (taskState === "rejected") showTrouble(w.rejected(verdict), w.todo.input, true);
    else if (taskState === "failed") showTrouble(w.failed(verdict), "", true);
    else if (cut) {
      fill(trouble, el("p", {}, w.notAll(last, s?.events ?? 0)), button(w.refresh, () => void about("GetTask"), { class: "small" }));
    } else fill(trouble);
    trouble.classList.toggle("calm", cut && !wrong);
  };

  const news = reader(calls, take, (err) => { draw(err); talk.changed(); }, talk.signal, (from, request) => {
    if (from !== id || !request) return;
    said = request.form?.message?.parts ?? [];
    mine.clear();
    mine.add(request.problem ? [{ text: request.problem }] : said);
  });
  draw();
  void news();
  return {
    id, root, news, waits,
    /** Draws what depends on other turns. */
    draw: () => draw(),
    task: () => taskID,
    /** The question that a plain text answers; "" if there is none. */
    asks: () => (waits() && taskState === "input-required" && !hasSchema() ? textOf(question) || w.noQuestion : ""),
  };
}

/** An error of an agent in a sentence, and what to do. @param {any} error @param {number} status of HTTP */
function whatIsWrong(error, status) {
  const e = error?.error ?? error;
  const message = e?.message ?? e?.detail ?? e?.title ?? (typeof e === "string" ? e : "");
  const code = Number(e?.code ?? 0);
  const all = JSON.stringify(error) ?? "";
  const violations = violationsOf(error);
  const says = violations.length ? w.rejectedInput(violations.slice(0, 3).map((v) => `${v.field}: ${v.description}`).join("; ")) : w.error(typeof message === "string" && message ? message : w.noWords);
  const todo = status === 401 || status === 403 || /UNAUTHENTICATED|PERMISSION_DENIED/.test(all) ? w.todo.caller
    : code === -32005 || status === 415 || /CONTENT_TYPE/.test(all) ? w.todo.type
    : code === -32004 || /UNSUPPORTED_OPERATION/.test(all) ? w.todo.over
    : violations.length || code === -32602 || status === 400 ? w.todo.input : w.todo.other;
  return { says, todo };
}
