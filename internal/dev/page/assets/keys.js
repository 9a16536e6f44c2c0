// @ts-check
// Keys of the whole page. They do nothing while somebody writes.
import { button, byId, el, fill } from "./dom.js";

/** @typedef {{key: string, says: string, does: () => void}} Key */

/** @param {Key[]} keys */
export function listenToKeys(keys) {
  const help = /** @type {HTMLDialogElement} */ (byId("help"));
  const all = [...keys, { key: "?", says: "these keys", does: () => help.showModal() }];
  fill(help, el("h2", { id: "help-title" }, "Keys"),
    el("dl", {}, ...all.flatMap((k) => [el("dt", {}, el("kbd", {}, k.key)), el("dd", {}, k.says)]),
      el("dt", {}, el("kbd", {}, "↑ ↓ Enter")), el("dd", {}, "in a list"), el("dt", {}, el("kbd", {}, "Ctrl Enter")), el("dd", {}, "send, in a form")),
    button("Close", () => help.close()));
  byId("keys").addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (e) => {
    const at = /** @type {HTMLElement} */ (e.target);
    if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented || help.open || at.closest("input, select, textarea, [contenteditable]")) return;
    const k = all.find((k) => k.key === e.key);
    if (!k) return;
    e.preventDefault();
    k.does();
  });
}
