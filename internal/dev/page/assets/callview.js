// @ts-check
// Calls of skills: what they take as a form, and the answer beside it, or on a telephone in its place.
import { call, forms, known, offers, randomID } from "./agent.js";
import { artifactView, Pieces, reader } from "./artifacts.js";
import { composer } from "./composer.js";
import { copyAs, languages } from "./copy.js";
import { button, el, fill, form, labelled, select } from "./dom.js";
import { callAs, callerFor, identities, selectIdentity } from "./identity.js";
import { headersOf, tryPanels } from "./panels.js";
import { complain, errorBox, inWords, refuse, violationsOf } from "./rejection.js";
import { link } from "./route.js";
import { agent, on, state } from "./state.js";
import { task, tasksOf } from "./task.js";
import { showTask } from "./taskview.js";
import { words } from "./words.js";

const w = words.call;

/**
 * A call that somebody writes, as it would be sent.
 * @typedef {{agent: number, skill: string, binding: string, version: string, operation: string, request: any, header: Record<string, string[]>}} Draft
 */

/**
 * What panels of a call that is being written look at. draft throws when something is wrong with what the form holds.
 * @typedef {{agent: number, skill: string, known: import("./agent.js").Known, draft: () => Promise<Draft>}} Trying
 */

/** What was chosen last, for all skills. */
const last = { way: "", operation: "SendStreamingMessage", options: false };

/** @type {import("./places.js").View} */
export const callView = {
  id: "call", title: words.places.call,
  show(root, parts, signal) {
    const skills = el("nav", { class: "skills", "aria-label": w.skills });
    const middle = el("section", { "aria-label": w.form });
    const answer = answerBeside(signal);
    const sides = el("div", { class: "sides" }, middle, answer.root);
    root.append(el("div", { class: "calling" }, skills, sides));
    let inner = new AbortController();
    signal.addEventListener("abort", () => inner.abort());
    let here = parts;
    let card = "";
    /** @type {import("./agent.js").Known | undefined} whose skills are listed */
    let listed;
    /** @param {string[]} parts a skill, and a call to send again */
    const moved = (parts) => {
      here = parts;
      answer.open(false);
      inner.abort();
      inner = new AbortController();
      void show(parts, inner.signal);
    };
    /** @param {string[]} parts @param {AbortSignal} signal */
    const show = async ([skill = "", again = ""], signal) => {
      try {
        if (!agent()) return;
        const k = await known(state.chosen);
        if (signal.aborted) return;
        const list = Array.isArray(k.card.skills) ? k.card.skills : [];
        const chosen = list.find((/** @type {any} */ s) => s.id === skill) ?? (skill === "any" ? undefined : list[0]);
        if (k !== listed) { // else what has the focus keeps it
          listed = k;
          card = JSON.stringify(k);
          fill(skills, ...[...list, { id: "any", name: w.automatic, description: list.length ? w.chooses : w.noSkills }].map(skillLink));
        }
        skills.querySelector("[aria-current]")?.removeAttribute("aria-current");
        skills.children[chosen ? list.indexOf(chosen) : list.length].setAttribute("aria-current", "true");
        skills.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
        showForm(middle, answer, k, chosen, again, signal);
      } catch (err) {
        if (!signal.aborted) fill(middle, el("p", { class: "bad", role: "alert" }, /** @type {Error} */ (err).message), button(w.tryAgain, () => moved([skill, again])));
      }
    };
    /** The card may be another one. What was written stays, in the form of now. */
    const renew = async () => {
      const k = await known(state.chosen).catch(() => undefined);
      if (!k || signal.aborted || JSON.stringify(k) === card) return;
      inner.abort();
      inner = new AbortController();
      await show(here, inner.signal);
    };
    moved(parts);
    on("loaded", () => void renew(), signal);
    on("agent", (a) => { if (a.number === state.chosen && a.phase === "ready") void renew(); }, signal);
    return moved;
  },
};

/** @param {import("./agent.js").Skill} s */
function skillLink(s) {
  return el("a", { href: link("call", s.id) }, el("strong", {}, s.name || s.id), el("span", { class: "dim about small" }, s.description ?? ""));
}

/**
 * @param {HTMLElement} root
 * @param {Answer} answer
 * @param {import("./agent.js").Known} k
 * @param {import("./agent.js").Skill | undefined} skill undefined: the agent chooses
 * @param {string} again the number of a call whose message is sent again; ""
 * @param {AbortSignal} signal
 */
