// @ts-check
// Data as what it is: a list of objects as a table, an object as names and values, what is deeper as JSON.
import { button, copy, el } from "./dom.js";
import { words } from "./words.js";

const fewRows = 20;
const mostRows = 1000;
const mostColumns = 12;
const mostNames = 60;
const longest = 300; // characters of a cell

/** @param {unknown} v @returns {v is Record<string, unknown>} */
const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v);

/** @param {unknown} v */
const isPlain = (v) => typeof v !== "object" || v === null;

/** @param {unknown} v */
export function pretty(v) {
  return JSON.stringify(v, null, 2) ?? "";
}

/** Data, with the JSON of it behind a fold. @param {unknown} v */
export function dataView(v) {
  const fold = el("details", { class: "small json" }, el("summary", { class: "dim" }, words.chat.json));
  fold.addEventListener("toggle", () => {
    const text = pretty(v);
    fold.append(el("pre", { tabindex: 0 }, text), button(words.chat.copy, () => void copy(text), { class: "small" }));
  }, { once: true });
  const shown = valueView(v, 0);
  return el("div", { class: "data" }, shown, shown.tagName === "PRE" ? null : fold);
}

/** @param {unknown} v @param {number} depth @returns {HTMLElement} */
function valueView(v, depth) {
  if (isPlain(v)) return el("span", { class: "said" }, String(v));
  if (Array.isArray(v) && v.length > 0 && depth < 2 && v.every(isObject)) return tableView(v);
  if (Array.isArray(v) && v.length <= mostNames && v.every(isPlain)) return el("span", { class: "said" }, v.length ? v.map(String).join(", ") : "–");
  if (isObject(v) && depth < 3 && Object.keys(v).length <= mostNames && Object.keys(v).length > 0) {
    return el("dl", { class: "names" }, ...Object.entries(v).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, valueView(value, depth + 1))]));
  }
  return el("pre", { tabindex: 0 }, pretty(v));
}

/** @param {Record<string, unknown>[]} rows */
function tableView(rows) {
  const names = [...new Set(rows.slice(0, mostRows).flatMap((r) => Object.keys(r).slice(0, mostColumns)))].slice(0, mostColumns);
  /** @param {Record<string, unknown>} r */
  const row = (r) => el("tr", {}, ...names.map((n) => {
    const v = Object.hasOwn(r, n) ? r[n] : undefined;
    const text = v === undefined ? "" : isPlain(v) ? String(v) : JSON.stringify(v);
    return el("td", { class: typeof v === "number" ? "num" : text.length <= 28 ? "short" : "" }, text.length > longest ? text.slice(0, longest) + "…" : text);
  }));
  const body = el("tbody", {}, ...rows.slice(0, fewRows).map(row));
  const rest = rows.length > fewRows && button(words.chat.allRows(rows.length), () => {
    body.append(...rows.slice(fewRows, mostRows).map(row));
    if (rest) rest.remove();
  }, { class: "small" });
  const numbers = new Set(names.filter((n) => rows.slice(0, fewRows).every((r) => r[n] === undefined || typeof r[n] === "number")));
  return el("div", { class: "wide", tabindex: 0 },
    el("table", {}, el("thead", {}, el("tr", {}, ...names.map((n) => el("th", { scope: "col", class: numbers.has(n) ? "num" : "" }, n)))), body), rest);
}
