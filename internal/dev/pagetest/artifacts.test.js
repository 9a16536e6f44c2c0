// @ts-check
// Artifacts that came in pieces, by one stream of a task or by several.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Artifacts, joinTexts } from "../page/assets/artifacts.js";

/** @param {string} text @param {boolean} append */
const piece = (text, append) => ({ artifactUpdate: { append, artifact: { artifactId: "a", parts: [{ text }] } } });

/** @param {Artifacts} of */
const text = (of) => joinTexts(of.all.get("a")?.parts ?? []).map((p) => p.text).join();

test("a piece that came by two streams is joined once, by its key or by the stream that began the artifact", () => {
  const keyed = new Artifacts();
  for (const call of [1, 2]) {
    keyed.add(piece("one ", false), call, "", "1");
    keyed.add(piece("two", true), call, "", "2");
  }
  assert.equal(text(keyed), "one two");
  const bare = new Artifacts();
  bare.add(piece("one ", false), 1, "");
  bare.add(piece("two ", true), 1, "");
  bare.add(piece("two ", true), 2, "");
  assert.equal(text(bare), "one two ");
  bare.add({ task: { artifacts: [{ artifactId: "a", parts: [{ text: "one two " }] }] } }, 3, "");
  bare.add(piece("three", true), 1, "");
  bare.add(piece("three", true), 3, "");
  assert.equal(text(bare), "one two three");
});
