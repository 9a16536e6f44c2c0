// @ts-check
// Markdown as elements. HTML in it stays text, links lead to the web or to mail alone, images are links: nothing is
// loaded. All is read in linear time, and nests to a depth.
import { button, copy, el } from "./dom.js";
import { words } from "./words.js";

const deepest = 8; // lists and quotes in each other; what is deeper is text
const deepestWords = 16; // emphasis in emphasis
const mostColumns = 50;

/**
 * A block of lines. from is its first line.
 * @typedef {{kind: "heading" | "rule" | "code" | "quote" | "list" | "table" | "words", from: number, level?: number, text?: string, lines?: string[], ordered?: number, loose?: boolean, items?: string[][], rows?: string[][], right?: boolean[]}} Block
 */

const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const heading = /^ {0,3}(#{1,6})(?=[ \t]|$)(.*)$/;
const rule = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const quote = /^ {0,3}>/;
const marker = /^( *)([-*+]|\d{1,9}[.)])(?:( {1,4})|$)/;

/** @param {string} line */
function indentOf(line) {
  let n = 0;
  while (line[n] === " ") n++;
  return n;
}

/** @param {string} line */
function fenceOf(line) {
  const m = fence.exec(line);
  return m && !(m[1][0] === "`" && m[2].includes("`")) ? m : null;
}

/** Whether a line begins a block in the middle of a paragraph. @param {string} line */
function begins(line) {
  const m = marker.exec(line);
  return quote.test(line) || heading.test(line) || rule.test(line) || fenceOf(line) !== null || (m !== null && m[1].length < 4 && m[3] !== undefined && (!/\d/.test(m[2]) || parseInt(m[2], 10) === 1));
}

/** The cells of a line of a table. @param {string} line */
function cells(line) {
  const list = [];
  let cell = "";
  const text = line.trim();
  for (let i = text.startsWith("|") ? 1 : 0; i < text.length; i++) {
    if (text[i] === "\\" && text[i + 1] === "|") cell += text[++i];
    else if (text[i] !== "|") cell += text[i];
    else {
      list.push(cell.trim());
      cell = "";
    }
  }
  return cell.trim() || !text.endsWith("|") ? [...list, cell.trim()] : list;
}

/** Whether the second of two lines makes the first the head of a table. @param {string} line @param {string | undefined} next */
function isTable(line, next) {
  if (!line.includes("|") || !next?.includes("-")) return false;
  const under = cells(next);
  return under.length <= mostColumns && under.every((c) => /^:?-+:?$/.test(c)) && cells(line).length === under.length;
}

/** @param {string[]} lines @returns {Block[]} */
function blocksOf(lines) {
  /** @type {Block[]} */
  const list = [];
  for (let i = 0; i < lines.length;) {
    const line = lines[i];
    const from = i;
    const open = fenceOf(line);
    const head = heading.exec(line);
    if (line.trim() === "") {
      i++;
    } else if (open) {
      const inset = indentOf(line);
      const body = [];
      for (i++; i < lines.length; i++) {
        const close = fence.exec(lines[i]);
        if (close && close[1][0] === open[1][0] && close[1].length >= open[1].length && close[2].trim() === "") break;
        body.push(lines[i].slice(Math.min(inset, indentOf(lines[i]))));
      }
      i++;
      list.push({ kind: "code", from, text: open[2].trim().split(/\s/, 1)[0], lines: body });
    } else if (head) {
      i++;
      let text = head[2].trim();
      let end = text.length;
      while (text[end - 1] === "#") end--;
      if (end === 0 || text[end - 1] === " ") text = text.slice(0, end).trim();
      list.push({ kind: "heading", from, level: head[1].length, text });
    } else if (rule.test(line)) {
      i++;
      list.push({ kind: "rule", from });
    } else if (quote.test(line)) {
      const inner = [];
      for (; i < lines.length && quote.test(lines[i]); i++) inner.push(lines[i].replace(/^ {0,3}> ?/, ""));
      list.push({ kind: "quote", from, lines: inner });
    } else if (marker.test(line)) {
      const [block, next] = listAt(lines, i);
      list.push(block);
      i = next;
    } else if (isTable(line, lines[i + 1])) {
      const head = cells(line);
      const rows = [head];
      const right = cells(lines[i + 1]).map((c) => c.endsWith(":") && !c.startsWith(":"));
      for (i += 2; i < lines.length && lines[i].includes("|") && !begins(lines[i]); i++) rows.push(cells(lines[i]).slice(0, head.length));
      list.push({ kind: "table", from, rows, right });
    } else {
      const words = [line.trimStart()];
      let level = 0;
      for (i++; i < lines.length && lines[i].trim() !== "" && level === 0; i++) {
        const under = /^ {0,3}(=+|-+)\s*$/.exec(lines[i].slice(0, 400));
        if (under) level = under[1][0] === "=" ? 1 : 2;
        else if (begins(lines[i]) || isTable(lines[i], lines[i + 1])) break;
        else words.push(lines[i].trimStart());
      }
      list.push(level ? { kind: "heading", from, level, text: words.join("\n") } : { kind: "words", from, text: words.join("\n") });
    }
  }
  return list;
}

