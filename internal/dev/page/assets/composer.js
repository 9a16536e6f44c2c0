// @ts-check
// What somebody says to an agent: as a form, as JSON, as a text, with files.
import { announce, button, el, fill, labelled, tabs } from "./dom.js";
import { base64, fileInput } from "./files.js";
import { pathOf } from "./rejection.js";
import { noted, parse, placed, schemaForm } from "./schema.js";
import { words } from "./words.js";

const w = words.call;

/** @typedef {{text?: string, data?: unknown, raw?: string, url?: string, filename?: string, mediaType?: string, metadata?: any}} Part as 1.0 has it */

/** @typedef {import("./schema.js").Mistake} Mistake */

/** What is written, without files. @typedef {{mode: "form" | "json" | "text", data?: unknown, json: string, text: string}} Written */

/**
 * check shows the mistakes at their fields, and goes to the first; reject shows those that the agent found; written and
 * restore are for who keeps what was written.
 * @typedef {{root: HTMLElement, set: (v: unknown) => void, setText: (t: string) => void, parts: () => Promise<Part[]>, check: () => Mistake[], reject: (said: import("./rejection.js").Violation[]) => void, written: () => Written, restore: (was: Written) => void}} Composer
 */

/**
 * @param {{schema?: any, name: string, examples?: string[], text?: boolean, optional?: boolean}} of schema: of the data; text: a text comes first; optional: it may be nothing
 * @returns {Composer}
 */
export function composer(of) {
  /** @type {Written["mode"]} */
  let mode = of.schema && !of.text ? "form" : "text";
  /** @type {import("./schema.js").Field | undefined} */
  let form;
  const json = /** @type {HTMLTextAreaElement} */ (el("textarea", { class: "mono", rows: 10, spellcheck: "false" }));
  const text = /** @type {HTMLTextAreaElement} */ (el("textarea", { rows: 5 }));
  const { root: drop, input: files } = fileInput({ multiple: true, "aria-label": w.files }, () => {});
  const body = el("div");
  const bad = el("p", { class: "bad", role: "alert" });
  const asJSON = { name: w.asJSON, ...noted(json) };
  const asText = { name: w.asText, ...noted(text) };
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
    const list = [...(of.schema ? [{ id: "form", title: w.asForm }] : []), { id: "json", title: w.asJSON }, { id: "text", title: w.asText }];
    fill(bar, tabs(w.writeAs, list, mode, choose), button(w.paste, () => void paste(), { class: "small plain" }), button(w.clear, clear, { class: "small plain" }));
    drawBody();
  };
  const drawBody = () => {
    const examples = (of.examples ?? []).slice(0, 20).map((x) => button(x, () => { text.value = x; text.focus(); }, { class: "small plain" }));
    fill(body, ...(mode === "form" ? [form?.root] : mode === "json" ? [labelled(w.data, json), asJSON.bad] : [labelled(w.text, text), asText.bad, el("div", { class: "offers" }, ...examples)]));
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
      bad.textContent = asJSON.name + " " + /** @type {Error} */ (err).message;
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
  const clear = () => {
    const was = mode;
    show([]);
    set(undefined);
    text.value = "";
    files.value = "";
    files.dispatchEvent(new Event("change"));
    mode = was;
    draw();
  };
  const paste = async () => {
    try {
      set(JSON.parse(await navigator.clipboard.readText()));
      announce(w.pasted);
    } catch (err) {
      bad.textContent = err instanceof SyntaxError ? w.clipboardNotJSON(err.message) : w.noClipboard;
    }
  };
  const bar = el("div", { class: "bar" });
  if (of.schema) setForm(undefined);
  draw();
  return {
    root: el("div", { class: "composer" }, bar, bad, body, el("div", { class: "field" }, el("span", { class: "head" }, el("strong", { "aria-hidden": "true" }, w.files)), drop)),
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
        return show(nothing ? [{ field, text: w.nothing }] : []);
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
    written: () => ({ mode, data: mode === "form" ? form?.get() : undefined, json: json.value, text: text.value }),
    restore(was) {
      if (of.schema && was.data !== undefined) setForm(was.data);
      [mode, json.value, text.value] = [was.mode === "form" && !of.schema ? "json" : was.mode, was.mode === "form" && !of.schema ? shown(was.data) : was.json, was.text];
      draw();
    },
  };
}

/** @param {unknown} v */
function shown(v) {
  return v === undefined ? "" : JSON.stringify(v, null, 2);
}
