// @ts-check
// Forms from JSON Schemas (2020-12). What no field can show is a field of JSON: there is always a way to say it.
import { announce, button, el, fill, newID, select } from "./dom.js";
import { base64, fileInput } from "./files.js";
import { deepest, fits, isObject, joined, judge, mayHaveMore, missing, resolve, same, typeOf } from "./rules.js";
import { count, words } from "./words.js";

const w = words.call;

/**
 * A field of a form. get returns undefined for a value that is left out, and throws an Error for one that is none. mark
 * shows a mistake at the field, and with "" none any more; children are the fields of its members.
 * @typedef {{name: string, root: HTMLElement, get: () => unknown, mistakes: () => Mistake[], mark: Mark, rename: (name: string) => void, children?: () => [string, Field][]}} Field
 */

/** What is inside a group. @typedef {Omit<Field, "name" | "mark" | "rename">} Inside */
/** @typedef {(text: string) => void} Mark */
/** @typedef {{field: {name: string, mark: Mark}, text: string}} Mistake */

/** @typedef {any} Schema */

/**
 * Where a field is: the schema that references are looked up in, how deep, and what it is called. A bare group has no
 * frame: something before it says what it is. That an element of a list is required goes without saying.
 * @typedef {{whole: Schema, depth: number, name: string, required: boolean, bare?: boolean, element?: boolean}} At
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
  return build({ whole: schema, depth: 0, name, required: true, bare: true }, schema, value);
}

/** What is said of a field whose schema leads nowhere, allows nothing, or is none. */
const unshown = { description: w.unshown };

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

/** The rules of a schema, in words. @param {Schema} s */
function hint(s) {
  if (!isObject(s)) return "";
  const type = "const" in s || Array.isArray(s.enum) || s.oneOf || s.anyOf ? "" : isFile(s) ? w.file : own(w.formats, s.format) ?? own(w.types, typeOf(s) ?? "") ?? "";
  /** @param {unknown} min @param {unknown} max @param {string} [unit] */
  const range = (min, max, unit) => {
    /** @param {any} n */
    const of = (n) => (unit ? count(n, unit) : n);
    return min !== undefined && max !== undefined ? w.between(/** @type {any} */ (min), of(max)) : min !== undefined ? w.least(of(min)) : max !== undefined ? w.most(of(max)) : "";
  };
  const size = range(s.minimum, s.maximum);
  const both = s.minimum !== undefined && s.maximum !== undefined;
  return [
    both ? `${type} ${size}` : type, both ? "" : size, typeof s.exclusiveMinimum === "number" ? w.above(s.exclusiveMinimum) : "", typeof s.exclusiveMaximum === "number" ? w.below(s.exclusiveMaximum) : "",
    s.multipleOf ? w.multiple(s.multipleOf) : "", range(s.minLength || undefined, s.maxLength, "character"), range(s.minItems || undefined, s.maxItems, "item"), s.uniqueItems === true ? w.unequal : "",
    s.pattern ? w.like(s.pattern) : "", s.default !== undefined && type && type !== w.types.boolean ? w.defaultIs(short(s.default)) : "",
  ].filter(Boolean).join(", ");
}

/** A value, as a label of a button has it. @param {unknown} v */
function short(v) {
  const text = typeof v === "string" ? v : JSON.stringify(v) ?? "";
  return text.length > 40 ? text.slice(0, 39) + "…" : text;
}

/** @param {At} at @param {Schema} s @param {string} [id] */
function about(at, s, id) {
  const rules = hint(s);
  const needed = at.required && !at.element;
  return el("span", { class: "dim small", id }, needed ? el("strong", {}, w.required) : null, needed && rules ? ", " : null, rules);
}

/** @param {Schema} s */
function description(s) {
  return isObject(s) && s.description ? el("span", { class: "dim about" }, String(s.description)) : null;
}

/**
 * Buttons for the default and the examples of a schema; null without.
 * @param {Schema} s
 * @param {(value: any) => void} set
 */
