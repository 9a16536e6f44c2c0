// @ts-check
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { browser, copyAgent, dev, open, picture, remove, violations } from "./harness.js";

/** @type {string} */
let dir;
/** @type {import("./harness.js").Dev} */
let d;
/** @type {import("playwright-core").Browser} */
let b;

before(async () => {
  dir = await copyAgent("examples/weather");
  [d, b] = await Promise.all([dev(["-C", dir]), browser()]);
});
after(async () => {
  await b?.close();
  await d?.end();
  await remove(dir);
});

test("a call of another program shows up, with its bytes", async () => {
  const { page, close } = await open(b, d);
  await page.keyboard.press("t");
  await fetch(d.agent + "/.well-known/agent-card.json", { headers: { "User-Agent": "somebody/1" } });
  const row = page.getByRole("option", { name: /agent-card.json/ }).first();
  await row.click();
  await page.getByText('"WeatherBot"').waitFor();
  assert.match(await row.innerText(), /somebody/);
  await picture(page, "traffic");
  await close();
});

test("views are reached by keys, and by the navigation", async () => {
  const { page, close } = await open(b, d);
  for (const [key, title] of [["l", "Log"], ["t", "Traffic"]]) {
    await page.keyboard.press(key);
    await page.getByRole("main", { name: title }).waitFor();
    assert.equal(await page.locator("#nav [aria-current=page]").innerText().then((s) => s.split(" ")[0].trim()), title);
  }
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("link", { name: "Log" }).click();
  await page.getByRole("main", { name: "Log" }).waitFor();
  await close();
});

for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
  test("nothing is inaccessible, " + colorScheme, async () => {
    const { page, close } = await open(b, d, { colorScheme });
    for (const link of await page.locator("#nav a").all()) {
      await link.click();
      assert.deepEqual(await violations(page), []);
    }
    await close();
  });
}
