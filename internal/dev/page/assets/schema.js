// @ts-check
// Forms from JSON Schemas (2020-12). What no field can show is a field of JSON: there is always a way to say it. What a
// schema demands is a hint and no obstacle, because what the agent says to a wrong input is worth seeing, too.
import { button, el, fill, newID, select } from "./dom.js";

/**
 * A field of a form. get returns undefined for a value that is left out, and throws an Error for one that is none.
 * @typedef {{root: HTMLElement, get: () => unknown}} Field
 */

/** @typedef {any} Schema */

/**
 * Where a field is: the schema that references are looked up in, how deep, and what it is called.
 * @typedef {{whole: Schema, depth: number, name: string, required: boolean, hint?: string}} At
 */

const deepest = 8; // objects in one another that are shown without being asked for
const mostFields = 200;
const mostChoices = 500;

/**
 * A form for a schema, with a value in it.
 * @param {Schema} schema
 * @param {unknown} [value]
 * @param {string} [name]
 * @returns {Field}
 */
export function schemaForm(schema, value, name = "Input") {
  return build({ whole: schema, depth: 0, name, required: true }, schema, value);
}

/** What is said of a field whose schema leads nowhere, allows nothing, or is none. */
const unshown = { description: "No field can show what its schema says: write it as JSON." };

/**
 * @param {At} at
 * @param {Schema} schema
 * @param {unknown} value
 * @returns {Field}
 */
function build(at, schema, value) {
  try {
    return shown(at, schema, value);
  } catch { // members of a schema may be of any type: it is written by anybody
    return jsonField(at, unshown, value);
  }
}

/**
 * @param {At} at
 * @param {Schema} schema
 * @param {unknown} value
 * @returns {Field}
 */
function shown(at, schema, value) {
  const s = resolve(at.whole, schema);
  if (!isObject(s)) return jsonField(at, unshown, value);
  if (value !== undefined && !fits(at.whole, s, value)) return jsonField(at, s, value);
  if ("const" in s) return constField(at, s, value);
  if (Array.isArray(s.enum)) return s.enum.length <= mostChoices ? enumField(at, s, value) : jsonField(at, s, value);
  const options = s.oneOf ?? s.anyOf;
  if (Array.isArray(options) && options.length > 0 && options.length <= mostChoices) return choiceField(at, s, options.map((o) => joined(at.whole, s, o)), value);
  if (Array.isArray(s.type)) return s.type.length === 1 ? build(at, { ...s, type: s.type[0] }, value) : choiceField(at, s, s.type.map((/** @type {string} */ type) => ({ ...s, type })), value);
  switch (typeOf(s)) {
    case "object": return objectField(at, s, value);
    case "array": return arrayField(at, s, value);
    case "string": return stringField(at, s, value);
    case "integer": case "number": return numberField(at, s, value);
    case "boolean": return booleanField(at, s, value);
    case "null": return constField(at, { ...s, const: null }, value);
  }
  return jsonField(at, s, value);
}

/** @param {unknown} x @returns {x is Record<string, any>} */
function isObject(x) {
  return typeof x === "object" && x !== null && !Array.isArray(x);
}

/** @param {Schema} s @returns {string | undefined} */
function typeOf(s) {
  if (typeof s.type === "string") return s.type;
  if (isObject(s.properties) || isObject(s.additionalProperties) || isObject(s.patternProperties)) return "object";
  if (s.items !== undefined || s.prefixItems) return "array";
  if (s.format || s.minLength !== undefined || s.pattern) return "string";
  if (s.minimum !== undefined || s.maximum !== undefined || s.multipleOf !== undefined) return "number";
  return undefined;
}

/**
 * A schema without references and allOf, as far as they lead somewhere in the whole; undefined for one that leads nowhere.
 * @param {Schema} whole
 * @param {Schema} schema
 * @param {number} [steps]
 * @returns {Schema}
 */
