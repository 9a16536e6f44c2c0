// @ts-check
// Mistakes in a form: they are shown at their fields, before anything is sent, and again as the agent tells them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fake } from "./fake.js";
import { browser, copyAgent, dev, goTo, open, remove, until, violations } from "./harness.js";

/** A schema with every rule that the page judges. */
const rules = {
  type: "object", required: ["name", "days", "stops", "shape"],
  properties: {
    name: { type: "string", minLength: 2, maxLength: 5 },
    days: { type: "integer", minimum: 1, maximum: 5 },
    code: { type: "string", pattern: "^[A-Z]+$" },
    mail: { type: "string", format: "email" },
    step: { type: "number", multipleOf: 0.1, exclusiveMinimum: 0 },
    color: { enum: ["red", "green"] },
    stops: { type: "array", minItems: 1, maxItems: 2, uniqueItems: true, items: { type: "object", required: ["city"], properties: { city: { type: "string" } } } },
    shape: { oneOf: [{ title: "circle", type: "object", required: ["radius"], properties: { radius: { type: "number" } } }, { title: "square", type: "object", required: ["side", "angle"], properties: { side: { type: "number" }, angle: { type: "number" } } }] },
    labels: { type: "object", additionalProperties: { type: "string", minLength: 1 } },
    more: {},
  },
};

/** What a form offers. */
const offers = {
  type: "object", required: ["city"],
  properties: {
    city: { type: "string", minLength: 2, examples: ["Rome", "Oslo"] }, days: { type: "integer", minimum: 1, maximum: 5, default: 3 }, units: { enum: ["metric", "imperial"], default: "metric" },
    photo: { type: "string", contentEncoding: "base64" }, stops: { type: "array", items: { type: "string" }, examples: [["sea", "hills"]] },
    by: { oneOf: [{ type: "object", required: ["kind"], properties: { kind: { const: "train" } } }, { type: "object", properties: { miles: { type: "number" } } }, { title: "On foot", type: "object" }] },
  },
};

/** @type {Awaited<ReturnType<typeof fake>>} */
let agent;
/** @type {string} */
let dir;
/** @type {import("./harness.js").Dev} a fake agent, which takes anything */
let d;
/** @type {import("./harness.js").Dev} the agent of examples/weather */
let weather;
/** @type {import("playwright-core").Browser} */
let b;

before(async () => {
  agent = await fake({
    rules: { name: "Rules", input: rules, run: (t) => t.status("COMPLETED") },
    offers: { name: "Offers", input: offers, run: (t) => t.status("COMPLETED") },
    ask: {
      name: "Ask",
      run: (t, m) => (m.taskId ? t.status("COMPLETED", [{ text: "to " + m.parts[0].data.city }])
        : t.status("INPUT_REQUIRED", [{ text: "Which city?" }, { data: { input: { type: "object", required: ["city"], properties: { city: { type: "string", minLength: 3 } } } } }])),
    },
  });
  dir = await copyAgent("examples/weather");
  [d, weather, b] = await Promise.all([dev(["--to", agent.url]), dev(["-C", dir]), browser()]);
});
after(async () => {
  await b?.close();
  await Promise.all([d?.end(), weather?.end()]);
  agent?.end();
  await remove(dir);
});

/** @param {import("./harness.js").Dev} d @param {string} skill @param {{width: number, height: number}} [viewport] */
async function trying(d, skill, viewport) {
  const { page, close } = await open(b, d, { viewport });
  await goTo(page, "#/call");
  await page.getByRole("navigation", { name: "Skills" }).getByRole("link", { name: skill }).click();
  await page.getByRole("heading", { name: skill, exact: true }).waitFor();
  const said = agent.asked.length;
  const sent = () => agent.asked.slice(said).filter((a) => a.method.startsWith("Send")).map((a) => a.params.message.parts);
  return { page, close, sent, send: page.getByRole("button", { name: "Send", exact: true }), alert: page.locator("form [role=alert]") };
}

