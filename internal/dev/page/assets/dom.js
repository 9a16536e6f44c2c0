// @ts-check

/**
 * Makes an element. Texts are texts, never HTML.
 * @param {string} name
 * @param {Record<string, string | (() => void)>} [attributes]
 * @param {...(Node | string)} children
 */
export function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      e.addEventListener(key, value);
    } else {
      e.setAttribute(key, value);
    }
  }
  e.append(...children);
  return e;
}

/** @param {string} id */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}