/**
 * The list that begins at a line, and the line after it. A line is of the item above if it is indented by two, and so is
 * the rest of its paragraph.
 * @param {string[]} lines
 * @param {number} i
 * @returns {[Block, number]}
 */
function listAt(lines, i) {
  const first = /** @type {RegExpExecArray} */ (marker.exec(lines[i]));
  const base = first[1].length;
  const ordered = /\d/.test(first[2]);
  /** @type {string[][]} */
  const items = [];
  /** @type {Block} */
  const block = { kind: "list", from: i, items, ordered: ordered ? parseInt(first[2], 10) : undefined, loose: false };
  let inset = 0;
  let blank = 0;
  for (; i < lines.length; i++) {
    const line = lines[i];
    if (line.trim() === "") {
      blank++;
      continue;
    }
    const at = indentOf(line);
    const m = marker.exec(line);
    const deeper = items.length > 0 && at >= base + 2;
    if (deeper || (items.length > 0 && blank === 0 && !m && !begins(line))) {
      if (blank && deeper && at < inset + 2) block.loose = true; // not that of a list in it
      items.at(-1)?.push(...Array(blank).fill(""), deeper ? line.slice(Math.min(at, inset)) : line);
    } else if (m && !rule.test(line) && /\d/.test(m[2]) === ordered) {
      if (blank && items.length) block.loose = true;
      inset = m[0].length;
      items.push([line.slice(m[0].length)]);
    } else break;
    blank = 0;
  }
  return [block, i];
}

/** Makes elements of blocks. Headings follow each other without gaps: outline is the level of the last one. */
class Maker {
  constructor() {
    this.outline = 0;
  }

  /** @param {Block} b @param {number} depth @param {boolean} [tight] a paragraph is no element of its own @returns {Node[]} */
  make(b, depth, tight) {
    switch (b.kind) {
      case "heading":
        this.outline = Math.min(b.level ?? 1, this.outline + 1, 4);
        return [el("h" + (this.outline + 2), { class: "m" + b.level }, inline(b.text ?? ""))];
      case "rule":
        return [el("hr")];
      case "code":
        return [codeBlock((b.lines ?? []).join("\n"), b.text ?? "")];
      case "quote":
        return [el("blockquote", {}, ...this.inner(b.lines ?? [], depth))];
      case "list":
        return [el(b.ordered === undefined ? "ul" : "ol", { start: b.ordered !== 1 && b.ordered }, ...(b.items ?? []).map((item) => el("li", {}, ...this.inner(item, depth, !b.loose))))];
      case "table": {
        const [head, ...rows] = b.rows ?? [];
        /** @param {string} name @param {string[]} row */
        const row = (name, row) => el("tr", {}, ...row.map((c, i) => el(name, { class: b.right?.[i] ? "num" : null, scope: name === "th" ? "col" : null }, inline(c))));
        return [el("div", { class: "wide", tabindex: 0 }, el("table", {}, el("thead", {}, row("th", head)), el("tbody", {}, ...rows.map((r) => row("td", r)))))];
      }
      default:
        return [tight ? inline(b.text ?? "") : el("p", {}, inline(b.text ?? ""))];
    }
  }