function showForm(root, answer, k, skill, again, signal) {
  const number = state.chosen;
  const schema = skill && k.schemas[skill.id]?.input;
  const write = composer({ schema, name: skill?.name ?? w.form, examples: skill?.examples, text: !skill });
  const options = callOptions(number, k, signal);
  const bad = el("div", { class: "bar" });
  /** @param {boolean} [anyway] with its mistakes */
  const draft = async (anyway) => {
    const mistakes = write.check();
    if (!anyway) refuse(mistakes);
    const i = options.way();
    const parts = await write.parts();
    const message = {
      messageId: randomID(), role: "ROLE_USER", contextId: options.context(), parts,
      ...(!skill ? {} : k.extension ? { metadata: { [k.extension]: { skill: skill.id } }, extensions: [k.extension] } : { metadata: { skillId: skill.id } }),
    };
    const now = options.operation() === "now";
    return {
      agent: number, skill: skill?.id ?? "", binding: i.binding, version: i.version, operation: now ? "SendMessage" : options.operation(),
      request: { message, ...(now ? { configuration: { returnImmediately: true } } : {}) }, header: headersOf(number),
    };
  };
  const send = async (anyway = false) => {
    fill(bad);
    try {
      const { agent, binding, version, operation, request, header } = await draft(anyway);
      answer.follow(await call(agent, { binding, version, operation, request, header }), (said) => {
        const violations = violationsOf(said.error);
        if (violations.length === 0) return;
        const here = root.contains(document.activeElement) || answer.root.contains(document.activeElement);
        answer.open(false);
        fill(bad, el("p", { class: "bad" }, inWords(said)));
        if (here) write.reject(violations);
      });
    } catch (err) {
      complain(bad, /** @type {Error} */ (err), () => void send(true));
    }
  };
  const panel = el("div");
  const more = moreWays(panel, { agent: number, skill: skill?.id ?? "", known: k, draft }, el("button", { class: "main", "aria-keyshortcuts": "Control+Enter" }, w.send), signal);
  const box = form(send, {}, el("h2", {}, skill?.name || skill?.id || w.automatic), el("p", { class: "dim about" }, skill ? skill.description : w.chooses),
    skill && !schema ? el("p", { class: "dim small" }, w.noSchema) : null, write.root, options.root,
    el("div", { class: "sending" }, bad, more.bar), more.why);
  fill(root, box, panel);
  const key = keep(write, schema, [state.agents.get(number)?.name, skill?.id ?? ""], signal);
  if (again) void sendAgain(write, Number(again), bad, signal);
  else restore(write, key);
}

/**
 * How a call is made, which rarely changes: a fold that says it.
 * @param {number} number of the agent
 * @param {import("./agent.js").Known} k
 * @param {AbortSignal} signal
 */
function callOptions(number, k, signal) {
  const { stream, ways } = offers(k);
  const titles = ways.map((i) => `${i.binding} ${i.version}`);
  const summary = el("span", { class: "dim" });
  const say = () => {
    summary.textContent = [way.selectedOptions[0]?.text, operation.selectedOptions[0]?.text.toLowerCase(), callerFor(number) || w.anonymous, context.value.trim() && w.inContext(context.value.trim())].filter(Boolean).join(" · ");
  };
  /** @param {HTMLSelectElement} list @param {string} text */
  const without = (list, text) => list.append(el("option", { disabled: true }, text));
  const way = select(titles.map((t, n) => [String(n), t]), String(Math.max(0, titles.indexOf(last.way))), () => { last.way = way.selectedOptions[0]?.text ?? ""; say(); });
  for (const b of ["JSONRPC", "HTTP+JSON", "GRPC"]) if (!ways.some((i) => i.binding === b)) without(way, w.not(b, w.noBinding));
  const modes = /** @type {[string, string][]} */ ([...(stream ? [["SendStreamingMessage", w.stream]] : []), ["SendMessage", w.wait], ["now", w.now]]);
  const operation = select(modes, modes.some(([id]) => id === last.operation) ? last.operation : "SendMessage", (o) => { last.operation = o; say(); });
  if (!stream) without(operation, w.not(w.stream, w.noStream));
  const contexts = el("datalist", { id: "contexts" }, ...[...new Set(tasksOf(number).map((t) => t.context).filter(Boolean))].slice(0, 10).map((c) => el("option", { value: c })));
  const context = /** @type {HTMLInputElement} */ (el("input", { autocomplete: "off", placeholder: w.newContext, list: "contexts", input: () => say() }));
  const caller = el("div", {});
  /** @param {import("./identity.js").Known} known */
  const showCaller = (known) => fill(caller, labelled(w.caller, selectIdentity(known, callerFor(number), (name) => { callAs(number, name); say(); })), el("a", { class: "small", href: link("agent", "callers") }, w.callers));
  showCaller({ schemes: [], identities: [] });
  void identities(number).then((known) => { if (!signal.aborted) showCaller(known); }, () => {});
  say();
  const root = el("details", { class: "options", open: last.options, toggle: () => { last.options = /** @type {HTMLDetailsElement} */ (root).open; } },
    el("summary", {}, w.options, " ", summary),
    el("div", { class: "grid" }, labelled(w.binding, way), labelled(w.mode, operation), el("div", {}, labelled(w.context, context), contexts), caller));
  return {
    root, operation: () => operation.value, context: () => context.value.trim() || undefined,
    way() {
      const i = ways[Number(way.value)];
      if (!i) throw new Error(w.noInterface);
      return i;
    },
  };
}

