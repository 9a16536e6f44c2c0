// @ts-check
// What an agent is, how it is called, and what was said, in the form of 1.0 whatever was spoken.
import { ask } from "./api.js";
import { on } from "./state.js";

/** @typedef {{binding: string, version: string, url: string, tenant?: string}} Interface */
/** @typedef {{id: string, name: string, description?: string, tags?: string[], examples?: string[], inputModes?: string[], outputModes?: string[]}} Skill */
/** @typedef {{card: any, interfaces: Interface[], schemas: Record<string, {input?: any, output?: any}>, extension?: string}} Known */
/** @typedef {{form?: any, error?: any, problem?: string}} Form */
/** @typedef {{version: string, request: Form, response: Form, events: (Form & {n: number, id?: string})[]}} Forms */
/** @typedef {{binding: string, version: string, operation: string, request: unknown, header?: Record<string, string[]>, lastEventId?: string}} Call */

/** @type {Map<number, Promise<Known>>} */
const cards = new Map();
on("agent", (a) => cards.delete(a.number));

/**
 * What is known of an agent; it is asked for anew when the agent changed.
 * @param {number} agent
 * @returns {Promise<Known>}
 */
export function known(agent) {
  let k = cards.get(agent);
  if (!k) {
    k = ask(`/api/agents/${agent}/card`);
    k.catch(() => cards.delete(agent));
    cards.set(agent, k);
  }
  return k;
}

/** What an agent offers beyond waiting for an answer, as its card says. @param {Known} k */
export function offers(k) {
  const capabilities = k.card?.capabilities ?? {};
  const ways = k.interfaces.filter((i, n) => k.interfaces.findIndex((o) => o.binding === i.binding && o.version === i.version) === n);
  return { stream: capabilities.streaming === true, push: capabilities.pushNotifications === true, ways };
}

/**
 * Calls an agent.
 * @param {number} agent
 * @param {Call} c
 * @returns {Promise<number>} the number of the call in the record, as soon as it is there
 */
export async function call(agent, c) {
  return (await ask(`/api/agents/${agent}/call`, "POST", c)).call;
}

/**
 * What was said in a call: of its events those after a number.
 * @param {number} id
 * @param {number} [after]
 * @param {AbortSignal} [signal]
 * @returns {Promise<Forms>}
 */
export function forms(id, after = 0, signal) {
  return ask(`/api/calls/${id}/forms?after=${after}&limit=1000`, "GET", undefined, signal);
}

/** A random id, of a message for one. */
export function randomID() {
  return crypto.randomUUID();
}
