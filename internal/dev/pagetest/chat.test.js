// @ts-check
// Chat: what is said and what comes of it, as it comes, on every width, by the keyboard alone.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { fake, skillsExtension } from "./fake.js";
import { browser, dev, open, until, violations, worked } from "./harness.js";

/** @typedef {import("./fake.js").FakeTask} FakeTask */

/** The task of the skill "slow", which a test tells what to do. @type {FakeTask} */
let slow;
const steps = ["Reading the map", "Asking the weather", "Packing"];
const red = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAIAAAACUFjqAAAAEklEQVR4nGP4z8CAB+GTG8HSALfKY52fTcuYAAAAAElFTkSuQmCC";
const report = "# Report\n\nIt is **done**, see [the page](https://example.com/a) and <b>this</b>.\n\n- one\n- two\n  1. deep\n\n| city | days |\n|---|--:|\n| Oslo | 3 |\n\n```go\nfunc main() {}\n```\n";

/** @type {Record<string, import("./fake.js").FakeSkill>} */
const skills = {
  echo: {
    name: "Echo", examples: ["Say it again", "{\"a\": 1}"],
    run(t, m) {
      const raw = m.parts.find((/** @type {any} */ p) => p.raw);
      t.artifact("said", [{ text: m.parts.map((/** @type {any} */ p) => p.text ?? "").join("") + (raw ? ` with ${raw.filename}` : "") }], false, true);
      t.status("COMPLETED");
    },
  },
  slow: { name: "Slow", run(t) { slow = t; steps.forEach((s) => t.status("WORKING", [{ text: s }])); } },
  report: {
    name: "Report",
    run(t) {
      for (const [i, piece] of [...report.match(/[^]{1,7}/g) ?? []].entries()) t.artifact("report", [{ text: piece, mediaType: "text/markdown" }], i > 0);
      t.artifact("data", [{ data: { place: "Oslo", days: [{ date: "Monday", high: 3 }, { date: "Tuesday", low: 1 }] } }]);
      t.artifact("files", [{ raw: red, filename: "red.png", mediaType: "image/png" }, { raw: "YWJj", filename: "a.txt", mediaType: "application/x-thing" }, { url: "https://example.com/big.zip", filename: "big.zip" }]);
      t.status("COMPLETED", [{ text: "All of it is there." }]);
    },
  },
  book: {
    name: "Book",
    run(t, m) {
      const data = m.parts.find((/** @type {any} */ p) => p.data)?.data;
      if (data) t.status("COMPLETED", [{ text: "Booked for " + data.seats }]);
      else t.status("INPUT_REQUIRED", [{ text: "How many seats?" }, { data: { input: { type: "object", required: ["seats"], properties: { seats: { type: "integer" } } } } }]);
    },
  },
  ask: {
    name: "Ask",
    run(t, m) {
      if (t.events.length > 1) t.status("COMPLETED", [{ text: "Then " + m.parts[0].text }]);
      else t.status("INPUT_REQUIRED", [{ text: "Tea or coffee?" }]);
    },
  },
  many: { name: "Many", run: (t) => { for (let i = 0; i < 9998; i++) t.artifact("rows", [{ text: `- row *${i}*\n${i % 100 === 99 ? "\n## next\n\n" : ""}`, mediaType: "text/markdown" }], i > 0); t.status("COMPLETED"); } },
  no: { name: "No", run(t) { t.status("REJECTED", [{ text: "I sell no tickets." }]); } },
};

/** @type {Awaited<ReturnType<typeof fake>>} */ let agent;
/** @type {import("./harness.js").Dev} */ let d;
/** @type {import("playwright-core").Browser} */ let b;

before(async () => {
  [agent, b] = await Promise.all([fake(skills, { name: "Porter", description: "Carries things.", defaultInputModes: ["text/plain"] }), browser()]);
  d = await dev(["--to", agent.url]);
});
after(async () => {
  await b?.close();
  await d?.end();
  agent?.end();
});

