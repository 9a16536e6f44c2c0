// @ts-check
// The card of an agent: as it is published, what callers cannot do with it, and what is different from another one.
import { known } from "./agent.js";
import { ask } from "./api.js";
import { button, copy, el, fill, form, labelled, select, tabs } from "./dom.js";
import { go } from "./route.js";
import { on, state } from "./state.js";

/** @typedef {{severity: string, pos: {file?: string, line?: number, col?: number}, message: string, hint?: string}} Mistake */
/** @typedef {{effect: string, path: string, text: string, was?: string, is?: string, do?: string}} Difference */

/** By agents: how much lint finds. @type {Map<number, number>} */
const found = new Map();

/** What was compared last. */
const last = { url: "", closed: false };

const parts = [{ id: "published", title: "As published" }, { id: "lint", title: "Lint" }, { id: "diff", title: "Differences" }];

/** @type {Record<string, (root: HTMLElement, signal: AbortSignal) => Promise<void>>} */
const shows = { published, lint, diff };

/** @type {import("./places.js").View} */
export const cardView = {
  id: "card", title: "Card",
  badge: () => String(found.get(state.chosen) || ""),
  show(root, first, signal) {
    let chosen = "";
    const body = el("div", { class: "detail plain" });
    const newTabs = () => tabs("Of the card", parts, chosen, (id) => go("agent", ...(id === "published" ? [] : [id])));
    let bar = newTabs();
    root.append(bar, body);
    let inner = new AbortController();
    signal.addEventListener("abort", () => inner.abort());
    const draw = async () => {
      inner.abort();
      const mine = inner = new AbortController();
      fill(body, el("p", { class: "dim", role: "status" }, "…"));
      try {
        await shows[chosen](body, mine.signal);
      } catch (err) {
        if (!mine.signal.aborted) fill(body, el("p", { class: "bad", role: "alert" }, /** @type {Error} */ (err).message), button("Try again", () => void draw()));
      }
    };
    /** @param {string[]} parts */
    const moved = ([part]) => {
      chosen = Object.hasOwn(shows, part ?? "") ? part : "published";
      if (!bar.querySelector(`[data-id=${chosen}][aria-selected=true]`)) { // by its address; a tab that was chosen keeps the focus
        const next = newTabs();
        bar.replaceWith(next);
        bar = next;
      }
      void draw();
    };
    moved(first);
    on("chosen", draw, signal);
    on("agent", (a) => { if (a.number === state.chosen && a.phase === "ready" && chosen !== "diff") void draw(); }, signal);
    return moved;
  },
};

/**
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
async function published(root, signal) {
  const agent = state.chosen;
  const k = await known(agent).catch(() => undefined); // a card that cannot be read is shown all the same
  const versions = [...new Set((k?.interfaces ?? []).map((i) => i.version))];
  const text = el("pre", { tabindex: 0, "aria-label": "The card" });
  const about = el("p", { class: "dim" });
  /** @param {string} version */
  const show = async (version) => {
    const got = await ask(`/api/agents/${agent}/published?version=${encodeURIComponent(version)}`, "GET", undefined, signal);
    about.textContent = `status ${got.status}, ${got.type || "no media type"}, ${new Blob([got.text]).size} bytes`;
    about.className = got.status === 200 ? "dim" : "bad";
    text.textContent = pretty(got.text);
  };
  await show(versions[0] ?? "");
  if (signal.aborted) return;
  const choice = select([...versions.map((v) => /** @type {[string, string]} */ ([v, "version " + v])), ["", "no version"]], versions[0] ?? "",
    (v) => void show(v).catch((err) => { if (!signal.aborted) text.textContent = err.message; }));
  fill(root, el("div", { class: "bar" }, labelled("As callers get it who name", choice), button("Copy", () => void copy(text.textContent ?? ""))), about, text);
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** @param {{file?: string, line?: number, col?: number}} pos */
function place(pos) {
  return [pos.file, pos.line, pos.col].filter(Boolean).join(":");
}

/**
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
async function lint(root, signal) {
  const agent = state.chosen;
  /** @type {Mistake[]} */
  const list = (await ask(`/api/agents/${agent}/lint`, "GET", undefined, signal)).findings;
  found.set(agent, list.length);
  fill(root, list.length ? el("ul", { class: "findings" }, ...list.map((m) => el("li", {},
    el("strong", { class: m.severity === "error" ? "bad" : "" }, m.severity), " ", el("span", { class: "mono" }, place(m.pos)), el("div", {}, m.message), m.hint ? el("div", { class: "dim" }, m.hint) : null))) :
    el("p", { class: "good" }, "Callers with the official SDKs can bring what the card demands."));
}

/**
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
async function diff(root, signal) {
  const agent = state.chosen;
  const made = Boolean(state.agents.get(agent)?.folder);
  const url = /** @type {HTMLInputElement} */ (el("input", { type: "url", autocomplete: "off", placeholder: "its URL, or that of its card", size: 40 }));
  url.value = last.url;
  const closed = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", checked: last.closed }));
  const result = el("div", { "aria-live": "polite" });
  /** @param {string} from */
  const compare = async (from) => {
    fill(result, el("p", { class: "dim" }, "comparing …"));
    last.url = url.value;
    last.closed = closed.checked;
    try {
      showChanges(result, await ask(`/api/agents/${agent}/diff`, "POST", { with: from, private: closed.checked }, signal));
    } catch (err) {
      if (!signal.aborted) fill(result, el("p", { class: "bad about", role: "alert" }, /** @type {Error} */ (err).message));
    }
  };
  fill(root, el("p", { class: "dim" }, "What callers have to do who go by an earlier card, when the card of the files is published."),
    form(() => compare(url.value.trim()), { class: "bar", novalidate: false },
      made ? button("From the last commit", () => void compare("commit")) : null,
      labelled("From what an agent publishes at", url), el("label", {}, closed, " at an address that is not public"), el("button", { class: "main" }, "Compare")), result);
}

/**
 * @param {HTMLElement} root
 * @param {{old: any, new: any, findings: Difference[]}} c
 */
function showChanges(root, c) {
  /** @param {string} word @param {any} side */
  const row = (word, side) => [el("dt", {}, word), el("dd", {}, `${side.from}: ${side.name} ${side.version}, A2A ${side.protocol}`)];
  fill(root, el("dl", {}, ...row("old", c.old), ...row("new", c.new)),
    c.findings.length ? el("ul", { class: "findings" }, ...c.findings.map((f) => el("li", {},
      el("strong", { class: f.effect === "breaking" ? "bad" : "" }, f.effect), " ", el("span", { class: "mono" }, f.path), el("div", {}, f.text),
      f.was || f.is ? el("div", { class: "dim" }, `it was ${f.was || "nothing"}, and is ${f.is || "nothing"}`) : null, f.do ? el("div", {}, f.do) : null))) :
      el("p", { class: "good" }, "Nothing is different for callers."));
}