  /** @param {string[]} lines @param {number} depth @param {boolean} [tight] @returns {Node[]} */
  inner(lines, depth, tight) {
    if (depth >= deepest) return [el("p", { class: "said" }, lines.join("\n"))];
    return blocksOf(lines).flatMap((b) => this.make(b, depth + 1, tight));
  }
}

/** Code with a button that copies it. @param {string} text @param {string} language */
function codeBlock(text, language) {
  return el("figure", { class: "code" }, el("figcaption", { class: "dim small" }, el("span", {}, language || words.chat.code), button(words.chat.copy, () => void copy(text), { class: "small plain" })),
    el("pre", { tabindex: 0 }, el("code", {}, text)));
}

/** @param {string} text */
function linesOf(text) {
  return text.replace(/\r\n?/g, "\n").split("\n").map((l) => (l.includes("\t") ? l.replace(/^[ \t]+/, (s) => s.replaceAll("\t", "    ")) : l));
}

/** A text of Markdown. @param {string} text @returns {Node[]} */
export function markdown(text) {
  const made = new Maker();
  return blocksOf(linesOf(text)).flatMap((b) => made.make(b, 0));
}

/**
 * Markdown that comes in pieces. A block that is finished is made once; the last one is made anew when it has grown by a
 * part of itself, or when nothing came for a while: the work is linear.
 */
export class MarkdownStream {
  /** @param {HTMLElement} root @param {() => void} [drawn] */
  constructor(root, drawn) {
    this.root = root;
    this.drawn = drawn;
    this.maker = new Maker();
    this.tail = "";
    this.made = 0; // characters of the tail that are in the document
    this.work = 0; // characters that were read, for tests
    /** @type {Node[]} */
    this.live = [];
    this.frame = 0;
    this.timer = 0;
  }

  /** @param {string} text */
  write(text) {
    this.tail += text;
    clearTimeout(this.timer);
    if (this.tail.length - this.made >= this.made / 8) this.frame ||= requestAnimationFrame(() => this.draw());
    else this.timer = window.setTimeout(() => this.draw(), 200);
  }

  draw() {
    this.frame = 0;
    this.work += this.tail.length;
    const lines = linesOf(this.tail);
    const blocks = blocksOf(lines);
    // The last line may become something else, and does not end what is before.
    const keep = blocks.length - (blocks.length > 1 && (blocks.at(-1)?.from ?? 0) === lines.length - 1 ? 2 : 1);
    const fresh = blocks.slice(0, Math.max(0, keep)).flatMap((b) => this.maker.make(b, 0));
    const outline = this.maker.outline;
    const live = blocks.slice(Math.max(0, keep)).flatMap((b) => this.maker.make(b, 0));
    this.maker.outline = outline;
    this.live.forEach((n) => n.parentNode?.removeChild(n));
    this.root.append(...fresh, ...live);
    this.live = live;
    if (keep > 0) this.tail = lines.slice(blocks[keep].from).join("\n");
    this.made = this.tail.length;
    this.drawn?.();
  }
}

/** A run of *, _ or ~: n of its size are not matched. @typedef {{ch: string, n: number, size: number, canOpen: boolean, canClose: boolean, opens?: string[], closes?: string[]}} Run */
/** @typedef {{text?: string, code?: string, br?: boolean, href?: string, close?: boolean, run?: Run}} Token */

/** An address that a link may have; "" for others. @param {string} to */
export function webAddress(to) {
  try {
    const url = new URL(to);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : "";
  } catch {
    return "";
  }
}

