// @ts-check
// Calls in other words, once more, as somebody; the card; the history.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import { changed, compared, leaves, typed } from "../page/assets/leaves.js";
import { browser, copyAgent, dev, open, remove, until, violations } from "./harness.js";

/** @type {string} */ let dir;
/** @type {import("./harness.js").Dev} */ let d;
/** @type {import("playwright-core").Browser} */ let b;

before(async () => {
  [dir, b] = await Promise.all([copyAgent("examples/weather"), browser()]);
  d = await dev([dir]);
});

after(async () => {
  await b?.close();
  await d?.end();
  await remove(dir);
});

/**
 * Asks the API of the page.
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 */
async function api(method, path, body) {
  const at = new URL(d.page);
  const resp = await fetch(at.origin + path, { method, headers: { "A2agen-Dev-Token": at.searchParams.get("token") ?? "" }, body: body === undefined ? undefined : JSON.stringify(body) });
  const text = await resp.text();
  if (!resp.ok) throw new Error(text);
  return text ? JSON.parse(text) : null;
}

/**
 * Sends data to a skill, and waits for the end of the call.
 * @param {string} skill
 * @param {unknown} data
 * @returns {Promise<number>}
 */
async function say(skill, data) {
  const request = { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ data }], metadata: { skillId: skill } } };
  const { call } = await api("POST", "/api/agents/0/call", { binding: "JSONRPC", version: "1.0", operation: "SendMessage", request });
  await until(async () => (await api("GET", "/api/calls/" + call)).state !== "running", "an end of the call");
  return call;
}

/** @param {import("playwright-core").Page} page @param {string} hash */
const visit = (page, hash) => page.evaluate((h) => { location.hash = h; }, hash);

test("values are found, changed and compared", () => {
  const value = { a: [{ b: "x" }, null], "c d": 2, e: {} };
  assert.deepEqual(leaves(value), [{ path: ["a", 0, "b"], value: "x" }, { path: ["a", 1], value: null }, { path: ["c d"], value: 2 }]);
  assert.deepEqual(changed(value, ["a", 0, "b"], "y"), { a: [{ b: "y" }, null], "c d": 2, e: {} });
  assert.equal(value.a[0]?.b, "x");
  assert.deepEqual([typed("3", 2), typed("3", "2"), typed("x", 2), typed("[1]", null)], [3, "3", "x", [1]]);
  const [x, y] = compared("a\nb\nc", "a\nc\nd");
  assert.deepEqual(x.map((l) => l.only), [false, true, false]);
  assert.deepEqual(y.map((l) => l.only), [false, false, true]);
});

test("a call is copied as curl, as Go and as a test, and saved as a recording", async () => {
  const id = await say("get_current_weather", { location: "Paris", units: "celsius" });
  const { page, close } = await open(b, d);
  await visit(page, "#/traffic/" + id);
  await page.getByRole("tab", { name: "Copy", exact: true }).click();
  const text = page.getByLabel("The call in other words");
  await text.filter({ hasText: "curl -sS " + d.agent }).waitFor();
  await page.getByRole("tab", { name: "Go", exact: true }).click();
  await text.filter({ hasText: "c.GetCurrentWeather(ctx, &client.GetCurrentWeatherInput{Location: \"Paris\", Units: client.UnitsCelsius})" }).waitFor();
  await page.getByRole("tab", { name: "Test", exact: true }).click();
  await text.filter({ hasText: `func TestGetCurrentWeather_call${id}(t *testing.T)` }).waitFor();
  await page.getByRole("button", { name: "Copy", exact: true }).click();
  await page.locator("#said").filter({ hasText: "copied" }).waitFor({ state: "attached" });
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^\/\/ Call #\d+ of a2agen dev, as a test\.\npackage skills\n/);
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save as a recording" }).click()]);
  const saved = (await readFile(await file.path(), "utf8")).trim().split("\n").map((l) => JSON.parse(l));
  assert.equal(saved[0].type, "recording");
  assert.deepEqual(saved.filter((l) => l.type === "request").map((l) => l.operation ?? l.path), ["/.well-known/agent-card.json", "SendMessage"]);
  assert.deepEqual(await violations(page), []);
  await close();
});

test("a call is made again with one value changed, and what is different is marked", async () => {
  const id = await say("get_current_weather", { location: "Paris", units: "celsius" });
  const { page, close } = await open(b, d);
  await visit(page, "#/traffic/" + id);
  await page.getByRole("tab", { name: "Run again" }).click();
  await page.getByLabel("message › parts › 0 › data › units").fill("fahrenheit");
  await page.getByRole("button", { name: "Run again" }).click();
  await page.getByRole("heading", { name: "Changed: message › parts › 0 › data › units" }).waitFor();
  await page.getByRole("region", { name: "Now" }).locator("mark").filter({ hasText: "fahrenheit" }).first().waitFor();
  await page.getByRole("region", { name: "Before" }).locator("mark").filter({ hasText: "celsius" }).first().waitFor();
  assert.deepEqual(await violations(page), []);
  await close();
});

test("the history is filtered, sent again and saved", async () => {
  const id = await say("get_forecast", { location: "London", days: 2 });
  const { page, close } = await open(b, d);
  await visit(page, "#/traffic");
  await page.getByLabel("Search calls").fill("forecast");
  await page.getByRole("button", { name: "Save 1 call as a recording" }).waitFor();
  await page.locator("[role=option]").filter({ hasText: "#" + id }).click();
  await page.locator("pre").filter({ hasText: "\"London\"" }).first().waitFor();
  assert.deepEqual(await violations(page), []);
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save 1 call as a recording" }).click()]);
  assert.match(await readFile(await file.path(), "utf8"), /London/);
  await page.getByRole("link", { name: "Edit and send again" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll("input, textarea")].some((e) => /** @type {HTMLInputElement} */ (e).value.includes("London")));
  await close();
});

test("the card is shown as published, linted and compared", async () => {
  const { page, close } = await open(b, d);
  await visit(page, "#/agent/json");
  await page.getByLabel("JSON").filter({ hasText: "\"WeatherBot\"" }).waitFor();
  await page.getByLabel("Asked for in").selectOption("0.3");
  await page.getByLabel("JSON").filter({ hasText: "\"preferredTransport\"" }).waitFor();
  await page.getByRole("tab", { name: "Lint" }).click();
  await page.getByText("Callers with the official SDKs can do what the card demands.").waitFor();
  await page.getByRole("tab", { name: "Differences" }).click();
  await page.getByRole("button", { name: "With the last commit" }).click();
  await page.getByRole("alert").filter({ hasText: /git (log|archive): / }).waitFor();
  await page.getByLabel("With the card published at").fill(d.agent);
  await page.getByRole("button", { name: "Compare" }).click();
  await page.getByRole("alert").filter({ hasText: "private or local address" }).waitFor();
  await page.getByLabel("a private address").check();
  await page.getByRole("button", { name: "Compare" }).click();
  await page.locator("dl").filter({ hasText: "WeatherBot 1.0.0, A2A 1.0" }).waitFor();
  assert.deepEqual(await violations(page), []);
  await close();
});
