// @ts-check
// Has an agent send push notifications to the inbox.
import { call, offers } from "./agent.js";
import { ask } from "./api.js";
import { button, el, fill } from "./dom.js";
import { go } from "./route.js";
import { state } from "./state.js";
import { words } from "./words.js";

const w = words.call;

/**
 * What can be done, as a button; why not, where the card says that the agent sends none.
 * @param {HTMLElement} root
 * @param {boolean} push the card has push notifications
 * @param {string} about
 * @param {string} says
 * @param {(config: {url: string, token: string}) => Promise<void>} does
 */
function offer(root, push, about, says, does) {
  const bad = el("p", { class: "bad", role: "alert" });
  const run = async () => {
    bad.textContent = "";
    try {
      const { url, token } = await ask("/api/inbox");
      await does({ url, token });
      go("traffic", "webhooks");
    } catch (err) {
      bad.textContent = /** @type {Error} */ (err).message;
    }
  };
  fill(root, ...(push ? [el("p", { class: "dim" }, about), el("div", { class: "bar" }, button(says, () => void run()))]
    : [el("p", { class: "dim" }, `${w.webhook}: ${w.noPush}. ${w.howPush} `, el("code", {}, "pushNotifications: true"))]), bad);
}

/** @type {import("./places.js").Panel<import("./callview.js").Trying>} */
export const notifyOfMessage = {
  id: "notify", title: w.webhook,
  show: (root, trying) => offer(root, offers(trying.known).push, w.aboutWebhook, w.sendWebhook, async (config) => {
    const { agent, binding, version, operation, request, header } = await trying.draft();
    request.configuration = { ...request.configuration, taskPushNotificationConfig: config };
    await call(agent, { binding, version, operation, request, header });
  }),
};

/** @type {import("./places.js").Panel<import("./task.js").Task>} */
export const notifyOfTask = {
  id: "notify", title: w.webhook,
  show: (root, t) => offer(root, true, w.aboutWebhook, w.taskWebhook, async (config) => {
    const { headersOf } = await import("./panels.js"); // which has this panel
    const s = t.calls.map((id) => state.calls.get(id)).filter((c) => c?.binding).pop();
    const id = await call(t.agent, {
      binding: s?.binding ?? "JSONRPC", version: s?.version || "1.0", operation: "CreateTaskPushNotificationConfig",
      request: { taskId: t.id, ...config }, header: headersOf(t.agent),
    });
    const refused = state.calls.get(id);
    if (refused?.outcome === "error") throw new Error(w.refusedHook(id));
  }),
};
