// @ts-check
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fake, skillsExtension } from "./fake.js";
import { browser, dev, goTo, open, until, violations } from "./harness.js";

/** A schema with everything that a form has to show. */
const everything = {
  type: "object", required: ["name", "when", "shape"], description: "All kinds of things.",
  properties: {
    name: { type: "string", minLength: 1, description: "What it is called." },
    count: { type: "integer", minimum: 1, maximum: 5, default: 3 },
    ratio: { type: "number" },
    sure: { type: "boolean" },
    color: { $ref: "#/$defs/color" },
    day: { type: "string", format: "date" },
    when: { type: "string", format: "date-time" },
    shape: { oneOf: [{ $ref: "#/$defs/circle" }, { $ref: "#/$defs/square" }] },
    stops: { type: "array", items: { type: "object", required: ["city"], properties: { city: { type: "string" } } } },
    labels: { type: "object", additionalProperties: { type: "string" } },
    photo: { type: "string", contentEncoding: "base64" },
    maybe: { type: ["string", "null"] },
    tree: { $ref: "#/$defs/tree" },
    whatever: {},
    lost: { $ref: "#/$defs/nowhere" },
  },
  $defs: {
    color: { enum: ["red", "green"] },
    circle: { type: "object", required: ["kind", "radius"], properties: { kind: { const: "circle" }, radius: { type: "number" } } },
    square: { type: "object", required: ["kind", "side"], properties: { kind: { const: "square" }, side: { type: "number" } } },
    tree: { type: "object", properties: { label: { type: "string" }, child: { $ref: "#/$defs/tree" } } },
  },
};

/** @type {Awaited<ReturnType<typeof fake>>} */
let agent;
/** @type {import("./harness.js").Dev} */
let d;
/** @type {import("playwright-core").Browser} */
let b;

before(async () => {
  agent = await fake({
    everything: { name: "Everything", input: everything, run: (t) => { t.artifact("result", [{ data: { fine: true } }]); t.status("COMPLETED"); } },
    pieces: { name: "Pieces", run: (t) => { t.artifact("poem", [{ text: "one " }]); t.artifact("poem", [{ text: "two" }], true, true); t.status("COMPLETED", [{ text: "done" }]); } },
    ask: {
      name: "Ask",
      run: (t, m) => (m.taskId ? t.status("COMPLETED", [{ text: "to " + m.parts[0].data.city }])
        : t.status("INPUT_REQUIRED", [{ text: "Which city?" }, { data: { skill: "ask", input: { type: "object", required: ["city"], properties: { city: { enum: ["Rome", "Oslo"] } } } } }])),
    },
    auth: {
      name: "Auth",
      run: (t, m) => (m.taskId ? t.status("COMPLETED") : t.status("AUTH_REQUIRED", [{ text: "Please let me read it" }],
        { [skillsExtension]: { authorization: { scheme: "calendar", scopes: ["read"], url: "https://calendar.example/authorize" } } })),
    },
  });
  [d, b] = await Promise.all([dev(["--to", agent.url]), browser()]);
});
after(async () => {
  await b?.close();
  await d?.end();
  agent?.end();
});

/** @param {string} skill */
async function trying(skill) {
  const { page, close } = await open(b, d);
  await goTo(page, "#/call");
  await page.getByRole("navigation", { name: "Skills" }).getByRole("link", { name: skill }).click();
  await page.getByRole("heading", { name: skill, exact: true }).waitFor();
  const said = agent.asked.length;
  return { page, close, sent: () => agent.asked.slice(said).filter((a) => a.method.startsWith("Send")) };
}

