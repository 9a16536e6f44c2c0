// @ts-check
// The same call in every version and binding.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lost } from "../page/assets/lost.js";

test("what is lost is named by its largest part", () => {
  const whole = { task: { id: "1", status: { state: "x" } }, message: { parts: [{ text: "a" }, { data: { b: 1 }, mediaType: "m" }], messageId: "2" } };
  assert.deepEqual(lost([whole], [whole]), []);
  assert.deepEqual(lost([whole], [{ message: { parts: [{ text: "a" }], messageId: "3" } }]), ["message.parts[].data", "message.parts[].mediaType", "task"]);
  assert.deepEqual(lost([{ a: 1 }, { b: 2 }], [{ b: 3 }]), ["a"]);
  assert.deepEqual(lost([{ a: null, b: undefined }], [{}]), []);
  assert.deepEqual(lost([{ list: [] }], [{}]), ["list"]);
});
