// @ts-check
// What somebody says to an agent: as a form, as JSON, as a text, with files.
import { announce, button, el, fill, labelled, tabs } from "./dom.js";
import { base64, noted, parse, placed, schemaForm } from "./schema.js";

/** @typedef {{text?: string, data?: unknown, raw?: string, url?: string, filename?: string, mediaType?: string, metadata?: any}} Part as 1.0 has it */

/** @typedef {import("./schema.js").Mistake} Mistake */

/**
 * check shows the mistakes at their fields, and goes to the first; reject shows those that the agent found.
 * @typedef {{root: HTMLElement, set: (v: unknown) => void, setText: (t: string) => void, parts: () => Promise<Part[]>, check: () => Mistake[], reject: (said: import("./rejection.js").Violation[]) => void}} Composer
 */

/**
 * @param {{schema?: any, name: string, examples?: string[], text?: boolean, optional?: boolean}} of schema: of the data; text: a text comes first; optional: it may be nothing
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
  const asJSON = { name: "JSON", ...noted(json) };
  const asText = { name: "Text", ...noted(text) };
  /** @type {Mistake[]} */
  let marked = [];
  /** @param {Mistake[]} mistakes */
  const show = (mistakes) => {
    for (const m of [...marked, ...mistakes]) m.field.mark("");
    for (const m of mistakes) m.field.mark(m.text);
    marked = mistakes;
    /** @type {HTMLElement | null} */ (body.querySelector(".wrong"))?.focus();
    return mistakes;
  };

  /** The data as it stands. @returns {unknown} */
  const value = () => (mode === "form" ? form?.get() : parse(json.value));
  /** @param {unknown} v */
  const setForm = (v) => { form = schemaForm(of.schema, v, of.name); };
  const draw = () => {
    fill(bar);
    const list = [...(of.schema ? [{ id: "form", title: "Form" }] : []), { id: "json", title: "JSON" }, { id: "text", title: "Text" }];
    fill(bar, tabs("How to write it", list, mode, choose), button("Paste JSON", () => void paste(), { class: "small" }));
    drawBody();
  };
  const drawBody = () => {
    const examples = (of.examples ?? []).slice(0, 20).map((x) => button(x, () => { text.value = x; }, { class: "small" }));
    fill(body, ...(mode === "form" ? [form?.root] : mode === "json" ? [labelled("Data, as JSON", json), asJSON.bad] : [labelled("Text", text), asText.bad, el("div", { class: "bar" }, ...examples)]));
  };
  /** @param {string} to */
  const choose = (to) => {
    try {
      bad.textContent = "";
      if (mode !== "text" && to === "json") json.value = shown(value());
      if (mode === "json" && to === "form") setForm(value());
      mode = /** @type {typeof mode} */ (to);
      drawBody();
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
    // JSON may be wrong on purpose.
    check() {
      if (mode === "form") return show(form?.mistakes() ?? []);
      const field = mode === "json" ? asJSON : asText;
      try {
        const nothing = !files.files?.length && !of.optional && !(mode === "json" ? value() !== undefined : text.value);
        return show(nothing ? [{ field, text: "there is nothing to send" }] : []);
      } catch (err) {
        return show([{ field, text: /** @type {Error} */ (err).message }]);
      }
    },
    reject(said) {
      show(said.map((v) => {
        if (mode === "form" && form) return placed(form, pathOf(v.field), v.description);
        return { field: mode === "json" ? asJSON : asText, text: `${v.field}: ${v.description}` };
      }));
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

/** The path in the input of "input.stops[0]", "message.parts[0].data.stops[0]" or, a JSON pointer, "/stops/0". @param {string} field */
function pathOf(field) {
  const path = field.startsWith("/") ? field.replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~") : "." + field;
  const below = path.replace(/^(\.params)?(\.message)?\.parts[.[]\d+\]?(\.data)?|^\.input\b/, "");
  return /^([.[]|$)/.test(below) ? below : path;
}

/** @param {unknown} v */
function shown(v) {
  return v === undefined ? "" : JSON.stringify(v, null, 2);
}
