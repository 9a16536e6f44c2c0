// @ts-check
// What happened in a task: a picture, the list of its events, and log lines beside them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { linesOf } from "../page/assets/tasklog.js";
import { axisOf, rowsOf, ticksOf } from "../page/assets/timeline.js";
import { fake } from "./fake.js";
import { browser, dev, fits, goTo, open, until, violations, widths, worked } from "./harness.js";

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

test("a task has lanes of its callers, its agent, the agents that this called, and its webhooks", () => {
  /** @type {import("../page/assets/api.js").Event[]} */
  const events = [
    { n: 1, atMs: 5, size: 1, kind: "task", task: "t", state: "TASK_STATE_WORKING" }, { n: 2, atMs: 40, size: 1, kind: "comment", text: "a2agen dev: the agent was restarted; the stream goes on" },
    { n: 3, atMs: 90, size: 1, kind: "status", task: "t", state: "TASK_STATE_INPUT_REQUIRED" }];
  const rows = rowsOf(0, "t", {
    calls: [
      call({ events: 3, message: "m", resumed: 1 }), call({ id: 2, agent: 1, task: "u", message: "key", begun: at(20), tookMs: 30, outcome: "completed" }), call({ id: 3, task: "other" }),
      call({ id: 4, begun: at(50), tookMs: 20, caller: "y" }), call({ id: 5, begun: at(60), tookMs: 9, message: "m", state: "broken", faults: "Cut" })],
    events: (id) => id !== 1 ? [] : events.map((event) => ({ key: "1." + event.n, at: noon + event.atMs, call: 1, event })),
    deliveries: [{ id: 7, at: at(41), header: {}, size: 1, token: "good", signature: { check: "absent" }, status: 500, task: "t", config: "c" }],
    others: [{ agent: 0, at: at(19), call: { task: "t", agent: "weather", skill: "forecast", message: "key" } }, { agent: 0, at: at(60), call: { task: "t", agent: "http://far", skill: "s", message: "k2" } }],
    name: (n) => ["planner", "weather"][n], restarts: (n) => (n ? [] : [noon - 9, noon + 30]), now: noon + 100,
  });
  assert.deepEqual(rows.map((r) => [r.party, r.depth, r.label]), [["caller", 0, "x"], ["caller", 0, "y"], ["agent", 0, "planner"], ["inner", 1, "weather"], ["inner", 1, "http://far"], ["webhook", 0, "webhook c"]]);
  assert.deepEqual(rows[0].pieces.map((p) => [p.key, p.track, p.bad, p.marks?.length]), [["1", 0, false, 1], ["5", 1, true, 3]], "calls at the same time are on lines of their own; a repeat, a fault and a break are marked");
  assert.deepEqual(rows[2].pieces.filter((p) => p.state).map((p) => [p.says, p.from - noon, p.to - noon, p.key]), [["working", 5, 90, "1.1"], ["input-required", 90, 100, "1.3"]]);
  assert.deepEqual(rows[2].pieces.filter((p) => !p.state).map((p) => [p.kind, p.from - noon]), [["resumed", 40], ["restart", 30]]);
  assert.equal(rows[2].events.length, 3);
  assert.deepEqual([rows[3].says, rows[3].pieces.map((p) => p.kind)], ["completed", ["call", "over"]]);
  assert.equal(rows[5].says, "1 delivery, 1 refused");
});

test("long pauses are short on the axis, and all else keeps its proportions", () => {
  const axis = axisOf(Float64Array.of(60_100, 0, 100, 60_200));
  assert.deepEqual(axis.pauses.map((p) => p.lasts), [60_000]);
  assert.equal(axis.share(0), 0);
  assert.equal(axis.share(60_200), 1);
  assert.ok(Math.abs(axis.share(50) * 2 - axis.share(100)) < 1e-9);
  assert.ok(axis.share(60_100) - axis.share(100) < 0.1);
  assert.ok(Math.abs(axis.at(axis.share(77)) - 77) < 1e-6);
  assert.equal(axisOf(new Float64Array()).share(5), 0);
  assert.deepEqual(ticksOf(axis, 0.1), [0, 50, 100, 60_150, 60_200]);
  assert.deepEqual(ticksOf(axisOf(Float64Array.of(0, 400)), 0.2, 0.4, 1), [200, 300, 400]);
});