function resolve(whole, schema, steps = 0) {
  if (schema === true) return {};
  if (!isObject(schema) || steps > 30) return undefined;
  let s = schema;
  const ref = s.$ref ?? s.$dynamicRef;
  if (typeof ref === "string") {
    const target = resolve(whole, lookup(whole, ref), steps + 1);
    if (!isObject(target)) return undefined;
    const { $ref: _, $dynamicRef: __, ...beside } = s;
    s = { ...target, ...beside, title: beside.title ?? target.title ?? ref.split("/").pop() };
  }
  if (Array.isArray(s.allOf)) {
    const { allOf, ...rest } = s;
    s = rest;
    for (const part of allOf) {
      const p = resolve(whole, part, steps + 1);
      if (!isObject(p)) return undefined;
      s = merged(s, p);
    }
  }
  return s;
}

/** What both of two schemas say. @param {Schema} a @param {Schema} b @returns {Schema} */
function merged(a, b) {
  const s = { ...b, ...a };
  if (a.properties || b.properties) s.properties = { ...b.properties, ...a.properties };
  if (a.required || b.required) s.required = [...new Set([a.required, b.required].flatMap((r) => (Array.isArray(r) ? r : [])))];
  return s;
}

/** @param {Schema} whole @param {string} ref @returns {Schema} */
function lookup(whole, ref) {
  if (ref === "#") return whole;
  if (!ref.startsWith("#/")) return anchored(whole, ref.slice(1));
  let at = whole;
  for (const token of ref.slice(2).split("/")) {
    const key = decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~");
    if ((!isObject(at) && !Array.isArray(at)) || !Object.hasOwn(at, key)) return undefined;
    at = /** @type {any} */ (at)[key];
  }
  return at;
}

/** @param {Schema} whole @param {string} name @returns {Schema} */
function anchored(whole, name) {
  return Object.values(whole?.$defs ?? {}).find((d) => isObject(d) && (d.$anchor === name || d.$dynamicAnchor === name));
}

/** An alternative, with what is said of all of them. @param {Schema} whole @param {Schema} s @param {Schema} option @returns {Schema} */
function joined(whole, s, option) {
  const { oneOf: _, anyOf: __, title: ___, description: ____, ...common } = s;
  const o = resolve(whole, option);
  return isObject(o) ? merged(o, common) : option;
}

/**
 * Whether a value is of the kind that a schema's field holds. Details are the agent's affair.
 * @param {Schema} whole
 * @param {Schema} schema
 * @param {unknown} v
 * @param {number} [depth]
 * @param {{steps: number}} [left] how much is looked at: choices within choices can be without end
 * @returns {boolean}
 */
function fits(whole, schema, v, depth = 0, left = { steps: 10_000 }) {
  if (left.steps-- <= 0) return true;
  const s = resolve(whole, schema);
  if (!isObject(s) || depth > deepest) return true;
  if ("const" in s) return same(s.const, v);
  if (Array.isArray(s.enum)) return s.enum.some((e) => same(e, v));
  const options = s.oneOf ?? s.anyOf;
  if (Array.isArray(options)) return options.some((o) => fits(whole, joined(whole, s, o), v, depth + 1, left));
  if (Array.isArray(s.type)) return s.type.some((type) => fits(whole, { ...s, type }, v, depth + 1, left));
  switch (typeOf(s)) {
    case "object":
      return isObject(v) && (Array.isArray(s.required) ? s.required : []).every((/** @type {string} */ k) => Object.hasOwn(v, k) || !isObject(s.properties?.[k]) || !("const" in s.properties[k])) &&
        Object.entries(s.properties ?? {}).every(([k, p]) => !Object.hasOwn(v, k) || fits(whole, p, v[k], depth + 1, left)) &&
        (mayHaveMore(s) || Object.keys(v).every((k) => Object.hasOwn(s.properties ?? {}, k)));
    case "array": return Array.isArray(v) && v.every((e, i) => fits(whole, s.prefixItems?.[i] ?? s.items ?? true, e, depth + 1, left));
    case "string": return typeof v === "string";
    case "integer": return Number.isInteger(v);
    case "number": return typeof v === "number";
    case "boolean": return typeof v === "boolean";
    case "null": return v === null;
  }
  return true;
}

