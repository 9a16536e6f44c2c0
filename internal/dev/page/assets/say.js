// @ts-check
// Where one writes in Chat: a text that grows, files, and in a row that folds how it is sent.
import { call, randomID } from "./agent.js";
import { button, el, fill, labelled, newID, select } from "./dom.js";
import { base64 } from "./files.js";
import { bytes } from "./format.js";
import { callAs, callerFor, identities, selectIdentity } from "./identity.js";
import { headersOf } from "./panels.js";
import { words } from "./words.js";

const w = words.chat;

/** @typedef {import("./composer.js").Part} Part */

/** What was chosen last, for all conversations. */
const last = { skill: "", way: "", mode: "SendStreamingMessage", open: false };

/**
 * @param {number} agent
 * @param {() => {context?: string, task?: string}} to where a message goes
 * @param {(id: number, mode: string) => void} sent is told the call
 * @param {() => void} dismiss the question is not answered
 */
export function sayBox(agent, to, sent, dismiss) {
  /** @type {import("./agent.js").Known | undefined} */
  let known;
  /** @type {File[]} */
  let files = [];
  let sending = false;
  const text = /** @type {HTMLTextAreaElement} */ (el("textarea", {
    rows: 1, "aria-label": w.message, placeholder: w.placeholder,
    keydown: (/** @type {KeyboardEvent} */ e) => {
      if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
      e.preventDefault();
      void send();
    },
    input: () => { bad.textContent = ""; },
    paste: (/** @type {ClipboardEvent} */ e) => { if (e.clipboardData?.files.length) { e.preventDefault(); attach(e.clipboardData.files); } },
  }));
  const bad = el("p", { class: "bad small", role: "alert" });
  const chosen = /** @type {HTMLInputElement} */ (el("input", { type: "file", multiple: true, hidden: true, "aria-label": w.attach, change: () => { attach(chosen.files ?? []); chosen.value = ""; } }));
  const list = el("ul", { class: "files plain", hidden: true });
  const answering = el("p", { class: "answering small", hidden: true });
  const options = el("div", { class: "how-row", id: newID(), hidden: !last.open });
  const how = button("", () => {
    last.open = !last.open;
    options.hidden = !last.open;
    showHow();
  }, { class: "plain small how dim", "aria-controls": options.id });

  /** @param {Iterable<File> | FileList} more */
  const attach = (more) => {
    files = [...files, ...more];
    showFiles();
  };
  const showFiles = () => {
    list.hidden = files.length === 0;
    fill(list, ...files.map((f) => el("li", {}, f.name, " ", el("span", { class: "dim" }, bytes(f.size)), button("×", () => {
      files = files.filter((x) => x !== f);
      showFiles();
      text.focus();
    }, { class: "plain small", "aria-label": w.remove(f.name) }))));
  };
  const streams = () => known?.card.capabilities?.streaming === true;
  const mode = () => (last.mode === "SendStreamingMessage" && !streams() ? "SendMessage" : last.mode);
  const interfaceOf = () => known?.interfaces.find((i) => `${i.binding} ${i.version}` === last.way) ?? known?.interfaces[0];
  const skills = () => (Array.isArray(known?.card.skills) ? known.card.skills : []);
  const skillOf = () => skills().find((/** @type {any} */ s) => s.id === last.skill);
  const showHow = () => {
    const i = interfaceOf();
    how.textContent = [skillOf()?.name ?? w.automatic, callerFor(agent) || words.callers.anonymous, i ? `${i.binding} ${i.version}` : "", w.modes[/** @type {keyof typeof w.modes} */ (mode())]].filter(Boolean).join(" · ") + (last.open ? " ▴" : " ▾");
    how.setAttribute("aria-label", w.options + ": " + how.textContent.slice(0, -2));
    how.setAttribute("aria-expanded", String(last.open));
  };
  const send = async () => {
    const i = interfaceOf();
    bad.textContent = "";
    if (sending) return;
    if (!text.value.trim() && !files.length) bad.textContent = w.nothing;
    else if (!i || !known) bad.textContent = w.noInterface;
    else {
      sending = true;
      const [said, attached] = [text.value, files];
      text.value = ""; // what is written from now on is the next message
      files = [];
      showFiles();
      try {
        const at = mode();
        const skill = skillOf()?.id;
        const parts = [...(said.trim() ? [{ text: said }] : []), ...await Promise.all(attached.map(async (f) => ({ raw: await base64(f), filename: f.name, mediaType: f.type || "application/octet-stream" })))];
        const { context, task } = to();
        const id = await call(agent, {
          binding: i.binding, version: i.version, operation: at === "now" ? "SendMessage" : at, header: headersOf(agent),
          request: {
            message: {
              messageId: randomID(), role: "ROLE_USER", contextId: context || undefined, taskId: task || undefined, parts,
              ...(!skill || task ? {} : known.extension ? { metadata: { [known.extension]: { skill } }, extensions: [known.extension] } : { metadata: { skillId: skill } }),
            },
            ...(at === "now" ? { configuration: { returnImmediately: true } } : {}),
          },
        });
        sent(id, at);
      } catch (err) {
        bad.textContent = /** @type {Error} */ (err).message;
        text.value ||= said;
        files = [...attached, ...files];
        showFiles();
      } finally {
        sending = false;
      }
    }
    text.focus();
  };
  const root = el("form", { class: "say", novalidate: true, submit: (/** @type {Event} */ e) => { e.preventDefault(); void send(); } },
    answering, list, bad, text, chosen,
    el("div", { class: "bar" }, button("+", () => chosen.click(), { class: "plain attach", "aria-label": w.attach, title: w.attach }), how, el("button", { class: "main" }, w.send)), options);
  return {
    root, attach,
    focus: () => text.focus(),
    /** @param {import("./agent.js").Known} k */
    async know(k) {
      known = k;
      /** @param {string} label @param {HTMLElement} s */
      const choice = (label, s) => { s.addEventListener("change", showHow); return labelled(label, s); };
      const ways = k.interfaces.map((i) => `${i.binding} ${i.version}`);
      const modes = /** @type {[string, string][]} */ (Object.entries(w.modes).map(([id, title]) => [id, id === "SendStreamingMessage" && !streams() ? w.noStream : title]));
      const modeSelect = select(modes, mode(), (m) => { last.mode = m; });
      if (!streams()) modeSelect.options[0].disabled = true;
      const who = el("div");
      fill(options,
        choice(w.skill, select([["", w.automatic], ...skills().map((/** @type {any} */ s) => /** @type {[string, string]} */ ([String(s.id), String(s.name || s.id)]))], last.skill, (s) => { last.skill = s; })),
        who, choice(w.binding, select(ways.map((x) => [x, x]), ways.includes(last.way) ? last.way : ways[0] ?? "", (x) => { last.way = x; })), choice(w.mode, modeSelect));
      showHow();
      const people = await identities(agent).catch(() => undefined);
      if (people) fill(who, choice(w.caller, selectIdentity(people, callerFor(agent), (name) => callAs(agent, name))));
    },
    /** @param {string} t @param {boolean} [now] it is sent at once */
    write(t, now) {
      text.value = t;
      if (now) void send();
      else text.focus();
    },
    /** @param {string} question "" for none */
    answers(question) {
      answering.hidden = question === "";
      fill(answering, el("strong", {}, w.answering), el("span", { class: "words" }, question.length > 200 ? question.slice(0, 200) + "…" : question), button("×", dismiss, { class: "plain small", "aria-label": w.dismiss, title: w.dismiss }));
    },
  };
}
