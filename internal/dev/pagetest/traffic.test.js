// @ts-check
// The calls of all callers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fake } from "./fake.js";
import { browser, dev, open, violations } from "./harness.js";

/** @type {Awaited<ReturnType<typeof fake>>} */
let agent;
/** @type {import("./harness.js").Dev} */
let d;
/** @type {import("playwright-core").Browser} */
let b;

before(async () => {
  agent = await fake({ talk: { run: (t) => t.status("COMPLETED") } });
  [d, b] = await Promise.all([dev(["--to", agent.url]), browser()]);
});
after(async () => {
  await b?.close();
  await d?.end();
  await agent?.end();
});

/** @param {string} caller @param {string} method @param {unknown} params */
const ask = (caller, method, params) => fetch(d.agent, {
  method: "POST", headers: { "Content-Type": "application/json", "A2A-Version": "1.0", "User-Agent": caller }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
}).then((r) => r.text());

test("calls are found by their caller, by what they are about, and by whether they failed", async () => {
  await ask("ann/1", "SendMessage", { message: { messageId: "m1", role: "ROLE_USER", parts: [{ text: "hi" }] } });
  await ask("bob/1", "GetTask", { id: "nothing" });
  const { page, close } = await open(b, d);
  await page.keyboard.press("t");
  const rows = page.getByRole("listbox").getByRole("option");
  const shows = async (/** @type {RegExp[]} */ ...all) => {
    for (const re of all) await rows.filter({ hasText: re }).first().waitFor();
    await page.waitForFunction((n) => document.querySelectorAll("[role=listbox] .row").length === n, all.length);
  };
  await page.getByLabel("Caller").selectOption("ann/1");
  await shows(/SendMessage/);
  await page.getByLabel("Caller").selectOption("");
  await page.getByLabel("failed alone").check();
  await shows(/GetTask/);
  await page.getByLabel("failed alone").uncheck();
  await page.getByLabel("Has").fill("sendmess");
  await shows(/SendMessage/);
  await page.getByLabel("Has").fill("nobody says this");
  await page.getByText("No call is like that.").waitFor();
  await page.getByLabel("Has").fill("");
  assert.deepEqual(await violations(page), []);
  await close();
});
