// @ts-check
// What one form of a thing has and another one has not.

const mostPaths = 5000;

/**
 * The paths of all that a value has: "message.parts[].text". Elements of a list count together.
 * @param {unknown} value
 * @param {string} [at]
 * @param {Set<string>} [paths]
 * @returns {Set<string>}
 */
export function pathsOf(value, at = "", paths = new Set()) {
  if (paths.size > mostPaths || value === undefined || value === null) return paths;
  if (Array.isArray(value)) {
    for (const v of value) pathsOf(v, at + "[]", paths);
  } else if (typeof value === "object") {
    for (const [name, v] of Object.entries(value)) pathsOf(v, at ? at + "." + name : name, paths);
  }
  if (at) paths.add(at);
  return paths;
}

/**
 * What values have and other ones have not, the largest parts alone: "task" stands for all that is in it.
 * @param {unknown[]} values
 * @param {unknown[]} others
 * @returns {string[]}
 */
export function lost(values, others) {
  const have = new Set(others.flatMap((o) => [...pathsOf(o)]));
  const missing = [...new Set(values.flatMap((v) => [...pathsOf(v)]))].filter((p) => !have.has(p)).sort();
  const all = new Set(missing);
  return missing.filter((p) => ![...parents(p)].some((up) => all.has(up)));
}

/** The paths of what a path is in. @param {string} path */
function* parents(path) {
  for (let i = path.length - 1; i > 0; i--) {
    if (path[i] === "." || (path[i] === "[" && path[i + 1] === "]")) yield path.slice(0, i);
  }
}
