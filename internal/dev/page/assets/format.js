// @ts-check
// Numbers and words as people read them.

/** @param {number} n milliseconds */
export function ms(n) {
  return n < 1000 ? n.toFixed(1) + " ms" : n < 60_000 ? (n / 1000).toFixed(2) + " s" : (n / 60_000).toFixed(1) + " min";
}

/** @param {number} n */
export function bytes(n) {
  return n < 10_000 ? n + " B" : n < 1e6 ? (n / 1000).toFixed(1) + " kB" : (n / 1e6).toFixed(1) + " MB";
}

/**
 * A state of a task, in whatever version's words: "TASK_STATE_INPUT_REQUIRED" is "input-required".
 * @param {string} [state]
 */
export function stateName(state = "") {
  return state.replace(/^TASK_STATE_/, "").toLowerCase().replaceAll("_", "-");
}
