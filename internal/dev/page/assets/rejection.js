// @ts-check
// What is said of an input that was not sent, and of one that an agent did not take.
import { button, el, fill } from "./dom.js";
import { link } from "./route.js";
import { words } from "./words.js";

const w = words.call;

/** What an agent finds wrong with a field (google.rpc.BadRequest). @typedef {{field: string, description: string}} Violation */

/** An input that is not sent, because of its mistakes. */
class NotSent extends Error {}

/** Throws an error if there are mistakes. @param {import("./schema.js").Mistake[]} mistakes */
export function refuse(mistakes) {
  if (mistakes.length > 0) throw new NotSent(w.notSent(mistakes.length, mistakes[0].field.name));
}

/**
 * Says why something was not sent; what has mistakes can be sent with them.
 * @param {HTMLElement} root
 * @param {Error} err
 * @param {() => void} send
 */
export function complain(root, err, send) {
  fill(root, el("p", { class: "bad", role: "alert" }, err.message), err instanceof NotSent ? button(w.sendAnyway, send, { class: "small plain" }) : null);
}

/** The violations in an error, wherever its binding and version put them. @param {any} error @returns {Violation[]} */
export function violationsOf(error) {
  if (typeof error !== "object" || error === null) return [];
  const own = Array.isArray(error.fieldViolations) ? error.fieldViolations : [];
  return [...own.map((/** @type {any} */ v) => ({ field: String(v?.field ?? ""), description: String(v?.description ?? "") })), ...Object.values(error).flatMap(violationsOf)];
}

/** The path in the input of "input.stops[0]", "message.parts[0].data.stops[0]" or, a JSON pointer, "/stops/0". @param {string} field */
export function pathOf(field) {
  const path = field.startsWith("/") ? field.replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~") : "." + field;
  const below = path.replace(/^(\.params)?(\.message)?\.parts[.[]\d+\]?(\.data)?|^\.input\b/, "");
  return /^([.[]|$)/.test(below) ? below : path;
}

/** An answer that is an error, or cannot be read, in words. @param {import("./agent.js").Form} said */
export function inWords(said) {
  if (said.problem) return w.unreadable(said.problem);
  const violations = violationsOf(said.error);
  if (violations.length > 0) {
    const [{ field, description }] = violations;
    return w.rejected([pathOf(field).replace(/^\./, ""), description].filter(Boolean).join(": ") + (violations.length > 1 ? w.andMore(violations.length - 1) : ""));
  }
  const e = said.error?.error ?? said.error;
  const message = e?.message ?? e?.detail ?? e;
  return w.error(typeof message === "string" ? message : "");
}

/**
 * An error, or what cannot be read: in words, and the whole of it behind details.
 * @param {import("./agent.js").Form} said
 * @param {number} [id] of the call, for a link to it
 */
export function errorBox(said, id) {
  return el("div", { class: "error" }, el("h3", { class: "bad" }, inWords(said)),
    said.error === undefined ? null : el("details", {}, el("summary", {}, w.theJSON), el("pre", { tabindex: 0 }, JSON.stringify(said.error, null, 2))),
    id === undefined ? null : el("p", {}, el("a", { href: link("traffic", id) }, w.callInTraffic(id))));
}