/** @param {import("playwright-core").Page} page @param {string} name */
async function chooseSkill(page, name) {
  const how = page.getByRole("button", { name: /^Options/ });
  if (await how.getAttribute("aria-expanded") === "false") await how.click();
  await page.getByLabel("Skill", { exact: true }).selectOption({ label: name });
}

/** @param {import("playwright-core").Page} page @param {string} text */
async function say(page, text) {
  await page.getByLabel("Message", { exact: true }).fill(text);
  await page.keyboard.press("Enter");
}

/** @param {import("playwright-core").Page} page */
const turns = (page) => page.getByRole("article");

/** @param {import("playwright-core").Page} page */
async function accessible(page) {
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await violations(page), [], colorScheme);
  }
  await page.emulateMedia({ colorScheme: null });
}

test("an agent is talked to that takes text: in a skill without a schema, or with one that a text fills", async () => {
  const { page, close } = await open(b, d);
  const modes = ["text/plain", "application/json"];
  const city = { type: "object", required: ["city"], properties: { city: { type: "string" }, days: { type: "integer" } } };
  /** @type {[any, any, string[], boolean][]} the schema, more of the skill, the modes of the card */
  const cases = [
    [undefined, {}, modes, true], [undefined, {}, ["application/json"], false], [undefined, { inputModes: ["text/markdown"] }, ["application/json"], true], [undefined, { inputModes: ["image/png"] }, modes, false],
    [city, {}, modes, true], [{ ...city, required: ["city", "days"] }, {}, modes, false], [{ ...city, required: ["days"] }, {}, modes, false],
    [{ ...city, properties: { city: { $ref: "#/$defs/city" } }, $defs: { city: { type: "string" } } }, {}, modes, true], ["none", null, modes, true],
  ];
  const got = await page.evaluate(async (cases) => {
    const { takesText } = await import(/** @type {any} */ ("/chat.js"));
    return cases.map(([input, skill, defaultInputModes]) => takesText({ card: { defaultInputModes, skills: skill ? [{ id: "s", name: "S", ...skill }] : undefined }, interfaces: [], schemas: { s: { input: input ?? undefined } } }));
  }, cases);
  assert.deepEqual(got, cases.map((c) => c[3]));
  await close();
});

for (const width of [1280, 768, 375]) {
  test(`a message is sent and read by the keyboard alone, at ${width} pixels`, async () => {
    const { page, close } = await open(b, d, { viewport: { width, height: 740 } });
    await page.evaluate(() => { location.hash = "#/chat"; });
    await page.getByRole("main", { name: "Chat" }).waitFor();
    const box = page.getByLabel("Message", { exact: true });
    for (let i = 0; !(await box.evaluate((e) => e === document.activeElement)); i++) {
      assert.ok(i < 40, "the composer is reached");
      await page.keyboard.press("Tab");
      assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle), "none", "the focus is seen");
    }
    await page.keyboard.type("good");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("morning");
    await page.keyboard.press("Enter");
    await turns(page).getByText("completed").waitFor();
    await turns(page).getByRole("region", { name: "Artifact said" }).getByText("good\nmorning").waitFor();
    assert.equal(await box.inputValue(), "");
    assert.equal(await box.evaluate((e) => e === document.activeElement), true);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth && (document.querySelector("main")?.scrollWidth ?? 0) <= innerWidth), true);
    const at = await turns(page).last().boundingBox();
    assert.ok(at && at.y >= 0 && at.y + at.height <= 740, "the answer is seen");
    await accessible(page);
    await close();
  });
}