test("a skill is a form from its schema", async () => {
  const { page, close, sent } = await trying("Everything");
  assert.deepEqual(await violations(page), []);
  await page.getByLabel("name", { exact: true }).fill("thing");
  await page.getByLabel("count").fill("4");
  await page.getByLabel("sure").selectOption("true");
  await page.getByLabel("color").selectOption("green");
  await page.getByLabel("day").fill("2026-05-06");
  await page.getByLabel("when").fill("2026-05-06T07:08");
  await page.getByLabel("shape").selectOption({ label: "square" });
  await page.getByLabel("side").fill("2.5");
  await page.getByRole("button", { name: "Add stops" }).click();
  await page.getByRole("button", { name: "Add to stops" }).click();
  await page.getByLabel("city").nth(0).fill("Rome");
  await page.getByLabel("city").nth(1).fill("Oslo");
  await page.getByRole("button", { name: "stops 2 up" }).click();
  await page.getByRole("button", { name: "Add labels" }).click();
  await page.getByRole("button", { name: "Add a member to labels" }).click();
  await page.getByLabel("Name in labels").fill("__proto__");
  await page.getByLabel("value").last().fill("own");
  await page.getByLabel("photo").setInputFiles({ name: "a.png", mimeType: "image/png", buffer: Buffer.from("hi") });
  await page.getByLabel("maybe").selectOption({ label: "null" });
  await page.getByRole("button", { name: "Add tree" }).click();
  await page.getByRole("button", { name: "Add child" }).click();
  await page.getByLabel("label").nth(1).fill("leaf");
  await page.getByLabel("whatever (JSON)").fill("[1, 2]");
  await page.getByLabel("nowhere (JSON)").or(page.getByLabel("lost (JSON)")).fill('"found"');
  await page.keyboard.press("Control+Enter");
  await page.getByText("completed", { exact: true }).first().waitFor();
  const [{ params }] = sent();
  const data = params.message.parts[0].data;
  assert.ok(Object.hasOwn(data.labels, "__proto__"));
  assert.deepEqual({ ...data, labels: undefined, when: new Date(data.when).getTime() }, {
    name: "thing", count: 4, sure: true, color: "green", day: "2026-05-06", when: new Date("2026-05-06T07:08").getTime(), shape: { kind: "square", side: 2.5 },
    stops: [{ city: "Oslo" }, { city: "Rome" }], labels: undefined, photo: "aGk=", maybe: null, tree: { child: { label: "leaf" } }, whatever: [1, 2], lost: "found",
  });
  assert.equal(params.message.metadata[skillsExtension].skill, "everything");
  await close();
});

test("the same value is JSON, is pasted, and what is no JSON is said", async () => {
  const { page, close, sent } = await trying("Everything");
  const value = { name: "a", when: "2026-01-02T03:04:05.678+02:00", shape: { kind: "circle", radius: 1 }, more: { of: "it" } };
  await page.evaluate((v) => navigator.clipboard.writeText(JSON.stringify(v)), value);
  await page.getByRole("button", { name: "Paste JSON" }).click();
  await until(async () => (await page.getByLabel("name", { exact: true }).inputValue()) === "a", "the value that was pasted");
  assert.equal(await page.getByLabel("radius").inputValue(), "1");
  await page.getByRole("tab", { name: "JSON" }).click();
  assert.deepEqual(JSON.parse(await page.getByLabel("Data, as JSON").inputValue()), value);
  await page.getByLabel("Data, as JSON").fill("{");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("alert").filter({ hasText: "Not sent: 1 mistake, at JSON." }).waitFor();
  assert.equal(sent().length, 0);
  await page.getByLabel("Data, as JSON").fill(JSON.stringify(value));
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  assert.deepEqual(sent()[0].params.message.parts[0].data, value);
  await close();
});

test("a text is sent for the agent to choose the skill, with files, and without waiting", async () => {
  const { page, close, sent } = await trying("Automatic");
  await page.getByLabel("Text", { exact: true }).fill("hello");
  await page.getByLabel("Files").setInputFiles({ name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("hi") });
  await page.getByText("Options").first().click();
  await page.getByLabel("Mode").selectOption({ label: "Return at once" });
  await page.getByLabel("Context").fill("context-9");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("heading", { name: /Task/ }).waitFor();
  const [{ method, params }] = sent();
  assert.equal(method, "SendMessage");
  assert.deepEqual(params.message.parts, [{ text: "hello" }, { raw: "aGk=", filename: "a.txt", mediaType: "text/plain" }]);
  assert.deepEqual([params.message.contextId, params.message.metadata, params.configuration.returnImmediately], ["context-9", undefined, true]);
  await close();
});

