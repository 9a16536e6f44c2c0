// @ts-check
// Artifacts that came in pieces, by one stream of a task or by several; Markdown, data, images and files.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Pieces } from "../page/assets/artifacts.js";
import { fake } from "./fake.js";
import { browser, dev, open } from "./harness.js";

/** @param {string} text @param {boolean} append */
const piece = (text, append) => ({ artifactUpdate: { append, artifact: { artifactId: "a", parts: [{ text }] } } });

/** Joins the pieces of artifacts. */
function collect() {
  const all = new Map();
  const pieces = new Pieces((a, append) => all.set(a.artifactId, (append ? all.get(a.artifactId) ?? "" : "") + a.parts.map((/** @type {any} */ p) => p.text).join("")));
  return { add: pieces.add.bind(pieces), text: () => all.get("a") };
}

test("a piece that came by two streams is joined once, by its key or by the stream that began the artifact", () => {
  const keyed = collect();
  for (const call of [1, 2]) {
    keyed.add(piece("one ", false), call, "", "1");
    keyed.add(piece("two", true), call, "", "2");
  }
  assert.equal(keyed.text(), "one two");
  const bare = collect();
  bare.add(piece("one ", false), 1, "");
  bare.add(piece("two ", true), 1, "");
  bare.add(piece("two ", true), 2, "");
  assert.equal(bare.text(), "one two ");
  bare.add({ task: { artifacts: [{ artifactId: "a", parts: [{ text: "one two " }] }] } }, 3, "");
  bare.add(piece("three", true), 1, "");
  bare.add(piece("three", true), 3, "");
  assert.equal(bare.text(), "one two three");
});

/** @type {Awaited<ReturnType<typeof fake>>} */ let agent;
/** @type {import("./harness.js").Dev} */ let d;
/** @type {import("playwright-core").Browser} */ let b;

before(async () => {
  [agent, b] = await Promise.all([fake({}), browser()]);
  d = await dev(["--to", agent.url]);
});
after(async () => {
  await b?.close();
  await d?.end();
  agent?.end();
});

/**
 * The HTML of texts of Markdown, as the page makes elements of them.
 * @param {import("playwright-core").Page} page
 * @param {string[]} texts
 */
async function rendered(page, texts) {
  return page.evaluate(async (texts) => {
    const { markdown } = await import(/** @type {any} */ ("/markdown.js"));
    return texts.map((t) => {
      const e = document.createElement("div");
      e.append(...markdown(t));
      for (const a of e.querySelectorAll("a")) for (const n of ["target", "rel"]) a.removeAttribute(n);
      for (const c of e.querySelectorAll("figcaption")) c.remove();
      for (const c of e.querySelectorAll("[tabindex]")) c.removeAttribute("tabindex");
      return new XMLSerializer().serializeToString(e).replace(/^<div[^>]*>|<\/div>$/g, "").replace(/ (class|scope|xmlns)="[^"]*"/g, "");
    });
  }, texts);
}