/** @param {unknown} a @param {unknown} b */
function same(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What a reader has to know of a field, in words. @param {At} at @param {Schema} s */
function hint(at, s) {
  const words = [typeof s?.type === "string" ? s.type : "", s?.format ?? "", at.required ? "required" : ""];
  if (s?.minimum !== undefined || s?.maximum !== undefined) words.push(`${s.minimum ?? ""}…${s.maximum ?? ""}`);
  if (s?.minLength || s?.maxLength !== undefined) words.push(`${s.minLength ?? 0}…${s.maxLength ?? ""} characters`);
  if (s?.minItems || s?.maxItems !== undefined) words.push(`${s.minItems ?? 0}…${s.maxItems ?? ""} items`);
  if (s?.pattern) words.push("like " + s.pattern);
  if (s?.default !== undefined) words.push("default " + JSON.stringify(s.default));
  return words.filter(Boolean).join(", ");
}

/**
 * A control with its label and hints.
 * @param {At} at
 * @param {Schema} s
 * @param {HTMLElement} control
 * @param {...HTMLElement} more
 */
function row(at, s, control, ...more) {
  control.id = newID();
  const hintID = newID();
  const about = isObject(s) && s.description ? String(s.description) : "";
  control.setAttribute("aria-describedby", hintID);
  if (at.required && control.tagName !== "OUTPUT") control.setAttribute("aria-required", "true");
  return el("div", { class: "field" },
    el("span", {}, el("label", { for: control.id }, title(at, s)), " ", el("span", { class: "dim", id: hintID }, hint(at, s), about ? el("span", { class: "about" }, about) : null)),
    control, ...more);
}

/** @param {At} at @param {Schema} s */
function title(at, s) {
  return at.name || (isObject(s) && s.title) || "value";
}

/**
 * Anything, as JSON.
 * @param {At} at
 * @param {Schema} s
 * @param {unknown} value
 * @returns {Field}
 */
function jsonField(at, s, value) {
  const area = /** @type {HTMLTextAreaElement} */ (el("textarea", { class: "mono", spellcheck: "false", rows: 3, placeholder: "JSON", input: () => { bad.textContent = problemOf(area.value); } }));
  const bad = el("span", { class: "bad", role: "alert" });
  area.value = value === undefined ? "" : JSON.stringify(value, null, 1);
  return { root: row({ ...at, name: title(at, s) + " (JSON)" }, s, area, bad), get: () => parse(area.value, at.name) };
}

/** @param {string} text */
function problemOf(text) {
  try {
    parse(text, "");
    return "";
  } catch (err) {
    return /** @type {Error} */ (err).message;
  }
}

/** @param {string} text @param {string} name */
function parse(text, name) {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (err) {
    throw new Error((name ? name + ": " : "") + "this is no JSON: " + /** @type {Error} */ (err).message);
  }
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function constField(at, s, value) {
  if (at.required || value !== undefined) {
    return { root: row(at, s, el("output", {}, JSON.stringify(s.const))), get: () => s.const };
  }
  const box = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox" }));
  return { root: row({ ...at, name: `${title(at, s)}: ${JSON.stringify(s.const)}` }, s, box), get: () => (box.checked ? s.const : undefined) };
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function enumField(at, s, value) {
  const none = !at.required || value === undefined;
  const chosen = s.enum.findIndex((/** @type {unknown} */ e) => same(e, value));
  const list = select([...(none ? /** @type {[string, string][]} */ ([["", ""]]) : []),
    ...s.enum.map((/** @type {unknown} */ e, /** @type {number} */ i) => [String(i), typeof e === "string" ? e : JSON.stringify(e)])], chosen < 0 ? "" : String(chosen), () => {});
  return { root: row(at, s, list), get: () => (list.value === "" ? undefined : s.enum[Number(list.value)]) };
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function booleanField(at, s, value) {
  const list = select([["", ""], ["true", "true"], ["false", "false"]], value === undefined ? "" : String(value), () => {});
  return { root: row(at, s, list), get: () => (list.value === "" ? undefined : list.value === "true") };
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function numberField(at, s, value) {
  const input = /** @type {HTMLInputElement} */ (el("input", { inputmode: s.type === "integer" ? "numeric" : "decimal", autocomplete: "off", placeholder: s.default ?? null }));
  input.value = value === undefined ? "" : String(value);
  return {
    root: row(at, s, input),
    get() {
      const text = input.value.trim();
      if (text === "") return undefined;
      const n = Number(text);
      if (!Number.isFinite(n)) throw new Error(`${at.name}: ${text} is no number`);
      return n;
    },
  };
}

/** Kinds of input for formats of strings. @type {Record<string, string>} */
const inputs = { date: "date", "date-time": "datetime-local", time: "time", email: "email", uri: "url" };

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function stringField(at, s, value) {
  if (s.contentEncoding === "base64" || s.format === "byte" || s.format === "binary") return fileField(at, s, value);
  const kind = inputs[s.format] ?? "text";
  // A browser shows and takes a time in its own zone; one with a zone is written in UTC.
  const timed = kind === "datetime-local";
  const shown = value === undefined ? "" : timed ? localTime(String(value)) : String(value);
  if (value !== undefined && ((kind === "date" && !/^\d{4}-\d\d-\d\d$/.test(shown)) || (kind === "time" && !/^\d\d:\d\d(:\d\d)?$/.test(shown)) || (timed && !shown))) return jsonField(at, s, value);
  const long = s.maxLength > 200 || /\n/.test(shown) || s.contentMediaType;
  const input = /** @type {HTMLInputElement} */ (long ? el("textarea", { rows: 3 }) : el("input", { type: kind, step: timed ? "any" : null, autocomplete: "off", placeholder: typeof s.default === "string" ? s.default : null }));
  input.value = shown;
  let touched = false;
  input.addEventListener("input", () => { touched = true; });
  return {
    root: row(at, s, input),
    get() {
      if (!touched) return value;
      if (input.value === "") return undefined;
      return timed ? new Date(input.value).toISOString().replace(/\.000Z$/, "Z") : input.value;
    },
  };
}

/** @param {string} text of RFC 3339 */
function localTime(text) {
  const t = new Date(text);
  if (Number.isNaN(t.getTime())) return "";
  return new Date(t.getTime() - t.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}

/** Bytes, from a file. @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function fileField(at, s, value) {
  let encoded = /** @type {string | undefined} */ (value);
  const said = el("span", { class: "dim" }, encoded === undefined ? "" : `${encoded.length} characters of base64`);
  const input = /** @type {HTMLInputElement} */ (el("input", {
    type: "file",
    async change() {
      const file = input.files?.[0];
      encoded = file ? await base64(file) : undefined;
      said.textContent = file ? `${file.name}, ${file.size} B` : "";
    },
  }));
  return { root: row(at, s, input, said), get: () => encoded };
}

/** @param {Blob} file @returns {Promise<string>} */
export async function base64(file) {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}

/**
 * A group of fields with a heading, which can be edited as JSON.
 * @param {At} at
 * @param {Schema} s
 * @param {unknown} value
 * @param {(value: any) => Field} make makes the fields
 * @returns {Field}
 */
function group(at, s, value, make) {
  let now = make(value);
  let json = false;
  const body = el("div", {}, now.root);
  const bad = el("span", { class: "bad", role: "alert" });
  const toggle = button("as JSON", () => {
    try {
      const value = now.get();
      if (json && value !== undefined && !fits(at.whole, s, value)) throw new Error("no form shows this value");
      json = !json;
      now = json ? jsonField({ ...at, required: false }, s, value) : make(value);
      bad.textContent = "";
      toggle.textContent = json ? "as a form" : "as JSON";
      fill(body, now.root);
    } catch (err) {
      bad.textContent = /** @type {Error} */ (err).message;
    }
  }, { class: "small" });
  const about = s.description ? el("p", { class: "dim about" }, String(s.description)) : null;
  const legend = el("legend", {}, title(at, s), " ", el("span", { class: "dim" }, hint(at, s)));
  return { root: el("fieldset", {}, legend, about, at.depth === 0 ? null : toggle, bad, body), get: () => now.get() };
}

/**
 * What may be left out, or is too deep to be shown unasked.
 * @param {At} at
 * @param {Schema} s
 * @param {unknown} value
 * @param {(value: unknown) => Field} make
 * @returns {Field}
 */
function optional(at, s, value, make) {
  if (value !== undefined || (at.required && at.depth <= deepest)) return make(value);
  /** @type {Field | undefined} */
  let inner;
  const root = el("div", { class: "field" });
  const show = () => {
    fill(root, inner ? inner.root : null, button(inner ? `Leave ${title(at, s)} out` : `Add ${title(at, s)}`, () => { inner = inner ? undefined : make(undefined); show(); }, { class: "small" }),
      inner ? null : el("span", { class: "dim" }, hint(at, s), " ", s.description ?? ""));
  };
  show();
  return { root, get: () => inner?.get() };
}

/** @param {Schema} s */
function mayHaveMore(s) {
  return s.additionalProperties !== false && s.unevaluatedProperties !== false;
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function objectField(at, s, value) {
  const required = Array.isArray(s.required) ? s.required : [];
  const names = Object.keys(s.properties ?? {}).sort((a, b) => Number(required.includes(b)) - Number(required.includes(a)));
  if (names.length > mostFields) return jsonField(at, s, value);
  return optional(at, s, value, (value) => group(at, s, value, (v) => properties(at, s, names, v ?? {})));
}

/**
 * @param {At} at
 * @param {Schema} s
 * @param {string[]} names
 * @param {Record<string, unknown>} value
 * @returns {Field}
 */
function properties(at, s, names, value) {
  const required = new Set(Array.isArray(s.required) ? s.required : []);
  const fields = names.map((name) => /** @type {[string, Field]} */ ([name,
    build({ whole: at.whole, depth: at.depth + 1, name, required: required.has(name) }, s.properties[name], own(value, name))]));
  const others = Object.keys(value).filter((k) => !names.includes(k));
  const values = isObject(s.additionalProperties) ? s.additionalProperties : Object.values(s.patternProperties ?? {})[0] ?? true;
  const asked = isObject(s.additionalProperties) || s.patternProperties || names.length === 0;
  const map = others.length > 0 || (asked && mayHaveMore(s)) ? mapField(at, values, others.map((k) => [k, value[k]])) : undefined;
  return {
    root: el("div", {}, ...fields.map(([, f]) => f.root), map?.root),
    // Names are whatever an agent says: "__proto__" is one as any other.
    get: () => Object.fromEntries([...fields.map(([name, f]) => [name, f.get()]), ...(map?.get() ?? [])].filter(([, v]) => v !== undefined)),
  };
}

/** @param {Record<string, unknown>} o @param {string} name */
function own(o, name) {
  return Object.hasOwn(o, name) ? o[name] : undefined;
}

/**
 * Members of any name.
 * @param {At} at
 * @param {Schema} values
 * @param {[string, unknown][]} entries
 */
function mapField(at, values, entries) {
  const list = el("div");
  /** @type {{name: HTMLInputElement, field: Field}[]} */
  const rows = [];
  /** @param {string} name @param {unknown} value */
  const add = (name, value) => {
    const key = /** @type {HTMLInputElement} */ (el("input", { "aria-label": `Name in ${at.name}`, autocomplete: "off", placeholder: "name" }));
    key.value = name;
    const r = { name: key, field: build({ whole: at.whole, depth: at.depth + 1, name: "value", required: true }, values, value) };
    rows.push(r);
    const root = el("div", { class: "item" }, key, r.field.root, button("Remove", () => { rows.splice(rows.indexOf(r), 1); root.remove(); }, { class: "small" }));
    list.append(root);
  };
  entries.forEach(([k, v]) => add(k, v));
  return {
    root: el("div", {}, list, button(`Add a member to ${at.name}`, () => add("", undefined), { class: "small" })),
    get: () => rows.filter((r) => r.name.value !== "").map((r) => /** @type {[string, unknown]} */ ([r.name.value, r.field.get() ?? null])),
  };
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function arrayField(at, s, value) {
  return optional(at, s, value, (value) => group(at, s, value, (v) => items(at, s, v ?? Array(Math.min(s.minItems ?? 0, 20)).fill(undefined))));
}

/** @param {At} at @param {Schema} s @param {unknown[]} values @returns {Field} */
function items(at, s, values) {
  const list = el("div");
  /** @type {{field: Field, root: HTMLElement}[]} */
  const rows = [];
  const show = () => fill(list, ...rows.map((r) => r.root));
  /** @param {unknown} value */
  const add = (value) => {
    const i = rows.length;
    const schema = s.prefixItems?.[i] ?? s.items ?? true;
    const field = build({ whole: at.whole, depth: at.depth + 1, name: `${at.name} ${i + 1}`, required: true }, schema, value);
    const r = { field, root: el("div", { class: "item" }) };
    r.root.append(field.root, el("span", { class: "bar" },
      button("Up", () => move(r, -1), { class: "small", "aria-label": `${at.name} ${i + 1} up` }), button("Down", () => move(r, 1), { class: "small", "aria-label": `${at.name} ${i + 1} down` }),
      button("Remove", () => { rows.splice(rows.indexOf(r), 1); show(); }, { class: "small", "aria-label": `Remove ${at.name} ${i + 1}` })));
    rows.push(r);
  };
  /** @param {{field: Field, root: HTMLElement}} r @param {number} by */
  const move = (r, by) => {
    const from = rows.indexOf(r);
    const to = from + by;
    if (to < 0 || to >= rows.length) return;
    rows.splice(to, 0, ...rows.splice(from, 1));
    show();
  };
  values.forEach(add);
  show();
  return {
    root: el("div", {}, list, button(`Add to ${at.name}`, () => { add(undefined); show(); }, { class: "small" })),
    get: () => rows.map((r) => r.field.get() ?? null),
  };
}

/** @param {Schema} whole @param {Schema} option @param {number} i */
function choiceName(whole, option, i) {
  const o = resolve(whole, option);
  if (!isObject(o)) return `choice ${i + 1}`;
  const consts = Object.entries(o.properties ?? {}).filter(([, p]) => isObject(p) && "const" in p).map(([k, p]) => `${k} ${JSON.stringify(p.const)}`);
  return o.title ?? ("const" in o ? JSON.stringify(o.const) : undefined) ?? (consts.join(", ") || undefined) ?? (typeof o.type === "string" ? o.type : undefined) ?? `choice ${i + 1}`;
}

/**
 * One of several.
 * @param {At} at
 * @param {Schema} s
 * @param {Schema[]} options
 * @param {unknown} value
 * @returns {Field}
 */
function choiceField(at, s, options, value) {
  let chosen = value === undefined ? (at.required ? 0 : -1) : Math.max(0, options.findIndex((o) => fits(at.whole, o, value)));
  const body = el("div");
  /** @type {Field | undefined} */
  let inner;
  /** @param {unknown} [v] */
  const show = (v) => {
    inner = chosen < 0 ? undefined : at.depth > deepest ? jsonField(at, options[chosen], v) : build({ ...at, depth: at.depth + 1, name: choiceName(at.whole, options[chosen], chosen), required: true }, options[chosen], v);
    fill(body, inner?.root);
  };
  show(value);
  const list = select([...(at.required ? [] : /** @type {[string, string][]} */ ([["-1", "(left out)"]])),
    ...options.map((o, i) => /** @type {[string, string]} */ ([String(i), choiceName(at.whole, o, i)]))], String(chosen), (n) => { chosen = Number(n); show(); });
  return { root: el("div", { class: "choice" }, row(at, s, list), body), get: () => inner?.get() };
}
