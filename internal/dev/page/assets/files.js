// @ts-check
// Files that are chosen, or dropped.
import { button, el, fill, newID } from "./dom.js";
import { bytes } from "./format.js";
import { words } from "./words.js";

const w = words.call;

/**
 * A control that takes files, with their names and sizes.
 * @param {Record<string, import("./dom.js").Attribute>} attributes of the control
 * @param {() => unknown} changed
 * @returns {{root: HTMLElement, input: HTMLInputElement}}
 */
export function fileInput(attributes, changed) {
  const list = el("ul", { class: "plain small" });
  const hint = newID();
  const input = /** @type {HTMLInputElement} */ (el("input", { type: "file", "aria-describedby": hint, ...attributes, change: () => show() }));
  /** @param {File[]} files */
  const set = (files) => {
    const all = new DataTransfer();
    for (const f of input.multiple ? files : files.slice(-1)) all.items.add(f);
    input.files = all.files;
    show();
  };
  const chosen = () => [...(input.files ?? [])];
  const show = () => {
    fill(list, ...chosen().map((f) => el("li", {}, `${f.name}, ${bytes(f.size)} `,
      button("✕", () => { set(chosen().filter((o) => o !== f)); input.focus(); }, { class: "small plain", "aria-label": w.removeFile(f.name), title: w.remove }))));
    changed();
  };
  /** @param {boolean} on */
  const over = (on) => root.classList.toggle("over", on);
  const root = el("div", {
    class: "drop",
    dragover: (e) => { if ([...e.dataTransfer.types].includes("Files")) { e.preventDefault(); over(true); } },
    dragleave: () => over(false),
    drop: (e) => {
      e.preventDefault();
      over(false);
      set([...chosen(), ...e.dataTransfer.files]);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    },
  }, input, el("span", { class: "dim small", id: hint }, input.multiple ? w.dropFiles : w.dropFile), list);
  return { root, input };
}

/** @param {Blob} file @returns {Promise<string>} */
export async function base64(file) {
  const all = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let i = 0; i < all.length; i += 0x8000) text += String.fromCharCode(...all.subarray(i, i + 0x8000));
  return btoa(text);
}