test("Markdown is read as people write it", async () => {
  const { page, close } = await open(b, d);
  const cases = Object.entries({
    "a *b* _c_ **d** __e__ ***f*** ~~g~~": "<p>a <em>b</em> <em>c</em> <strong>d</strong> <strong>e</strong> <em><strong>f</strong></em> <del>g</del></p>",
    "snake_case_name 2*3*4 * 5": "<p>snake_case_name 2<em>3</em>4 * 5</p>",
    "**a *b** c*": "<p><em><em>a <em>b</em></em> c</em></p>",
    "`a` ``b ` c`` `open \\*": "<p><code>a</code> <code>b ` c</code> `open *</p>",
    "# A\n\n### B ##\nC\n===": "<h3>A</h3><h4>B</h4><h3>C</h3>",
    "one\ntwo  \nthree\\\nfour": "<p>one\ntwo<br />three<br />four</p>",
    "- a\n- b\n  - c\n\n    d\n- e": "<ul><li>a</li><li>b<ul><li><p>c</p><p>d</p></li></ul></li><li>e</li></ul>",
    "3. x\n4. y\n   - z\nlazy\n\nafter": '<ol start="3"><li>x</li><li>y<ul><li>z\nlazy</li></ul></li></ol><p>after</p>',
    "> a\n> - b\n>\n> c": "<blockquote><p>a</p><ul><li>b</li></ul><p>c</p></blockquote>",
    "```go\n<b>\n\n```\nx": "<figure><pre><code>&lt;b&gt;\n</code></pre></figure><p>x</p>",
    "~~~\nopen": "<figure><pre><code>open</code></pre></figure>",
    "a|b\n-|-:\n1|*2*|3\n\\||": "<div><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><em>2</em></td></tr><tr><td>|</td></tr></tbody></table></div>",
    "a\n\n---\n***": "<p>a</p><hr /><hr />",
    "[t *e*](https://a.test/b_(c) \"title\") [u](<mailto:a@b.test>)": '<p><a href="https://a.test/b_(c)">t <em>e</em></a> <a href="mailto:a@b.test">u</a></p>',
    "[x](javascript:alert) [y](data:text/html,z) [z](/api/calls) [w](#/x)": "<p>x (javascript:alert) y (data:text/html,z) z (/api/calls) w (#/x)</p>",
    "![pic](https://a.test/p.png) ![](https://a.test/q)": '<p><a href="https://a.test/p.png">pic</a> <a href="https://a.test/q">https://a.test/q</a></p>',
    "<https://a.test> https://b.test/c_d, (https://e.test/f). xhttps://g.test": '<p><a href="https://a.test/">https://a.test</a> <a href="https://b.test/c_d">https://b.test/c_d</a>, (<a href="https://e.test/f">https://e.test/f</a>). xhttps://g.test</p>',
    "[a [b](https://c.test) d](https://e.test)": '<p>[a <a href="https://c.test/">b</a> d](<a href="https://e.test/">https://e.test</a>)</p>',
    "<img src=x onerror=1> &amp; <!-- no -->": "<p>&lt;img src=x onerror=1&gt; &amp;amp; &lt;!-- no --&gt;</p>",
    "[ ] todo [x": "<p>[ ] todo [x</p>",
  });
  const got = await rendered(page, cases.map(([text]) => text));
  for (const [i, [text, want]] of cases.entries()) assert.equal(got[i], want, text);
  await close();
});

