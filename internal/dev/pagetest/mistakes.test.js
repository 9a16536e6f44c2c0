// @ts-check
// What people do wrong, and what goes wrong: the page says what it is and what to do, and goes on when it is mended.
import assert from "node:assert/strict";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fake } from "./fake.js";
import { browser, dev, open, until, violations } from "./harness.js";

/** @type {import("playwright-core").Browser} */
let b;
/** @type {string} a folder with an agent that is "built" by a copy */
let dir;

before(async () => {
  b = await browser();
  dir = await mkdtemp(join(tmpdir(), "pagetest-"));
  await writeFile(join(dir, "go.mod"), "module example.com/x\n");
});
after(async () => {
  await b?.close();
  await rm(dir, { recursive: true, force: true });
});

/** Writes the agent. @param {string} script */
async function agent(script) {
  await writeFile(join(dir, "agent"), `#!${process.execPath}\nconst [host, port] = process.env.A2A_ADDR.split(":");\n${script}`);
  await chmod(join(dir, "agent"), 0o755);
}

/** @param {import("playwright-core").Page} page */
async function rebuild(page) {
  await page.getByRole("button", { name: "Menu" }).click();
  await page.getByRole("button", { name: "Rebuild" }).click();
}

const healthy = 'require("node:http").createServer((_, resp) => resp.end("{}")).listen(Number(port), host);\n';

/** @param {{ready: RegExp}} more */
const exec = (more) => dev(["--exec", 'cp agent "$A2A_DEV_OUT"', dir], more);