const destination = /\([ \n]{0,4}(?:<([^<>\n]*)>|((?:[^\s()<>\\]|\\.|\([^\s()]*\))*))(?:[ \n]{1,4}(?:"[^"\n]*"|'[^'\n]*'))?[ \n]{0,4}\)/y;
const auto = /<([a-z][a-z0-9+.-]{1,31}:[^\s<>]*)>/iy;
const bare = /https?:\/\/[^\s<>`|[\]"]+/y;
/** What a character is beside a run: 0 a space or nothing, 1 a mark, 2 of a word. @param {string | undefined} c */
function kindOf(c) {
  if (c === undefined || c === " " || c === "\n") return 0;
  if (c < "\x7f") return /[A-Za-z0-9]/.test(c) ? 2 : 1;
  return /\s/u.test(c) ? 0 : /[\p{P}\p{S}]/u.test(c) ? 1 : 2;
}

/** The words of a paragraph. @param {string} text @returns {DocumentFragment} */
export function inline(text) {
  /** @type {Token[]} */
  const list = [];
  /** @type {Run[]} those that nobody has matched */
  const runs = [];
  /** @type {{at: number, runs: number, image: boolean}[]} */
  const brackets = [];
  const ticks = ticksOf(text);
  let from = 0;
  let i = 0;
  /** @param {number} to @param {...Token} t */
  const put = (to, ...t) => {
    if (i > from) list.push({ text: text.slice(from, i) });
    list.push(...t);
    from = i = to;
  };
  while (i < text.length) {
    const c = text[i];
    const next = text[i + 1] ?? "";
    if (c === "\\" && next === "\n") put(i + 2, { br: true });
    else if (c === "\\" && /[!-/:-@[-`{-~]/.test(next)) put(i + 2, { text: next });
    else if (c === "\n" && text.slice(i - 2, i) === "  ") {
      const end = i + 1;
      while (text[i - 1] === " " && i > from) i--;
      put(end, { br: true });
    } else if (c === "`") {
      let n = 1;
      while (text[i + n] === "`") n++;
      const end = after(ticks.get(n), i);
      if (end < 0) i += n;
      else {
        let code = text.slice(i + n, end).replaceAll("\n", " ");
        if (code.length > 2 && code[0] === " " && code.at(-1) === " " && code.trim()) code = code.slice(1, -1);
        put(end + n, { code });
      }
    } else if (c === "*" || c === "_" || c === "~") {
      let n = 1;
      while (text[i + n] === c) n++;
      const before = kindOf(text[i - 1]);
      const behind = kindOf(text[i + n]);
      const left = behind === 2 || (behind === 1 && before < 2);
      const right = before === 2 || (before === 1 && behind < 2);
      const fits = c !== "~" || n === 2;
      const run = { ch: c, n, size: n, canOpen: fits && left && (c !== "_" || !right || before === 1), canClose: fits && right && (c !== "_" || !left || behind === 1) };
      put(i + n, { run });
      runs.push(run);
    } else if (c === "[" || (c === "!" && next === "[")) {
      const image = c === "!";
      put(i + (image ? 2 : 1), { text: image ? "![" : "[" });
      brackets.push({ at: list.length - 1, runs: runs.length, image });
    } else if (c === "]" && brackets.length) {
      const open = /** @type {{at: number, runs: number, image: boolean}} */ (brackets.pop());
      destination.lastIndex = i + 1;
      const m = next === "(" ? destination.exec(text) : null;
      if (!m) {
        i++;
        continue;
      }
      const to = (m[1] ?? m[2]).replace(/\\([!-/:-@[-`{-~])/g, "$1");
      const href = webAddress(to);
      match(runs.splice(open.runs));
      put(destination.lastIndex, href ? { close: true } : { text: ` (${to})` });
      list[open.at] = href ? { href } : { text: "" };
      if (open.image && list.length === open.at + 2) list.splice(open.at + 1, 0, { text: to }); // without a text of its own
      if (!open.image) brackets.length = 0; // no link is in another one
    } else if (c === "<" || (c === "h" && !/[\p{L}\p{N}_]/u.test(text[i - 1] ?? ""))) {
      const r = c === "<" ? auto : bare;
      r.lastIndex = i;
      const m = r.exec(text);
      const to = m ? (c === "<" ? m[1] : ended(m[0])) : "";
      const href = to && webAddress(to);
      if (href) put(c === "<" ? r.lastIndex : i + to.length, { href }, { text: to }, { close: true });
      else i++;
    } else i++;
  }
  put(i);
  match(runs);
  return built(list);
}

/** An address in a text without what follows a sentence. @param {string} url */
function ended(url) {
  let n = url.length;
  let open = 0;
  for (const c of url) open += c === "(" ? 1 : c === ")" ? -1 : 0;
  for (; n > 0; n--) {
    if (url[n - 1] === ")" && open < 0) open++;
    else if (!/[.,;:!?'*_~]/.test(url[n - 1])) break;
  }
  return url.slice(0, n);
}

/** Where the runs of backticks of each length are. @param {string} text */
function ticksOf(text) {
  /** @type {Map<number, {at: number[], next: number}>} */
  const all = new Map();
  for (let i = text.indexOf("`"); i >= 0; i = text.indexOf("`", i)) {
    let n = 1;
    while (text[i + n] === "`") n++;
    const one = all.get(n) ?? { at: [], next: 0 };
    all.set(n, one);
    one.at.push(i);
    i += n;
  }
  return all;
}

/** The first place after another; they are asked for in order. @param {{at: number[], next: number} | undefined} places @param {number} i */
function after(places, i) {
  if (!places) return -1;
  while (places.next < places.at.length && places.at[places.next] <= i) places.next++;
  return places.at[places.next] ?? -1;
}

/**
 * Matches runs of *, _ and ~ with each other, as CommonMark has it. Where nothing was found below a height for a kind of
 * run, it is not looked for there again.
 * @param {Run[]} runs
 */
function match(runs) {
  /** @type {Run[]} */
  const openers = [];
  /** @type {Map<string, number>} */
  const bottoms = new Map();
  for (const run of runs) {
    while (run.canClose && run.n > 0) {
      const key = run.ch + String(run.canOpen) + run.size % 3;
      const bottom = bottoms.get(key) ?? 0;
      let k = openers.length - 1;
      for (; k >= bottom; k--) {
        const o = openers[k];
        const odd = (o.canClose || run.canOpen) && (o.size + run.size) % 3 === 0 && o.size % 3 !== 0;
        if (o.ch === run.ch && !odd) break;
      }
      if (k < bottom) {
        bottoms.set(key, openers.length);
        break;
      }
      const o = openers[k];
      const n = o.n >= 2 && run.n >= 2 ? 2 : 1;
      const name = run.ch === "~" ? "del" : n === 2 ? "strong" : "em";
      o.n -= n;
      run.n -= n;
      (o.opens ??= []).push(name);
      (run.closes ??= []).push(name);
      openers.length = k + (o.n > 0 ? 1 : 0);
      for (const [key, height] of bottoms) if (height > openers.length) bottoms.set(key, openers.length);
    }
    if (run.canOpen && run.n > 0) openers.push(run);
  }
}

/** @param {Token[]} list */
function built(list) {
  const root = document.createDocumentFragment();
  /** @type {(Node | null)[]} null: it is too deep to be an element of its own */
  const stack = [root];
  /** @type {Node[]} */
  const parents = [root];
  let linked = 0;
  /** @param {HTMLElement | null} e */
  const open = (e) => {
    stack.push(e);
    if (!e) return;
    put(e);
    parents.push(e);
  };
  const close = () => {
    if (!stack.pop()) return;
    flush();
    parents.pop();
  };
  let words = "";
  const flush = () => {
    if (words) parents[parents.length - 1].appendChild(document.createTextNode(words));
    words = "";
  };
  /** @param {Node} what */
  const put = (what) => {
    flush();
    parents[parents.length - 1].appendChild(what);
  };
  for (const t of list) {
    if (t.code !== undefined) put(el("code", {}, t.code));
    else if (t.br) put(el("br"));
    else if (t.href) {
      open(linked++ ? null : el("a", { href: t.href, target: "_blank", rel: "noopener noreferrer" }));
    } else if (t.close) {
      linked--;
      close();
    } else if (t.run) {
      const { ch, n, opens = [], closes = [] } = t.run;
      closes.forEach(close);
      words += ch.repeat(n);
      for (let k = opens.length - 1; k >= 0; k--) open(parents.length > deepestWords ? null : el(opens[k]));
    } else words += t.text ?? "";
  }
  flush();
  return root;
}