test("Markdown is read in linear time, whatever it is, and nests to a depth", async () => {
  const { page, close } = await open(b, d);
  const bad = await page.evaluate(async () => {
    const { markdown, MarkdownStream } = await import(/** @type {any} */ ("/markdown.js"));
    /** @type {Record<string, (n: number) => string>} */
    const nasty = {
      stars: (n) => "*".repeat(n), "stars and words": (n) => "*a ".repeat(n / 3), "closing stars": (n) => "a* ".repeat(n / 3), "strong in em": (n) => "*a **b ".repeat(n / 7), "em that never ends": (n) => "*a _b ".repeat(n / 6), mixed: (n) => "a**b_c* ".repeat(n / 8),
      brackets: (n) => "[".repeat(n), "closing brackets": (n) => "]".repeat(n), links: (n) => "[](".repeat(n / 3), "links with spaces": (n) => "[]( ".repeat(n / 4), "a link of spaces": (n) => "[](" + " ".repeat(n), "links with quotes": (n) => "[](a \"".repeat(n / 6), "links in links": (n) => "[".repeat(n / 2) + "](x)".repeat(n / 8), images: (n) => "![".repeat(n / 2),
      backticks: (n) => "`".repeat(n), "backticks of all lengths": (n) => { let s = ""; for (let i = 1; s.length < n; i++) s += "`".repeat(i) + " "; return s; }, "backticks and words": (n) => "`a``b ".repeat(n / 6),
      angles: (n) => "<".repeat(n), autolinks: (n) => "<a:".repeat(n / 3), addresses: (n) => "https://".repeat(n / 8), "an address of dots": (n) => "https://a" + ".".repeat(n), "addresses and parentheses": (n) => "https://a" + ")".repeat(n),
      quotes: (n) => ">".repeat(n), "deep quotes": (n) => { let s = ""; for (let i = 1; s.length < n; i++) s += "> ".repeat(i) + "a\n"; return s; }, "lists in lists": (n) => { let s = ""; for (let i = 0; s.length < n; i++) s += "  ".repeat(i) + "- a\n"; return s; }, "a list in a line": (n) => "- ".repeat(n / 2), "items": (n) => "- a\n\n".repeat(n / 5), "numbers": (n) => "1. ".repeat(n / 3),
      "tables": (n) => "|a|b|\n|-|-|\n".repeat(n / 12), "a wide table": (n) => "|".repeat(n / 2) + "\n" + "|-".repeat(n / 4), "rows": (n) => "a|b\n-|-\n" + "|".repeat(50) + "\n|".repeat(n / 2), "lines with bars": (n) => "a|b\n".repeat(n / 4),
      fences: (n) => "```\n".repeat(n / 4), "a fence that never ends": (n) => "```\n" + "a\n".repeat(n / 2), "fences with backticks": (n) => "``` `\n".repeat(n / 6), hashes: (n) => "# " + "#".repeat(n), "hashes and spaces": (n) => "# " + " #".repeat(n / 2) + "x", rules: (n) => "- - ".repeat(n / 4) + "x", "a rule of spaces": (n) => "-" + " ".repeat(n) + "x", equals: (n) => "a\n" + "=".repeat(n) + "x", backslashes: (n) => "\\".repeat(n), newlines: (n) => "\n".repeat(n), "blank items": (n) => "- a" + "\n".repeat(n) + "  b", returns: (n) => "\r".repeat(n), tabs: (n) => "\t".repeat(n),
    };
    /** @param {string} text @param {HTMLElement} [into] */
    const time = (text, into) => {
      const at = performance.now();
      const nodes = markdown(text);
      const took = performance.now() - at;
      into?.append(...nodes);
      return took;
    };
    const slow = [];
    for (const [name, make] of Object.entries(nasty)) {
      const e = document.createElement("div");
      let [one, four] = [time(make(12_500)), time(make(50_000), e)];
      for (let i = 0; i < 3 && four > 30 && four > 10 * one; i++) [one, four] = [Math.max(one, time(make(12_500))), Math.min(four, time(make(50_000)))]; // others may have had the processor
      if (four > 30 && four > 10 * one) slow.push(`${name}: ${one.toFixed(1)} ms, four times as much takes ${four.toFixed(1)} ms`);
      if (four > 1500) slow.push(`${name}: ${four.toFixed(0)} ms`);
      let deep = 0;
      for (let level = /** @type {Element[]} */ ([e]); level.length; deep++) level = level.flatMap((x) => [...x.children]);
      if (deep > 60) slow.push(`${name}: ${deep} elements in each other`);
    }
    // A stream: a block that goes on for ever, in thousands of pieces.
    for (const [name, piece, begin] of [["code", "let a = 1;\n", "```\n"], ["a list", "- item\n", ""], ["paragraphs", "some words\n\n", ""], ["a paragraph", "some words ", ""]]) {
      const stream = new MarkdownStream(document.createElement("div"));
      stream.write(begin);
      let all = begin.length;
      for (let i = 0; i < 4_000; i++) {
        stream.write(piece);
        all += piece.length;
        if (stream.frame) { cancelAnimationFrame(stream.frame); stream.draw(); } // as if each piece came in a picture of its own
      }
      stream.draw();
      if (stream.work > 40 * all) slow.push(`${name}: a stream of ${all} characters was read as ${stream.work}`);
      clearTimeout(stream.timer);
    }
    return slow;
  });
  assert.deepEqual(bad, []);
  await close();
});

test("Markdown that comes in pieces is what it is as a whole", async () => {
  const { page, close } = await open(b, d);
  const text = "# A\n\ntext *em\nphasis* and\n\n1. one\n   - two\n\n   three\n2. four\n\n- - -\n\n```js\na\n\nb\n```\n\n> q\n> r\n\n|a|b|\n|-|-|\n|1|2|\n\nSetext\n---\n\n- x\n\n- y\n\nend";
  const [whole, ...parts] = await page.evaluate(async (text) => {
    const { markdown, MarkdownStream } = await import(/** @type {any} */ ("/markdown.js"));
    const e = document.createElement("div");
    e.append(...markdown(text));
    /** @param {Element} e */
    const html = (e) => new XMLSerializer().serializeToString(e);
    return [html(e), ...[1, 2, 3, 7].map((size) => {
      const root = document.createElement("div");
      const stream = new MarkdownStream(root);
      for (let i = 0; i < text.length; i += size) {
        stream.write(text.slice(i, i + size));
        cancelAnimationFrame(stream.frame);
        stream.draw();
      }
      clearTimeout(stream.timer);
      return html(root);
    })];
  }, text);
  for (const p of parts) assert.equal(p, whole);
  await close();
});