function offered(s, set) {
  const examples = Array.isArray(s.examples) ? s.examples.slice(0, 6) : [];
  if (s.default === undefined && examples.length === 0) return null;
  return el("span", { class: "offers" }, s.default === undefined ? null : button(w.useDefault(short(s.default)), () => set(s.default), { class: "small plain" }),
    ...examples.map((/** @type {any} */ v) => button(short(v), () => set(v), { class: "small plain", "aria-label": w.useExample(short(v)), title: w.useExample(short(v)) })));
}

let pressed = false;
for (const [kind, now] of /** @type {const} */ ([["pointerdown", true], ["pointerup", false], ["pointercancel", false]])) addEventListener(kind, () => { pressed = now; }, true);

/** Does what moves things, but never under a click that is being made. @param {() => void} f */
function settled(f) {
  if (pressed) addEventListener("pointerup", () => setTimeout(f), { once: true, capture: true });
  else f();
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
  control.addEventListener("input", () => mark(""));
  return { bad, mark };
}

/**
 * A field that has one value: a control with its label, its rules, and what is wrong with it. It is judged when it is
 * left; that it is empty is no mistake before somebody sends it.
 * @param {At} at
 * @param {Schema} s
 * @param {HTMLElement} control
 * @param {() => unknown} get
 * @param {{box?: HTMLElement, set?: (value: any) => void}} [more] box: what the control is in; set: takes an example
 * @returns {Field}
 */
