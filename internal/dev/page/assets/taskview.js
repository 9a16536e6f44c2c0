// @ts-check
// One task: what it is, what can be done with it, and the panels that look at it.
import { call } from "./agent.js";
import { ask } from "./api.js";
import { answerBox } from "./answer.js";
import { button, copy, el, fill, form, labelled, tabs } from "./dom.js";
import { headersOf, taskPanels } from "./panels.js";
import { link } from "./route.js";
import { on, state } from "./state.js";
import { isOver, task } from "./task.js";

let panel = "events";

/**
 * The way in which a call was made, for those that follow it.
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
 */
export function showTask(root, agent, id, signal) {
  const t = task(agent, id);
  if (!t) {
    fill(root, el("p", { class: "dim" }, "No call that is kept is about this task."));
    return;
  }
  const bad = el("p", { class: "bad", role: "alert" });
  const status = el("span", { class: "state", role: "status" });
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
  const cancel = button("Cancel", () => void act("CancelTask"));
  const after = /** @type {HTMLInputElement} */ (el("input", { size: 5, inputmode: "numeric", autocomplete: "off" }));
  const stop = button("Stop listening", () => void running().forEach((id) => void ask("/api/calls/" + id, "DELETE").catch((err) => { bad.textContent = err.message; })));
  const running = () => t.calls.filter((id) => state.calls.get(id)?.state === "running" && state.calls.get(id)?.caller === "page");
  let asked = "";
  const changed = () => {
    status.textContent = t.state || "?";
    status.className = "state " + t.state;
    cancel.disabled = isOver(t.state);
    stop.hidden = running().length === 0;
    const now = t.state === "input-required" || t.state === "auth-required" ? t.state + t.calls.length : "";
    if (now !== asked) {
      asked = now;
      if (now) void answerBox(question, t, wayOf(t), signal);
      else fill(question);
    }
  };
  let inner = new AbortController();
  signal.addEventListener("abort", () => inner.abort());
  /** @param {string} p */
  const show = (p) => {
    panel = p;
    inner.abort();
    inner = new AbortController();
    fill(body);
    (taskPanels.find((x) => x.id === p) ?? taskPanels[0]).show(body, t, inner.signal);
  };
  fill(root,
    el("div", { class: "bar" }, el("h2", {}, "Task ", el("a", { href: link("tasks", agent, id) }, id.slice(0, 8))), status, t.skill ? el("span", { class: "dim" }, t.skill) : null,
      button("Copy id", () => void copy(id), { class: "small" })),
    el("div", { class: "bar" }, cancel, button("Ask how it stands", () => void act("GetTask")), stop,
      form(() => act("SubscribeToTask", after.value.trim()), { class: "bar" },
        labelled("after event", after), el("button", {}, "Subscribe"))),
    bad, question, tabs("Of this task", taskPanels, taskPanels.some((p) => p.id === panel) ? panel : taskPanels[0].id, show), body);
  changed();
  show(panel);
  on("task", (x) => { if (x.id === id) changed(); }, signal);
  on("call", (c) => { if (c.task === id) changed(); }, signal);
}
