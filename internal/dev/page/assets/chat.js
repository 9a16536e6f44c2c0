// @ts-check
// Chat: conversations with the agent. Each is a context of its; what was said in it comes from the record of calls.
import { known } from "./agent.js";
import { ask } from "./api.js";
import { button, el, fill } from "./dom.js";
import { link } from "./route.js";
import { sayBox } from "./say.js";
import { agent, on, state } from "./state.js";
import { makeTurn } from "./turn.js";
import { words } from "./words.js";

const w = words.chat;
const mostTurns = 30;
const mostListed = 40;

/** A context of the agent's, or the number of the first call of a conversation that the agent has no context for. @typedef {string | number} Key */

/** By calls without a context: the first call of their conversation. @type {Map<number, number>} */
const begun = new Map();
/** The contexts of conversations that began without one. @type {Map<number, string>} */
const contexts = new Map();
/** Contexts whose names are longer than what the list of calls has of them. @type {Map<Key, string>} */
const long = new Map();
/** The first words of conversations, by their first call. @type {Map<number, string>} */
const firstWords = new Map();
/** The conversation that was looked at last, of each agent. @type {Map<number, Key>} */
const latest = new Map();

/** @param {import("./api.js").Summary} s @returns {Key} */
function keyOf(s) {
  if (s.context) return s.context;
  const first = begun.get(s.id) ?? s.id;
  return contexts.get(first) ?? first;
}

/** @param {Key} key */
const addressOf = (key) => (typeof key === "number" ? link("chat", "call", key) : link("chat", key));

/** @param {string[]} parts @returns {Key | undefined} */
const keyAt = (parts) => (parts.length === 2 && parts[0] === "call" ? Number(parts[1]) : parts[0]);

/** @param {import("./api.js").Summary | undefined} s @returns {boolean} */
const isMessage = (s) => s?.agent === state.chosen && (s.operation === "SendMessage" || s.operation === "SendStreamingMessage");

/** @typedef {{key: Key, calls: number[], at: string}} Conversation */

/** The conversations of the agent that is looked at, the newest first. @returns {Conversation[]} */
function conversations() {
  /** @type {Map<Key, Conversation>} */
  const all = new Map();
  for (const s of state.calls.values()) {
    if (!isMessage(s)) continue;
    const key = keyOf(s);
    const c = all.get(key) ?? { key, calls: [], at: "" };
    c.calls.push(s.id);
    c.at = s.begun;
    all.delete(key);
    all.set(key, c); // the newest message is the last
  }
  return [...all.values()].reverse();
}

/**
 * Whether an agent can be talked to: a skill takes text if its modes have it, and it has no schema, or one that a plain text
 * fills: with one required property, a string.
 * @param {import("./agent.js").Known} k
 */
export function takesText(k) {
  const modes = k.card.defaultInputModes;
  const isText = (/** @type {unknown} */ list) => Array.isArray(list) && list.some((m) => String(m).startsWith("text/"));
  const skills = Array.isArray(k.card.skills) ? k.card.skills : [];
  if (skills.length === 0) return isText(modes);
  return skills.some((/** @type {any} */ s) => isText(s.inputModes?.length ? s.inputModes : modes) && isFilledByText(k.schemas[s.id]?.input));
}

/** @param {any} schema */
function isFilledByText(schema) {
  if (typeof schema !== "object" || schema === null || schema.type === "string") return true;
  if (!Array.isArray(schema.required) || schema.required.length !== 1) return false;
  const p = schema.properties?.[schema.required[0]];
  const name = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(p?.$ref ?? ""));
  return (name ? schema[name[1]]?.[name[2]] : p)?.type === "string";
}

