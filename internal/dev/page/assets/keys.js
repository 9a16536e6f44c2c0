// @ts-check
// Keys of the whole page. They do nothing while somebody writes.
import { button, byId, el, fill } from "./dom.js";
import { words } from "./words.js";

/** @typedef {{key: string, says: string, does: () => void}} Key */

/** @param {Key[]} keys @param {() => void} search is opened by Control+K, from anywhere */
export function listenToKeys(keys, search) {
  const help = /** @type {HTMLDialogElement} */ (byId("help"));
  const { keyOf } = words.frame;
  const all = [...keys, { key: "?", says: keyOf.keys, does: () => help.showModal() }];
  const told = [...all.map((k) => [k.key, k.says]), ["Ctrl K", keyOf.search], ["↑ ↓ Enter", keyOf.list], ["Ctrl Enter", keyOf.send], ["+ − 0", keyOf.zoom]];
  fill(help, el("h2", { id: "help-title" }, words.frame.keys),
    el("dl", {}, ...told.flatMap(([key, says]) => [el("dt", {}, el("kbd", {}, key)), el("dd", {}, says)])),
    button(words.frame.close, () => help.close()));
  byId("keys").addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (e) => {
    if (help.open || e.defaultPrevented || e.altKey) return;
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k") {
      e.preventDefault();
      search();
      return;
    }
    if (e.ctrlKey || e.metaKey || /** @type {HTMLElement} */ (e.target).closest("input, select, textarea, dialog, [contenteditable]")) return;
    const k = all.find((k) => k.key === e.key);
    if (!k) return;
    e.preventDefault();
    k.does();
  });
}