/**
 * The button that sends, and beside it what else can be done with the message, each in a panel that opens below; with
 * why, where the agent does not offer it.
 * @param {HTMLElement} panel
 * @param {Trying} trying
 * @param {HTMLElement} main
 * @param {AbortSignal} signal
 */
function moreWays(panel, trying, main, signal) {
  const { push, ways } = offers(trying.known);
  /** @type {Record<string, string>} */
  const without = { compare: ways.length > 1 ? "" : w.oneWay, notify: push ? "" : w.noPush, two: Object.keys(trying.known.card?.securitySchemes ?? {}).length ? "" : w.noSchemes };
  let inner = new AbortController();
  signal.addEventListener("abort", () => inner.abort());
  let open = "";
  /** @param {string} id */
  const toggle = (id) => {
    open = open === id ? "" : id;
    inner.abort();
    inner = new AbortController();
    fill(panel);
    panel.className = open && "more";
    buttons.forEach((b) => b.setAttribute("aria-expanded", String(b.dataset.id === open)));
    tryPanels.find((p) => p.id === open)?.show(panel, trying, inner.signal);
    panel.scrollIntoView({ block: "nearest" });
  };
  const buttons = tryPanels.map((p) => button(p.title + "…", () => toggle(p.id), { class: "small plain", "data-id": p.id, "aria-expanded": "false", disabled: Boolean(without[p.id]), title: without[p.id] || null }));
  const why = tryPanels.filter((p) => without[p.id]).map((p) => `${p.title}: ${without[p.id]}.`).join(" ");
  return { bar: el("div", { class: "bar" }, main, ...buttons), why: why ? el("p", { class: "dim small" }, why) : null };
}

const mostKept = 100_000;

/** What was written, by agents and skills. @type {Map<string, string>} */
const written = new Map();

/**
 * Keeps what is written when it is left, without files; for a reload too, if the schema has no secrets.
 * @param {import("./composer.js").Composer} write
 * @param {unknown} schema
 * @param {unknown} of
 * @param {AbortSignal} signal
 */
function keep(write, schema, of, signal) {
  const key = "written/" + JSON.stringify(of);
  const secret = /"format":"password"|"writeOnly":true/.test(JSON.stringify(schema) ?? "");
  const save = () => {
    try {
      const text = JSON.stringify(write.written());
      written.set(key, text);
      if (!secret && text.length <= mostKept) sessionStorage.setItem(key, text);
    } catch { // a field holds no value, or there is no room: what was kept before stays
    }
  };
  addEventListener("pagehide", save, { signal });
  signal.addEventListener("abort", save);
  return key;
}

/** @param {import("./composer.js").Composer} write @param {string} key */
function restore(write, key) {
  try {
    const text = written.get(key) ?? sessionStorage.getItem(key);
    if (text) write.restore(JSON.parse(text));
  } catch { // an older page wrote it otherwise
  }
}

/**
 * Fills the form with the message of a call.
 * @param {import("./composer.js").Composer} write
 * @param {number} id
 * @param {HTMLElement} bad
 * @param {AbortSignal} signal
 */
async function sendAgain(write, id, bad, signal) {
  try {
    const { request } = await forms(id, 0, signal);
    /** @type {import("./composer.js").Part[]} */
    const parts = request.form?.message?.parts ?? [];
    const data = parts.find((p) => p.data !== undefined);
    const text = parts.map((p) => p.text ?? "").filter(Boolean).join("\n");
    if (data) write.set(data.data);
    else if (text) write.setText(text);
    if (request.problem) throw new Error(`${w.callShort(id)}: ${request.problem}`);
  } catch (err) {
    if (!signal.aborted) fill(bad, el("p", { class: "bad", role: "alert" }, /** @type {Error} */ (err).message));
  }
}

/** Where answers are shown. @typedef {ReturnType<typeof answerBeside>} Answer */

/**
 * The answer beside the form; on a telephone it is open in the place of that.
 * @param {AbortSignal} signal
 */