test("the log of a task has its events with their bytes, and its artifacts joined and one by one", async () => {
  const { page, close } = await trying("Pieces");
  await page.getByLabel("Text", { exact: true }).fill("go");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const events = page.getByRole("listbox", { name: "Events of the task" });
  await events.getByRole("option", { name: /completed/ }).waitFor();
  assert.equal(await events.getByRole("option").count(), 5);
  await events.getByRole("option", { name: /artifact poem \+/ }).click();
  await page.locator(".event pre").filter({ hasText: /^id: 3\ndata: \{"jsonrpc":"2.0".*"append":true,"lastChunk":true/ }).waitFor();
  await page.getByRole("tab", { name: "As 1.0 has it" }).click();
  await page.locator(".event pre").filter({ hasText: '"artifactId": "poem"' }).waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByRole("tab", { name: "Artifacts" }).click();
  await page.getByText(/^one two$/).nth(1).waitFor();
  await page.getByRole("tab", { name: "One by one" }).click();
  await page.getByText(/^two$/).waitFor();
  await close();
});

test("a question is a form, and its answer goes on with the task", async () => {
  const { page, close, sent } = await trying("Ask");
  await page.getByLabel("Text", { exact: true }).fill("go");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("Which city?").first().waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByLabel("city").selectOption("Oslo");
  await page.getByRole("button", { name: "Answer" }).click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  const message = sent()[1].params.message;
  assert.deepEqual([message.taskId, message.parts[0].data], [sent().length && [...agent.tasks.keys()].at(-1), { city: "Oslo" }]);
  await close();
});

test("an authorization is granted, with a header that is masked in the record", async () => {
  const { page, close, sent } = await trying("Auth");
  await page.getByLabel("Text", { exact: true }).fill("go");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByText("Please let me read it").first().waitFor();
  assert.equal(await page.getByRole("link", { name: /Open this address/ }).getAttribute("href"), "https://calendar.example/authorize");
  await page.getByLabel("Header Authorization of the answer").fill("Bearer secret-123");
  await page.getByRole("button", { name: "It is granted" }).click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  assert.equal(agent.asked.filter((a) => a.headers.authorization === "Bearer secret-123").length, 1);
  assert.equal(sent().length, 2);
  const kept = await page.evaluate(async () => {
    const { calls } = await (await fetch("/api/calls")).json();
    return JSON.stringify(await Promise.all(calls.map(async (/** @type {any} */ c) => (await fetch("/api/calls/" + c.id)).json())));
  });
  assert.ok(!kept.includes("secret-123"));
  await close();
});

test("at each width a skill is called with the keyboard alone, and the answer is seen", async () => {
  for (const [width, height] of [[1280, 800], [768, 900], [375, 740]]) {
    const { page, close } = await open(b, d, { viewport: { width, height } });
    await page.evaluate(() => { location.hash = "#/call/any"; });
    const text = page.getByLabel("Text", { exact: true });
    /** @param {import("playwright-core").Locator} what */
    const tabTo = async (what) => {
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press("Tab");
        if (await what.evaluate((e) => e === document.activeElement)) return;
        assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle), "none", "the focus is seen");
      }
      assert.fail("it is not reached");
    };
    await text.waitFor();
    await tabTo(text);
    await page.keyboard.type("hello");
    await tabTo(page.getByRole("button", { name: "Send", exact: true }));
    await page.keyboard.press("Enter");
    await page.getByText("completed", { exact: true }).first().waitFor();
    const title = page.getByRole("heading", { name: "Answer" });
    const box = await title.boundingBox();
    assert.ok(box && box.y >= 0 && box.y < height / 2, `the answer is at ${JSON.stringify(box)} of ${width}`);
    assert.equal(await page.evaluate(() => Math.max(document.documentElement.scrollWidth, document.querySelector("main")?.scrollWidth ?? 0) <= innerWidth), true);
    for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(page), []);
    }
    await page.emulateMedia({ colorScheme: null });
    assert.equal(await text.isVisible(), width >= 1000);
    if (width < 1000) {
      assert.equal(await title.evaluate((e) => e === document.activeElement), true);
      await page.keyboard.press("Shift+Tab");
      await page.keyboard.press("Enter"); // Back to the form
      assert.equal(await text.inputValue(), "hello");
      assert.equal(await page.getByRole("button", { name: "Send", exact: true }).evaluate((e) => e === document.activeElement), true);
    }
    await close();
  }
});

test("what was sent is at hand as curl; what an agent does not offer is greyed, with why", async (t) => {
  const poor = await fake({ talk: { run: (t) => t.status("COMPLETED") } }, { capabilities: {} });
  t.after(poor.end);
  const d = await dev(["--to", poor.url]);
  t.after(d.end);
  const { page, close } = await open(b, d);
  await page.getByText("The card has no schema for this skill: write a text, or JSON.").waitFor();
  await page.getByText("Options").first().click();
  assert.deepEqual(await page.getByLabel("Mode").locator("option").evaluateAll((list) => list.map((o) => [o.textContent, /** @type {HTMLOptionElement} */ (o).disabled])),
    [["Wait", false], ["Return at once", false], ["Stream (the card does not offer it)", true]]);
  await page.getByLabel("Binding and version").locator("option:disabled", { hasText: "GRPC (not in the card)" }).waitFor({ state: "attached" });
  for (const name of ["Compare…", "Two callers…", "Webhook…"]) assert.equal(await page.getByRole("button", { name }).isDisabled(), true);
  await page.getByText("Compare: the card has one interface. Two callers: the card has no security schemes. Webhook: the card has no push notifications.").waitFor();
  await page.getByLabel("Text", { exact: true }).fill("hello");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  await page.getByRole("button", { name: "as curl" }).click();
  await page.getByLabel("The call in other words").filter({ hasText: /^curl -sS http.*"text":"hello"/s }).waitFor();
  assert.equal(await page.getByRole("button", { name: "as Go" }).isDisabled(), true);
  assert.equal(await page.getByRole("button", { name: "as a test" }).getAttribute("title"), "needs the project: start a2agen dev in its folder");
  assert.deepEqual(await violations(page), []);
  await close();
});