function leaf(at, s, control, get, { box = control, set } = {}) {
  control.id = newID();
  const hintID = newID();
  control.setAttribute("aria-describedby", hintID);
  if (at.required && control.tagName !== "OUTPUT") control.setAttribute("aria-required", "true");
  const { bad, mark } = noted(control);
  const label = el("label", { for: control.id }, title(at, s));
  if (!control.matches("select, output")) control.addEventListener("blur", () => settled(() => {
    if (control.isConnected && !bad.textContent) field.mistakes().filter((m) => m.text !== missing).forEach((m) => m.field.mark(m.text));
  }));
  /** @type {Field} */
  const field = {
    name: title(at, s), get, mark,
    rename: (name) => { field.name = label.textContent = name; },
    root: el("div", { class: "field" }, el("span", { class: "head" }, label, about(at, s, hintID)), description(s), box, bad, set && isObject(s) ? offered(s, set) : null),
    mistakes() {
      if (/** @type {HTMLInputElement} */ (control).validity?.badInput) return [{ field, text: w.notComplete }];
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

/** Has a control take an example. @param {HTMLInputElement} input @param {(value: any) => string} text */
function setter(input, text) {
  return (/** @type {any} */ value) => {
    input.value = text(value);
    input.dispatchEvent(new Event("input", { bubbles: true }));
    input.focus();
  };
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
  return at.name || (isObject(s) && s.title) || w.value;
}

/**
 * Anything, as JSON.
 * @param {At} at
 * @param {Schema} s
 * @param {unknown} value
 * @returns {Field}
 */
function jsonField(at, s, value) {
  const area = /** @type {HTMLTextAreaElement} */ (el("textarea", { class: "mono", spellcheck: "false", rows: 3, placeholder: w.json_ }));
  area.value = value === undefined ? "" : JSON.stringify(value, null, 1);
  const field = leaf({ ...at, name: w.asJSONField(title(at, s)) }, s, area, () => parse(area.value), { set: setter(/** @type {any} */ (area), (v) => JSON.stringify(v, null, 1)) });
  const { rename } = field;
  field.rename = (name) => rename(w.asJSONField(name));
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
    throw new Error(w.notJSON(/** @type {Error} */ (err).message));
  }
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function constField(at, s, value) {
  if (at.required || value !== undefined) {
    return leaf(at, s, el("output", {}, JSON.stringify(s.const)), () => s.const);
  }
  const box = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox" }));
  return leaf({ ...at, name: `${title(at, s)}: ${short(s.const)}` }, s, box, () => (box.checked ? s.const : undefined));
}

/** What a select has first: nothing is chosen. @param {At} at @param {Schema} s @returns {[string, string]} */
const unchosen = (at, s) => ["", s.default !== undefined ? w.selectDefault(short(s.default)) : at.required ? w.choose : w.leftOut];

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function enumField(at, s, value) {
  const none = !at.required || value === undefined;
  const chosen = s.enum.findIndex((/** @type {unknown} */ e) => same(e, value));
  const list = select([...(none ? [unchosen(at, s)] : []), ...s.enum.map((/** @type {unknown} */ e, /** @type {number} */ i) => [String(i), typeof e === "string" ? e : JSON.stringify(e)])], chosen < 0 ? "" : String(chosen), () => {});
  return leaf(at, s, list, () => (list.value === "" ? undefined : s.enum[Number(list.value)]));
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function booleanField(at, s, value) {
  const list = select([unchosen(at, s), ["true", "true"], ["false", "false"]], value === undefined ? "" : String(value), () => {});
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
  }, { set: setter(input, String) });
}

/** Kinds of input for formats of strings. @type {Record<string, string>} */
const inputs = { date: "date", "date-time": "datetime-local", email: "email", uri: "url", password: "password" };

/** @param {Schema} s */
const isFile = (s) => s.contentEncoding === "base64" || s.format === "byte" || s.format === "binary";

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function stringField(at, s, value) {
  if (isFile(s)) return fileField(at, s, value);
  const kind = own(inputs, s.format) ?? "text";
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
  }, { set: setter(input, (v) => (timed ? localTime(String(v)) : String(v))) });
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
  const { root, input } = fileInput({}, async () => {
    kept.remove();
    const file = input.files?.[0];
    encoded = file ? await base64(file) : undefined;
  });
  const kept = el("span", { class: "dim small" }, encoded === undefined ? "" : w.base64(encoded.length));
  root.append(kept);
  return leaf(at, s, input, () => encoded, { box: root });
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
  /** @param {boolean} as @param {unknown} value */
  const show = (as, value) => {
    json = as;
    now = json ? jsonField(at, s, value) : make(value);
    mark("");
    toggle.textContent = json ? w.toForm : w.toJSON;
    fill(body, now.root);
  };
  const toggle = button(w.toJSON, () => {
    try {
      const value = now.get();
      if (json && value !== undefined && !fits(at.whole, s, value)) throw new Error(w.noForm);
      show(!json, value);
    } catch (err) {
      const { message } = /** @type {Error} */ (err);
      mark("");
      mark(message);
      announce(message);
    }
  }, { class: "small plain" });
  const name = el("span", {}, title(at, s));
  const root = at.bare ? el("div", { tabindex: -1, role: "group", "aria-label": title(at, s) }) : el("fieldset", { tabindex: -1 }, el("legend", {}, name, " ", about(at, s), " ", toggle));
  const { bad, mark } = noted(root);
  root.append(...[at.bare && at.depth === 0 && !s.description ? null : description(s), offered(s, (v) => show(!fits(at.whole, s, v), v)), bad, body].filter((e) => e !== null));
  /** @type {Field} */
  const field = {
    name: title(at, s), root, get: () => now.get(), mark,
    rename: (to) => { field.name = name.textContent = to; },
    children: () => now.children?.() ?? [],
    // Members are judged by their fields, which know what was chosen.
    mistakes: () => (json ? now.mistakes() : [...judged(field, at, s, now.get).filter((m) => m.field === field), ...now.mistakes()]),
  };
  return field;
}

/** Goes to the first control in something that was added. @param {HTMLElement} root */
function enter(root) {
  /** @type {HTMLElement | null} */ (root.querySelector("input, select, textarea, button:not(legend button)"))?.focus();
}

