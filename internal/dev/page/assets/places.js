// @ts-check
// The five places of the page and their views. A view is a module and a line here.
import { agentsView } from "./agents.js";
import { cardView } from "./card.js";
import { chatView } from "./chat.js";
import { compareView } from "./compare.js";
import { faultsView } from "./faults.js";
import { identitiesView } from "./identity.js";
import { inboxView } from "./inbox.js";
import { logView } from "./log.js";
import { tasksView } from "./tasks.js";
import { trafficView } from "./traffic.js";
import { callView } from "./callview.js";
import { words } from "./words.js";

/**
 * A view fills root with what the parts of the address name, and keeps it as it changes until the signal ends that. If
 * only the parts change, moved is called if there is one, and otherwise the view begins anew.
 * @typedef {object} View
 * @property {string} id in the address
 * @property {string} title
 * @property {() => string} [badge] such as a number, beside the title
 * @property {(root: HTMLElement, parts: string[], signal: AbortSignal) => void | ((parts: string[]) => void)} show returns moved
 */

/**
 * A place has views; the first is the one that its address alone shows.
 * @typedef {{id: string, title: string, views: View[]}} Place
 */

/**
 * A panel is a part of a view that looks at one subject, beside others in tabs.
 * @template T
 * @typedef {object} Panel
 * @property {string} id
 * @property {string} title
 * @property {(root: HTMLElement, subject: T, signal: AbortSignal) => void} show
 */

const { places: titles } = words;

/** In the order of the navigation. @type {Place[]} */
export const places = [
  { id: "chat", title: titles.chat, views: [chatView] },
  { id: "call", title: titles.call, views: [callView] },
  { id: "tasks", title: titles.tasks, views: [tasksView] },
  { id: "traffic", title: titles.traffic, views: [trafficView, compareView, inboxView] },
  { id: "agent", title: titles.agent, views: [cardView, faultsView, identitiesView, agentsView, logView] },
];

/**
 * The place and the view of an address, and the parts that are left for the view. An address without a place has none.
 * @param {string[]} address
 */
export function placeOf([id, ...parts]) {
  const place = places.find((p) => p.id === id);
  if (!place) return undefined;
  const view = place.views.find((v, i) => i > 0 && v.id === parts[0]);
  return { place, view: view ?? place.views[0], parts: view ? parts.slice(1) : parts };
}
