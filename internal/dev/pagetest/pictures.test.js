// @ts-check
// Ten states of the page as pictures, beside those of docs/pictures. "make pictures" renews them; a picture that is new
// has been looked at by its author. Letters are drawn by the system: on a system with other ones nothing is compared.
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { browser, goTo } from "./harness.js";
import { noon, scene, tasks } from "./scene.js";

const folder = resolve(import.meta.dirname, "../../../docs/pictures");
const renew = Boolean(process.env.A2A_PICTURES);

/** The part of the dots that may differ, and by how much a dot does: the edges of letters are not always the same. */
const tolerance = { dots: 0.002, by: 48 };

/** @type {Awaited<ReturnType<typeof scene>>} */ let s;
/** @type {import("playwright-core").Browser} */ let b;
/** @type {import("playwright-core").Page} */ let page;
let letters = "";

before(async () => {
  [s, b] = await Promise.all([scene(), browser()]);
  const context = await b.newContext({ locale: "en-GB", timezoneId: "UTC", reducedMotion: "reduce" });
  page = await context.newPage();
  await page.clock.setFixedTime(noon + 95_000);
  page.setDefaultTimeout(60_000);
  letters = await page.evaluate(() => ["system-ui", "monospace"].map((font) => {
    const c = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    c.font = "40px " + font;
    return c.measureText("Which skill takes 0123456789?").width.toFixed(2);
  }).join(" "));
  if (renew) await mkdir(folder, { recursive: true }).then(() => writeFile(join(folder, "letters.txt"), letters + "\n"));
});
after(async () => {
  await b?.close();
  s?.end();
});

/**
 * @typedef {{name: string, at: string, width: number, dark?: boolean, phase?: string, then?: () => Promise<unknown>}} State
 */

/** @type {State[]} */
const states = [
  { name: "chat", at: "#/chat/c0ffee00-1111-4222-8333-444455556666", width: 1280 },
  { name: "chat-dark", at: "#/chat/c0ffee00-1111-4222-8333-444455556666", width: 1280, dark: true },
  { name: "chat-new", at: "#/chat", width: 375 },
  { name: "call", at: "#/call/plan", width: 1280, then: async () => {
    await page.getByLabel("from", { exact: false }).first().fill("Oslo");
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await page.locator("[aria-invalid=true]").first().waitFor();
  } },
  { name: "task", at: "#/tasks/0/" + tasks.completed, width: 1280, then: () => page.waitForTimeout(300) },
  { name: "task-dark", at: "#/tasks/0/" + tasks.completed, width: 1280, dark: true, then: () => page.waitForTimeout(300) },
  { name: "task-question", at: "#/tasks/0/" + tasks.asks, width: 768, then: () => page.waitForTimeout(300) },
  { name: "traffic", at: "#/traffic/3", width: 1280, then: () => page.getByRole("heading", { name: "Request" }).waitFor() },
  { name: "agent", at: "#/agent", width: 768, then: () => page.getByRole("heading", { name: "What it offers" }).waitFor() },
  { name: "build-failed", at: "#/traffic", width: 375, phase: "stale" },
];

for (const st of states) {
  test("the picture of " + st.name, async (t) => {
    Object.assign(s.agent, st.phase ? { phase: st.phase, step: "building", problems: [{ file: "skills/plan.go", line: 21, col: 2, text: "undefined: sky" }] } : { phase: "ready", problems: null });
    await page.setViewportSize({ width: st.width, height: st.width < 500 ? 740 : 800 });
    await page.emulateMedia({ colorScheme: st.dark ? "dark" : "light" });
    await page.goto("about:blank");
    await page.goto(s.page + st.at);
    await page.locator("#view > *").first().waitFor();
    await page.locator("#phase").filter({ hasText: /\w/ }).waitFor();
    await page.evaluate(() => document.fonts.ready);
    await st.then?.();
    await page.waitForLoadState("networkidle", { timeout: 500 }).catch(() => {}); // the feed never ends
    const shot = await page.screenshot({ animations: "disabled", caret: "hide" });
    const file = join(folder, st.name + ".png");
    if (renew) {
      await writeFile(file, shot);
      return;
    }
    if (letters !== (await readFile(join(folder, "letters.txt"), "utf8")).trim()) {
      t.diagnostic("the letters of this system are others than those of docs/pictures: nothing is compared");
      return;
    }
    const differs = await difference(shot, await readFile(file));
    if (differs > tolerance.dots) await writeFile(file.replace(/png$/, "is.png"), shot);
    assert.ok(differs <= tolerance.dots, `${(100 * differs).toFixed(2)} % of ${st.name} is other than in docs/pictures (see ${st.name}.is.png): mend the page, or look at it and run "make pictures"`);
  });
}

/**
 * The part of the dots by which two pictures differ; 1 if they have not the same size.
 * @param {Buffer} one
 * @param {Buffer} other
 */
async function difference(one, other) {
  await page.goto("about:blank");
  return page.evaluate(async ({ one, other, by }) => {
    const [a, b] = await Promise.all([one, other].map(async (png) => {
      const image = await createImageBitmap(await (await fetch("data:image/png;base64," + png)).blob());
      const c = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(image.width, image.height).getContext("2d"));
      c.drawImage(image, 0, 0);
      return c.getImageData(0, 0, image.width, image.height);
    }));
    if (a.width !== b.width || a.height !== b.height) return 1;
    let n = 0;
    for (let i = 0; i < a.data.length; i += 4) {
      if (Math.abs(a.data[i] - b.data[i]) + Math.abs(a.data[i + 1] - b.data[i + 1]) + Math.abs(a.data[i + 2] - b.data[i + 2]) > by) n++;
    }
    return n / (a.width * a.height);
  }, { one: one.toString("base64"), other: other.toString("base64"), by: tolerance.by });
}
