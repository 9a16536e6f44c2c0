// @ts-check
// What a JSON Schema (2020-12) says of a value. Schemas are written by anybody; what is not judged here the agent judges.
import { words } from "./words.js";

/** @typedef {any} Schema */

/**
 * Something that breaks a schema: path is ".stops[0].city", or "" for the whole value; shape: no field for the schema can
 * hold the value.
 * @typedef {{path: string, text: string, shape: boolean}} Finding
 */

export const deepest = 8; // objects in one another that a form shows without being asked for

/** @param {unknown} x @returns {x is Record<string, any>} */
export function isObject(x) {
  return typeof x === "object" && x !== null && !Array.isArray(x);
}

/** @param {Schema} s @returns {string | undefined} */
export function typeOf(s) {
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
export function resolve(whole, schema, steps = 0) {
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
export function joined(whole, s, option) {
  const { oneOf: _, anyOf: __, title: ___, description: ____, ...common } = s;
  const o = resolve(whole, option);
  return isObject(o) ? merged(o, common) : option;
}

/** Whether the fields for a schema can hold a value; what else is wrong with it they show. @param {Schema} whole @param {Schema} s @param {unknown} v */
export function fits(whole, s, v) {
  return !judge(whole, s, v).some((f) => f.shape);
}

/** Whether two values are one to JSON, which knows no order of members. @param {unknown} a @param {unknown} b */
export function same(a, b) {
  return canonical(a) === canonical(b);
}

/** @param {unknown} v */
function canonical(v) {
  return JSON.stringify(v, (_, x) => (isObject(x) ? Object.fromEntries(Object.entries(x).sort()) : x));
}

/** @param {Schema} s */
export function mayHaveMore(s) {
  return s.additionalProperties !== false && s.unevaluatedProperties !== false;
}

/**
 * How a value breaks a schema.
 * @param {Schema} whole
 * @param {Schema} schema
 * @param {unknown} v
 * @param {string} [path] of the value
 * @param {{steps: number}} [left] how much is looked at: choices within choices can be without end
 * @returns {Finding[]}
 */
export function judge(whole, schema, v, path = "", left = { steps: 10_000 }) {
  const s = resolve(whole, schema);
  if (!isObject(s) || left.steps-- <= 0) return [];
  /** @type {Finding[]} */
  const found = [];
  /** @param {boolean} broken @param {string} text @param {string} [at] @param {boolean} [shape] */
  const note = (broken, text, at = "", shape = false) => { if (broken) found.push({ path: path + at, text, shape }); };
  const options = s.oneOf ?? s.anyOf;
  if (Array.isArray(options) && options.length > 0) { // what breaks all breaks the nearest
    const weight = (/** @type {Finding[]} */ list) => list.reduce((sum, f) => sum + (f.shape ? 1000 : 1), 0);
    return options.map((o) => judge(whole, joined(whole, s, o), v, path, left)).reduce((a, b) => (weight(b) < weight(a) ? b : a));
  }
  const types = [Array.isArray(s.type) ? s.type : typeOf(s) ?? []].flat();
  note("const" in s && !same(s.const, v), "must be " + JSON.stringify(s.const), "", true);
  if (Array.isArray(s.enum)) note(!s.enum.some((e) => same(e, v)), "must be one of " + JSON.stringify(s.enum.slice(0, 20)).slice(1, -1), "", true);
  note(types.length > 0 && !types.some((t) => isOf(t, v)) && !(s.nullable && v === null), `must be ${types.map(named).join(" or ")}, not ${named(kindOf(v))}`, "", true);
  if (found.length > 0) return found;
  const [kind, size, unit] = typeof v === "number" ? ["imum", v, ""] : typeof v === "string" ? ["Length", [...v].length, "character"] : Array.isArray(v) ? ["Items", v.length, "item"] : ["", NaN, ""];
  /** @param {string} text @param {number} n */
  const limit = (text, n) => `must ${unit ? "have" : "be"} ${text} ${n}` + (unit ? ` ${unit}${n === 1 ? "" : "s"}` : "");
  note(size < s["min" + kind], limit("at least", s["min" + kind]));
  note(size > s["max" + kind], limit("at most", s["max" + kind]));
  if (typeof v === "number") {
    note(v <= s.exclusiveMinimum && s.exclusiveMinimum !== true, limit("greater than", s.exclusiveMinimum));
    note(v >= s.exclusiveMaximum && s.exclusiveMaximum !== true, limit("less than", s.exclusiveMaximum));
    note(s.multipleOf > 0 && Math.abs(v / s.multipleOf - Math.round(v / s.multipleOf)) > 1e-6, limit("a multiple of", s.multipleOf));
  } else if (typeof v === "string") {
    note(typeof s.pattern === "string" && !matches(s.pattern, v), "must match the pattern " + s.pattern);
    note(Object.hasOwn(formats, s.format ?? "") && !formats[s.format].test(v), "must be a valid " + s.format);
  } else if (Array.isArray(v)) {
    note(s.uniqueItems === true && new Set(v.map(canonical)).size < v.length, "must have no two equal items");
    v.forEach((e, i) => found.push(...judge(whole, s.prefixItems?.[i] ?? s.items, e, `${path}[${i}]`, left)));
  } else if (isObject(v)) {
    for (const k of Array.isArray(s.required) ? s.required : []) note(!Object.hasOwn(v, k), missing, "." + k, isObject(s.properties?.[k]) && "const" in s.properties[k]);
    for (const k of Object.keys(v)) {
      const own = Object.hasOwn(s.properties ?? {}, k);
      const more = s.patternProperties ? true : s.additionalProperties;
      note(!own && more === false, "unknown property", "." + k, true);
      found.push(...judge(whole, own ? s.properties[k] : more, v[k], `${path}.${k}`, left));
    }
  }
  return found;
}

/** What is said of a value that is not there. */
export const missing = words.call.isRequired;

/** @param {unknown} v */
function kindOf(v) {
  return v === null ? "null" : Array.isArray(v) ? "array" : typeof v;
}

/** @param {string} type @param {unknown} v */
function isOf(type, v) {
  if (type === "integer") return Number.isInteger(v);
  return kindOf(v) === type || !["null", "array", "object", "string", "number", "boolean"].includes(type);
}

/** @param {string} type */
function named(type) {
  return type === "null" ? type : (/^[aio]/.test(type) ? "an " : "a ") + type;
}

/**
 * Agents may read patterns by RE2: what means something else here, or could take for ever, is their affair.
 * @param {string} pattern
 * @param {string} text
 */
function matches(pattern, text) {
  if (text.length > 1000 || /\[:|\)[*+{]/.test(pattern)) return true;
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

/** What texts of a format are like at least. @type {Record<string, RegExp>} */
const formats = {
  date: /^\d{4}-\d\d-\d\d$/,
  time: /^\d\d:\d\d:\d\d/,
  "date-time": /^\d{4}-\d\d-\d\dt\d\d:\d\d:\d\d/i,
  email: /.@./,
  uri: /^[a-z][a-z0-9+.-]*:\S*$/i,
  uuid: /^[0-9a-f-]{36}$/i,
};
