// @ts-check
// A task whose handler asks another agent: both are in one picture.
import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { browser, dev, goTo, open } from "./harness.js";

/**
 * An agent in a few lines, which is "built" by a copy: it answers a message by a task that has completed. If the message
 * names an agent, it asks that first, and tells so on standard error as agents of a2agen do.
 * @param {string} task its id
 */
const program = (task) => `#!${process.execPath}
const { createServer } = require("node:http");
const [host, port] = process.env.A2A_ADDR.split(":");
createServer(async (req, resp) => {
  let body = "";
  for await (const piece of req) body += piece;
  if (req.method !== "POST") return resp.end("{}");
  const { id, params } = JSON.parse(body);
  const other = params.message.parts[0].url;
  if (other) {
    const message = { messageId: "key-1", role: "ROLE_USER", parts: [{ text: "hi" }] };
    console.error("a2agen: calls " + JSON.stringify({ task: "${task}", agent: "child", skill: "talk", message: message.messageId }));
    console.error("working on task=${task}");
    await fetch(other, { method: "POST", headers: { "Content-Type": "application/json", "A2A-Version": "1.0" }, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }) });
  }
  resp.setHeader("Content-Type", "application/json");
  resp.end(JSON.stringify({ jsonrpc: "2.0", id, result: { task: { id: "${task}", contextId: "c", status: { state: "TASK_STATE_COMPLETED" } } } }));
}).listen(Number(port), host);
`;

/** @type {string} */
let root;
/** @type {import("./harness.js").Dev} */
let d;
/** @type {import("playwright-core").Browser} */
let b;

before(async () => {
  root = await mkdtemp(join(tmpdir(), "pagetest-"));
  for (const name of ["parent", "child"]) {
    await mkdir(join(root, name));
    await writeFile(join(root, name, "agent"), program("task-of-" + name));
    await chmod(join(root, name, "agent"), 0o755);
  }
  [d, b] = await Promise.all([dev(["--exec", 'cp agent "$A2A_DEV_OUT"', join(root, "parent"), join(root, "child")], { ready: /parent answers at/ }), browser()]);
  await d.says(/child answers at/);
});
after(async () => {
  await b?.close();
  await d?.end();
  await rm(root, { recursive: true, force: true });
});

test("the task of another agent is below the task that asked for it", async () => {
  const url = /http:\S+[^\s,(]/.exec(await d.says(/child answers at/))?.[0];
  const { page, close } = await open(b, d);
  await fetch(d.agent, {
    method: "POST", headers: { "Content-Type": "application/json", "A2A-Version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: { messageId: "m1", role: "ROLE_USER", parts: [{ url }] } } }),
  });
  await goTo(page, "#/tasks");
  await page.getByRole("option", { name: /task-of-/ }).first().click();
  const lanes = page.locator(".party");
  await lanes.nth(2).waitFor();
  assert.deepEqual((await lanes.allInnerTexts()).map((t) => t.split("\n")[0]), ["node", "parent", "child"]);
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByRole("option", { name: /working on task=task-of-parent/ }).waitFor();
  await page.getByRole("tab", { name: "Events" }).click();
  await page.getByRole("option", { name: /calls an agent child: talk/ }).click();
  await page.getByRole("link", { name: "Its task" }).waitFor();
  await page.locator(".piece.is-over").last().click();
  await page.getByText("task-of-child").first().waitFor();
  assert.ok(!d.said.some((l) => l.includes("a2agen: calls")), "a line for the page alone is printed");
  await close();
});
