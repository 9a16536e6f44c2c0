// @ts-check
// The card of an agent: what it offers, as it is published, what callers cannot do with it, and what is different from
// another one.
import { known } from "./agent.js";
import { ask } from "./api.js";
import { button, copy, el, fill, form, labelled, select, tabs } from "./dom.js";
import { go, link } from "./route.js";
import { on, state } from "./state.js";
import { words } from "./words.js";

/** @typedef {{severity: string, pos: {file?: string, line?: number, col?: number}, message: string, hint?: string}} Mistake */
/** @typedef {{effect: string, path: string, text: string, was?: string, is?: string, do?: string}} Difference */

const w = words.card;

/** By agents: how much lint finds. @type {Map<number, number>} */
const found = new Map();

/** What was compared last. */
const last = { url: "", closed: false };

const parts = [{ id: "overview", title: w.overview }, { id: "json", title: w.json }, { id: "lint", title: w.lint }, { id: "diff", title: w.diff }];

/** @type {Record<string, (root: HTMLElement, signal: AbortSignal) => Promise<void>>} */
const shows = { overview, json: published, lint, diff };

/** @type {import("./places.js").View} */
export const cardView = {
  id: "card", title: w.title,
  badge: () => String(found.get(state.chosen) || ""),
  show(root, first, signal) {
    let chosen = "";
    const body = el("div");
    const newTabs = () => tabs(w.ofCard, parts, chosen, (id) => go("agent", ...(id === "overview" ? [] : [id])));
    let bar = newTabs();
    root.append(bar, body);
    let inner = new AbortController();
    signal.addEventListener("abort", () => inner.abort());
    const draw = async () => {
      inner.abort();
      const mine = inner = new AbortController();
      try {
        await shows[chosen](body, mine.signal);
      } catch (err) {
        if (!mine.signal.aborted) fill(body, el("p", { class: "bad", role: "alert" }, /** @type {Error} */ (err).message), button(words.frame.tryAgain, () => void draw()));
      }
    };
    /** @param {string[]} parts */
    const moved = ([part]) => {
      chosen = Object.hasOwn(shows, part ?? "") ? part : "overview";
      if (!bar.querySelector(`[data-id=${chosen}][aria-selected=true]`)) { // by its address; a tab that was chosen keeps the focus
        const next = newTabs();
        bar.replaceWith(next);
        bar = next;
      }
      fill(body, el("p", { class: "dim", role: "status" }, "…"));
      void draw();
    };
    moved(first);
    on("chosen", draw, signal);
    on("agent", (a) => { if (a.number === state.chosen && a.phase === "ready" && chosen !== "diff") void draw(); }, signal);
    return moved;
  },
};

/**
 * What the agent offers, and what not.
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
async function overview(root, signal) {
  const agent = state.chosen;
  const a = state.agents.get(agent);
  const k = await known(agent);
  if (signal.aborted) return;
  const { card } = k;
  /** @param {string} label @param {...import("./dom.js").Child} value */
  const row = (label, ...value) => [el("dt", { class: "dim" }, label), el("dd", {}, ...value)];
  const capabilities = card.capabilities ?? {};
  /** @param {boolean} has @param {string} name @param {string} without */
  const offer = (has, name, without) => el("li", { class: has ? "" : "dim" }, el("span", { class: has ? "good" : "", "aria-hidden": "true" }, has ? "✓ " : "– "), has ? name : without);
  const skills = Array.isArray(card.skills) ? card.skills : [];
  fill(root, el("div", { class: "overview" },
    el("section", {}, el("h2", {}, String(card.name ?? "")), card.description ? el("p", { class: "about" }, String(card.description)) : null,
      el("dl", {}, ...row(w.version, String(card.version ?? "–")), ...(card.provider?.organization ? row(w.provider, String(card.provider.organization)) : []),
        ...row(w.address, el("code", {}, a?.url ?? "")), ...(a?.to ? row(w.standsBefore, el("code", {}, a.to)) : []), ...(a?.folder ? row(w.folder, el("code", {}, a.folder)) : [])),
      el("h3", {}, w.offers), el("ul", { class: "plain" }, offer(Boolean(capabilities.streaming), w.streaming, w.noStreaming), offer(Boolean(capabilities.pushNotifications), w.push, w.noPush),
        offer(Boolean(k.extension), w.schemas, w.noSchemas), offer(Object.keys(card.securitySchemes ?? {}).length > 0, w.security, w.noSecurity),
        offer(Boolean(capabilities.extendedAgentCard ?? card.supportsAuthenticatedExtendedCard), w.extended, w.noExtended)),
      el("h3", {}, w.interfaces), el("div", { class: "wide", tabindex: 0, role: "region", "aria-label": w.interfaces }, el("table", {}, el("thead", {}, el("tr", {}, ...[w.binding, w.version, w.url].map((t) => el("th", { scope: "col" }, t)))),
        el("tbody", {}, ...k.interfaces.map((i) => el("tr", {}, el("td", {}, i.binding), el("td", {}, i.version), el("td", { class: "mono" }, i.url))))))),
    el("section", {}, el("h2", {}, w.skills(skills.length)), ...skills.map((/** @type {any} */ s) => el("article", { class: "boxed" },
      el("h3", {}, el("a", { href: link("call", s.id) }, String(s.name || s.id))), el("p", { class: "about" }, String(s.description ?? "")),
      Array.isArray(s.examples) && s.examples.length ? el("p", { class: "dim small about" }, w.examples(s.examples.map(String))) : null,
      el("p", { class: "dim small" }, w.modes((s.inputModes ?? card.defaultInputModes ?? []).join(", "), (s.outputModes ?? card.defaultOutputModes ?? []).join(", "))))))));
}

