// @ts-check
// The same call in every version and binding.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { lost } from "../page/assets/lost.js";
import { browser, copyAgent, dev, open, remove, violations } from "./harness.js";

test("what is lost is named by its largest part", () => {
  const whole = { task: { id: "1", status: { state: "x" } }, message: { parts: [{ text: "a" }, { data: { b: 1 }, mediaType: "m" }], messageId: "2" } };
  assert.deepEqual(lost([whole], [whole]), []);
  assert.deepEqual(lost([whole], [{ message: { parts: [{ text: "a" }], messageId: "3" } }]), ["message.parts[].data", "message.parts[].mediaType", "task"]);
  assert.deepEqual(lost([{ a: 1 }, { b: 2 }], [{ b: 3 }]), ["a"]);
  assert.deepEqual(lost([{ a: null, b: undefined }], [{}]), []);
  assert.deepEqual(lost([{ list: [] }], [{}]), ["list"]);
});

/** @type {string} */
let dir;
/** @type {import("./harness.js").Dev} */
let d;
/** @type {import("playwright-core").Browser} */
let b;

before(async () => {
  dir = await copyAgent("examples/weather");
  const settings = join(dir, "a2agen.yaml");
  await writeFile(settings, (await readFile(settings, "utf8")).replace(/^protocol:.*$/m, 'protocol: ["1.0", "0.3", "0.2", "0.1"]\nbindings: [JSONRPC, HTTP+JSON, GRPC]'));
  [d, b] = await Promise.all([dev(["-C", dir]), browser()]);
});
after(async () => {
  await b?.close();
  await d?.end();
  await remove(dir);
});

test("the message of the form goes out in every version and binding, and what is lost is named", async () => {
  const { page, close } = await open(b, d);
  await page.evaluate((h) => { location.hash = h; }, "#/call/get_forecast");
  await page.getByRole("textbox", { name: /location/ }).fill("Oslo");
  await page.getByRole("button", { name: "Compare…" }).click();
  await page.getByRole("button", { name: "Send in every version and binding" }).click();
  await page.locator("#said").filter({ hasText: "have answered" }).waitFor({ state: "attached" });
  const table = page.getByRole("table", { name: /every version and binding/ });
  const heads = await table.getByRole("columnheader").allInnerTexts();
  for (const way of ["1.0 JSONRPC", "1.0 HTTP+JSON", "1.0 GRPC", "0.3 GRPC", "0.1 JSONRPC"]) assert.ok(heads.some((h) => h.startsWith(way)), way + " of " + heads.join(" | "));
  assert.ok(new Set(heads.map((h) => h.split(" ")[0])).size === 4, heads.join(" | "));
  for (const name of ["Outcome", "Received", "Event 1", "Lost in the request", "Lost in the answer"]) {
    const cells = await table.getByRole("row", { name }).getByRole("cell").allInnerTexts();
    assert.equal(cells.length, heads.length, name);
    assert.ok(!cells.includes("…"), name + ": " + cells.join(" | "));
  }
  const outcome = await table.getByRole("row", { name: "Outcome" }).getByRole("cell").allInnerTexts();
  assert.deepEqual([...new Set(outcome)], ["completed"]);
  assert.deepEqual(await violations(page), []);
  await table.getByRole("row", { name: "Call" }).getByRole("cell").nth(heads.findIndex((h) => h.startsWith("1.0 GRPC"))).getByRole("link").click();
  await page.getByRole("tab", { name: "Bytes" }).click();
  await page.getByText("/lf.a2a.v1.A2AService/SendStreamingMessage").first().waitFor();
  await page.getByText(/"location":\s*"Oslo"/).first().waitFor();
  await close();
});
