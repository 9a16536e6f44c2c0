// @ts-check
// Where the reader is: "#/place/view/part/…", so that the browser's own buttons work. The first view of a place is not
// named. No part is ever an address to connect to.

/**
 * The address of a thing.
 * @param {string} place
 * @param {...(string | number)} parts
 */
export function link(place, ...parts) {
  return "#/" + [place, ...parts].map((p) => encodeURIComponent(String(p))).join("/");
}

/**
 * @param {string} place
 * @param {...(string | number)} parts
 */
export function go(place, ...parts) {
  location.hash = link(place, ...parts);
}

/** The place and the parts after it. @returns {string[]} */
export function here() {
  return location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map((p) => {
    try {
      return decodeURIComponent(p);
    } catch {
      return p;
    }
  });
}