test("Chat is where one begins, with the examples of the skills, and a reload keeps the conversation", async () => {
  const { page, close } = await open(b, d);
  await page.getByRole("main", { name: "Chat" }).waitFor();
  await page.getByRole("heading", { name: "Conversation" }).waitFor();
  assert.equal(await page.getByRole("group", { name: "Begin with one of these" }).getByRole("button").count(), 1); // JSON is none
  await accessible(page);
  await page.getByRole("button", { name: "Say it again" }).click();
  await turns(page).getByText("completed").waitFor();
  await page.waitForURL(/#\/chat\/context-\d+$/);
  const count = await turns(page).count();
  await page.reload();
  await turns(page).last().getByText("completed").waitFor();
  assert.equal(await turns(page).count(), count);
  await page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: /messages?$/ }).first().waitFor();
  await page.getByRole("link", { name: "New conversation" }).click();
  await page.getByText("Talk to Porter").waitFor();
  assert.equal(await turns(page).count(), 0);
  await close();
});

test("progress is one line that changes, an artifact grows in its place, and the task is canceled", async () => {
  const { page, close } = await open(b, d);
  await page.evaluate(() => { location.hash = "#/chat"; });
  await chooseSkill(page, "Slow");
  await say(page, "go");
  const turn = turns(page).last();
  await turn.getByText("working").waitFor();
  await turn.getByRole("status").getByText("Packing").waitFor();
  assert.equal(await turn.getByText("Asking the weather").isVisible(), false);
  slow.artifact("log", [{ text: "one " }]);
  const log = turn.getByRole("region", { name: "Artifact log" });
  await log.getByText("one").waitFor();
  const element = await log.elementHandle();
  const top = (await log.boundingBox())?.y;
  slow.artifact("log", [{ text: "two " }], true);
  slow.artifact("log", [{ text: "three" }], true);
  await log.getByText("one two three").waitFor();
  assert.equal(await element?.evaluate((e) => e.isConnected), true);
  assert.equal((await log.boundingBox())?.y, top);
  await accessible(page);
  await page.reload();
  await log.getByText("one two three").waitFor();
  await turn.getByRole("status").getByText("Packing").waitFor();
  slow.artifact("log", [{ text: " four" }], true);
  await log.getByText("one two three four").waitFor();
  await turn.getByRole("button", { name: "Cancel" }).click();
  await turn.getByText("canceled").waitFor();
  await turn.getByText("3 steps").click();
  await turn.getByText("Asking the weather").waitFor();
  assert.equal(await turn.getByRole("button", { name: "Cancel" }).count(), 0);
  await close();
});

test("a call that returns at once is followed to the end of its task", async () => {
  const { page, close } = await open(b, d);
  await page.evaluate(() => { location.hash = "#/chat"; });
  await chooseSkill(page, "Slow");
  await page.getByLabel("Mode").selectOption({ label: "return at once" });
  await say(page, "go");
  await until(async () => agent.asked.at(-1)?.method === "SubscribeToTask", "a subscription");
  slow.artifact("log", [{ text: "late" }]);
  slow.status("COMPLETED");
  const turn = turns(page).last();
  await turn.getByText("completed").waitFor();
  await turn.getByText("late").waitFor();
  await close();
});

test("what is made is shown as what it is: Markdown, data as tables, images, files, addresses", async () => {
  const { page, close } = await open(b, d);
  await page.evaluate(() => { location.hash = "#/chat"; });
  await chooseSkill(page, "Report");
  await say(page, "report");
  const turn = turns(page).last();
  await turn.getByText("All of it is there.").waitFor();
  const md = turn.getByRole("region", { name: "Artifact report" });
  await md.getByRole("heading", { name: "Report" }).waitFor();
  assert.equal(await md.getByRole("link", { name: "the page" }).getAttribute("rel"), "noopener noreferrer");
  await md.getByText("<b>this</b>").waitFor();
  assert.equal(await md.locator("ul > li > ol > li").innerText(), "deep");
  await md.getByRole("cell", { name: "Oslo" }).waitFor();
  assert.equal(await md.locator("pre").innerText(), "func main() {}");
  const data = turn.getByRole("region", { name: "Artifact data" });
  assert.deepEqual(await data.getByRole("columnheader").allInnerTexts(), ["date", "high", "low"]);
  await data.getByText("JSON").click();
  await data.getByText('"place": "Oslo"').waitFor();
  const files = turn.getByRole("region", { name: "Artifact files" });
  assert.equal(await files.getByRole("img", { name: "red.png" }).evaluate((/** @type {HTMLImageElement} */ e) => e.decode().then(() => e.naturalWidth)), 10);
  await files.getByText("https://example.com/big.zip").waitFor();
  assert.equal(await files.getByRole("link").count(), 0);
  const [saved] = await Promise.all([page.waitForEvent("download"), files.getByRole("button", { name: "Save a.txt" }).click()]);
  assert.equal(saved.suggestedFilename(), "a.txt");
  await accessible(page);
  await close();
});

