// @ts-check
// What a task made: the pieces of its artifacts joined, and one by one.
import { forms } from "./agent.js";
import { button, copy, el, fill, tabs } from "./dom.js";
import { bytes } from "./format.js";
import { on, state } from "./state.js";

/** @typedef {import("./composer.js").Part} Part */
/** @typedef {{id: string, name: string, from: number, parts: Part[], pieces: {where: string, parts: Part[]}[]}} Artifact from: the call that it was put together of */

let shownAs = "joined";

/** Artifacts, while what is said of them comes in. */
export class Artifacts {
  constructor() {
    /** @type {Map<string, Artifact>} */
    this.all = new Map();
    /** @type {Set<string>} what came already, on another stream */
    this.seen = new Set();
  }

  /**
   * @param {any} form of an event or an answer
   * @param {number} call in which it came
   * @param {string} where in it
   * @param {string} [key] by which it is known when it comes again
   */
  add(form, call, where, key) {
    if (key) {
      if (this.seen.has(key)) return;
      this.seen.add(key);
    }
    const u = form?.artifactUpdate;
    if (u?.artifact) this.put(u.artifact, call, where, u.append === true, Boolean(key));
    for (const a of form?.task?.artifacts ?? form?.artifacts ?? []) this.put(a, call, where, false, true);
  }

  /**
   * Pieces without a key, as of gRPC, may have come by another stream of the task: only those of the call that the artifact
   * was begun with are added to it.
   * @param {any} a
   * @param {number} call
   * @param {string} where
   * @param {boolean} append
   * @param {boolean} known it has a key, or is whole
   */
  put(a, call, where, append, known) {
    const id = String(a.artifactId ?? "");
    const parts = Array.isArray(a.parts) ? a.parts : [];
    const one = this.all.get(id) ?? { id, name: "", from: call, parts: [], pieces: [] };
    this.all.set(id, one);
    one.name = String(a.name ?? one.name);
    if (!append) {
      one.from = call;
      one.parts = [...parts];
    } else if (known || one.from === call) one.parts.push(...parts);
    one.pieces.push({ where, parts });
  }
}

/** Texts that follow each other become one. @param {Part[]} parts @returns {Part[]} */
export function joinTexts(parts) {
  /** @type {Part[]} */
  const list = [];
  for (const p of parts) {
    const last = list.at(-1);
    if (last?.text !== undefined && p.text !== undefined) last.text += p.text;
    else list.push({ ...p });
  }
  return list;
}

/** @type {import("./places.js").Panel<import("./task.js").Task>} */
export const artifactsPanel = {
  id: "artifacts", title: "Artifacts",
  show(root, task, signal) {
    const now = new Artifacts();
    const body = el("div");
    /** @param {string} as */
    const show = (as) => {
      shownAs = as;
      fill(body, ...[...now.all.values()].map((a) => el("section", { "aria-label": "Artifact " + (a.name || a.id) }, el("h3", {}, a.name || a.id, " ", el("span", { class: "dim" }, a.name ? a.id : "", ` ${a.pieces.length} pieces`)),
        ...(as === "joined" ? joinTexts(a.parts).map(showPart) : pieces(a)))),
      now.all.size === 0 ? el("p", { class: "dim" }, "There is no artifact yet.") : null);
    };
    root.append(tabs("Pieces", [{ id: "joined", title: "Joined" }, { id: "pieces", title: "One by one" }], shownAs, show), body);
    show(shownAs);
    const read = reader(task, now, signal);
    let reading = false;
    let again = false;
    const news = async () => {
      again = true;
      if (reading) return;
      reading = true;
      try {
        while (again && !signal.aborted) {
          again = false;
          await read();
          show(shownAs);
        }
      } catch (err) {
        if (!signal.aborted) fill(body, el("p", { class: "bad" }, /** @type {Error} */ (err).message));
      } finally {
        reading = false;
      }
    };
    void news();
    on("event", ({ call, event }) => { if (task.calls.includes(call) && (event.artifact || event.kind === "task")) void news(); }, signal);
    on("call", (c) => { if (c.task === task.id && c.state !== "running") void news(); }, signal);
    on("loaded", () => void news(), signal);
  },
};

const mostPieces = 500;

/** The last pieces of an artifact. @param {Artifact} a */
function pieces(a) {
  const last = a.pieces.slice(-mostPieces).map((p) => el("div", { class: "item" }, el("span", { class: "dim" }, p.where), ...p.parts.map(showPart)));
  return a.pieces.length > mostPieces ? [el("p", { class: "dim" }, `The last ${mostPieces} pieces; all of them are among the events.`), ...last] : last;
}

/**
 * Reads what is new of the artifacts of a task each time that it is called.
 * @param {import("./task.js").Task} task
 * @param {Artifacts} into
 * @param {AbortSignal} signal
 */
function reader(task, into, signal) {
  /** @type {Map<number, number>} the last event of each call that was read; Infinity when it is over */
  const read = new Map();
  return async () => {
    for (const id of [...task.calls]) {
      for (let after = read.get(id) ?? 0; after !== Infinity;) {
        const over = state.calls.get(id)?.state !== "running";
        const said = await forms(id, after, signal);
        if (said.response?.form) into.add(said.response.form, id, `call #${id}`);
        for (const e of said.events) into.add(e.form, id, `event ${e.n} of call #${id}`, e.id);
        const more = said.events.length === 1000;
        after = said.events.at(-1)?.n ?? after;
        read.set(id, over && !more ? Infinity : after);
        if (!more) break;
      }
    }
  };
}

/** @param {Part} p */
export function showPart(p) {
  if (p.text !== undefined) return el("pre", { tabindex: 0 }, String(p.text));
  if (p.data !== undefined) {
    const text = JSON.stringify(p.data, null, 2);
    return el("div", {}, el("pre", { tabindex: 0 }, text), button("Copy", () => void copy(text), { class: "small" }));
  }
  if (typeof p.raw === "string") {
    const content = Uint8Array.from(atob(p.raw), (c) => c.charCodeAt(0));
    const name = String(p.filename ?? "file");
    return el("p", {}, button(`Save ${name}`, () => save(content, name), { class: "small" }), " ", el("span", { class: "dim" }, `${p.mediaType ?? ""} ${bytes(content.length)}`));
  }
  return el("pre", { tabindex: 0 }, p.url !== undefined ? String(p.url) : JSON.stringify(p, null, 2));
}

/** @param {Uint8Array<ArrayBuffer>} content @param {string} name */
function save(content, name) {
  const url = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  el("a", { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}
