// @ts-check
// One task: what it is, what can be done with it, the picture of what happened in it, and what looks closer.
import { call } from "./agent.js";
import { ask } from "./api.js";
import { answerBox } from "./answer.js";
import { button, copy, el, fill, form, labelled, tabs } from "./dom.js";
import { eventsList } from "./events.js";
import { headersOf, taskPanels } from "./panels.js";
import { picture, rowsNow } from "./picture.js";
import { link } from "./route.js";
import { on, state } from "./state.js";
import { span, storyOf } from "./story.js";
import { isOver, lasts, task } from "./task.js";
import { words } from "./words.js";

const w = words.tasks;
let panel = "events";

/**
 * The way in which a task was last called, for those that follow it.
 * @param {import("./task.js").Task} t
 */
function wayOf(t) {
  const s = t.calls.map((id) => state.calls.get(id)).filter((s) => s?.binding).pop();
  return { binding: s?.binding ?? "JSONRPC", version: s?.version || "1.0" };
}

/**
 * Shows a task until the signal ends that.
 * @param {HTMLElement} root
 * @param {number} agent
 * @param {string} id
 * @param {AbortSignal} signal
 * @param {{key?: string, select?: (key: string, how: "click" | "key") => void}} [o] what is chosen in it, and who is told when that changes
 */
export function showTask(root, agent, id, signal, o = {}) {
  const t = task(agent, id);
  if (!t) {
    fill(root, el("p", { class: "empty" }, w.notKept));
    return undefined;
  }
  const bad = el("p", { class: "bad", role: "alert" });
  const status = el("span", { class: "state", role: "status" });
  const long = el("span", { class: "dim num" });
  const about = el("span", { class: "dim" });
  const question = el("div");
  const body = el("div");
  /**
   * @param {string} operation
   * @param {string} [lastEventId]
   */
  const act = async (operation, lastEventId) => {
    bad.textContent = "";
    try {
      await call(t.agent, { ...wayOf(t), operation, request: { id }, header: headersOf(t.agent), lastEventId });
    } catch (err) {
      bad.textContent = /** @type {Error} */ (err).message;
    }
  };
  const running = () => t.calls.filter((id) => state.calls.get(id)?.state === "running" && state.calls.get(id)?.caller === "page");
  const cancel = button(w.cancel, () => void act("CancelTask"));
  const after = /** @type {HTMLInputElement} */ (el("input", { size: 5, inputmode: "numeric", autocomplete: "off" }));
  const stop = button(w.stop, () => void running().forEach((id) => void ask("/api/calls/" + id, "DELETE").catch((err) => { bad.textContent = err.message; })));
  let asked = "";
  const changed = () => {
    const first = state.calls.get(t.calls[0]);
    status.textContent = t.state || "?";
    status.className = "state " + t.state;
    about.textContent = [first?.caller, first?.binding, first?.version, first?.operation].filter(Boolean).join(" · ");
    cancel.disabled = isOver(t.state);
    stop.hidden = running().length === 0;
    const now = t.state === "input-required" || t.state === "auth-required" ? t.state + t.calls.length : "";
    if (now !== asked) {
      asked = now;
      if (now) void answerBox(question, t, wayOf(t), signal);
      else fill(question);
    }
  };
  let selected = o.key ?? "";
  /** @type {ReturnType<typeof eventsList> | undefined} while it is shown */
  let list;
  /** @param {string} key */
  const choose = (key) => {
    selected = key;
    drawn.select(key);
    list?.select(key);
  };
  /** @param {string} key @param {"click" | "key"} how */
  const select = (key, how) => {
    choose(key);
    o.select?.(key, how);
  };
  const box = el("section", { class: "story", "aria-label": words.story.timeline });
  const drawn = picture(box, { select: (key, how) => { if (!list) bar.querySelector("button")?.click(); select(key, how); } }, signal);
  /** @type {import("./story.js").Entry[]} */
  let entries = [];
  const story = storyOf(agent, id, () => draw(), signal);
  const draw = () => {
    entries = story.entries();
    long.textContent = t.ended ? w.lasts(span(lasts(t))) : running().length ? w.soFar(span(lasts(t))) : "";
    drawn.show(rowsNow(story), entries);
    list?.show(entries);
  };
  let inner = new AbortController();
  signal.addEventListener("abort", () => inner.abort());
  /** @param {string} p */
  const show = (p) => {
    panel = p;
    inner.abort();
    inner = new AbortController();
    fill(body);
    const chosen = taskPanels.find((x) => x.id === p);
    list = undefined;
    if (chosen) {
      chosen.show(body, t, inner.signal);
      return;
    }
    list = eventsList(body, { select }, inner.signal);
    list.show(entries);
    list.select(selected);
  };
  const bar = tabs(w.panels, [{ id: "events", title: w.events }, ...taskPanels], taskPanels.some((p) => p.id === panel) ? panel : "events", show);
  fill(root, el("div", { class: "task" },
    el("div", { class: "bar head" }, el("h2", {}, t.skill || `${w.task} ${id.slice(0, 8)}`), status, long, el("div", { class: "bar push", role: "group", "aria-label": w.actions }, cancel, button(w.get, () => void act("GetTask")), button(w.subscribe, () => void act("SubscribeToTask", after.value.trim())),
      el("details", { class: "fold" }, el("summary", { "aria-label": w.after }, "▾"), form(() => act("SubscribeToTask", after.value.trim()), {}, labelled(w.afterEvent, after), el("button", {}, w.listen))), stop)),
    el("p", { class: "bar small" }, el("a", { class: "mono words", href: link("tasks", agent, id) }, id), button(w.copyId, () => void copy(id), { class: "small plain" }), about), bad, box, question, bar, body));
  changed();
  show(panel);
  draw();
  choose(selected);
  on("task", (x) => { if (x.id === id) changed(); }, signal);
  on("call", (c) => { if (c.task === id) changed(); }, signal);
  return { select: choose };
}