function answerBeside(signal) {
  const title = el("h2", { tabindex: -1 }, w.answer);
  const where = el("span", {});
  const copies = el("div");
  const body = el("div", {}, el("p", { class: "empty" }, w.nothingSent));
  const back = button("← " + w.back, () => { open(false); /** @type {HTMLElement | null} */ (root.parentElement?.querySelector("form .main"))?.focus(); }, { class: "back small plain" });
  const head = el("div", { class: "bar", hidden: true }, title, where);
  const root = el("section", { class: "detail", "aria-label": w.answer }, back, head, copies, body);
  /** @param {boolean} on */
  const open = (on) => root.parentElement?.classList.toggle("open", on);
  let end = new AbortController();
  signal.addEventListener("abort", () => end.abort());
  /**
   * Shows what comes of a call: its task, or its answer if it makes none.
   * @param {number} id
   * @param {(said: import("./agent.js").Form) => void} reject is told of an answer that is an error
   */
  const follow = (id, reject) => {
    end.abort();
    end = new AbortController();
    const { signal } = end;
    let shown = "";
    const look = () => {
      const s = state.calls.get(id);
      if (!s || signal.aborted) return;
      if (s.task && task(s.agent, s.task) && shown !== s.task) {
        shown = s.task;
        const made = el("div", { class: "made answered", tabindex: 0, role: "region", "aria-label": w.artifacts });
        const story = el("div", { class: "detail" });
        fill(body, made, story);
        showTask(story, s.agent, s.task, signal);
        showMade(made, s.agent, s.task, signal);
      } else if (!shown && s.state !== "running") {
        shown = "answer";
        void showAnswer(body, id, reject, signal);
      }
    };
    head.hidden = false;
    fill(where, el("a", { href: link("traffic", id) }, w.callShort(id)));
    fill(body, el("p", { class: "dim", role: "status" }, w.underWay(id)));
    inOtherWords(head, copies, id, () => end);
    open(true);
    if (back.offsetParent) title.focus();
    look();
    for (const kind of /** @type {const} */ (["call", "task"])) on(kind, look, signal);
  };
  return { root, open, follow };
}

/**
 * Shows the artifacts of a task, as they come.
 * @param {HTMLElement} root
 * @param {number} agent
 * @param {string} id
 * @param {AbortSignal} signal
 */
function showMade(root, agent, id, signal) {
  const t = task(agent, id);
  if (!t) return;
  /** @type {Map<string, ReturnType<typeof artifactView>>} */
  const views = new Map();
  const pieces = new Pieces((a, append) => {
    const view = views.get(a.artifactId) ?? artifactView(a);
    views.set(a.artifactId, view);
    if (!view.root.isConnected) root.append(view.root);
    view.put(a, append);
  });
  const news = reader(() => t.calls, (f, call, n) => pieces.add(f.form, call, "", n ? f.id : undefined), () => {}, signal);
  news();
  on("event", ({ call, event }) => { if (t.calls.includes(call) && (event.artifact || event.kind === "task")) news(); }, signal);
  on("call", (c) => { if (c.task === t.id && c.state !== "running") news(); }, signal);
}

/**
 * Buttons for a call as curl, as Go and as a test, each of which opens it below.
 * @param {HTMLElement} head
 * @param {HTMLElement} box
 * @param {number} id
 * @param {() => AbortController} end
 */
function inOtherWords(head, box, id, end) {
  let open = "";
  fill(box);
  head.querySelector(".copies")?.remove();
  const agent = state.calls.get(id)?.agent ?? state.chosen;
  const buttons = languages(agent).map((l) => button(l.as, () => {
    open = open === l.id ? "" : l.id;
    buttons.forEach((b, i) => b.setAttribute("aria-expanded", String(languages(agent)[i].id === open)));
    const x = state.calls.get(id);
    fill(box);
    if (open && x) copyAs(box, x, open, end().signal);
  }, { class: "small plain", "aria-expanded": "false", disabled: Boolean(l.without), title: l.without || null }));
  head.append(el("span", { class: "copies" }, ...buttons));
}

/**
 * Shows an answer without a task: a message, or an error.
 * @param {HTMLElement} root
 * @param {number} id
 * @param {(said: import("./agent.js").Form) => void} reject
 * @param {AbortSignal} signal
 */
async function showAnswer(root, id, reject, signal) {
  /** @type {import("./agent.js").Forms} */
  let f;
  try {
    f = await forms(id, 0, signal);
  } catch (err) {
    if (!signal.aborted) fill(root, el("p", { class: "bad" }, /** @type {Error} */ (err).message));
    return;
  }
  const said = f.response.form || f.response.error || f.response.problem ? f.response : f.events.at(-1) ?? f.response;
  if (said.error !== undefined || said.problem) {
    fill(root, errorBox(said));
    reject(said);
    return;
  }
  const text = (said.form?.message?.parts ?? []).map((/** @type {any} */ p) => p.text ?? "").filter(Boolean).join("\n");
  fill(root, el("h3", {}, w.message), text ? el("p", { class: "said" }, text) : null,
    el("details", { open: !text }, el("summary", {}, w.json), el("pre", { tabindex: 0 }, JSON.stringify(said.form ?? null, null, 2))));
}