/**
 * What may be left out, or is too deep to be shown unasked.
 * @param {At} at
 * @param {Schema} s
 * @param {unknown} value
 * @param {(value: unknown) => Field} make
 * @param {unknown} [first] the value that it begins with when it is added
 * @returns {Field}
 */
function optional(at, s, value, make, first) {
  if (value !== undefined || (at.required && at.depth <= deepest)) return make(value);
  /** @type {Field | undefined} */
  let inner;
  /** @type {Mark} */
  let mark;
  const root = el("div", { class: "field" });
  const show = () => {
    const add = button(inner ? w.leaveOut(field.name) : w.add(field.name), () => {
      inner = inner ? undefined : make(first);
      show();
      enter(root);
    }, { class: inner ? "small plain" : "small" });
    const note = noted(add);
    mark = inner?.mark ?? note.mark;
    fill(root, inner ? inner.root : null, el("span", { class: "head" }, add, inner ? null : about(at, s)), note.bad, inner ? null : description(s));
  };
  /** @type {Field} */
  const field = {
    name: title(at, s), root, get: () => inner?.get(), mark: (text) => mark(text), children: () => inner?.children?.() ?? [],
    rename: (name) => { field.name = name; if (inner) inner.rename(name); else show(); },
    mistakes: () => inner?.mistakes() ?? (at.required ? [{ field, text: missing }] : []),
  };
  show();
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

/** @template T @param {Record<string, T>} o @param {string} name @returns {T | undefined} */
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
    const key = /** @type {HTMLInputElement} */ (el("input", { "aria-label": w.memberName(at.name), autocomplete: "off", placeholder: w.name }));
    key.value = name;
    const { bad, mark } = noted(key);
    const r = { name: key, mark, field: build({ whole: at.whole, depth: at.depth + 1, name: w.value, required: true }, values, value) };
    rows.push(r);
    const root = el("div", { class: "item" }, el("div", {}, key, bad, r.field.root), el("span", { class: "moves" }, button("✕", () => { rows.splice(rows.indexOf(r), 1); root.remove(); more.focus(); }, { class: "small plain", "aria-label": w.remove, title: w.remove })));
    list.append(root);
    return root;
  };
  const more = button(w.addMember(at.name), () => enter(add("", undefined)), { class: "small" });
  entries.forEach(([k, v]) => add(k, v));
  return {
    root: el("div", {}, list, more),
    get: () => rows.filter((r) => r.name.value !== "").map((r) => /** @type {[string, unknown]} */ ([r.name.value, r.field.get() ?? null])),
    children: () => rows.map((r) => /** @type {[string, Field]} */ ([r.name.value, r.field])),
    /** @returns {Mistake[]} */
    mistakes: () => rows.flatMap((r, i) => {
      const wrong = r.name.value === "" ? w.noName : rows.findIndex((o) => o.name.value === r.name.value) < i ? w.sameName : "";
      return [...(wrong ? [{ field: { name: w.memberOf(at.name), mark: r.mark }, text: wrong }] : []), ...r.field.mistakes()];
    }),
  };
}

/** @param {At} at @param {Schema} s @param {unknown} value @returns {Field} */
function arrayField(at, s, value) {
  return optional(at, s, value, (value) => group(at, s, value, (v) => items(at, s, v ?? Array(Math.min(s.minItems ?? 0, 20)).fill(undefined))), s.minItems > 1 ? undefined : [undefined]);
}