test("a question is answered by its form where it has one, else by the composer, and need not be", async () => {
  const { page, close } = await open(b, d);
  await page.evaluate(() => { location.hash = "#/chat"; });
  await chooseSkill(page, "Book");
  await say(page, "a table");
  const first = turns(page).first();
  await first.getByText("How many seats?").waitFor();
  await first.getByLabel("seats").fill("4");
  await accessible(page);
  await first.getByLabel("seats").press("Control+Enter");
  await turns(page).last().getByText("Booked for 4").waitFor();
  assert.equal(await turns(page).count(), 2);
  assert.equal(await first.getByRole("textbox").count(), 0);
  await chooseSkill(page, "Ask");
  await say(page, "a drink");
  await page.getByText("Answering:").waitFor();
  await accessible(page);
  await say(page, "tea");
  await turns(page).last().getByText("Then tea").waitFor();
  assert.equal(await page.getByText("Answering:").isVisible(), false);
  await say(page, "another drink");
  await page.getByText("Answering:").waitFor();
  const tasks = agent.tasks.size;
  await page.getByRole("button", { name: "Do not answer, begin a new task" }).click();
  await say(page, "something else");
  await turns(page).nth(5).getByText("Tea or coffee?").waitFor();
  assert.equal(agent.tasks.size, tasks + 1);
  await close();
});

test("what is rejected or fails is said in a sentence, with what to do", async () => {
  const { page, close } = await open(b, d);
  await page.evaluate(() => { location.hash = "#/chat"; });
  await chooseSkill(page, "No");
  await say(page, "a ticket");
  const turn = turns(page).last();
  await turn.getByText("The task was rejected: I sell no tickets.").waitFor();
  await turn.getByRole("button", { name: "Edit and send again" }).click();
  assert.equal(await page.getByLabel("Message", { exact: true }).inputValue(), "a ticket");
  agent.refuses({ code: -32602, message: "bad", data: [{ "@type": "type.googleapis.com/google.rpc.BadRequest", fieldViolations: [{ field: "message.parts", description: "is too short" }] }] });
  await page.keyboard.press("Enter");
  const last = turns(page).last();
  await last.getByText("The agent rejected the message: message.parts: is too short").waitFor();
  await last.getByText("Change the message and send it again").waitFor();
  await accessible(page);
  await page.getByRole("link", { name: "New conversation" }).click();
  agent.refuses({ code: -32603, message: "out of order" });
  await say(page, "first");
  await turns(page).getByText("The agent answered with an error: out of order").waitFor();
  await page.waitForURL(/#\/chat\/call\/\d+$/);
  await say(page, "second");
  await turns(page).last().getByText("I sell no tickets.").waitFor();
  assert.equal(await turns(page).count(), 2);
  await page.waitForURL(/#\/chat\/context-\d+$/);
  await close();
});

test("files are attached by the button, and by a drop", async () => {
  const { page, close } = await open(b, d);
  await page.evaluate(() => { location.hash = "#/chat"; });
  await chooseSkill(page, "Echo");
  await page.getByLabel("Attach files").and(page.locator("input")).setInputFiles({ name: "gone.txt", mimeType: "text/plain", buffer: Buffer.from("x") });
  await page.getByRole("button", { name: "Remove gone.txt" }).click();
  await page.getByRole("region", { name: "Conversation" }).evaluate((e) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["abc"], "plan.txt", { type: "text/plain" }));
    for (const type of ["dragover", "drop"]) e.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  });
  await page.getByRole("button", { name: "Remove plan.txt" }).waitFor();
  await accessible(page);
  await say(page, "look");
  await turns(page).last().getByText("look with plan.txt").waitFor();
  const { parts } = agent.asked.findLast((a) => a.method === "SendStreamingMessage").params.message;
  assert.deepEqual(parts.slice(1), [{ raw: "YWJj", filename: "plan.txt", mediaType: "text/plain" }]);
  assert.equal(await page.getByRole("button", { name: "Remove plan.txt" }).count(), 0);
  await close();
});

