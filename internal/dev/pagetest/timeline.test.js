// @ts-check
// What happened in a task: bars on one axis, and log lines beside events.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { linesOf } from "../page/assets/tasklog.js";
import { axisOf, rowsOf } from "../page/assets/timeline.js";
import { browser, copyAgent, dev, open, picture, remove, violations } from "./harness.js";

const noon = Date.parse("2026-01-01T12:00:00Z");
/** @param {number} ms */
const at = (ms) => new Date(noon + ms).toISOString();

/**
 * A call as the record has it.
 * @param {Partial<import("../page/assets/api.js").Summary>} more
 * @returns {import("../page/assets/api.js").Summary}
 */
function call(more) {
  return { id: 1, agent: 0, caller: "x", begun: at(0), method: "POST", path: "/", called: "message/stream", task: "t", state: "done", status: 200, firstMs: 5, tookMs: 100, sent: 1, received: 1, events: 0, ...more };
}

test("a task has rows of its states, its calls, its deliveries, and the tasks that it made elsewhere", () => {
  const rows = rowsOf(0, "t", {
    calls: [call({ events: 3 }), call({ id: 2, agent: 1, task: "u", message: "key", begun: at(20), tookMs: 30, outcome: "completed" }), call({ id: 3, task: "other" })],
    events: (id) => id !== 1 ? [] : [
      { n: 1, atMs: 5, size: 1, kind: "task", task: "t", state: "TASK_STATE_WORKING" }, { n: 2, atMs: 40, size: 1, kind: "artifact", task: "t" },
      { n: 3, atMs: 90, size: 1, kind: "status", task: "t", state: "TASK_STATE_INPUT_REQUIRED" }],
    deliveries: [{ id: 7, at: at(41), header: {}, size: 1, token: "good", signature: { check: "absent" }, status: 500, task: "t", config: "c" }],
    others: [{ agent: 0, at: at(19), call: { task: "t", agent: "weather", skill: "forecast", message: "key" } }, { agent: 0, at: at(60), call: { task: "t", agent: "http://far", skill: "s", message: "k2" } }],
    name: (n) => ["planner", "weather"][n], now: noon + 100,
  });
  assert.deepEqual(rows.map((r) => [r.depth, r.label]), [[0, "planner"], [1, "message/stream"], [1, "push c"], [1, "weather"], [2, "message/stream"], [1, "asks http://far"]]);
  assert.deepEqual(rows[0].pieces.map((p) => [p.says, p.kind, p.from - noon, p.to - noon]), [["working", "state", 5, 90], ["input-required", "wait", 90, 100]]);
  assert.deepEqual(rows[1].pieces.map((p) => p.kind), ["wait", "call", "event", "event", "event"]);
  assert.equal(rows[2].says, "1 delivery, 1 refused");
  assert.equal(rows[3].says, "completed");
});

test("long pauses are short on the axis, and all else keeps its proportions", () => {
  /** @param {number} from @param {number} to */
  const piece = (from, to) => ({ from, to, kind: /** @type {const} */ ("call"), says: "" });
  const axis = axisOf([{ depth: 0, label: "", says: "", pieces: [piece(0, 100), piece(60_100, 60_200)] }]);
  assert.deepEqual(axis.pauses.map((p) => p.lasts), [60_000]);
  assert.equal(axis.share(0), 0);
  assert.equal(axis.share(60_200), 1);
  assert.ok(Math.abs(axis.share(50) * 2 - axis.share(100)) < 1e-9);
  assert.ok(axis.share(60_100) - axis.share(100) < 0.1);
  assert.ok(Math.abs(axis.at(axis.share(77)) - 77) < 1e-6);
  assert.equal(axisOf([]).share(5), 0);
});

test("lines are of a task if they name it, or come while it is called", () => {
  const line = (/** @type {number} */ ms, /** @type {string} */ text, agent = 0) => ({ agent, at: at(ms), text });
  const lines = [line(-500, "early"), line(50, "meanwhile"), line(60, "another agent's", 1), line(5000, "task=t late")];
  const spans = [{ from: noon, to: noon + 100 }];
  assert.deepEqual(linesOf(lines, 0, "task=t", spans, false).map((e) => e.line), ["meanwhile", "task=t late"]);
  assert.deepEqual(linesOf(lines, 0, "task=t", spans, true).map((e) => e.line), ["task=t late"]);
});

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

/** Streams a forecast as another program does, to its end. */
async function stream() {
  const card = await (await fetch(d.agent + "/.well-known/agent-card.json")).json();
  const url = card.supportedInterfaces.find((/** @type {any} */ i) => i.protocolBinding === "JSONRPC" && i.protocolVersion === "1.0").url;
  const resp = await fetch(url, {
    method: "POST", headers: { "Content-Type": "application/json", "A2A-Version": "1.0" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ data: { location: "Oslo", days: 2 } }], metadata: { skillId: "get_forecast" } } } }),
  });
  await resp.text();
}

test("the timeline of a call's task is on the page, and its log lines", async () => {
  await stream();
  const { page, close } = await open(b, d);
  await page.keyboard.press("t");
  await page.getByRole("option", { name: /SendStreamingMessage/ }).first().click();
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.getByRole("row", { name: /WeatherBot.*completed/ }).waitFor();
  assert.ok(await page.locator(".piece.is-event").count() >= 2);
  await page.getByRole("button", { name: "Wider" }).click();
  await page.getByText("2 times as wide").waitFor();
  assert.deepEqual(await violations(page), []);
  await picture(page, "timeline");
  await page.getByRole("tab", { name: "Log lines" }).click();
  await page.getByRole("option", { name: /● (task|status).*completed/ }).waitFor();
  await page.getByRole("option", { name: /task=/ }).first().waitFor();
  assert.deepEqual(await violations(page), []);
  await close();
});
