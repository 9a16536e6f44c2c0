// @ts-check
// Where the reader is: "#/view/part/…", so that the browser's own buttons work. No part is ever an address to connect to.

/**
 * The address of a view.
 * @param {string} view
 * @param {...(string | number)} parts
 */
export function link(view, ...parts) {
  return "#/" + [view, ...parts].map((p) => encodeURIComponent(String(p))).join("/");
}

/**
 * @param {string} view
 * @param {...(string | number)} parts
 */
export function go(view, ...parts) {
  location.hash = link(view, ...parts);
}

/** The view and its parts. @returns {string[]} */
export function here() {
  return location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map((p) => {
    try {
      return decodeURIComponent(p);
    } catch {
      return p;
    }
  });
}