/**
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
async function published(root, signal) {
  const agent = state.chosen;
  const k = await known(agent).catch(() => undefined); // a card that cannot be read is shown all the same
  const versions = [...new Set((k?.interfaces ?? []).map((i) => i.version))];
  const text = el("pre", { class: "tall", tabindex: 0, "aria-label": w.json });
  const about = el("p", { class: "dim" });
  /** @param {string} version */
  const show = async (version) => {
    const got = await ask(`/api/agents/${agent}/published?version=${encodeURIComponent(version)}`, "GET", undefined, signal);
    about.textContent = w.got(got.status, got.type, new Blob([got.text]).size);
    about.className = got.status === 200 ? "dim small" : "bad";
    text.textContent = pretty(got.text);
  };
  await show(versions[0] ?? "");
  if (signal.aborted) return;
  const choice = select([...versions.map((v) => /** @type {[string, string]} */ ([v, w.ofVersion(v)])), ["", w.ofNone]], versions[0] ?? "",
    (v) => void show(v).catch((err) => { if (!signal.aborted) text.textContent = err.message; }));
  fill(root, el("div", { class: "bar" }, labelled(w.askedFor, choice), button(w.copy, () => void copy(text.textContent ?? ""))), about, text);
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
    el("p", { class: "good" }, w.lintGood));
}

/**
 * @param {HTMLElement} root
 * @param {AbortSignal} signal
 */
async function diff(root, signal) {
  const agent = state.chosen;
  const made = Boolean(state.agents.get(agent)?.folder);
  const url = /** @type {HTMLInputElement} */ (el("input", { type: "url", autocomplete: "off", placeholder: w.diffPlaceholder, size: 36 }));
  url.value = last.url;
  const closed = /** @type {HTMLInputElement} */ (el("input", { type: "checkbox", checked: last.closed }));
  const result = el("div", { "aria-live": "polite" });
  /** @param {string} from */
  const compare = async (from) => {
    fill(result, el("p", { class: "dim" }, w.comparing));
    last.url = url.value;
    last.closed = closed.checked;
    try {
      showChanges(result, await ask(`/api/agents/${agent}/diff`, "POST", { with: from, private: closed.checked }, signal));
    } catch (err) {
      if (!signal.aborted) fill(result, el("p", { class: "bad about", role: "alert" }, /** @type {Error} */ (err).message));
    }
  };
  fill(root, el("p", { class: "dim" }, w.diffAbout),
    form(() => compare(url.value.trim()), { class: "bar", novalidate: false },
      made ? button(w.commit, () => void compare("commit")) : null,
      labelled(w.publishedAt, url), el("label", { class: "check" }, closed, " " + w.privateAddress), el("button", { class: "main" }, w.compare)), result);
}

/**
 * @param {HTMLElement} root
 * @param {{old: any, new: any, findings: Difference[]}} c
 */
function showChanges(root, c) {
  /** @param {string} word @param {any} side */
  const row = (word, side) => [el("dt", {}, word), el("dd", {}, `${side.from}: ${side.name} ${side.version}, A2A ${side.protocol}`)];
  fill(root, el("dl", {}, ...row(w.before, c.old), ...row(w.after, c.new)),
    c.findings.length ? el("ul", { class: "findings" }, ...c.findings.map((f) => el("li", {},
      el("strong", { class: f.effect === "breaking" ? "bad" : "" }, f.effect), " ", el("span", { class: "mono" }, f.path), el("div", {}, f.text),
      f.was || f.is ? el("div", { class: "dim" }, w.was(f.was, f.is)) : null, f.do ? el("div", {}, f.do) : null))) :
      el("p", { class: "good" }, w.same));
}