/** The label of the control that has the focus, and what a screen reader says of it beside that. @param {import("playwright-core").Page} page */
const focused = (page) => page.evaluate(() => {
  const e = /** @type {HTMLInputElement} */ (document.activeElement);
  const about = (e.getAttribute("aria-describedby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent);
  return { label: e.labels?.[0]?.textContent ?? e.tagName, invalid: e.getAttribute("aria-invalid"), about };
});

test("an empty form is not sent: its mistakes are at their fields, the focus is at the first, and each goes when it is mended", async () => {
  const { page, close, sent, send, alert } = await trying(d, "Rules", { width: 360, height: 740 });
  await send.click();
  await alert.filter({ hasText: /^Not sent: 4 mistakes, the first at days\.$/ }).waitFor();
  assert.deepEqual(await focused(page), { label: "days", invalid: "true", about: ["is required", "required, whole number 1 to 5"] });
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
  assert.deepEqual(await violations(page), []);
  await page.keyboard.type("2");
  assert.equal(await page.getByLabel("days", { exact: true }).getAttribute("aria-invalid"), "false");
  await page.keyboard.press("Control+Enter");
  await until(async () => (await focused(page)).label === "name", "the focus on the next mistake");
  assert.equal(await page.locator(".wrong").count(), 3); // the city and the radius, too
  assert.deepEqual(sent(), []);
  await close();
});

test("every rule that the page knows is judged at its field", async () => {
  const { page, close, sent, send } = await trying(d, "Rules");
  await page.getByRole("button", { name: "Add labels" }).click();
  await page.getByRole("button", { name: "Add a member to labels" }).click();
  await page.getByRole("button", { name: "Remove stops 1", exact: true }).click();
  await send.click();
  await page.locator("fieldset.wrong > .bad", { hasText: "must have at least 1 item" }).waitFor();
  for (let i = 0; i < 2; i++) await page.getByRole("button", { name: "Add to stops" }).click();
  assert.equal(await page.locator("fieldset.wrong").count(), 0);
  await page.getByLabel("shape").selectOption({ label: "square" });
  /** @type {[string, string, string, string][]} label, what is wrong, what is said, what is right */
  const fields = [
    ["name", "O", "must have at least 2 characters", "Oslo"], ["name", "Oslo-Oslo", "must have at most 5 characters", "Oslo"],
    ["days", "0", "must be at least 1", "2"], ["days", "9", "must be at most 5", "2"], ["days", "two", "must be an integer, not a string", "2"], ["days", "1.5", "must be an integer, not a number", "2"],
    ["code", "oslo", "must match the pattern ^[A-Z]+$", "OSLO"], ["mail", "oslo", "must be a valid email", "a@b"],
    ["step", "0.25", "must be a multiple of 0.1", "0.3"], ["step", "0", "must be greater than 0", "0.3"],
    ["side", "", "is required", "1"], ["angle", "x", "must be a number, not a string", "2"], ["value", "", "is required", "v"], ["more (JSON)", "{", "is not JSON", "[1]"],
  ];
  for (const [label, wrong, said, right] of fields) {
    const field = page.getByLabel(label, { exact: true });
    await field.fill(wrong);
    await send.click();
    assert.match(await page.locator(".field", { has: field }).last().locator(".bad").textContent() ?? "", new RegExp("^" + said.replace(/[\^$+[\].()]/g, "\\$&")), `${label} ${wrong}`);
    await field.fill(right);
  }
  await page.getByLabel("city").nth(0).fill("Rome");
  await page.getByLabel("city").nth(1).fill("Rome");
  await send.click();
  await page.locator("fieldset.wrong > .bad", { hasText: "must have no two equal items" }).waitFor();
  await page.getByLabel("city").nth(1).fill("Oslo");
  await send.click();
  await page.locator(".wrong + .bad", { hasText: "has no name" }).waitFor();
  assert.deepEqual(sent(), []);
  await page.getByLabel("Name in labels").fill("l");
  await send.click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  assert.deepEqual(sent()[0][0].data, {
    name: "Oslo", days: 2, code: "OSLO", mail: "a@b", step: 0.3, stops: [{ city: "Rome" }, { city: "Oslo" }], shape: { side: 1, angle: 2 }, labels: { l: "v" }, more: [1],
  });
  await close();
});

test("a wrong input is sent on purpose by a button, and as JSON without asking", async () => {
  const { page, close, sent, send } = await trying(d, "Rules");
  await page.getByLabel("days").fill("two");
  await send.click();
  await page.getByRole("button", { name: "Send anyway" }).click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  assert.deepEqual(sent()[0][0].data, { days: "two", stops: [{}], shape: {} });
  await page.getByRole("tab", { name: "JSON" }).click();
  await page.getByLabel("Data, as JSON").fill("7");
  await send.click();
  await until(async () => sent().length === 2, "the JSON");
  assert.deepEqual(sent()[1][0].data, 7);
  await close();
});

test("no JSON, and nothing, are mistakes of their fields", async () => {
  const { page, close, sent, send } = await trying(d, "Rules");
  for (const [tab, text, said] of [["JSON", "{", "is not JSON"], ["JSON", "", "there is nothing to send"], ["Text", "", "there is nothing to send"]]) {
    await page.getByRole("tab", { name: tab, exact: true }).click();
    const field = page.getByLabel(tab === "JSON" ? "Data, as JSON" : "Text", { exact: true });
    await field.fill(text);
    await send.click();
    await page.locator("form [role=alert]", { hasText: `Not sent: 1 mistake, at ${tab}.` }).waitFor();
    const now = await focused(page);
    assert.deepEqual([now.invalid, now.about[0]?.startsWith(said)], ["true", true]);
  }
  assert.deepEqual(sent(), []);
  await close();
});

test("what panels send is judged, too", async () => {
  const { page, close } = await trying(weather, "Get Forecast");
  const calls = () => page.evaluate(async () => (await (await fetch("/api/calls")).json()).calls.length);
  const before = await calls();
  await page.getByRole("button", { name: "Compare…" }).click();
  await page.getByRole("button", { name: "Send in every version and binding" }).click();
  await page.getByRole("alert").filter({ hasText: "Not sent: 1 mistake, at location." }).waitFor();
  assert.equal((await focused(page)).label, "location");
  assert.equal(await calls(), before);
  await close();
});

test("what the agent finds wrong is at its field, over each binding, and the JSON is behind the details", async () => {
  const { page, close, send } = await trying(weather, "Get Forecast");
  const result = page.getByRole("region", { name: "Answer" });
  const form = page.getByRole("region", { name: "Message" });
  await page.getByText("Options", { exact: false }).first().click();
  for (const way of ["JSONRPC 1.0", "HTTP+JSON 1.0"]) {
    for (const mode of ["Stream", "Wait"]) {
      await page.getByLabel("location").fill("Oslo");
      await page.getByLabel("days").fill("9");
      await page.getByLabel("Binding and version").selectOption({ label: way });
      await page.getByLabel("Mode").selectOption({ label: mode });
      await send.click();
      await page.getByRole("button", { name: "Send anyway" }).click();
      await result.getByRole("heading", { name: "Rejected by the agent: days: must be at most 5", exact: true }).waitFor();
      await form.getByText("Rejected by the agent: days: must be at most 5", { exact: true }).waitFor();
      await until(async () => (await focused(page)).label === "days", "the focus on what the agent names");
      assert.deepEqual((await focused(page)).about, ["must be at most 5", "whole number 1 to 5, default 5"]);
      assert.equal(await result.locator("pre").isVisible(), false);
      await page.getByLabel("days").fill("2");
    }
  }
  await result.getByText("The error as JSON", { exact: true }).click();
  await result.locator("pre", { hasText: "fieldViolations" }).waitFor();
  assert.deepEqual(await violations(page), []);
  await close();
});

test("what an agent says in its own way finds its field, and what is of none is said", async () => {
  const { page, close, send } = await trying(d, "Rules");
  await page.getByLabel("name", { exact: true }).fill("Oslo");
  await page.getByLabel("days").fill("2");
  await page.getByLabel("city").fill("Rome");
  await page.getByLabel("radius").fill("1");
  for (const [field, label, path] of [["/stops/0/city", "city", "stops.0.city"], ["message.parts[0].data.stops[0].city", "city", "stops[0].city"], ["input.shape.radius", "radius", "shape.radius"], ["name", "name", "name"], ["elsewhere", "DIV", "elsewhere"]]) {
    agent.refuses({ code: -32602, message: "No", data: [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field, description: "is not liked" }] }] });
    await send.click();
    await page.getByRole("heading", { name: `Rejected by the agent: ${path}: is not liked` }).waitFor();
    await until(async () => (await focused(page)).label === label, `the focus on ${label} for ${field}`);
    assert.match((await focused(page)).about[0] ?? "", /is not liked$/);
  }
  agent.refuses({ code: -32000, message: "Come tomorrow" });
  await send.click();
  await page.getByRole("heading", { name: "The agent answered with an error: Come tomorrow" }).waitFor();
  assert.equal(await page.locator(".wrong").count(), 0);
  await close();
});