/** @type {import("./places.js").View} */
export const chatView = {
  id: "chat", title: words.places.chat,
  show(root, parts, signal) {
    const number = state.chosen;
    /** @type {Key | undefined} */
    let key;
    /** @type {import("./turn.js").Turn[]} */
    let turns = [];
    /** @type {import("./agent.js").Known | undefined} */
    let k;
    let most = mostTurns;
    let dismissed = 0; // the turn whose question is not answered
    let atEnd = true;
    let inner = new AbortController();
    /** @type {Set<number>} calls whose task is followed */
    const followed = new Set();
    signal.addEventListener("abort", () => inner.abort());

    const list = el("div", { class: "list-of" });
    const aside = el("nav", { class: "talks", "aria-label": w.conversations, click: () => view.classList.remove("open") }, el("a", { class: "fresh", href: link("chat"), click: (/** @type {Event} */ e) => { e.preventDefault(); begin(); } }, w.fresh), list);
    const older = button("", () => { most += mostTurns; sync(); }, { class: "small older" });
    const empty = el("div", { class: "begin" });
    const column = el("div", { class: "thread" });
    const messages = el("div", { class: "messages", tabindex: 0, role: "region", "aria-label": w.messages(2).slice(2) }, column);
    const say = sayBox(number, () => ({ context: typeof key === "string" ? long.get(key) ?? key : undefined, task: asking()?.task() }), (id, mode) => sent(id, mode), () => { dismissed = asking()?.id ?? 0; drawAnswering(); });
    const head = el("div", { class: "talk-head bar" }, button(w.conversations, () => { view.classList.toggle("open"); }, { class: "small" }), button(w.fresh, () => begin(), { class: "small" }));
    const talkBox = el("section", {
      class: "talk", "aria-label": w.conversation,
      dragover: (/** @type {DragEvent} */ e) => { if (e.dataTransfer?.types.includes("Files")) { e.preventDefault(); talkBox.classList.add("dropping"); } },
      dragleave: (/** @type {DragEvent} */ e) => { if (!talkBox.contains(/** @type {Node | null} */ (e.relatedTarget))) talkBox.classList.remove("dropping"); },
      drop: (/** @type {DragEvent} */ e) => { e.preventDefault(); talkBox.classList.remove("dropping"); say.attach(e.dataTransfer?.files ?? []); },
    }, el("h2", { class: "unseen" }, w.conversation), el("p", { class: "drop-here" }, w.drop), head, messages, say.root);
    const view = el("div", { class: "chat" }, aside, talkBox);
    root.append(view);

    let top = 0;
    messages.addEventListener("scroll", () => {
      const near = messages.scrollTop + messages.clientHeight >= messages.scrollHeight - 40;
      if (near || messages.scrollTop < top) atEnd = near; // what grew below the end is no way up
      top = messages.scrollTop;
    }, { passive: true });
    const toEnd = () => { if (atEnd) messages.scrollTop = messages.scrollHeight; };
    const sizes = new ResizeObserver(toEnd);
    sizes.observe(column);
    sizes.observe(messages);
    signal.addEventListener("abort", () => sizes.disconnect());

    /** @type {import("./turn.js").Talk} */
    let talk;
    const asking = () => turns.findLast((t) => t.id > dismissed && t.asks() !== "");
    const drawAnswering = () => say.answers(asking()?.asks() ?? "");

    /** Shows a conversation, or a new one. @param {Key | undefined} to */
    const open = (to) => {
      inner.abort();
      inner = new AbortController();
      key = to;
      turns = [];
      most = mostTurns;
      dismissed = 0;
      atEnd = true;
      view.classList.remove("open");
      talk = {
        turns: () => turns, owners: new Map(), streams: k?.card.capabilities?.streaming === true, signal: inner.signal, named,
        changed: () => { toEnd(); drawAnswering(); },
        again: (parts) => say.write(parts.map((p) => p.text ?? "").filter(Boolean).join("\n")),
      };
      fill(column, empty);
      if (to === undefined) latest.delete(number);
      else latest.set(number, to);
      drawAnswering();
      sync();
    };
    const begin = () => {
      history.replaceState(null, "", link("chat"));
      open(undefined);
      say.focus();
    };
    /** The agent has a context for what was said. @param {string} context */
    const named = (context) => {
      if (typeof key === "string" && key.endsWith("…") && context.startsWith(key.slice(0, -1))) long.set(key, context);
      if (typeof key !== "number") return;
      contexts.set(key, context);
      moveTo(context);
    };
    /** The conversation has another address. @param {Key} to */
    const moveTo = (to) => {
      key = to;
      latest.set(number, to);
      history.replaceState(null, "", addressOf(to));
      sync();
    };
    /** @param {number} id @param {string} mode */
    const sent = (id, mode) => {
      if (mode === "now") followed.add(id);
      atEnd = true;
      if (typeof key !== "string") begun.set(id, key ?? id);
      const s = state.calls.get(id);
      if (key === undefined) moveTo(s ? keyOf(s) : id);
      else if (typeof key === "number" && s?.context) named(s.context);
      else sync();
    };

    /** Has a turn for each message of the conversation. */
    const sync = () => {
      const calls = key === undefined ? [] : [...state.calls.values()].filter((s) => isMessage(s) && keyOf(s) === key).map((s) => s.id);
      const shown = calls.slice(-most);
      const before = turns.at(-1)?.id ?? 0;
      if (shown[0] !== undefined && turns[0] && shown[0] < turns[0].id) { // older ones are asked for: their artifacts come first
        const height = messages.scrollHeight - messages.scrollTop;
        inner.abort();
        inner = new AbortController();
        talk = { ...talk, owners: new Map(), signal: inner.signal };
        turns.forEach((t) => t.root.remove());
        turns = [];
        requestAnimationFrame(() => { messages.scrollTop = messages.scrollHeight - height; });
      }
      for (const id of shown) {
        if (turns.some((t) => t.id === id)) continue;
        const t = makeTurn(talk, id, followed.has(id));
        turns.push(t);
        column.append(t.root);
      }
      turns.sort((a, b) => a.id - b.id);
      if (turns.length && turns.at(-1)?.id !== before) turns.forEach((t) => t.draw()); // a question may be answered
      empty.hidden = turns.length > 0 || (key !== undefined && calls.length > 0);
      older.hidden = calls.length <= shown.length;
      older.textContent = w.older(calls.length - shown.length);
      if (!older.hidden && column.firstChild !== older) column.prepend(older);
      drawAnswering();
      toEnd();
      drawList();
    };

    let asked = 0;
    let all = false;
    const drawList = () => {
      asked ||= requestAnimationFrame(() => {
        asked = 0;
        const found = conversations();
        const some = all ? found : found.slice(0, mostListed);
        fill(list, ...some.map((c) => {
          const first = firstWords.get(c.calls[0]);
          if (first === undefined) void learnWords(c.calls[0]);
          return el("a", { href: addressOf(c.key), "aria-current": c.key === key ? "true" : null }, el("span", { class: "words" }, first || w.untitled), el("span", { class: "dim small" }, `${new Date(c.at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })} · ${w.messages(c.calls.length)}`));
        }), found.length > some.length ? button(w.allConversations(found.length), () => { all = true; drawList(); }, { class: "small plain" }) : null,
        found.length ? null : el("p", { class: "dim small" }, w.noConversation));
      });
    };
    /** @param {number} id @param {number} [tries] the request may be recorded later than the call */
    const learnWords = async (id, tries = 5) => {
      firstWords.set(id, "");
      const f = await ask(`/api/calls/${id}/forms?limit=1`, "GET", undefined, signal).catch(() => undefined);
      if (signal.aborted) return void firstWords.delete(id);
      if (!f?.request.form && tries) return void setTimeout(() => void learnWords(id, tries - 1), 200);
      const text = (f?.request.form?.message?.parts ?? []).map((/** @type {any} */ p) => p.text ?? p.filename ?? (p.data === undefined ? "" : JSON.stringify(p.data))).join(" ").trim();
      firstWords.set(id, text.slice(0, 100));
      drawList();
    };

    const learn = async () => {
      try {
        const now = await known(number);
        if (signal.aborted || now === k) return;
        k = now;
        talk.streams = k.card.capabilities?.streaming === true;
        void say.know(k);
        drawEmpty();
      } catch (err) {
        if (!signal.aborted) fill(empty, el("p", { class: "bad" }, w.noCard + /** @type {Error} */ (err).message));
      }
    };
    const drawEmpty = () => {
      if (!k) return;
      /** @param {unknown} x */
      const isSentence = (x) => typeof x === "string" && x.trim() !== "" && !/^\s*[[{]/.test(x);
      const skills = Array.isArray(k.card.skills) ? k.card.skills : [];
      const examples = skills.flatMap((/** @type {any} */ s) => (Array.isArray(s.examples) ? s.examples : []).filter(isSentence).slice(0, 2)).slice(0, 6);
      fill(empty, el("p", { class: "large" }, w.begin(String(k.card.name ?? agent()?.name ?? ""))), k.card.description ? el("p", { class: "dim about" }, String(k.card.description).slice(0, 1000)) : null,
        takesText(k) ? null : el("p", {}, w.noText, el("a", { href: link("call") }, w.toCall)),
        examples.length ? el("div", { class: "starters", role: "group", "aria-label": w.starters }, ...examples.map((/** @type {string} */ x) => button(x, () => say.write(x, true)))) : null);
    };

    /** @param {string[]} parts */
    const moved = (parts) => {
      const to = keyAt(parts);
      if (to === key && to !== undefined) return;
      open(typeof to === "number" ? contexts.get(to) ?? to : to);
    };
    const first = keyAt(parts) ?? latest.get(number);
    if (parts.length === 0 && first !== undefined) history.replaceState(null, "", addressOf(first));
    open(first);
    void learn();
    on("event", ({ call, event }) => {
      const s = state.calls.get(call);
      if (!s || s.agent !== number) return;
      if (!s.context && event.context) s.context = event.context;
      turns.forEach((t) => { if (t.id === call || (t.task() && t.task() === s.task)) void t.news(); });
    }, signal);
    on("call", (s) => {
      if (s.agent !== number) return;
      if (isMessage(s)) {
        if (s.context && begun.get(s.id) === key && typeof key === "number") named(s.context);
        else sync();
      }
      turns.forEach((t) => { if (t.id === s.id || (t.task() && t.task() === s.task)) void t.news(); });
    }, signal);
    on("loaded", () => { if (!k) void learn(); sync(); turns.forEach((t) => void t.news()); }, signal);
    on("cleared", () => open(undefined), signal);
    on("agent", (a) => { if (a.number === number && a.phase === "ready") void learn(); }, signal);
    return moved;
  },
};
