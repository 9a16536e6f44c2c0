// @ts-check
// A hostile agent, pages of other origins, names that were pointed here, and addresses with the token.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { browser, dev, open, violations } from "./harness.js";
import { hostile } from "./hostile.js";
import { payloads } from "./payloads.js";

/** @type {Awaited<ReturnType<typeof hostile>>} */ let agent;
/** @type {import("./harness.js").Dev} */ let d;
/** @type {import("playwright-core").Browser} */ let b;

before(async () => {
  [agent, b] = await Promise.all([hostile(payloads), browser()]);
  d = await dev(["--to", agent.origin]);
});

after(async () => {
  await b?.close();
  await d?.end();
  await agent?.end();
});

/**
 * Finds what a page of texts does not have: code that ran, elements and addresses that nobody here has made.
 * @param {import("playwright-core").Page} page
 */
async function harm(page) {
  return page.evaluate(() => {
    const found = /** @type {any} */ (window).pwned ? ["code ran"] : [];
    if (/** @type {any} */ ({}).pwned !== undefined || Object.keys(Object.prototype).length) found.push("prototypes were changed");
    /** What Markdown and images may have: a link that tells nobody where it was followed, and bytes that are an image. @param {Element} e @param {string} to */
    const allowed = (e, to) => (e.matches(".md a[target=_blank][rel='noopener noreferrer']") && /^(https?|mailto):/.test(to)) || (e.matches("figure.image > img") && /^data:image\/(png|jpeg|gif|webp|svg\+xml);base64,/.test(to));
    for (const e of document.querySelectorAll("img:not(figure.image > img), image, iframe, object, embed, video, audio, base, script:not([src='main.js']), style, svg animate, svg set, math, template, marquee, frameset, meta[http-equiv]")) found.push(e.outerHTML);
    for (const e of document.querySelectorAll("*")) {
      for (const a of e.attributes) {
        if (a.name.startsWith("on") || (["href", "src", "action", "formaction", "xlink:href"].includes(a.name) && !/^(#|\/|[a-z]+\.(js|css)$|data:,$|blob:)/.test(a.value) && !allowed(e, a.value))) found.push(e.tagName + " " + a.name + "=" + a.value);
        if (["href", "src"].includes(a.name) && a.value.startsWith("//")) found.push(a.value);
      }
    }
    return found;
  });
}

test("there are 200 payloads, and no two are the same", () => {
  assert.ok(payloads.length >= 200, String(payloads.length));
  assert.equal(new Set(payloads).size, payloads.length);
});

test("what a hostile agent says stays text, in every view", async () => {
  const { page, close } = await open(b, d);
  page.on("dialog", (x) => { throw new Error("a dialog: " + x.message()); });
  await page.keyboard.press("2");
  await page.getByText(payloads[0]).first().waitFor();
  await page.evaluate(async (n) => {
    for (let i = 0; i < n; i++) {
      location.hash = "#/call/s" + i;
      while (!document.querySelector(`a[href="#/call/s${i}"][aria-current]`)) await new Promise((f) => setTimeout(f)); // without a picture of each
    }
  }, payloads.length);
  assert.deepEqual(await harm(page), []);
  await page.evaluate(() => { location.hash = "#/call/any"; });
  const message = page.getByRole("region", { name: "Message" });
  await message.getByLabel("Text", { exact: true }).fill("hello");
  await message.getByRole("button", { name: "Send", exact: true }).click();
  const result = page.getByRole("region", { name: "Answer" });
  await result.getByText("input-required").first().waitFor();
  assert.deepEqual(await harm(page), []);
  for (const at of ["#/tasks", "#/traffic", "#/traffic/compare", "#/traffic/webhooks", "#/agent", "#/agent/json", "#/agent/lint", "#/agent/diff", "#/agent/agents", "#/agent/callers", "#/agent/faults", "#/agent/log", "#/tasks/0/" + encodeURIComponent("<img src=x onerror=top.pwned=1>"), "#/traffic/" + encodeURIComponent("\"><img src=x onerror=top.pwned=1>"), "#/" + encodeURIComponent(payloads[3])]) {
    await page.evaluate((h) => { location.hash = h; }, at);
    await page.evaluate(async () => {
      /** @param {string} what @returns {HTMLElement[]} */
      const all = (what) => [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("main " + what))].filter((e) => e.checkVisibility());
      /** @param {HTMLElement} e */
      const choose = async (e) => {
        e.click();
        await new Promise((f) => setTimeout(f, 30));
      };
      for (const tab of all("[role=tab]:enabled")) await choose(tab);
      for (const row of all("[role=option]").slice(0, 5)) {
        await choose(row);
        for (const tab of all("[role=tab]:enabled")) await choose(tab);
      }
    });
    assert.deepEqual(await harm(page), [], at);
  }
  await fetch(d.agent + "/?" + encodeURIComponent(payloads[1]), { headers: { "User-Agent": payloads[0] } });
  await page.evaluate(() => { location.hash = "#/traffic"; });
  await page.locator("[role=option]").filter({ hasText: "GET /" }).first().click();
  assert.deepEqual(await harm(page), []);
  await close();
});

test("what a hostile agent says in a conversation stays text, be it Markdown, data, a file or an image", async () => {
  const { page, close } = await open(b, d);
  page.on("dialog", (x) => { throw new Error("a dialog: " + x.message()); });
  await page.keyboard.press("1");
  await page.getByRole("group", { name: "Begin with one of these" }).waitFor();
  assert.deepEqual(await harm(page), []);
  await page.getByLabel("Message", { exact: true }).fill("hello");
  await page.keyboard.press("Enter");
  await page.getByRole("article").last().getByText("input-required").waitFor();
  await page.waitForFunction((n) => document.querySelectorAll(".artifact").length === n && document.querySelectorAll(".md blockquote").length >= n, payloads.length);
  await page.waitForFunction(() => [...document.querySelectorAll("figure.image > img")].every((e) => /** @type {HTMLImageElement} */ (e).complete));
  assert.ok(await page.locator(".md a").count() > 0, "there are links that may be followed");
  assert.deepEqual(await harm(page), []);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  await close();
});

test("an event of 16 MiB does not stop the page", async () => {
  const { page, close } = await open(b, d);
  await page.evaluate(() => { location.hash = "#/call/any"; });
  const message = page.getByRole("region", { name: "Message" });
  await message.getByLabel("Text", { exact: true }).fill("large");
  await message.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("region", { name: "Answer" }).getByText("input-required").first().waitFor();
  await page.keyboard.press("Escape");
  await page.evaluate(() => { location.hash = "#/traffic"; });
  await page.locator("[role=option]").filter({ hasText: "SendStreamingMessage" }).first().click();
  await page.getByRole("tab", { name: "Bytes" }).click();
  await page.getByRole("link", { name: /16\.\d MB|all 16\d+ bytes/ }).first().waitFor();
  await page.evaluate(() => { location.hash = "#/agent/log"; });
  await page.getByRole("main", { name: "Log" }).waitFor();
  await close();
});

test("pages of other origins reach nothing, with the cookie of the page or without", async () => {
  const { page, close } = await open(b, d);
  const at = new URL(d.page);
  const other = createServer((_, res) => { res.writeHead(200, { "Content-Type": "text/html" }); res.end("<!doctype html><title>other</title>"); });
  await new Promise((f) => other.listen(0, "127.0.0.1", () => f(undefined)));
  const origin = "http://127.0.0.1:" + /** @type {import("node:net").AddressInfo} */ (other.address()).port; // the same site: cookies have no ports
  await page.keyboard.press("4");
  await fetch(d.agent + "/kept");
  await page.locator("[role=option]").filter({ hasText: /\/kept/ }).first().waitFor();
  const foe = await page.context().newPage();
  await foe.goto(origin);
  const reached = await foe.evaluate(async (to) => {
    /** @type {string[]} */
    const reached = [];
    for (const [method, path] of [["GET", "/api/state"], ["GET", "/api/calls"], ["DELETE", "/api/calls"], ["POST", "/api/agents/0/rebuild"], ["POST", "/agent/0/"], ["GET", "/main.js"]]) {
      for (const mode of /** @type {const} */ (["cors", "no-cors"])) {
        if (mode === "no-cors" && method === "DELETE") continue;
        await fetch(to + path, { method, mode, credentials: "include", body: method === "POST" ? "{}" : undefined }).then((r) => { if (r.type !== "opaque") reached.push(method + path); }, () => {});
      }
    }
    /** @param {string} name @param {Record<string, string>} of */
    const loads = (name, of) => new Promise((f) => {
      const e = Object.assign(document.createElement(name), of);
      e.onload = () => { reached.push(name); f(0); };
      e.onerror = () => f(0);
      document.head.append(e);
    });
    await loads("script", { src: to + "/main.js", type: "module" });
    await loads("script", { src: to + "/api/state" });
    await loads("link", { rel: "stylesheet", href: to + "/style.css" });
    const s = new EventSource(to + "/api/live?after=0", { withCredentials: true });
    await new Promise((f) => { s.onopen = () => { reached.push("live"); f(0); }; s.onerror = f; });
    s.close();
    const frame = document.createElement("iframe");
    frame.src = to;
    document.body.append(frame);
    await new Promise((f) => { frame.onload = f; });
    if (frame.contentWindow?.length || frame.contentDocument?.title) reached.push("frame");
    return reached;
  }, at.origin);
  assert.deepEqual(reached, []);
  await page.locator("[role=option]").filter({ hasText: /\/kept/ }).first().waitFor(); // nothing was deleted
  await foe.close();
  await close();
  other.close();
});

test("a name that was pointed here is answered nothing (DNS rebinding)", async () => {
  const rebound = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--host-resolver-rules=MAP evil.test 127.0.0.1"] });
  const at = new URL(d.page);
  const page = await rebound.newPage();
  for (const path of ["/", "/?token=" + at.searchParams.get("token"), "/api/state", "/main.js"]) {
    const resp = await page.goto(`http://evil.test:${at.port}${path}`);
    assert.equal(resp?.status(), 403, path);
    assert.match(await page.locator("body").innerText(), /loopback names alone/);
  }
  assert.deepEqual(await page.context().cookies(), []);
  await rebound.close();
});

test("the token is in no address and in no Referer", async () => {
  const { page, close } = await open(b, d);
  const token = new URL(d.page).searchParams.get("token") ?? "?";
  assert.ok(!page.url().includes(token));
  assert.ok(!(await page.content()).includes(token));
  assert.equal(await page.evaluate(() => document.cookie), "");
  assert.ok(!(await page.evaluate(() => JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage)]))).includes(token));
  const next = await page.context().newPage();
  await next.goto(d.page);
  await next.evaluate((to) => { location.href = to; }, agent.origin + "/elsewhere");
  await next.waitForURL(agent.origin + "/elsewhere");
  assert.deepEqual(agent.referers, []);
  await next.goBack();
  assert.ok(!next.url().includes(token));
  await next.close();
  await close();
});

test("the views of a hostile agent are accessible", async () => {
  const { page, close } = await open(b, d);
  for (const at of ["#/call/s0", "#/agent", "#/traffic", "#/agent/agents"]) {
    await page.evaluate((h) => { location.hash = h; }, at);
    await page.locator("#view > *").first().waitFor();
    assert.deepEqual(await violations(page), [], at);
  }
  await close();
});
