// @ts-check
// Several agents on one page, and the calls between them.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { after, before, test } from "node:test";
import { browser, copyAgent, dev, goTo, open, remove, violations } from "./harness.js";

/** @type {string[]} */ let dirs = [];
/** @type {import("./harness.js").Dev} */ let d;
/** @type {import("playwright-core").Browser} */ let b;

/** Finds three ports in a row that nobody has. */
async function ports() {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000);
    const held = await Promise.all([0, 1, 2].map(async (i) => {
      const s = createServer();
      s.listen(first + i, "127.0.0.1");
      return once(s, "listening").then(() => s, () => undefined);
    }));
    await Promise.all(held.map((s) => s && new Promise((f) => s.close(f))));
    if (held.every(Boolean)) return first;
  }
}

before(async () => {
  const [first, ...rest] = await Promise.all([ports(), browser(), ...["planner", "weather", "routes"].map((a) => copyAgent("examples/" + a))]);
  b = /** @type {import("playwright-core").Browser} */ (rest.shift());
  dirs = /** @type {string[]} */ (rest);
  const at = (/** @type {number} */ i) => "http://127.0.0.1:" + (first + i);
  d = await dev(["--addr", "127.0.0.1:" + first, ...dirs], { env: { A2A_AGENT_WEATHER: at(1), A2A_AGENT_ROUTES: at(2) } });
  await Promise.all([0, 1, 2].map((i) => d.says(new RegExp("answers at " + at(i)))));
});

after(async () => {
  await b?.close();
  await d?.end();
  await Promise.all(dirs.map(remove));
});

test("calls between agents are on one page, with who made them", async () => {
  const { page, close } = await open(b, d);
  const at = new URL(d.page);
  const headers = { "A2agen-Dev-Token": at.searchParams.get("token") ?? "" };
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ data: { from: "Oslo", to: "London" } }], metadata: { skillId: "plan-trip" } };
  const resp = await fetch(at.origin + "/api/agents/0/call", { method: "POST", headers, body: JSON.stringify({ binding: "JSONRPC", version: "1.0", operation: "SendMessage", request: { message } }) });
  assert.equal(resp.status, 200);
  await goTo(page, "#/agent/agents");
  const pairs = page.getByRole("row");
  await pairs.filter({ hasText: /^page\s*Trip Planner\s*1/ }).waitFor();
  await pairs.filter({ hasText: /^Trip Planner\s*WeatherBot\s*[1-9]/ }).waitFor();
  await pairs.filter({ hasText: /^Trip Planner\s*GeoSpatial Route Planner Agent\s*[1-9]/ }).first().waitFor();
  assert.deepEqual(await violations(page), []);
  await page.locator("[role=option]").filter({ hasText: /Trip Planner → WeatherBot/ }).first().click();
  await page.getByRole("main", { name: "Calls" }).waitFor();
  await goTo(page, "#/agent/agents");
  await page.getByRole("button", { name: "Show WeatherBot" }).click();
  await page.getByRole("button", { name: "Show WeatherBot", pressed: true }).waitFor();
  await close();
});

test("agents and cards fit a phone, and are read by the keyboard", async () => {
  const { page, close } = await open(b, d, { viewport: { width: 360, height: 740 } });
  /** @param {string} what */
  const fits = async (what) => {
    assert.ok(await page.evaluate(() => Math.max(document.documentElement.scrollWidth, document.getElementById("view")?.scrollWidth ?? 0) <= innerWidth), what);
    assert.deepEqual(await violations(page), [], what);
  };
  /** @param {import("playwright-core").Locator} list */
  const readList = async (list) => {
    await list.getByRole("option").first().waitFor();
    await list.focus();
    await page.keyboard.press("ArrowDown");
    await list.locator("[aria-selected=true]").waitFor();
  };
  await goTo(page, "#/agent/agents");
  await page.getByRole("row").filter({ hasText: /^Trip Planner\s*WeatherBot/ }).waitFor();
  await fits("agents");
  await readList(page.getByRole("listbox", { name: "Calls of all agents" }));
  await page.keyboard.press("Enter");
  await page.getByRole("main", { name: "Calls" }).waitFor();
  await page.locator("section.detail pre").first().waitFor();
  await fits("a call");
  await goTo(page, "#/agent");
  await page.getByRole("heading", { name: "What it offers" }).waitFor();
  await fits("overview");
  await goTo(page, "#/agent/json");
  await page.getByLabel("JSON", { exact: true }).filter({ hasText: "supportedInterfaces" }).waitFor();
  await fits("card");
  await page.getByRole("tab", { name: "Lint" }).focus();
  for (const name of ["Differences", "Lint"]) {
    await page.keyboard.press(name === "Lint" ? "ArrowLeft" : "ArrowRight");
    await page.getByRole("tab", { name, selected: true }).waitFor();
    await fits(name);
  }
  await close();
});
