// @ts-check
// Elements. What agents say becomes text, never HTML: there is no other way in here.
import { words } from "./words.js";

/** @typedef {string | number | boolean | null | undefined | ((e: any) => void)} Attribute */
/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Makes an element. A function is a listener for the event that its key names, true an attribute without a value, and
 * false, null and undefined leave out what they stand for. Set styles by element.style: the page allows no attribute of it.
 * @param {string} name
 * @param {Record<string, Attribute>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function el(name, attributes = {}, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      e.addEventListener(key, value);
    } else if (value !== false && value !== null && value !== undefined) {
      e.setAttribute(key, value === true ? "" : String(value));
    }
  }
  e.append(...present(children));
  return e;
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function present(children) {
  return children.filter((c) => c !== null && c !== undefined && c !== false).map((c) => (typeof c === "number" ? String(c) : /** @type {Node | string} */ (c)));
}

/**
 * Gives an element other children.
 * @param {Element} e
 * @param {...Child} children
 */
export function fill(e, ...children) {
  e.replaceChildren(...present(children));
}

/**
 * @param {string} text
 * @param {(e: MouseEvent) => void} click
 * @param {Record<string, Attribute>} [attributes]
 */
export function button(text, click, attributes = {}) {
  return /** @type {HTMLButtonElement} */ (el("button", { type: "button", click, ...attributes }, text));
}

let ids = 0;

/** An id that no other element has. */
export function newID() {
  return "e" + ++ids;
}

/**
 * A form that is sent by its button, by Enter, and from anywhere in it with Control. It is judged by who sends it.
 * @param {() => unknown} send
 * @param {Record<string, Attribute>} attributes
 * @param {...Child} children
 */
export function form(send, attributes, ...children) {
  return el("form", {
    novalidate: true, ...attributes,
    submit: (e) => { e.preventDefault(); void send(); },
    keydown: (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) { e.preventDefault(); void send(); } },
  }, ...children);
}

/**
 * A control with its label before it.
 * @param {string} label
 * @param {HTMLElement} control
 * @param {...Child} more after the label, such as an explanation
 */
export function labelled(label, control, ...more) {
  control.id ||= newID();
  return el("div", { class: "field" }, el("label", { for: control.id }, label), ...more, control);
}

/**
 * A select.
 * @param {[value: string, text: string][]} options
 * @param {string} chosen
 * @param {(value: string) => void} change
 * @param {Record<string, Attribute>} [attributes]
 */
export function select(options, chosen, change, attributes = {}) {
  const s = /** @type {HTMLSelectElement} */ (el("select", { change: () => change(s.value), ...attributes },
    ...options.map(([value, text]) => el("option", { value, selected: value === chosen }, text))));
  return s;
}

/**
 * A checkbox with its label.
 * @param {string} label
 * @param {boolean} is
 * @param {(is: boolean) => void} change
 */
export function check(label, is, change) {
  const box = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", checked: is, change: () => change(box.checked) }));
  return el("label", { class: "check" }, box, " ", label);
}

/**
 * A list, and beside it what is chosen of it. Where the window is narrow there is one of them, and a way back.
 * @param {HTMLElement} list
 * @param {HTMLElement} detail
 * @param {HTMLElement} back leads to the list
 */
export function sides(list, detail, back) {
  back.classList.add("back");
  const root = el("div", { class: "sides" }, list, el("div", {}, back, detail));
  return {
    root,
    /** @param {boolean} is whether something is chosen */
    open: (is) => void root.classList.toggle("open", is),
  };
}

/** @param {string} id */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * Has a screen reader say something.
 * @param {string} text
 */
export function announce(text) {
  byId("said").textContent = text;
}

/**
 * Puts a text on the clipboard, and says so.
 * @param {string} text
 */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    announce(words.frame.copied);
  } catch {
    announce(words.frame.notCopied);
  }
}

/**
 * Buttons of which one is pressed, as tabs: arrows go from one to the next.
 * @param {string} label
 * @param {{id: string, title: string}[]} list
 * @param {string} chosen
 * @param {(id: string) => void} choose
 */
export function tabs(label, list, chosen, choose) {
  const bar = el("div", { role: "tablist", "aria-label": label, class: "tabs" });
  /** @param {string} id */
  const show = (id) => {
    for (const t of /** @type {NodeListOf<HTMLElement>} */ (bar.querySelectorAll("[role=tab]"))) {
      const on = t.dataset.id === id;
      t.setAttribute("aria-selected", String(on));
      t.tabIndex = on ? 0 : -1;
    }
  };
  list.forEach((t) => {
    const b = button(t.title, () => { show(t.id); choose(t.id); }, { role: "tab", "data-id": t.id });
    b.addEventListener("keydown", (e) => {
      const all = /** @type {HTMLElement[]} */ ([...bar.querySelectorAll("[role=tab]:enabled")]);
      const at = all.indexOf(b);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      const next = all[(to + all.length) % all.length];
      next.focus();
      next.click();
    });
    bar.append(b);
  });
  show(chosen);
  return bar;
}
