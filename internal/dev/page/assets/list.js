// @ts-check
// A list of any length: only the rows that are seen are in the document.

/**
 * @typedef {object} Options
 * @property {string} label of the list, for a screen reader
 * @property {number} rowHeight in CSS pixels, of each row
 * @property {() => number} count of the rows
 * @property {(i: number) => (Node | string)[]} row what is in row i
 * @property {(i: number, how: "click" | "key") => void} [open] a row was chosen
 * @property {boolean} [elsewhere] open leads to another view: Enter does it, and arrows go through the rows
 * @property {string} [class]
 */

const beyond = 8; // rows above and below those that are seen

/**
 * @param {Options} o
 * @param {AbortSignal} signal
 */
export function virtualList(o, signal) {
  const root = document.createElement("div");
  const inner = document.createElement("div");
  root.className = "list " + (o.class ?? "");
  root.tabIndex = 0;
  root.setAttribute("role", "listbox");
  root.setAttribute("aria-label", o.label);
  inner.setAttribute("role", "presentation");
  root.append(inner);
  const name = "list" + ++lists;
  let current = -1;
  let following = false; // the end is seen, and stays so when rows come
  let asked = 0;
  let stale = false; // what is in the document may be other than what row says
  /** @type {Map<number, HTMLElement>} those in the document */
  const rows = new Map();

  const draw = () => {
    asked = 0;
    const n = o.count();
    current = Math.min(current, n - 1);
    inner.style.height = n * o.rowHeight + "px";
    if (following) root.scrollTop = root.scrollHeight;
    const from = Math.max(0, Math.floor(root.scrollTop / o.rowHeight) - beyond);
    const to = Math.min(n, Math.ceil((root.scrollTop + root.clientHeight) / o.rowHeight) + beyond);
    for (const [i, row] of rows) {
      if (!stale && i >= from && i < to) continue;
      row.remove();
      rows.delete(i);
    }
    stale = false;
    for (let i = from; i < to; i++) {
      let row = rows.get(i);
      if (!row) {
        row = document.createElement("div");
        row.className = "row";
        row.id = name + "-" + i;
        row.dataset.i = String(i);
        row.setAttribute("role", "option");
        row.setAttribute("aria-setsize", String(n));
        row.setAttribute("aria-posinset", String(i + 1));
        row.style.top = i * o.rowHeight + "px";
        row.style.height = o.rowHeight + "px";
        row.append(...o.row(i));
        rows.set(i, row);
        inner.append(row);
      }
      row.setAttribute("aria-selected", String(i === current));
    }
    if (current >= from && current < to) {
      root.setAttribute("aria-activedescendant", name + "-" + current);
    } else {
      root.removeAttribute("aria-activedescendant");
    }
  };
  /** Rows were added or became others. */
  const changed = () => {
    stale = true;
    soon();
  };
  const soon = () => {
    asked ||= requestAnimationFrame(draw);
  };
  /**
   * Makes a row the current one, and shows it unless the list is to stay where it is.
   * @param {number} i
   * @param {boolean} [shows]
   */
  const choose = (i, shows = true) => {
    current = Math.max(-1, Math.min(i, o.count() - 1));
    if (!shows) return soon();
    const top = current * o.rowHeight;
    if (current >= 0 && top < root.scrollTop) root.scrollTop = top;
    if (current >= 0 && top + o.rowHeight > root.scrollTop + root.clientHeight) root.scrollTop = top + o.rowHeight - root.clientHeight;
    soon();
  };
  root.addEventListener("scroll", () => {
    following = o.count() > 0 && root.scrollTop + root.clientHeight >= root.scrollHeight - 2;
    soon();
  }, { passive: true });
  root.addEventListener("click", (e) => {
    const row = /** @type {HTMLElement | null} */ (/** @type {Element} */ (e.target).closest("[data-i]"));
    if (!row) return;
    choose(Number(row.dataset.i));
    o.open?.(current, "click");
  });
  root.addEventListener("keydown", (e) => {
    const page = Math.max(1, Math.floor(root.clientHeight / o.rowHeight) - 1);
    const to = { ArrowDown: current + 1, ArrowUp: current - 1, PageDown: current + page, PageUp: current - page, Home: 0, End: o.count() - 1 }[e.key];
    if (to !== undefined) {
      e.preventDefault();
      choose(Math.max(0, to));
    }
    if (((to !== undefined && !o.elsewhere) || e.key === "Enter" || e.key === " ") && current >= 0) {
      e.preventDefault();
      o.open?.(current, "key");
    }
  });
  const size = new ResizeObserver(soon);
  size.observe(root);
  signal.addEventListener("abort", () => size.disconnect());
  return {
    root, changed, choose,
    toEnd() {
      following = true;
      soon();
    },
    get current() {
      return current;
    },
  };
}

let lists = 0;
