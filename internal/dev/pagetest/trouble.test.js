// @ts-check
// Calls that fail on purpose, the webhook, and why a skill was chosen.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, copyAgent, dev, goTo, open, remove, violations } from "./harness.js";

/** @type {string} */
let dir;
/** @type {import("./harness.js").Dev} */
let d;
/** @type {import("playwright-core").Browser} */
let b;

before(async () => {
  dir = await copyAgent("examples/weather");
  const card = join(dir, "agent.yaml");
  await writeFile(card, (await readFile(card, "utf8")).replace("  streaming: true\n", "  streaming: true\n  pushNotifications: true\n"));
  [d, b] = await Promise.all([dev(["-C", dir]), browser()]);
});
after(async () => {
  await b?.close();
  await d?.end();
  await remove(dir);
});

/**
 * Sends a text to the agent as another program does, in 1.0 over JSON-RPC.
 * @param {string} text
 */
async function say(text) {
  const card = await (await fetch(d.agent + "/.well-known/agent-card.json")).json();
  const at = card.supportedInterfaces.find((/** @type {any} */ i) => i.protocolBinding === "JSONRPC" && i.protocolVersion === "1.0").url;
  return fetch(at, {
    method: "POST", headers: { "Content-Type": "application/json", "A2A-Version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] } } }),
  });
}

test("a fault is switched on, hits a call, and is switched off", async () => {
  const { page, close } = await open(b, d);
  await goTo(page, "#/agent/faults");
  await page.getByText("calls pass as they are").first().waitFor();
  await page.getByLabel("Fault", { exact: true }).selectOption("status");
  await page.getByLabel("Times").fill("1");
  await page.getByRole("button", { name: "Switch on" }).click();
  await page.getByRole("cell", { name: "Status(503).Times(1)", exact: true }).waitFor();
  assert.equal((await say("hello")).status, 503);
  await page.getByRole("cell", { name: "1", exact: true }).waitFor();
  await goTo(page, "#/traffic");
  const calls = page.getByRole("listbox", { name: "Calls" }).getByRole("option");
  const hit = calls.filter({ hasText: "fault: Status(503)" });
  await hit.click();
  await page.getByRole("tab", { name: "Bytes" }).click();
  await page.getByText("A fault that is switched on in Agent, Faults hit this call: Status(503)").waitFor();
  assert.equal((await say("hello")).status, 200);
  await calls.nth(2).waitFor(); // the card was read before
  assert.equal(await hit.count(), 1);
  await goTo(page, "#/agent/faults");
  assert.deepEqual(await violations(page), []);
  await page.getByRole("button", { name: "Remove all" }).click();
  await page.getByText("No fault is on").waitFor();
  assert.equal((await say("hello")).status, 200);
  await close();
});

test("a fault that cannot be says why", async () => {
  const { page, close } = await open(b, d);
  await goTo(page, "#/agent/faults");
  await page.getByLabel("Fault", { exact: true }).selectOption("cut");
  await page.getByLabel("Operation", { exact: true }).selectOption("GetTask");
  await page.getByRole("button", { name: "Switch on" }).click();
  await page.getByRole("alert").filter({ hasText: "GetTask has no stream of events" }).waitFor();
  await close();
});

test("the webhook takes deliveries, refuses them on purpose, and shows them", async () => {
  const { page, close } = await open(b, d);
  await goTo(page, "#/traffic/webhooks");
  const address = await page.locator("code").first().innerText();
  const token = await page.locator("code").nth(1).innerText();
  await page.getByText("Refuse deliveries").click();
  await page.getByLabel("Deliveries", { exact: true }).and(page.locator("input")).fill("1");
  await page.getByLabel("Status", { exact: true }).selectOption("500");
  await page.getByRole("button", { name: "Refuse", exact: true }).click();
  await page.getByText("the next 1 are refused with 500").waitFor();
  const deliver = () => fetch(address, {
    method: "POST", headers: { "X-A2A-Notification-Token": token, "X-A2A-Notification-Id": "n1", "X-A2A-Notification-Sequence": "3" },
    body: JSON.stringify({ statusUpdate: { taskId: "t1", contextId: "c", status: { state: "TASK_STATE_WORKING" } } }),
  });
  assert.equal((await deliver()).status, 500);
  assert.equal((await deliver()).status, 200);
  await page.getByRole("option", { name: /#2.*sent again/ }).click();
  await page.getByText("HTTP 200").waitFor();
  await page.getByText("all are accepted").waitFor();
  await page.getByText("the token is right").waitFor();
  await page.getByLabel("Body").filter({ hasText: "TASK_STATE_WORKING" }).waitFor();
  assert.doesNotMatch(await page.getByLabel("Headers").innerText(), new RegExp(token));
  assert.deepEqual(await violations(page), []);
  await page.getByRole("button", { name: "Clear" }).click();
  await page.getByText("No delivery yet").waitFor();
  await close();
});

test("a call says why the agent chose the skill, with the scores of all", async () => {
  const { page, close } = await open(b, d);
  await say("Will it rain in Rome this week, what is the forecast?");
  await goTo(page, "#/traffic");
  await page.getByRole("option", { name: /SendMessage/ }).first().click();
  await page.getByRole("tab", { name: "Routing" }).click();
  await page.getByText("this skill shares most words with the text").waitFor();
  assert.match(await page.getByRole("row", { name: /▸/ }).innerText(), /forecast/i);
  assert.deepEqual(await violations(page), []);
  await close();
});

test("a message is sent with the inbox as its webhook, and its deliveries are in the picture of its task, those that were refused marked", async () => {
  const { page, close } = await open(b, d);
  await goTo(page, "#/call");
  await page.getByRole("link", { name: /Get Forecast/i }).click();
  await page.getByRole("textbox", { name: /location/ }).fill("Oslo");
  await page.evaluate(() => fetch("/api/inbox", { method: "PUT", body: JSON.stringify({ status: 500, left: 1 }) }));
  await page.getByRole("button", { name: "Webhook…" }).click();
  await page.getByRole("button", { name: "Send, with the inbox as webhook" }).click();
  const last = page.getByRole("option", { name: /status completed.*token/ }).first();
  await last.click();
  await page.getByText("the token is right").waitFor();
  await goTo(page, "#/tasks");
  await page.getByRole("option", { name: /get_forecast/ }).first().click();
  await page.locator(".party").filter({ hasText: /webhook .*deliver/s }).waitFor();
  const deliveries = page.locator(".piece.is-delivery");
  await deliveries.first().waitFor();
  assert.equal(await page.locator(".piece.is-delivery.wrong").count(), 1);
  await page.getByRole("option", { name: /delivery answered with 500/ }).waitFor();
  await page.getByRole("option", { name: /delivery answered with 200/ }).last().click();
  await page.getByRole("heading", { name: /^Delivery #/ }).waitFor();
  await page.locator(".event pre").filter({ hasText: "completed" }).or(page.locator(".event pre").filter({ hasText: "COMPLETED" })).waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByRole("tab", { name: "Webhook" }).click();
  await page.getByRole("button", { name: "Send what comes to the inbox" }).click();
  await page.getByRole("main", { name: "Webhooks" }).waitFor();
  await close();
});
