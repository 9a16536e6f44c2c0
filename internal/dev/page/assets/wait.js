// @ts-check
// Waiting for calls.
import { on, state } from "./state.js";

/**
 * The summary of a call when it has ended.
 * @param {number} id
 * @param {AbortSignal} signal ends the waiting with an error
 * @returns {Promise<import("./api.js").Summary>}
 */
export function ended(id, signal) {
  return new Promise((found, failed) => {
    const over = new AbortController();
    const look = () => {
      const s = state.calls.get(id);
      if (!s || s.state === "running") return;
      over.abort();
      found(s);
    };
    signal.addEventListener("abort", () => { over.abort(); failed(new Error("nobody waits any more")); }, { signal: over.signal });
    for (const kind of /** @type {const} */ (["call", "loaded"])) on(kind, look, over.signal);
    look();
  });
}
