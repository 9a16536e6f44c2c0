// @ts-check
// What is said of an input that was not sent, and of one that an agent did not take.
import { button, el, fill } from "./dom.js";
import { link } from "./route.js";

/** What an agent finds wrong with a field (google.rpc.BadRequest). @typedef {{field: string, description: string}} Violation */

/** @param {string[]} list */
const counted = (list) => list[0] + (list.length > 1 ? `, and ${list.length - 1} more` : "");

/** An input that is not sent, because of its mistakes. */
class NotSent extends Error {}

/** Throws an error if there are mistakes. @param {import("./schema.js").Mistake[]} mistakes */
export function refuse(mistakes) {
  if (mistakes.length > 0) throw new NotSent("Not sent: " + counted(mistakes.map((m) => `${m.field.name}: ${m.text}`)));
}

/**
 * Says why something was not sent; what has mistakes can be sent with them.
 * @param {HTMLElement} root
 * @param {Error} err
 * @param {() => void} send
 */
export function complain(root, err, send) {
  fill(root, el("p", { class: "bad", role: "alert" }, err.message), err instanceof NotSent ? button("Send anyway", send) : null);
}

/** The violations in an error, wherever its binding and version put them. @param {any} error @returns {Violation[]} */
export function violationsOf(error) {
  if (typeof error !== "object" || error === null) return [];
  const own = Array.isArray(error.fieldViolations) ? error.fieldViolations : [];
  return [...own.map((/** @type {any} */ v) => ({ field: String(v?.field ?? ""), description: String(v?.description ?? "") })), ...Object.values(error).flatMap(violationsOf)];
}

/**
 * In plain words.
 * @param {import("./agent.js").Form} said
 */
function inWords(said) {
  if (said.problem) return "The answer cannot be read: " + said.problem;
  const violations = violationsOf(said.error);
  if (violations.length > 0) return "The agent rejected the input: " + counted(violations.map((v) => `${v.field}: ${v.description}`));
  const e = said.error?.error ?? said.error;
  const message = e?.message ?? e?.detail ?? e;
  return "The agent answered with an error" + (typeof message === "string" && message ? ": " + message : "");
}

/**
 * An error, or what cannot be read: in words, and the whole of it behind details.
 * @param {import("./agent.js").Form} said
 * @param {number} id of the call
 */
export function errorBox(said, id) {
  return el("div", {}, el("h2", { class: "bad" }, inWords(said)),
    said.error === undefined ? null : el("details", {}, el("summary", {}, "Details"), el("pre", { tabindex: 0 }, JSON.stringify(said.error, null, 2))),
    el("p", {}, el("a", { href: link("traffic", id) }, `Call #${id} in Traffic`)));
}
