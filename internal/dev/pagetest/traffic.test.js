// @ts-check
// The calls of all callers.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fake, skillsExtension } from "./fake.js";
import { browser, dev, fits, goTo, open, violations } from "./harness.js";

/** @type {Awaited<ReturnType<typeof fake>>} */
let agent;
/** @type {import("./harness.js").Dev} */
let d;
/** @type {import("playwright-core").Browser} */
let b;

before(async () => {
  agent = await fake({
    talk: { run: (t) => t.status("COMPLETED") },
    many: { run: (t) => { for (let i = 1; i < 10_000; i++) t.artifact("rows", [{ text: i + " " }], i > 1); t.status("COMPLETED"); } },
  });
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
  await goTo(page, "#/traffic");
  const rows = page.getByRole("listbox").getByRole("option");
  const shows = async (/** @type {RegExp[]} */ ...all) => {
    for (const re of all) await rows.filter({ hasText: re }).first().waitFor();
    await page.waitForFunction((n) => document.querySelectorAll("[role=listbox] .row").length === n, all.length);
  };
  await page.getByLabel("Caller").selectOption("ann/1");
  await shows(/SendMessage/);
  await page.getByLabel("Caller").selectOption("");
  await page.getByLabel("failed", { exact: true }).check();
  await shows(/GetTask/);
  await page.getByLabel("failed", { exact: true }).uncheck();
  await page.getByLabel("Search calls").fill("sendmess");
  await shows(/SendMessage/);
  await page.getByLabel("Search calls").fill("nobody says this");
  await page.getByText("No call is like that.").waitFor();
  await page.getByLabel("Search calls").fill("");
  assert.deepEqual(await violations(page), []);
  await close();
});

test("a stream of ten thousand events is drawn on the timeline in a bounded number of pieces", async () => {
  await ask("ann/1", "SendStreamingMessage", { message: { messageId: "m2", role: "ROLE_USER", parts: [{ text: "many" }], metadata: { [skillsExtension]: { skill: "many" } } } });
  const { page, close } = await open(b, d);
  await goTo(page, "#/traffic");
  await page.getByRole("option", { name: /SendStreamingMessage/ }).first().click();
  await page.getByRole("tab", { name: "Bytes" }).click();
  const more = page.getByRole("button", { name: "100 more of the 10000 events" });
  await more.click();
  await page.getByRole("heading", { name: /^101 \+/ }).waitFor();
  assert.equal(await page.locator("section.detail h3").filter({ hasText: /artifact/ }).count(), 199, "with the task itself these are 200");
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.getByRole("slider", { name: /completed after .*: 10001 events/ }).waitFor();
  assert.ok(await page.locator(".plot *").count() < 100);
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByRole("option").nth(20).waitFor();
  assert.ok(await page.locator("[aria-label^='Events and lines'] .row").count() < 100);
  await close();
});

test("a list gives way to what is opened on a telephone, and the way back leads to it", async () => {
  const { page, close } = await open(b, d, { viewport: { width: 375, height: 700 } });
  for (const [at, heading] of [["#/traffic", ""], ["#/traffic/compare", "Compare"], ["#/traffic/webhooks", "Webhooks"], ["#/agent/faults", "Faults"], ["#/agent/callers", "Callers"]]) {
    await goTo(page, at);
    await page.getByRole("main", { name: heading || "Calls" }).waitFor();
    assert.ok(await fits(page), at);
  }
  await goTo(page, "#/traffic");
  await page.getByRole("listbox").getByRole("option").first().click();
  await page.getByRole("heading", { name: /^#\d+ / }).waitFor();
  assert.ok(await page.getByRole("listbox", { name: "Calls, the newest first" }).isHidden());
  assert.ok(await fits(page));
  assert.deepEqual(await violations(page), []);
  await page.getByRole("link", { name: "‹ Calls" }).click();
  await page.getByRole("listbox", { name: "Calls, the newest first" }).waitFor();
  await page.goBack();
  await page.getByRole("heading", { name: /^#\d+ / }).waitFor();
  await close();
});
