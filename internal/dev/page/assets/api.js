// @ts-check
// The API of the page: see the documentation of package page.
import { words } from "./words.js";

/** @typedef {{number: number, name: string, url: string, to?: string, folder?: string, phase: string, since?: string, tookMs: number, paused: boolean, step?: string, problems: {file?: string, line?: number, col?: number, text: string}[] | null, notes: string[] | null}} Agent */
/** @typedef {{id: number, agent: number, caller: string, begun: string, method: string, path: string, operation?: string, called?: string, binding?: string, version?: string, task?: string, context?: string, message?: string, skill?: string, firstMs: number, state: string, status?: number, outcome?: string, tookMs: number, sent: number, received: number, events: number, resumed?: number, faults?: string, problem?: string}} Summary */
/** @typedef {{bytes?: string, size: number, cut?: boolean, more?: boolean, json?: unknown[]}} Body */
/** @typedef {{n: number, atMs: number, id?: string, size: number, bytes?: string, cut?: boolean, more?: boolean, json?: unknown, kind?: string, task?: string, context?: string, state?: string, artifact?: string, append?: boolean, last?: boolean, text?: string}} Event */
/** @typedef {Summary & {requestHeader: Record<string, string[]>, request: Body, header?: Record<string, string[]>, response: Body, eventList?: Event[]}} Exchange */

/** What is told when the command does not answer. */
export const { away } = words.frame;

/**
 * Asks the command something. An error is thrown with the sentence that the command says, or one that says that it does
 * not answer.
 * @param {string} path
 * @param {string} [method]
 * @param {unknown} [body] is sent as JSON
 * @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function ask(path, method = "GET", body, signal) {
  const resp = await fetch(path, { method, signal, body: body === undefined ? undefined : JSON.stringify(body) }).catch((err) => {
    throw signal?.aborted ? err : new Error(away);
  });
  const text = await resp.text();
  if (!resp.ok) {
    throw new Error(text.startsWith("{") ? JSON.parse(text).error : text);
  }
  return text ? JSON.parse(text) : null;
}

/**
 * Follows what changes, for ever.
 * @param {number} after
 * @param {Record<string, (what: any) => void>} on
 */
export function follow(after, on) {
  const source = new EventSource("/api/live?after=" + after);
  for (const kind of Object.keys(on)) {
    source.addEventListener(kind, (e) => on[kind](JSON.parse(/** @type {MessageEvent} */ (e).data)));
  }
  source.onerror = () => on.lost(source.readyState === EventSource.CLOSED);
  source.onopen = () => on.found(null);
}

/**
 * The text of bytes in base64.
 * @param {string} [bytes]
 */
export function textOf(bytes = "") {
  return new TextDecoder().decode(Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0)));
}
