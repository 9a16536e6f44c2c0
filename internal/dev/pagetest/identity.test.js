// @ts-check
// As whom the page calls, and two callers side by side.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, copyAgent, dev, open, remove, violations } from "./harness.js";

/** @type {string} */ let dir;
/** @type {import("./harness.js").Dev} */ let d;
/** @type {import("playwright-core").Browser} */ let b;

const keys = { alice: "alice-s3cret-key-0123456789abcdef", bob: "bob-s3cret-key-0123456789abcdefgh" };

before(async () => {
  [dir, b] = await Promise.all([copyAgent("examples/weather"), browser()]);
  await appendFile(join(dir, "agent.yaml"), `
securitySchemes:
  key: {apiKeySecurityScheme: {location: header, name: X-API-Key, description: "ask <b>us</b> for one"}}
securityRequirements:
  - schemes: {key: {list: []}}
`);
  const list = Object.entries(keys).map(([caller, key]) => `{caller: ${caller}, sha256: "${createHash("sha256").update(key).digest("hex")}"}`);
  await appendFile(join(dir, "a2agen.yaml"), `auth:\n  key:\n    keys: [${list.join(", ")}]\n`);
  d = await dev([dir]);
});

after(async () => {
  await b?.close();
  await d?.end();
  await remove(dir);
});

test("calls are made as somebody, whose secret nobody sees", async () => {
  const { page, close } = await open(b, d);
  await page.evaluate((h) => { location.hash = h; }, "#/call/get_current_weather");
  const form = page.getByRole("region", { name: "Message" });
  await form.getByLabel("location").first().fill("Paris");
  await form.getByRole("button", { name: "Send", exact: true }).click();
  const result = page.getByRole("region", { name: "Answer" });
  await result.getByRole("heading", { name: "The agent answered with an error" }).waitFor();
  await page.getByText("Options").first().click();
  await page.getByRole("link", { name: "Manage callers" }).click();
  for (const [name, key] of Object.entries(keys)) {
    await page.getByText("Add a caller").waitFor();
    if (!(await page.getByLabel("Name", { exact: true }).isVisible())) await page.getByText("Add a caller").click();
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByLabel("Secret").fill(key);
    await page.getByRole("button", { name: "Add, and call as it" }).click();
    await page.getByRole("button", { name: "Remove " + name }).waitFor();
  }
  await page.getByText("ask <b>us</b> for one").waitFor({ state: "attached" });
  await page.goBack();
  await page.getByText("Options").first().waitFor();
  await form.getByLabel("Caller").selectOption("alice");
  await form.getByText("JSONRPC 1.0 · stream · alice").waitFor();
  assert.equal(await form.getByLabel("location").inputValue(), "Paris");
  await form.getByRole("button", { name: "Send", exact: true }).click();
  await result.getByText("completed").first().waitFor();
  assert.deepEqual(await violations(page), []);
  await page.keyboard.press("Escape");
  await page.evaluate(() => { location.hash = "#/traffic"; });
  const row = page.locator("[role=option]").filter({ hasText: /page as alice/ }).first();
  await row.click();
  await page.getByRole("tab", { name: "Bytes" }).click();
  await page.getByText(/^\d+ headers$/).first().click();
  await page.locator("pre").filter({ hasText: "X-Api-Key: [masked]" }).waitFor();
  assert.ok(!(await page.content()).includes(keys.alice));
  await close();
});

test("two callers do not see each other's tasks", async () => {
  const { page, close } = await open(b, d);
  await page.evaluate(() => { location.hash = "#/call/get_forecast"; });
  await page.getByRole("region", { name: "Message" }).getByLabel("location").first().fill("London");
  await page.getByRole("button", { name: "Two callers…" }).click();
  await page.getByRole("button", { name: "Send as both" }).click();
  await page.getByText("bob does not see the task of alice").waitFor();
  await page.getByText("alice does not see the task of bob").waitFor();
  assert.deepEqual(await violations(page), []);
  await close();
});
