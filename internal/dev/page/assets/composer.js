// @ts-check
// What somebody says to an agent: as a form, as JSON, as a text, with files.
import { announce, button, el, fill, labelled, tabs } from "./dom.js";
import { base64, schemaForm } from "./schema.js";

/** @typedef {{text?: string, data?: unknown, raw?: string, url?: string, filename?: string, mediaType?: string, metadata?: any}} Part as 1.0 has it */

/** @typedef {{root: HTMLElement, set: (v: unknown) => void, setText: (t: string) => void, parts: () => Promise<Part[]>}} Composer */

/**
 * @param {{schema?: any, name: string, examples?: string[], text?: boolean}} of schema: of the data; text: a text comes first
 * @returns {Composer}
 */
export function composer(of) {
  /** @type {"form" | "json" | "text"} */
  let mode = of.schema && !of.text ? "form" : "text";
  /** @type {import("./schema.js").Field | undefined} */
  let form;
  const json = /** @type {HTMLTextAreaElement} */ (el("textarea", { class: "mono", rows: 10, spellcheck: "false" }));
  const text = /** @type {HTMLTextAreaElement} */ (el("textarea", { rows: 5 }));
  const files = /** @type {HTMLInputElement} */ (el("input", { type: "file", multiple: true }));
  const body = el("div");
  const bad = el("p", { class: "bad", role: "alert" });

  /** The data as it stands. @returns {unknown} */
  const value = () => {
    if (mode === "form") return form?.get();
    if (json.value.trim() === "") return undefined;
    try {
      return JSON.parse(json.value);
    } catch (err) {
      throw new Error("this is no JSON: " + /** @type {Error} */ (err).message);
    }
  };
  /** @param {unknown} v */
  const setForm = (v) => { form = schemaForm(of.schema, v, of.name); };
  const draw = () => {
    fill(bar);
    const list = [...(of.schema ? [{ id: "form", title: "Form" }] : []), { id: "json", title: "JSON" }, { id: "text", title: "Text" }];
    fill(bar, tabs("How to write it", list, mode, choose), button("Paste JSON", () => void paste(), { class: "small" }));
    show();
  };
  const show = () => {
    const examples = (of.examples ?? []).slice(0, 20).map((x) => button(x, () => { text.value = x; }, { class: "small" }));
    fill(body, ...(mode === "form" ? [form?.root] : mode === "json" ? [labelled("Data, as JSON", json)] : [labelled("Text", text), el("div", { class: "bar" }, ...examples)]));
  };
  /** @param {string} to */
  const choose = (to) => {
    try {
      bad.textContent = "";
      if (mode !== "text" && to === "json") json.value = shown(value());
      if (mode === "json" && to === "form") setForm(value());
      mode = /** @type {typeof mode} */ (to);
      show();
    } catch (err) {
      bad.textContent = /** @type {Error} */ (err).message;
      draw();
    }
  };
  /** @param {unknown} v the data to begin with */
  const set = (v) => {
    bad.textContent = "";
    json.value = shown(v);
    if (of.schema) setForm(v);
    mode = of.schema ? "form" : "json";
    draw();
  };
  const paste = async () => {
    try {
      set(JSON.parse(await navigator.clipboard.readText()));
      announce("pasted");
    } catch (err) {
      bad.textContent = err instanceof SyntaxError ? "what is on the clipboard is no JSON: " + err.message : "the browser does not let the page read the clipboard: choose JSON and paste there";
    }
  };
  const bar = el("div", { class: "bar" });
  if (of.schema) setForm(undefined);
  draw();
  return {
    root: el("div", { class: "composer" }, bar, bad, body, el("details", {}, el("summary", {}, "Files"), labelled("Files that go with it", files))),
    set,
    /** @param {string} t */
    setText(t) {
      text.value = t;
      mode = "text";
      draw();
    },
    /** The parts of the message; an Error says which field holds no value. @returns {Promise<Part[]>} */
    async parts() {
      const list = await Promise.all([...(files.files ?? [])].map(async (f) => ({ raw: await base64(f), filename: f.name, mediaType: f.type || "application/octet-stream" })));
      if (mode === "text") return [...(text.value ? [{ text: text.value }] : []), ...list];
      const data = value();
      return [...(data === undefined ? [] : [{ data, mediaType: "application/json" }]), ...list];
    },
  };
}

/** @param {unknown} v */
function shown(v) {
  return v === undefined ? "" : JSON.stringify(v, null, 2);
}