test("a text that looks like Markdown can be read as that", async () => {
  const { page, close } = await open(b, d);
  await chooseSkill(page, "Echo");
  await say(page, "plain words");
  await turns(page).last().getByText("completed").waitFor();
  assert.equal(await page.getByRole("button", { name: "Read as Markdown" }).count(), 0);
  await say(page, "## Head\n- one");
  const answer = turns(page).last().getByRole("region", { name: "Artifact said" });
  await answer.getByText("## Head").waitFor();
  await answer.getByRole("button", { name: "Read as Markdown" }).click();
  await answer.getByRole("heading", { name: "Head" }).waitFor();
  await answer.getByRole("button", { name: "Read as Markdown" }).click();
  await answer.getByText("## Head").waitFor();
  await close();
});

test("a long conversation is drawn from its end, what is before on demand, with another program's part in it", async () => {
  const says = (/** @type {number} */ i) => fetch(d.agent, {
    method: "POST", headers: { "Content-Type": "application/json", "A2A-Version": "1.0", "User-Agent": "other/1" },
    body: JSON.stringify({ jsonrpc: "2.0", id: i, method: "SendMessage", params: { message: { messageId: "long-" + i, contextId: "long", role: "ROLE_USER", parts: [{ text: "message " + i }], metadata: { [skillsExtension]: { skill: "echo" } } } } }),
  });
  for (let i = 1; i <= 40; i++) await says(i);
  const { page, close } = await open(b, d);
  await page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: "message 1" }).click();
  await turns(page).nth(29).waitFor();
  assert.equal(await turns(page).count(), 30);
  await turns(page).last().getByRole("group", { name: "You" }).getByText("message 40", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Show 10 messages before" }).click();
  await turns(page).nth(39).waitFor();
  await turns(page).first().getByRole("group", { name: "You" }).getByText("message 1", { exact: true }).waitFor();
  await say(page, "and mine");
  await turns(page).nth(40).getByText("and mine").first().waitFor();
  assert.equal(agent.asked.at(-1)?.params.message.contextId, "long");
  await close();
});

test("10,000 events in a conversation are drawn with little work, and are let go with it", async () => {
  const { page, close } = await open(b, d);
  await chooseSkill(page, "Many");
  const session = await page.context().newCDPSession(page);
  const used = async () => {
    await session.send("HeapProfiler.collectGarbage");
    return (await session.send("Runtime.getHeapUsage")).usedSize;
  };
  const before = await used();
  const work = await worked(page, async () => {
    await say(page, "go");
    await turns(page).last().getByText("completed").waitFor();
    await turns(page).last().getByText("row 9997").waitFor();
  });
  const typed = await worked(page, () => page.getByLabel("Message", { exact: true }).pressSequentially("some words that are typed"));
  const held = await used() - before;
  console.log(`10,000 events: ${work.toFixed(0)} ms of work, ${(held / 1e6).toFixed(1)} MB; 25 letters beside them: ${typed.toFixed(0)} ms`);
  assert.ok(work < 6000, work + " ms of work");
  assert.ok(typed < 1000, typed + " ms of work");
  assert.ok(held < 40e6, held + " bytes");
  await page.getByRole("link", { name: "New conversation" }).click();
  await until(async () => (await used()) - before < 12e6, "the memory given back");
  await close();
});