test("lines are of a task if they name it, or come while it is called", () => {
  const line = (/** @type {number} */ ms, /** @type {string} */ text, agent = 0) => ({ agent, at: at(ms), text });
  const lines = [line(-500, "early"), line(50, "meanwhile"), line(60, "another agent's", 1), line(5000, "task=t late")];
  const spans = [{ from: noon, to: noon + 100 }];
  assert.deepEqual(linesOf(lines, 0, "task=t", spans, false).map((e) => e.line), ["meanwhile", "task=t late"]);
  assert.deepEqual(linesOf(lines, 0, "task=t", spans, true).map((e) => e.line), ["task=t late"]);
});

/** @type {Awaited<ReturnType<typeof fake>>} */
let agent;
/** @type {import("./harness.js").Dev} */
let d;
/** @type {import("playwright-core").Browser} */
let b;

before(async () => {
  agent = await fake({
    poem: { name: "Poem", run: (t) => { t.status("WORKING", [{ text: "at it" }]); t.artifact("poem", [{ text: "one " }]); t.artifact("poem", [{ text: "two" }], true, true); t.status("COMPLETED", [{ text: "done" }]); } },
    long: { name: "Long", run: (t) => t.status("WORKING", [{ text: "at it" }]) },
    many: { name: "Many", run: (t) => { for (let i = 1; i < 10_000; i++) t.artifact("rows", [{ text: i + " " }], i > 1); t.status("COMPLETED"); } },
  });
  [d, b] = await Promise.all([dev(["--to", agent.url]), browser()]);
});
after(async () => {
  await b?.close();
  await d?.end();
  agent?.end();
});

/**
 * Streams a message as another program does, to its end.
 * @param {string} skill
 * @param {{message?: string, task?: string, signal?: AbortSignal}} [more]
 * @returns {Promise<string>} the id of its task
 */
