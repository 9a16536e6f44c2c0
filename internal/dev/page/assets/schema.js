// @ts-check
// Forms from JSON Schemas (2020-12). What no field can show is a field of JSON: there is always a way to say it.
import { announce, button, el, fill, newID, select } from "./dom.js";
import { deepest, fits, isObject, joined, judge, mayHaveMore, missing, resolve, same, typeOf } from "./rules.js";

/**
 * A field of a form. get returns undefined for a value that is left out, and throws an Error for one that is none. mark
 * shows a mistake at the field, and with "" none any more; children are the fields of its members.
 * @typedef {{name: string, root: HTMLElement, get: () => unknown, mistakes: () => Mistake[], mark: Mark, children?: () => [string, Field][]}} Field
 */

/** What is inside a group. @typedef {Omit<Field, "name" | "mark">} Inside */
/** @typedef {(text: string) => void} Mark */
/** @typedef {{field: {name: string, mark: Mark}, text: string}} Mistake */

/** @typedef {any} Schema */

/**
 * Where a field is: the schema that references are looked up in, how deep, and what it is called.
 * @typedef {{whole: Schema, depth: number, name: string, required: boolean}} At
 */

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
 * A place for what is wrong with a control, or a group of some, which goes when that is changed.
 * @param {HTMLElement} control
 * @returns {{bad: HTMLElement, mark: Mark}}
 */
export function noted(control) {
  const bad = el("span", { class: "bad", id: newID() });
  const about = control.getAttribute("aria-describedby");
  /** @type {Mark} */
  const mark = (text) => {
    if (!text && !bad.textContent) return;
    bad.textContent = text && [bad.textContent, text].filter(Boolean).join("; ");
    control.classList.toggle("wrong", text !== "");
    if (control.matches("input, select, textarea")) control.setAttribute("aria-invalid", String(text !== ""));
    control.setAttribute("aria-describedby", [text && bad.id, about].filter(Boolean).join(" "));
  };
  control.addEventListener("input", () => mark("")); // not when it is left: what is below would move under a click
  return { bad, mark };
}

/**
 * A field that has one value: a control with its label, its hints, and what is wrong with it.
 * @param {At} at
 * @param {Schema} s
 * @param {HTMLElement} control
 * @param {() => unknown} get
 * @param {...HTMLElement} more
 * @returns {Field}
 */
function leaf(at, s, control, get, ...more) {
  control.id = newID();
  const hintID = newID();
  const about = isObject(s) && s.description ? String(s.description) : "";
  control.setAttribute("aria-describedby", hintID);
  if (at.required && control.tagName !== "OUTPUT") control.setAttribute("aria-required", "true");
  const { bad, mark } = noted(control);
  /** @type {Field} */
  const field = {
    name: title(at, s), get, mark,
    root: el("div", { class: "field" },
      el("span", {}, el("label", { for: control.id }, title(at, s)), " ", el("span", { class: "dim", id: hintID }, hint(at, s), about ? el("span", { class: "about" }, about) : null)),
      control, bad, ...more),
    mistakes() {
      if (/** @type {HTMLInputElement} */ (control).validity?.badInput) return [{ field, text: "this is not complete" }];
      try {
        const v = get();
        return v === undefined ? (at.required ? [{ field, text: missing }] : []) : judged(field, at, s, () => v);
      } catch (err) {
        return [{ field, text: /** @type {Error} */ (err).message }];
      }
    },
  };
  return field;
}

/**
 * How a value breaks the schema of a field, each finding at the field of its place.
 * @param {Field} field
 * @param {At} at
 * @param {Schema} s
 * @param {() => unknown} get
 * @returns {Mistake[]}
 */
function judged(field, at, s, get) {
  try {
    return judge(at.whole, s, get()).map(({ path, text }) => placed(field, path, text));
  } catch { // a member has no value, which its field says, or a schema is none: then the agent judges
    return [];
  }
}

