// @ts-check
// What an agent made, as what it is: text, Markdown, tables of data, images, files. Pieces are added to what is there.
import { forms } from "./agent.js";
import { dataView, pretty } from "./data.js";
import { button, el, fill, tabs } from "./dom.js";
import { bytes } from "./format.js";
import { MarkdownStream } from "./markdown.js";
import { on, state } from "./state.js";
import { words } from "./words.js";

/** @typedef {import("./composer.js").Part} Part */

const w = words.chat;

/** The characters of a text that are shown. */
const longest = 256 << 10;
/** The characters of the base64 of an image. */
const largest = 12 << 20;
const images = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"];

/** Tells of each piece of the artifacts of a task once, though it may come by several streams. */
export class Pieces {
  /** @param {(artifact: any, append: boolean, where: string) => void} put */
  constructor(put) {
    this.put = put;
    /** @type {Set<string>} what came already, on another stream */
    this.seen = new Set();
    /** @type {Map<string, number>} by artifacts: the call that it was put together of */
    this.from = new Map();
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
    if (u?.artifact) this.one(u.artifact, call, where, u.append === true, Boolean(key));
    for (const a of form?.task?.artifacts ?? form?.artifacts ?? []) this.one(a, call, where, false, true);
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
  one(a, call, where, append, known) {
    const id = String(a.artifactId ?? "");
    if (!append || !this.from.has(id)) this.from.set(id, call);
    else if (!known && this.from.get(id) !== call) return;
    this.put({ ...a, artifactId: id, parts: Array.isArray(a.parts) ? a.parts : [] }, append, where);
  }
}

/** How texts are shown that are no Markdown by their type, and look like it. */
let plainAs = "text";
const looksLikeMarkdown = /^(#{1,6} |[-*] |\d+\. |```|\|.*\|$)|\*\*[^*\n]{1,200}\*\*|\]\(https?:/m;

/** Parts, to which others are added; a text goes on in the element of the text before. */
export class PartsView {
  /** @param {() => void} [drawn] is told when something was added later */
  constructor(drawn) {
    this.root = el("div", { class: "parts" });
    this.drawn = drawn;
    this.cut = el("p", { class: "dim small" });
    this.shown = 0; // characters
    /** @type {{type: string, write: (text: string) => void} | undefined} */
    this.text = undefined;
  }

  clear() {
    fill(this.root);
    this.text = undefined;
    this.shown = 0;
  }

  /** @param {Part[]} parts */
  add(parts) {
    for (const p of parts) {
      if (p.text === undefined) {
        this.text = undefined;
        this.root.append(partView(p));
        continue;
      }
      const type = String(p.mediaType ?? "").split(";")[0].trim().toLowerCase();
      if (this.text?.type !== type) this.text = this.textView(type);
      this.write(String(p.text));
    }
  }

  /** @param {string} text */
  write(text) {
    const left = longest - this.shown;
    this.shown += text.length;
    if (left > 0) this.text?.write(text.slice(0, left));
    if (this.shown <= longest) return;
    this.cut.textContent = w.cut(bytes(longest), bytes(this.shown));
    if (!this.cut.isConnected) this.root.append(this.cut);
  }

  /** @param {string} type */
  textView(type) {
    if (type === "text/markdown") {
      const root = el("div", { class: "md" });
      this.root.append(root);
      const stream = new MarkdownStream(root, this.drawn);
      return { type, write: (/** @type {string} */ text) => stream.write(text) };
    }
    if (type !== "" && type !== "text/plain") {
      const root = el("pre", { tabindex: 0 });
      this.root.append(root);
      return { type, write: (/** @type {string} */ text) => root.append(text) };
    }
    return { type, write: this.plainText() };
  }

  /** A text, which can be read as Markdown if it looks like that. */
  plainText() {
    const root = el("div", { class: "said" });
    const as = button(w.asMarkdown, () => { plainAs = plainAs === "text" ? "markdown" : "text"; draw(); }, { class: "plain small as", "aria-pressed": "false", hidden: true });
    this.root.append(root, as);
    let all = "";
    /** @type {MarkdownStream | undefined} */
    let stream;
    const draw = () => {
      stream = plainAs === "markdown" ? new MarkdownStream(root, this.drawn) : undefined;
      root.className = stream ? "md" : "said";
      as.setAttribute("aria-pressed", String(Boolean(stream)));
      fill(root, stream ? null : all);
      stream?.write(all);
    };
    return (/** @type {string} */ text) => {
      const before = all.length;
      all += text;
      if (stream) stream.write(text);
      else root.append(text);
      if (!as.hidden || before > 4000 || !looksLikeMarkdown.test(all.slice(0, 4000))) return;
      as.hidden = false;
      if (plainAs === "markdown") draw();
    };
  }
}

/** A part that is no text. @param {Part} p @returns {HTMLElement} */
function partView(p) {
  if (p.data !== undefined) return dataView(p.data);
  if (typeof p.raw === "string") return rawView(p.raw, p);
  if (p.url !== undefined) return el("p", { class: "file" }, el("span", { class: "dim small" }, [p.filename, p.mediaType, w.address].filter(Boolean).join(" · ")), el("span", { class: "mono" }, String(p.url)));
  return el("pre", { tabindex: 0 }, pretty(p));
}

/** An image as itself, another file as one to save. @param {string} raw @param {Part} p @returns {HTMLElement} */
function rawView(raw, p) {
  const name = String(p.filename || w.file);
  const type = String(p.mediaType ?? "").toLowerCase();
  const size = Math.floor(raw.length * 3 / 4) - (raw.endsWith("==") ? 2 : raw.endsWith("=") ? 1 : 0);
  const file = el("p", { class: "file" }, el("strong", {}, name), el("span", { class: "dim small" }, [p.mediaType, bytes(Math.max(0, size))].filter(Boolean).join(" · ")), button(w.save, () => save(raw, name), { class: "small", "aria-label": `${w.save} ${name}` }));
  if (!images.includes(type) || raw.length > largest || !/^[A-Za-z0-9+/]+=*$/.test(raw.slice(0, 1000))) return file;
  const image = el("img", { src: `data:${type};base64,${raw}`, alt: String(p.filename || w.image) });
  const figure = el("figure", { class: "image" }, image, file);
  image.addEventListener("error", () => image.remove());
  return figure;
}

/** @param {string} raw @param {string} name */
function save(raw, name) {
  const content = Uint8Array.from(atob(raw.replace(/[^A-Za-z0-9+/]/g, "")), (c) => c.charCodeAt(0));
  const url = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  el("a", { href: url, download: name }).click();
  URL.revokeObjectURL(url);
}

/** An artifact: its name, what it is about, and its parts. @param {any} a @param {() => void} [drawn] */
export function artifactView(a, drawn) {
  const parts = new PartsView(drawn);
  const name = el("strong", {});
  const about = el("span", { class: "dim small" });
  const head = el("p", { class: "title" }, name, " ", about);
  const root = el("section", { class: "artifact" }, head, parts.root);
  return {
    root,
    /** @param {any} a @param {boolean} append */
    put(a, append) {
      if (!append) parts.clear();
      if (a.name || !append) name.textContent = String(a.name || a.artifactId);
      if (a.description) about.textContent = String(a.description);
      root.setAttribute("aria-label", w.artifact(name.textContent ?? ""));
      parts.add(a.parts);
    },
  };
}

let shownAs = "joined";
const mostPieces = 500;

/** @type {import("./places.js").Panel<import("./task.js").Task>} */
export const artifactsPanel = {
  id: "artifacts", title: w.artifacts,
  show(root, task, signal) {
    const empty = el("p", { class: "dim" }, w.noArtifact);
    const joined = el("div", {});
    const single = el("div", {});
    /** @type {Map<string, ReturnType<typeof artifactView>>} */
    const views = new Map();
    let count = 0;
    const pieces = new Pieces((a, append, where) => {
      empty.hidden = true;
      let view = views.get(a.artifactId);
      if (!view) {
        view = artifactView(a);
        views.set(a.artifactId, view);
        joined.append(view.root);
      }
      view.put(a, append);
      single.append(el("div", { class: "single" }, el("span", { class: "dim small" }, where), el("div", {},
        ...a.parts.map((/** @type {Part} */ p) => (p.text === undefined ? partView(p) : el("pre", {}, String(p.text).slice(0, longest)))))));
      if (++count > mostPieces) single.firstChild?.remove();
      more.hidden = count <= mostPieces;
    });
    const more = el("p", { class: "dim", hidden: true }, w.lastPieces(mostPieces));
    /** @param {string} as */
    const show = (as) => {
      shownAs = as;
      joined.hidden = as !== "joined";
      single.hidden = !joined.hidden;
    };
    show(shownAs);
    const bad = el("p", { class: "bad", role: "alert" });
    root.append(tabs(w.pieces, [{ id: "joined", title: w.joined }, { id: "pieces", title: w.single }], shownAs, show), empty, bad, joined, el("div", {}, more, single));
    const news = reader(() => task.calls, (f, call, n) => {
      if (n) pieces.add(f.form, call, w.eventOf(n, call), f.id);
      else if (f.form) pieces.add(f.form, call, w.call(call));
    }, (err) => { bad.textContent = err?.message ?? ""; }, signal);
    news();
    on("event", ({ call, event }) => { if (task.calls.includes(call) && (event.artifact || event.kind === "task")) news(); }, signal);
    on("call", (c) => { if (c.task === task.id && c.state !== "running") news(); }, signal);
    on("loaded", news, signal);
  },
};

const pause = 40; // milliseconds between two readings: what comes meanwhile is read at once

/**
 * Reads what calls say, each thing once, whenever there are news.
 * @param {() => number[]} calls
 * @param {(f: import("./agent.js").Form & {id?: string}, call: number, event: number) => void} take event is 0 for an answer
 * @param {(err?: Error) => void} read everything there is
 * @param {AbortSignal} signal
 * @param {(call: number, request: import("./agent.js").Form) => void} [asked] takes the request of each call, which may be recorded later than the call
 * @returns {() => void} there may be news
 */
export function reader(calls, take, read, signal, asked) {
  /** @type {Map<number, number>} the last event of each call that was read; Infinity when it is over */
  const at = new Map();
  const requested = new Set();
  let reading = false;
  let again = false;
  const readAll = async () => {
    for (const id of [...calls()]) {
      for (let after = at.get(id) ?? 0; after !== Infinity;) {
        const over = state.calls.get(id)?.state !== "running";
        const said = await forms(id, after, signal);
        if (asked && !requested.has(id) && (said.request?.form || over)) {
          requested.add(id);
          asked(id, said.request);
        }
        const { form, error, problem } = said.response ?? {};
        const answered = Boolean(form || error !== undefined || problem);
        if (answered) take(said.response, id, 0);
        for (const e of said.events) take(e, id, e.n);
        const more = said.events.length === 1000;
        after = said.events.at(-1)?.n ?? after;
        at.set(id, (over || answered) && !more ? Infinity : after);
        if (!more) break;
      }
    }
  };
  return async () => {
    again = true;
    if (reading) return;
    reading = true;
    while (again && !signal.aborted) {
      again = false;
      try {
        await readAll();
        if (!signal.aborted) read();
      } catch (err) {
        if (!signal.aborted) read(/** @type {Error} */ (err));
      }
      await new Promise((f) => setTimeout(f, pause));
    }
    reading = false;
  };
}
