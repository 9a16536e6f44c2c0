// @ts-check
// The single values in a JSON value, each with where it is.

/** @typedef {string | number | boolean | null} Scalar */
/** @typedef {{path: (string | number)[], value: Scalar}} Leaf */

const most = 200;

/**
 * The first 200 of them.
 * @param {unknown} value
 * @param {(string | number)[]} [path]
 * @param {Leaf[]} [found]
 * @returns {Leaf[]}
 */
export function leaves(value, path = [], found = []) {
  if (found.length >= most) return found;
  if (Array.isArray(value)) {
    value.forEach((v, i) => leaves(v, [...path, i], found));
  } else if (value !== null && typeof value === "object") {
    for (const [key, v] of Object.entries(value)) leaves(v, [...path, key], found);
  } else {
    found.push({ path, value: /** @type {Scalar} */ (value ?? null) });
  }
  return found;
}

/**
 * A copy of a JSON value with another one in a place that it has.
 * @param {any} value
 * @param {(string | number)[]} path
 * @param {unknown} to
 * @returns {any}
 */
export function changed(value, path, to) {
  if (!path.length) return to;
  const [first, ...rest] = path;
  if (Array.isArray(value)) return value.map((v, i) => (i === first ? changed(v, rest, to) : v));
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, k === first ? changed(v, rest, to) : v]));
}

/**
 * What a person wrote for a value that was of a type: of the same type if it can be, and else as JSON or text.
 * @param {string} text
 * @param {Scalar} was
 * @returns {unknown}
 */
export function typed(text, was) {
  if (typeof was === "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Lines of two texts, with whether they are in one alone: by the longest common sequence, or where that is too much
 * work, by their numbers.
 * @param {string} a
 * @param {string} b
 * @returns {[{text: string, only: boolean}[], {text: string, only: boolean}[]]}
 */
export function compared(a, b) {
  const x = a.split("\n"), y = b.split("\n");
  if (x.length * y.length > 4e6) {
    return [x.map((text, i) => ({ text, only: text !== y[i] })), y.map((text, i) => ({ text, only: text !== x[i] }))];
  }
  const width = y.length + 1;
  const common = new Uint16Array((x.length + 1) * width);
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = y.length - 1; j >= 0; j--) {
      common[i * width + j] = x[i] === y[j] ? common[(i + 1) * width + j + 1] + 1 : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const left = x.map((text) => ({ text, only: true })), right = y.map((text) => ({ text, only: true }));
  for (let i = 0, j = 0; i < x.length && j < y.length;) {
    if (x[i] === y[j]) {
      left[i++].only = right[j++].only = false;
    } else if (common[(i + 1) * width + j] >= common[i * width + j + 1]) {
      i++;
    } else {
      j++;
    }
  }
  return [left, right];
}