async function stream(skill, { message = crypto.randomUUID(), task, signal } = {}) {
  const resp = await fetch(d.agent, {
    method: "POST", signal, headers: { "Content-Type": "application/json", "A2A-Version": "1.0", "User-Agent": "somebody/1" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendStreamingMessage", params: { message: { messageId: message, taskId: task, role: "ROLE_USER", parts: [{ text: "go" }], metadata: { "https://github.com/a2agen/a2agen/extensions/skills/v1": { skill } } } } }),
  });
  await resp.text().catch(() => ""); // it may be broken off on purpose
  return [...agent.tasks.keys()].at(-1) ?? "";
}

/**
 * Opens the page at a task.
 * @param {string} task
 * @param {{width: number, height: number}} [viewport]
 */
async function looking(task, viewport) {
  const { page, close } = await open(b, d, { viewport });
  await goTo(page, "#/tasks/0/" + task);
  const plot = page.getByRole("slider");
  await plot.waitFor();
  return { page, close, plot, events: page.getByRole("listbox", { name: "Events of the task" }), bytes: page.locator(".event pre").first() };
}

test("the picture says in a sentence what happened, and a click on it shows an event, its bytes, and as 1.0 has it", async () => {
  const task = await stream("poem");
  const { page, close, plot, events, bytes } = await looking(task);
  await page.waitForFunction(() => /completed after .*: 5 events$/.test(document.querySelector("[role=slider]")?.getAttribute("aria-label") ?? ""));
  assert.deepEqual(await page.locator(".party").allInnerTexts().then((l) => l.map((t) => t.split("\n")[0])), ["somebody/1", "Fake"]);
  await page.locator(".piece.is-over.completed").hover();
  await page.getByRole("tooltip").filter({ hasText: /completed/ }).waitFor();
  await page.locator(".piece.is-over.completed").click();
  await page.getByRole("heading", { name: /^Event 5 of call/ }).waitFor();
  await bytes.filter({ hasText: /^id: 5\ndata: \{"jsonrpc":"2.0".*TASK_STATE_COMPLETED/ }).waitFor();
  assert.equal(await events.getByRole("option", { selected: true }).innerText().then((t) => /completed/.test(t)), true);
  assert.match(page.url(), /#\/tasks\/0\/task-\d+\/\d+\.5$/);
  await page.getByRole("tab", { name: "As 1.0 has it" }).click();
  await bytes.filter({ hasText: '"state": "TASK_STATE_COMPLETED"' }).waitFor();
  await events.getByRole("option", { name: /artifact poem \+/ }).click();
  await page.getByRole("heading", { name: /^Event 4 of call/ }).waitFor();
  assert.match(await plot.getAttribute("aria-valuetext") ?? "", /^5 of 6, .*artifact poem \+ \.: two$/);
  await page.goBack();
  await page.getByRole("heading", { name: /^Event 5 of call/ }).waitFor();
  await page.goForward();
  await page.getByRole("heading", { name: /^Event 4 of call/ }).waitFor();
  await page.getByRole("tab", { name: "Bytes" }).click();
  await events.getByRole("option", { name: /SendStreamingMessage/ }).click();
  await bytes.filter({ hasText: '"text":"go"' }).waitFor();
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await violations(page), []);
  }
  await page.emulateMedia({ colorScheme: null });
  await close();
});

test("the picture is gone through and zoomed with the keyboard alone", async () => {
  const task = await stream("poem");
  const { page, close, plot, events } = await looking(task);
  await events.getByRole("option").nth(5).waitFor();
  for (let i = 0; i < 40 && !(await plot.evaluate((e) => e === document.activeElement)); i++) await page.keyboard.press("Tab");
  await page.keyboard.press("End");
  await page.getByRole("heading", { name: /^Event 5 of call/ }).waitFor();
  await page.keyboard.press("ArrowLeft");
  await page.getByRole("heading", { name: /^Event 4 of call/ }).waitFor();
  await page.getByRole("tooltip").filter({ hasText: "artifact poem" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("tooltip").waitFor({ state: "hidden" });
  const wide = () => plot.evaluate((e) => e.scrollWidth / e.clientWidth);
  await page.keyboard.press("+");
  await page.keyboard.press("+");
  await until(async () => Math.abs(await wide() - 4) < 0.1, "the picture four times as wide");
  await page.keyboard.press("-");
  await until(async () => Math.abs(await wide() - 2) < 0.1, "the picture twice as wide");
  await page.keyboard.press("0");
  await until(async () => await wide() === 1, "the whole picture");
  const box = /** @type {{x: number, y: number, width: number}} */ (await plot.boundingBox());
  await page.mouse.move(box.x + box.width * 0.5, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.75, box.y + 30, { steps: 3 });
  await page.mouse.up();
  await until(async () => Math.abs(await wide() - 4) < 0.1, "the range that was dragged");
  await page.getByRole("button", { name: "Fit" }).click();
  await until(async () => await wide() === 1, "the whole picture");
  await close();
});

test("a message that is sent again and a call that is broken off are marked; a task is subscribed to after an event, got, and canceled", async () => {
  const gone = new AbortController();
  const first = stream("long", { message: "twice", signal: gone.signal }).catch(() => "");
  await until(async () => [...agent.tasks.values()].some((t) => t.skill.name === "Long" && t.events.length === 2), "a task that works");
  const task = [...agent.tasks.keys()].at(-1) ?? "";
  const { page, close, events } = await looking(task);
  await events.getByRole("option", { name: /at it/ }).waitFor();
  gone.abort();
  await first;
  await events.getByRole("option", { name: /SendStreamingMessage.*broken/ }).waitFor();
  await page.locator(".piece.is-call.wrong").hover();
  await page.getByRole("tooltip").filter({ hasText: "broken" }).waitFor();
  const again = stream("long", { message: "twice", task });
  await events.getByRole("option", { name: /SendStreamingMessage.*repeat/ }).waitFor();
  await page.locator(".piece.is-call b").filter({ hasText: "↻" }).waitFor();
  const summary = page.locator(".fold > summary");
  await summary.click();
  await page.getByLabel("after event").fill("1");
  await page.getByRole("button", { name: "Listen", exact: true }).click();
  await events.getByRole("option", { name: /SubscribeToTask/ }).waitFor();
  await events.getByRole("option", { name: /at it/ }).nth(3).waitFor(); // one by each message, and both again
  assert.equal(agent.asked.find((a) => a.method === "SubscribeToTask")?.headers["last-event-id"], "1");
  await summary.click();
  await page.getByRole("button", { name: "Stop listening" }).click();
  await events.getByRole("option", { name: /SubscribeToTask.*broken/ }).waitFor();
  await page.getByRole("button", { name: "Get task" }).click();
  await events.getByRole("option", { name: /GetTask/ }).waitFor();
  assert.deepEqual(await page.locator(".party").allInnerTexts().then((l) => l.map((t) => t.split("\n")[0])), ["somebody/1", "page", "Fake"]);
  await page.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.locator(".head .state.canceled").waitFor();
  await page.locator(".piece.is-over.canceled").waitFor();
  await again;
  await close();
});

test("10,000 events are a picture that is drawn in no time, and a list that scrolls without a stutter", async () => {
  const task = await stream("many");
  const { page, close, plot, events } = await looking(task);
  await page.waitForFunction(() => Number(document.querySelector(".events [role=option]")?.getAttribute("aria-setsize")) >= 10_001);
  assert.ok(await events.getByRole("option").count() < 100);
  assert.ok(await plot.locator("*").count() < 100, "elements for each event");
  const drawn = 30;
  const work = await worked(page, () => plot.evaluate(async (plot, drawn) => {
    const at = location.origin + "/state.js"; // as the page has it
    const { state, tell } = await import(at);
    const call = [...state.calls.values()].at(-1);
    for (let i = 0; i < drawn; i++) {
      await new Promise((found) => {
        const seen = new MutationObserver(() => { seen.disconnect(); requestAnimationFrame(found); });
        seen.observe(/** @type {Element} */ (plot.querySelector(".plot")), { childList: true });
        tell("call", call);
      });
    }
  }, drawn));
  const each = work / drawn;
  console.log(`the picture of 10,000 events, with its list: ${each.toFixed(1)} ms of work each time that it is drawn anew`);
  assert.ok(each < 60, each + " ms of work a picture"); // some 10 where nothing else runs
  const scrolled = await worked(page, () => events.evaluate(async (list) => {
    for (let i = 0; i < 60; i++) {
      list.scrollTop += 4000;
      await new Promise(requestAnimationFrame);
    }
  }));
  console.log(`scrolling through 10,000 events: ${(scrolled / 60).toFixed(1)} ms of work a picture`);
  assert.ok(scrolled / 60 < 40, scrolled / 60 + " ms of work a picture"); // some 4 where nothing else runs
  await plot.focus();
  await page.keyboard.press("End");
  await page.getByRole("heading", { name: /^Event 10/ }).waitFor();
  await close();
});

test("tasks are found by state and words, on a telephone one after the other, and never wider than the window", async () => {
  await stream("poem");
  const task = await stream("poem");
  for (const width of widths) {
    const { page, close } = await open(b, d, { viewport: { width, height: 740 } });
    await page.keyboard.press("Escape");
    await goTo(page, "#/tasks");
    const list = page.getByRole("listbox", { name: "Tasks, the newest first" });
    await list.getByRole("option", { name: /poem.*completed/ }).first().waitFor();
    await page.getByLabel("State", { exact: true }).selectOption("completed");
    await page.getByLabel("Search tasks").fill("no such words");
    await page.getByText("No task is like that.").waitFor();
    await page.getByLabel("Search tasks").fill(task);
    await list.getByRole("option").first().click();
    await page.getByRole("heading", { name: "poem" }).waitFor();
    assert.equal(await list.isVisible(), width > 960);
    assert.ok(await fits(page), "at " + width);
    assert.deepEqual(await violations(page), []);
    if (width < 960) {
      await page.getByRole("link", { name: "‹ Tasks" }).click();
      await list.waitFor();
    }
    await page.getByLabel("Search tasks").fill("");
    await page.getByLabel("State", { exact: true }).selectOption("");
    await close();
  }
});

test("a call has the picture of its task, too", async () => {
  const task = await stream("poem");
  const { page, close } = await open(b, d);
  await goTo(page, "#/traffic");
  await page.getByRole("option", { name: /SendStreamingMessage/ }).first().click();
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.locator(".piece.is-over.completed").click();
  await page.getByRole("heading", { name: /^Event 5 of call/ }).waitFor();
  assert.match(page.url(), new RegExp(`/tasks/0/${task}/`));
  await close();
});