test("an answer to a question is judged, and one that the agent does not take stays to be mended", async () => {
  const { page, close, sent } = await trying(d, "Ask");
  await page.getByLabel("Text", { exact: true }).fill("go");
  await page.getByRole("button", { name: "Send", exact: true }).click();
  const answer = page.getByRole("button", { name: "Answer" });
  await answer.click();
  await page.locator(".question [role=alert]", { hasText: "Not sent: 1 mistake, at city." }).waitFor();
  assert.equal((await focused(page)).label, "city");
  assert.equal(sent().length, 1);
  await page.getByLabel("city").fill("Oslo");
  agent.refuses({ code: -32602, message: "No", data: [{ fieldViolations: [{ field: "input.city", description: "is not liked" }] }] });
  await answer.click();
  await page.getByRole("heading", { name: "Rejected by the agent: city: is not liked" }).waitFor();
  assert.deepEqual([(await focused(page)).label, await page.getByLabel("city").inputValue()], ["city", "Oslo"]);
  await page.getByLabel("city").fill("Rome");
  await answer.click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  await close();
});

test("defaults and examples of the schema are offered, and a field is judged when it is left, but not for being empty", async () => {
  const { page, close, sent, send } = await trying(d, "Offers");
  assert.equal(await page.getByLabel("days").getAttribute("placeholder"), "3");
  assert.equal(await page.getByLabel("units").locator("option").first().textContent(), "default: metric");
  assert.deepEqual(await page.getByLabel("by").locator("option").allTextContents(), ["(left out)", "kind: train", "option 2", "On foot"]);
  await page.getByLabel("city").focus();
  await page.keyboard.press("Tab");
  assert.equal(await page.locator(".wrong").count(), 0);
  await page.getByLabel("city").fill("x");
  await page.keyboard.press("Tab");
  assert.equal(await page.getByLabel("city").getAttribute("aria-invalid"), "true");
  await page.getByRole("button", { name: "Example: Oslo" }).click();
  assert.deepEqual([await page.getByLabel("city").inputValue(), await page.getByLabel("city").getAttribute("aria-invalid")], ["Oslo", "false"]);
  await page.getByRole("button", { name: "Use default: 3" }).click();
  await page.getByLabel("days").fill("7");
  await page.getByLabel("by").click(); // what is said of days comes under the press, and it is no less a click
  assert.equal(await page.getByLabel("days").getAttribute("aria-invalid"), "true");
  await page.getByLabel("days").fill("4");
  await page.getByRole("button", { name: "Add stops" }).click();
  await page.getByRole("button", { name: /^Example: \["sea"/ }).click();
  await page.getByLabel("by").selectOption({ label: "option 2" });
  await page.getByLabel("miles").fill("2");
  await send.click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  assert.deepEqual(sent()[0][0].data, { city: "Oslo", days: 4, stops: ["sea", "hills"], by: { miles: 2 } });
  await close();
});

test("elements are added, moved and removed by the keyboard, which stays where they are", async () => {
  const { page, close, sent } = await trying(d, "Offers");
  await page.getByLabel("city").fill("Oslo");
  /** @param {string} name */
  const press = async (name) => {
    await page.getByRole("button", { name, exact: true }).focus();
    await page.keyboard.press("Enter");
  };
  await press("Add stops");
  await page.keyboard.type("one");
  for (const text of ["two", "three"]) {
    await press("Add to stops");
    await page.keyboard.type(text);
  }
  await press("stops 3 up");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "stops 2 up");
  await page.keyboard.press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "stops 1 down"); // it goes no further up
  await page.locator("#said", { hasText: "stops 2 is number 1 now" }).waitFor({ state: "attached" });
  assert.equal(await page.getByLabel("stops 1", { exact: true }).inputValue(), "three");
  await press("Remove stops 2");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Remove stops 2");
  await page.keyboard.press("Control+Enter");
  await page.getByText("completed", { exact: true }).first().waitFor();
  assert.deepEqual(sent()[0][0].data, { city: "Oslo", stops: ["three", "two"] });
  await close();
});