/** @param {At} at @param {Schema} s @param {unknown[]} values @returns {Inside} */
function items(at, s, values) {
  const list = el("div");
  /** @type {{field: Field, root: HTMLElement, up: HTMLButtonElement, down: HTMLButtonElement, remove: HTMLButtonElement}[]} */
  const rows = [];
  const show = () => {
    rows.forEach((r, i) => {
      const name = `${at.name} ${i + 1}`;
      r.field.rename(name);
      for (const [b, says] of /** @type {const} */ ([[r.up, w.up(name)], [r.down, w.down(name)], [r.remove, w.removeFile(name)]])) b.setAttribute("aria-label", says);
      r.up.disabled = i === 0;
      r.down.disabled = i === rows.length - 1;
    });
    fill(list, ...rows.map((r) => r.root));
  };
  /** @param {unknown} value */
  const add = (value) => {
    const schema = s.prefixItems?.[rows.length] ?? s.items ?? true;
    const field = build({ whole: at.whole, depth: at.depth + 1, name: `${at.name} ${rows.length + 1}`, required: true, element: true }, schema, value);
    const up = button("↑", () => move(r, -1, up), { class: "small plain" });
    const down = button("↓", () => move(r, 1, down), { class: "small plain" });
    const remove = button("✕", () => {
      const i = rows.indexOf(r);
      rows.splice(i, 1);
      show();
      (rows[Math.min(i, rows.length - 1)]?.remove ?? more).focus();
    }, { class: "small plain" });
    const r = { field, up, down, remove, root: el("div", { class: "item" }, field.root, el("span", { class: "moves" }, up, down, remove)) };
    rows.push(r);
    return r.root;
  };
  /** What has the focus keeps it, or where it ends the button for the way back has it. @param {typeof rows[0]} r @param {number} by @param {HTMLButtonElement} pressed */
  const move = (r, by, pressed) => {
    const from = rows.indexOf(r);
    rows.splice(from + by, 0, ...rows.splice(from, 1));
    show();
    (pressed.disabled ? (by < 0 ? r.down : r.up) : pressed).focus();
    announce(w.moved(`${at.name} ${from + 1}`, from + by + 1));
  };
  const more = button(w.addTo(at.name), () => { const root = add(undefined); show(); enter(root); }, { class: "small" });
  values.forEach(add);
  show();
  return {
    root: el("div", {}, list, more),
    get: () => rows.map((r) => r.field.get() ?? null),
    children: () => rows.map((r, i) => /** @type {[string, Field]} */ ([String(i), r.field])),
    mistakes: () => rows.flatMap((r) => r.field.mistakes()),
  };
}

/** @param {Schema} whole @param {Schema} option @param {number} i */
function choiceName(whole, option, i) {
  const o = resolve(whole, option);
  if (!isObject(o)) return w.option(i + 1);
  const consts = Object.entries(o.properties ?? {}).filter(([, p]) => isObject(p) && "const" in p).map(([k, p]) => `${k}: ${short(p.const)}`);
  const type = typeof o.type === "string" ? own(w.types, o.type) ?? o.type : undefined;
  return o.title ?? ("const" in o ? short(o.const) : undefined) ?? (consts.join(", ") || undefined) ?? (type === "object" ? undefined : type) ?? w.option(i + 1);
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
  const body = el("div", { class: "choice" });
  /** @type {Field | undefined} */
  let inner;
  /** @param {unknown} [v] */
  const show = (v) => {
    const option = options[chosen];
    inner = chosen < 0 ? undefined : at.depth > deepest ? jsonField(at, option, v) : build({ ...at, depth: at.depth + 1, name: choiceName(at.whole, option, chosen), required: true, bare: true, element: false }, option, v);
    fill(body, isObject(option) && ("const" in option || option.type === "null") ? null : inner?.root); // the name says it all
  };
  show(value);
  const list = select([...(at.required ? [] : /** @type {[string, string][]} */ ([["-1", w.leftOut]])),
    ...options.map((o, i) => /** @type {[string, string]} */ ([String(i), choiceName(at.whole, o, i)]))], String(chosen), (n) => { chosen = Number(n); show(); });
  const top = leaf(at, { ...s, type: undefined, oneOf: options }, list, () => inner?.get());
  return {
    ...top, root: el("div", {}, top.root, body), mistakes: () => inner?.mistakes() ?? [],
    mark: (text) => (inner && body.contains(inner.root) ? inner : top).mark(text), children: () => inner?.children?.() ?? [],
  };
}