test("a card that cannot be read is said, with what to do, until it can", async (t) => {
  let card = "<!doctype html>";
  const web = createServer((_, resp) => resp.setHeader("Content-Type", card.startsWith("<") ? "text/html" : "application/json").end(card)).listen(0, "127.0.0.1");
  await once(web, "listening");
  t.after(() => { web.closeAllConnections(); web.close(); });
  const url = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (web.address()).port}`;
  const d = await dev(["--to", url], { ready: /it is looked for/ });
  t.after(d.end);
  const { page, close } = await open(b, d);
  const notice = page.locator("#notice");
  await notice.filter({ hasText: "agent-card.json is a web page and no agent card; it is looked for every 2s: start the agent, or start a2agen dev with another --to" }).waitFor();
  assert.match(await page.locator("#phase").innerText(), /down/);
  card = "[]";
  await notice.filter({ hasText: "it is no object, but JSON of the kind array" }).waitFor();
  await d.says(/it is no object, but JSON of the kind array/);
  assert.deepEqual(await violations(page), []);
  card = JSON.stringify({ name: "Mended", supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }] });
  await page.locator("#phase", { hasText: "ready" }).waitFor();
  await notice.waitFor({ state: "hidden" });
  await close();
});

test("an agent that ends at once, or soon, is said with its last words, and made again by a button", async (t) => {
  await agent('console.error("WEATHER_KEY is not set"); process.exit(3);\n');
  const d = await exec({ ready: /no agent answers yet/ });
  t.after(d.end);
  const { page, close } = await open(b, d);
  const notice = page.locator("#notice");
  await notice.filter({ hasText: /the agent ended at once \(exit status 3\); it said:\s+WEATHER_KEY is not set/ }).waitFor();
  await agent("");
  await rebuild(page);
  await notice.filter({ hasText: /the agent ended at once, without an error: it must listen on 127.0.0.1:\d+, which the environment's A2A_ADDR says/ }).waitFor();
  await agent(healthy + 'require("node:fs").watchFile("end", { interval: 20 }, (now) => { if (!now.mtimeMs) return; console.error("that is enough"); process.exit(4); });\n');
  await rebuild(page);
  await page.locator("#phase", { hasText: "ready" }).waitFor();
  await notice.waitFor({ state: "hidden" });
  await writeFile(join(dir, "end"), "");
  await notice.filter({ hasText: /the agent ended by itself \(exit status 4\).*when a file is saved; it said:\s+that is enough/ }).waitFor();
  await agent(healthy);
  await rebuild(page);
  await notice.waitFor({ state: "hidden" });
  await close();
});

test("without a go command it is said what to install", async (t) => {
  const d = await dev([dir], { ready: /no agent answers yet/, env: { PATH: dir } });
  t.after(d.end);
  const { page, close } = await open(b, d);
  await page.locator("#notice").filter({ hasText: "there is no go command in the PATH: install Go 1.26 or newer (https://go.dev/dl) and start a2agen dev again, or say by --exec" }).waitFor();
  await close();
});

/** Schemas that are odd, wrong, or too much. @type {Record<string, unknown>} */
const odd = {
  never: { not: {} }, text: "object", list: [], empty: {}, types: { type: ["foo", "bar"] }, type: { type: { a: 1 } },
  required: { type: "object", required: "city", properties: { city: { type: "string", required: true } } }, properties: { type: "object", properties: [1, null, { type: "string" }] },
  choices: { oneOf: {} }, choice: { oneOf: [] }, members: { oneOf: [1, null, "x", { properties: 5 }] }, values: { enum: "red" }, enum: { enum: [] }, all: { allOf: [{ required: 1 }, { required: "x", type: "object" }] },
  elsewhere: { $ref: "https://elsewhere.example/schema.json" }, circle: { $ref: "#/properties/circle" }, circles: { $ref: "#/$defs/both" }, percent: { $ref: "#/$defs/%zz" },
  pattern: { type: "string", pattern: "(", format: 7, title: { a: 1 }, description: ["x"], default: { b: 2 } }, items: { type: "array", items: [{ type: "string" }], prefixItems: 3, minItems: "many" },
  when: { type: "object", if: { properties: { a: { const: 1 } } }, then: { required: ["b"] }, dependentSchemas: { a: {} }, patternProperties: { "^x": false }, unevaluatedProperties: false },
  deep: Array.from({ length: 2000 }).reduce((/** @type {any} */ s) => ({ type: "object", properties: { x: s } }), { type: "string" }), endless: { $ref: "#/$defs/endless" },
};

/** Skills with them: some of the whole input, and one with all. @type {Record<string, unknown>} */
const inputs = {
  nothing: false, number: 42, wide: { type: "object", properties: Object.fromEntries(Array.from({ length: 3000 }, (_, i) => ["p" + i, { type: "string" }])) },
  all: {
    type: "object", properties: odd,
    $defs: { both: { allOf: [{ $ref: "#/$defs/both" }, { $ref: "#/$defs/both" }] }, endless: { oneOf: Array.from({ length: 12 }, (_, i) => ({ type: "array", title: "e" + i, items: { $ref: "#/$defs/endless" } })) } },
  },
};

test("a schema that no form can show is a field of JSON, whatever it is", async (t) => {
  const other = await fake(Object.fromEntries(Object.entries(inputs).map(([id, input]) => [id, { input, run: (t) => t.status("COMPLETED") }])));
  t.after(other.end);
  const d = await dev(["--to", other.url]);
  t.after(d.end);
  const { page, close } = await open(b, d);
  const form = page.getByRole("region", { name: "Message" });
  const nested = JSON.parse("[".repeat(10) + '"Rome"' + "]".repeat(10));
  const value = { any: 1, ...Object.fromEntries(Object.keys(odd).map((name) => [name, nested])) };
  for (const id of Object.keys(inputs)) {
    await page.evaluate((h) => { location.hash = h; }, "#/call/" + id);
    await page.getByRole("heading", { name: id, exact: true }).waitFor();
    if (id === "all") {
      for (const name of Object.keys(odd)) assert.ok(await form.getByText(new RegExp(`^(Add )?${name}( |$)`)).count() > 0, name + " has a field");
    } else {
      await form.locator("textarea").first().waitFor();
    }
    await page.evaluate((text) => navigator.clipboard.writeText(text), JSON.stringify(value));
    await form.getByRole("button", { name: "Paste JSON" }).click();
    const said = other.asked.length;
    await form.getByRole("button", { name: "Send", exact: true }).click();
    const anyway = form.getByRole("button", { name: "Send anyway" });
    if (await anyway.count()) await anyway.click(); // the value breaks what the schema says
    const sent = () => other.asked.slice(said).find((a) => a.method.startsWith("Send"));
    await until(async () => sent() !== undefined, "a message to " + id);
    assert.deepEqual(sent()?.params.message.parts[0].data, value, id);
  }
  await page.evaluate(() => { location.hash = "#/call/wide"; });
  await page.getByRole("heading", { name: "wide", exact: true }).waitFor();
  await page.evaluate(() => { location.hash = "#/call/all"; });
  await page.getByText("No field can show what its schema says: write it as JSON.").first().waitFor();
  assert.deepEqual(await violations(page), []);
  await close();
});
