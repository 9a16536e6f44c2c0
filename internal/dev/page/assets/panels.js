// @ts-check
// What there is to see of a call, of a task, and of a call that is being written. A panel is a module and a line here.
import { againPanel } from "./again.js";
import { artifactsPanel } from "./artifacts.js";
import { bytesPanel } from "./bytes.js";
import { choiceOfTask, choicePanel } from "./choice.js";
import { comparePanel } from "./compare.js";
import { copyPanel } from "./copy.js";
import { headersFor } from "./identity.js";
import { notifyOfMessage, notifyOfTask } from "./notify.js";
import { timelineOfCall } from "./picture.js";
import { saidPanel } from "./said.js";
import { logOfCall, logOfTask } from "./tasklog.js";
import { twoPanel } from "./two.js";

/** @type {import("./places.js").Panel<import("./api.js").Exchange>[]} */
export const callPanels = [saidPanel, bytesPanel, timelineOfCall, logOfCall, choicePanel, againPanel, copyPanel];

/** Beside the events of a task. @type {import("./places.js").Panel<import("./task.js").Task>[]} */
export const taskPanels = [artifactsPanel, logOfTask, choiceOfTask, notifyOfTask];

/** @type {import("./places.js").Panel<import("./callview.js").Trying>[]} */
export const tryPanels = [comparePanel, twoPanel, notifyOfMessage];

/** Who adds headers to the calls of an agent. @type {((agent: number) => Record<string, string[]>)[]} */
export const callHeaders = [headersFor];

/** The headers of a call, of all who add some. @param {number} agent @returns {Record<string, string[]>} */
export function headersOf(agent) {
  return Object.assign({}, ...callHeaders.map((f) => f(agent)));
}
