// @ts-check
// What there is to see of a call, of a task, and of a call that is being written. A panel is a module and a line here.
import { artifactsPanel } from "./artifacts.js";
import { bytesPanel } from "./bytes.js";
import { choiceOfTask, choicePanel } from "./choice.js";
import { comparePanel } from "./compare.js";
import { eventsPanel } from "./events.js";
import { notifyOfMessage, notifyOfTask } from "./notify.js";
import { logOfCall, logOfTask } from "./tasklog.js";
import { timelineOfCall, timelineOfTask } from "./timeline.js";

/** @type {import("./views.js").Panel<import("./api.js").Exchange>[]} */
export const callPanels = [bytesPanel, timelineOfCall, logOfCall, choicePanel];

/** @type {import("./views.js").Panel<import("./task.js").Task>[]} */
export const taskPanels = [eventsPanel, artifactsPanel, timelineOfTask, logOfTask, choiceOfTask, notifyOfTask];

/** @type {import("./views.js").Panel<import("./try.js").Trying>[]} */
export const tryPanels = [comparePanel, notifyOfMessage];

/** Who adds headers to the calls of an agent. @type {((agent: number) => Record<string, string[]>)[]} */
export const callHeaders = [];

/** The headers of a call, of all who add some. @param {number} agent @returns {Record<string, string[]>} */
export function headersOf(agent) {
  return Object.assign({}, ...callHeaders.map((f) => f(agent)));
}