/** What is wrong at a path below a field, at the field that is there, or is nearest. @param {Field} field @param {string} path ".stops[0].city", or with any index as a name: ".stops.0.city" @param {string} text @returns {Mistake} */
export function placed(field, path, text) {
  for (const [name, child] of field.children?.() ?? []) {
    const start = ["." + name, `[${name}]`].find((w) => path.startsWith(w) && /^([.[]|$)/.test(path.slice(w.length)));
    if (start) return placed(child, path.slice(start.length), text);
  }
  return { field, text: path ? `${path.replace(/^\./, "")}: ${text}` : text };
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
  const area = /** @type {HTMLTextAreaElement} */ (el("textarea", { class: "mono", spellcheck: "false", rows: 3, placeholder: "JSON" }));
  area.value = value === undefined ? "" : JSON.stringify(value, null, 1);
  const field = leaf({ ...at, name: title(at, s) + " (JSON)" }, s, area, () => parse(area.value));
  area.addEventListener("input", () => {
    try {
      field.get();
    } catch (err) {
      field.mark(/** @type {Error} */ (err).message);
    }
  });
  return field;
}

/** @param {string} text */
export function parse(text) {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (err) {
    throw new Error("this is no JSON: " + /** @type {Error} */ (err).message);
  }
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function constField(at, s, value) {
  if (at.required || value !== undefined) {
    return leaf(at, s, el("output", {}, JSON.stringify(s.const)), () => s.const);
  }
  const box = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox" }));
  return leaf({ ...at, name: `${title(at, s)}: ${JSON.stringify(s.const)}` }, s, box, () => (box.checked ? s.const : undefined));
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function enumField(at, s, value) {
  const none = !at.required || value === undefined;
  const chosen = s.enum.findIndex((/** @type {unknown} */ e) => same(e, value));
  const list = select([...(none ? /** @type {[string, string][]} */ ([["", ""]]) : []),
    ...s.enum.map((/** @type {unknown} */ e, /** @type {number} */ i) => [String(i), typeof e === "string" ? e : JSON.stringify(e)])], chosen < 0 ? "" : String(chosen), () => {});
  return leaf(at, s, list, () => (list.value === "" ? undefined : s.enum[Number(list.value)]));
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function booleanField(at, s, value) {
  const list = select([["", ""], ["true", "true"], ["false", "false"]], value === undefined ? "" : String(value), () => {});
  return leaf(at, s, list, () => (list.value === "" ? undefined : list.value === "true"));
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function numberField(at, s, value) {
  const input = /** @type {HTMLInputElement} */ (el("input", { inputmode: s.type === "integer" ? "numeric" : "decimal", autocomplete: "off", placeholder: s.default ?? null }));
  input.value = value === undefined ? "" : String(value);
  return leaf(at, s, input, () => {
    const text = input.value.trim();
    const n = Number(text);
    return text === "" ? undefined : Number.isFinite(n) ? n : text;
  });
}

/** Kinds of input for formats of strings. @type {Record<string, string>} */
const inputs = { date: "date", "date-time": "datetime-local", email: "email", uri: "url" };

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function stringField(at, s, value) {
  if (s.contentEncoding === "base64" || s.format === "byte" || s.format === "binary") return fileField(at, s, value);
  const kind = inputs[s.format] ?? "text";
  // A browser shows and takes a time in its own zone; one with a zone is written in UTC.
  const timed = kind === "datetime-local";
  const shown = value === undefined ? "" : timed ? localTime(String(value)) : String(value);
  if (value !== undefined && ((kind === "date" && !/^\d{4}-\d\d-\d\d$/.test(shown)) || (timed && !shown))) return jsonField(at, s, value);
  const long = s.maxLength > 200 || /\n/.test(shown) || s.contentMediaType;
  const input = /** @type {HTMLInputElement} */ (long ? el("textarea", { rows: 3 }) : el("input", { type: kind, step: timed ? "any" : null, autocomplete: "off", placeholder: typeof s.default === "string" ? s.default : null }));
  input.value = shown;
  let touched = false;
  input.addEventListener("input", () => { touched = true; });
  return leaf(at, s, input, () => {
    if (!touched) return value;
    if (input.value === "") return undefined;
    return timed ? new Date(input.value).toISOString().replace(/\.000Z$/, "Z") : input.value;
  });
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
  return leaf(at, s, input, () => encoded, said);
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
 * @param {(value: any) => Inside} make makes the fields
 * @returns {Field}
 */
function group(at, s, value, make) {
  /** @type {Inside} */
  let now = make(value);
  let json = false;
  const body = el("div", { click: () => mark("") }, now.root);
  const toggle = button("as JSON", () => {
    try {
      const value = now.get();
      if (json && value !== undefined && !fits(at.whole, s, value)) throw new Error("no form shows this value");
      json = !json;
      now = json ? jsonField(at, s, value) : make(value);
      mark("");
      toggle.textContent = json ? "as a form" : "as JSON";
      fill(body, now.root);
    } catch (err) {
      const { message } = /** @type {Error} */ (err);
      mark("");
      mark(message);
      announce(message);
    }
  }, { class: "small" });
  const about = s.description ? el("p", { class: "dim about" }, String(s.description)) : null;
  const legend = el("legend", {}, title(at, s), " ", el("span", { class: "dim" }, hint(at, s)));
  const root = el("fieldset", { tabindex: -1 }, legend);
  const { bad, mark } = noted(root);
  root.append(...[about, at.depth === 0 ? null : toggle, bad, body].filter((e) => e !== null));
  /** @type {Field} */
  const field = {
    name: title(at, s), root, get: () => now.get(), mark,
    children: () => now.children?.() ?? [],
    // Members are judged by their fields, which know what was chosen.
    mistakes: () => (json ? now.mistakes() : [...judged(field, at, s, now.get).filter((m) => m.field === field), ...now.mistakes()]),
  };
  return field;
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
  /** @type {Mark} */
  let mark;
  const root = el("div", { class: "field" });
  const show = () => {
    const add = button(inner ? `Leave ${title(at, s)} out` : `Add ${title(at, s)}`, () => { inner = inner ? undefined : make(undefined); show(); }, { class: "small" });
    const note = noted(add);
    mark = inner?.mark ?? note.mark;
    fill(root, inner ? inner.root : null, add, note.bad, inner ? null : el("span", { class: "dim" }, hint(at, s), " ", s.description ?? ""));
  };
  show();
  /** @type {Field} */
  const field = {
    name: title(at, s), root, get: () => inner?.get(), mark: (text) => mark(text), children: () => inner?.children?.() ?? [],
    mistakes: () => inner?.mistakes() ?? (at.required ? [{ field, text: missing }] : []),
  };
  return field;
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
 * @returns {Inside}
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
    children: () => [...fields, ...(map?.children() ?? [])],
    mistakes: () => [...fields.flatMap(([, f]) => f.mistakes()), ...(map?.mistakes() ?? [])],
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
  /** @type {{name: HTMLInputElement, field: Field, mark: Mark}[]} */
  const rows = [];
  /** @param {string} name @param {unknown} value */
  const add = (name, value) => {
    const key = /** @type {HTMLInputElement} */ (el("input", { "aria-label": `Name in ${at.name}`, autocomplete: "off", placeholder: "name" }));
    key.value = name;
    const { bad, mark } = noted(key);
    const r = { name: key, mark, field: build({ whole: at.whole, depth: at.depth + 1, name: "value", required: true }, values, value) };
    rows.push(r);
    const root = el("div", { class: "item" }, key, bad, r.field.root, button("Remove", () => { rows.splice(rows.indexOf(r), 1); root.remove(); }, { class: "small" }));
    list.append(root);
  };
  entries.forEach(([k, v]) => add(k, v));
  return {
    root: el("div", {}, list, button(`Add a member to ${at.name}`, () => add("", undefined), { class: "small" })),
    get: () => rows.filter((r) => r.name.value !== "").map((r) => /** @type {[string, unknown]} */ ([r.name.value, r.field.get() ?? null])),
    children: () => rows.map((r) => /** @type {[string, Field]} */ ([r.name.value, r.field])),
    /** @returns {Mistake[]} */
    mistakes: () => rows.flatMap((r, i) => {
      const wrong = r.name.value === "" ? "it has no name" : rows.findIndex((o) => o.name.value === r.name.value) < i ? "this name is there already" : "";
      return [...(wrong ? [{ field: { name: `a member of ${at.name}`, mark: r.mark }, text: wrong }] : []), ...r.field.mistakes()];
    }),
  };
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function arrayField(at, s, value) {
  return optional(at, s, value, (value) => group(at, s, value, (v) => items(at, s, v ?? Array(Math.min(s.minItems ?? 0, 20)).fill(undefined))));
}

/** @param {At} at @param {Schema} s @param {unknown[]} values @returns {Inside} */
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
    children: () => rows.map((r, i) => /** @type {[string, Field]} */ ([String(i), r.field])),
    mistakes: () => rows.flatMap((r) => r.field.mistakes()),
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
  const top = leaf(at, s, list, () => inner?.get());
  return {
    ...top, root: el("div", { class: "choice" }, top.root, body), mistakes: () => inner?.mistakes() ?? [],
    mark: (text) => (inner ?? top).mark(text), children: () => inner?.children?.() ?? [],
  };
}