test("files are dropped on their field, and beside the form, and are taken away again", async () => {
  const { page, close, sent, send } = await trying(d, "Offers");
  await page.getByLabel("city").fill("Oslo");
  /** @param {string} label @param {string[]} names */
  const drop = (label, ...names) => page.getByLabel(label).evaluate((input, names) => {
    const dataTransfer = new DataTransfer();
    for (const name of names) dataTransfer.items.add(new File(["hi"], name, { type: "text/plain" }));
    for (const kind of ["dragover", "drop"]) input.parentElement?.dispatchEvent(new DragEvent(kind, { dataTransfer, bubbles: true, cancelable: true }));
  }, names);
  await drop("photo", "a.txt");
  await drop("Files", "b.txt", "c.txt");
  await page.getByText("a.txt, 2 B").waitFor();
  await page.getByRole("button", { name: "Remove b.txt" }).click();
  await send.click();
  await page.getByText("completed", { exact: true }).first().waitFor();
  assert.deepEqual(sent()[0], [{ data: { city: "Oslo", photo: "aGk=" }, mediaType: "application/json" }, { raw: "aGk=", filename: "c.txt", mediaType: "text/plain" }]);
  await close();
});

test("what was written is there after another skill, another tab and a reload, and Clear takes it away", async () => {
  const { page, close } = await trying(d, "Offers");
  await page.getByLabel("city").fill("Oslo");
  await page.getByRole("navigation", { name: "Skills" }).getByRole("link", { name: "Rules" }).click();
  await page.getByRole("heading", { name: "Rules", exact: true }).waitFor();
  await page.getByRole("navigation", { name: "Skills" }).getByRole("link", { name: "Offers" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll("input")].some((i) => i.value === "Oslo"));
  await page.getByRole("tab", { name: "JSON" }).click();
  await page.getByLabel("Data, as JSON").fill('{"city": ');
  await page.reload();
  await page.getByLabel("Data, as JSON").waitFor();
  assert.equal(await page.getByLabel("Data, as JSON").inputValue(), '{"city": ');
  await page.getByRole("button", { name: "Clear" }).click();
  assert.equal(await page.getByLabel("Data, as JSON").inputValue(), "");
  await page.getByRole("tab", { name: "Form" }).click();
  assert.equal(await page.getByLabel("city").inputValue(), "");
  await close();
});
