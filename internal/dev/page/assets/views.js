// @ts-check
// What there is to see. A view is a module and a line here.
import { agentsView } from "./agents.js";
import { cardView } from "./card.js";
import { compareView } from "./compare.js";
import { faultsView } from "./faults.js";
import { historyView } from "./history.js";
import { inboxView } from "./inbox.js";
import { logView } from "./log.js";
import { tasksView } from "./tasks.js";
import { trafficView } from "./traffic.js";
import { tryView } from "./try.js";

/**
 * A view fills root with what the parts of the address name, and keeps it as it changes until the signal ends that. If
 * only the parts change, moved is called if there is one, and otherwise the view begins anew.
 * @typedef {object} View
 * @property {string} id in the address
 * @property {string} title
 * @property {string} key that goes there
 * @property {() => string} [badge] such as a number, beside the title
 * @property {(root: HTMLElement, parts: string[], signal: AbortSignal) => void | ((parts: string[]) => void)} show returns moved
 */

/**
 * A panel is a part of a view that looks at one subject, beside others in tabs.
 * @template T
 * @typedef {object} Panel
 * @property {string} id
 * @property {string} title
 * @property {(root: HTMLElement, subject: T, signal: AbortSignal) => void} show
 */

/** In the order of the navigation. @type {View[]} */
export const views = [tryView, tasksView, trafficView, historyView, compareView, inboxView, faultsView, cardView, agentsView, logView];
