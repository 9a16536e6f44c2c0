// @ts-check
// Artifacts that came in pieces, by one stream of a task or by several; Markdown, data, images and files.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Pieces } from "../page/assets/artifacts.js";

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
