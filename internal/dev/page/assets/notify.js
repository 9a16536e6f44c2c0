// @ts-check
// Has an agent send push notifications to the inbox.
import { call } from "./agent.js";
import { ask } from "./api.js";
import { button, el, fill } from "./dom.js";
import { go } from "./route.js";
import { state } from "./state.js";

/**
 * What can be done, as a button; why not, where the card says that the agent sends none.
 * @param {HTMLElement} root
 * @param {any} card undefined: not known
 * @param {string} says
 * @param {(config: {url: string, token: string}) => Promise<void>} does
 */
function offer(root, card, says, does) {
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
  const sends = !card || card.capabilities?.pushNotifications === true;
  fill(root, sends ? el("div", { class: "bar" }, button(says, () => void run()))
    : el("p", { class: "dim" }, "The card says that this agent sends no push notifications. An agent of yours does with ", el("code", {}, "pushNotifications: true"), " under capabilities in agent.yaml."), bad);
}

/** @type {import("./places.js").Panel<import("./callview.js").Trying>} */
export const notifyOfMessage = {
  id: "notify", title: "Webhook",
  show: (root, trying) => offer(root, trying.known.card, "Send, with the inbox as webhook", async (config) => {
    const { agent, binding, version, operation, request, header } = await trying.draft();
    request.configuration = { ...request.configuration, taskPushNotificationConfig: config };
    await call(agent, { binding, version, operation, request, header });
  }),
};

/** @type {import("./places.js").Panel<import("./task.js").Task>} */
export const notifyOfTask = {
  id: "notify", title: "Webhook",
  show: (root, t) => offer(root, undefined, "Have what comes sent to the inbox", async (config) => {
    const { headersOf } = await import("./panels.js"); // which has this panel
    const s = t.calls.map((id) => state.calls.get(id)).filter((c) => c?.binding).pop();
    const id = await call(t.agent, {
      binding: s?.binding ?? "JSONRPC", version: s?.version || "1.0", operation: "CreateTaskPushNotificationConfig",
      request: { taskId: t.id, ...config }, header: headersOf(t.agent),
    });
    const refused = state.calls.get(id);
    if (refused?.outcome === "error") throw new Error(`the agent refused: see call #${id} in Traffic`);
  }),
};
