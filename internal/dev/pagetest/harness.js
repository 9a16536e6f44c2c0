// @ts-check
// What the tests of the page stand on: "a2agen dev" as a user starts it, and a real browser before it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

/** How long a line of the command is waited for: it may compile an agent before. */
const patience = 120_000;

const repository = resolve(import.meta.dirname, "../../..");
const command = process.env.A2AGEN ?? join(repository, "bin/a2agen");

/**
 * Copies an agent of examples/, or a folder beside this file, to one of its own.
 * @param {string} from such as "examples/weather"
 */
export async function copyAgent(from) {
  const dir = join(await mkdtemp(join(tmpdir(), "pagetest-")), "agent");
  await cp(join(repository, from), dir, { recursive: true, filter: (f) => !f.includes("/.a2agen") });
  const mod = await readFile(join(dir, "go.mod"), "utf8");
  await writeFile(join(dir, "go.mod"), mod.replace(/=> \.\.\/.*$/m, "=> " + repository));
  return dir;
}

/**
 * A running "a2agen dev".
 * @typedef {object} Dev
 * @property {string} page the address of the page, with its token
 * @property {string} agent the address of the first agent
 * @property {string[]} said the lines that it printed
 * @property {(what: RegExp) => Promise<string>} says waits for a line, or finds it
 * @property {() => Promise<void>} end
 */

/**
 * Starts "a2agen dev", and waits until its agents answer.
 * @param {string[]} args such as a folder, or --to and an address
 * @param {{env?: Record<string, string>, ready?: RegExp}} [more]
 * @returns {Promise<Dev>}
 */
export async function dev(args, { env = {}, ready = /answers at|the card is read/ } = {}) {
  const p = spawn(command, ["dev", "--addr", "127.0.0.1:0", "--page", "127.0.0.1:0", ...args],
    { env: { ...process.env, A2A_STORE: "memory", ...env }, stdio: ["ignore", "pipe", "pipe"] });
  /** @type {string[]} */
  const said = [];
  /** @type {Set<() => void>} */
  const waiting = new Set();
  for (const out of [p.stdout, p.stderr]) {
    createInterface({ input: out }).on("line", (line) => {
      said.push(line);
      waiting.forEach((f) => f());
    });
  }
  const ended = once(p, "close"); // after its last line
  /** @param {RegExp} what */
  const says = (what) => new Promise((found, failed) => {
    const look = () => {
      const line = said.find((l) => what.test(l));
      if (line === undefined) return;
      waiting.delete(look);
      found(line);
    };
    waiting.add(look);
    setTimeout(() => failed(new Error(`a2agen dev did not say ${what} within ${patience / 1000} s:\n${said.join("\n")}`)), patience).unref();
    void ended.then(() => failed(new Error(`a2agen dev ended without saying ${what}:\n${said.join("\n")}`)));
    look();
  });
  const end = async () => {
    if (p.exitCode === null) p.kill("SIGINT");
    const late = setTimeout(() => p.kill("SIGKILL"), patience);
    const [, signal] = await ended;
    clearTimeout(late);
    if (signal === "SIGKILL") throw new Error(`a2agen dev did not end within ${patience / 1000} s:\n${said.join("\n")}`);
  };
  try {
    const page = (await says(/^page: /)).slice("page: ".length);
    const line = await says(ready);
    return { page, agent: /http:\/\/[^\s,/]+/.exec(line)?.[0] ?? "", said, says, end };
  } catch (err) {
    await end();
    throw err;
  }
}

/** Starts a browser. */
export async function browser() {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
}

/**
 * Waits until something is so.
 * @param {() => Promise<boolean>} so
 * @param {string} what it is, for the error
 */
export async function until(so, what) {
  const late = Date.now() + patience;
  while (!(await so())) {
    if (Date.now() > late) throw new Error(`after ${patience / 1000} s there is still not ${what}`);
    await new Promise((f) => setTimeout(f, 20));
  }
}

/** The tab of each browser: the tests of a file use it one after another, since a new one takes six times as long as a reload. */
const tabOf = /** @type {WeakMap<import("playwright-core").Browser, Promise<{page: import("playwright-core").Page, origin: string, wrong: string[]}>>} */ (new WeakMap());

/** @param {import("playwright-core").Browser} b */
async function newTab(b) {
  const context = await b.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  // What a test wrote is kept for a reload, and not for the next test.
  await page.addInitScript(() => { if (location.protocol.startsWith("http") && /** @type {any} */ (performance.getEntriesByType("navigation")[0])?.type !== "reload") sessionStorage.clear(); });
  const tab = { page, origin: "", wrong: /** @type {string[]} */ ([]) };
  page.on("pageerror", (e) => tab.wrong.push(String(e)));
  page.on("console", (m) => { if (m.type() === "error" && !/status of [45]\d\d/.test(m.text())) tab.wrong.push(m.text()); });
  page.on("request", (r) => { if (!r.url().startsWith(tab.origin) && !/^(data|blob):/.test(r.url())) tab.wrong.push("it asked for " + r.url()); });
  page.setDefaultTimeout(60_000);
  return tab;
}

/**
 * Opens the page of a running command, anew. An error in the console of the page, or a request that leaves its origin,
 * fails the test at the end of the page.
 * @param {import("playwright-core").Browser} b
 * @param {Dev} d
 * @param {{viewport?: {width: number, height: number}}} [options]
 */
export async function open(b, d, { viewport = { width: 1280, height: 800 } } = {}) {
  const made = tabOf.get(b) ?? newTab(b);
  tabOf.set(b, made);
  const tab = await made;
  const { page } = tab;
  await page.setViewportSize(viewport);
  await page.goto("about:blank"); // what the page before still asks for is over
  tab.origin = new URL(d.page).origin;
  tab.wrong = [];
  await page.goto(d.page);
  await page.locator("#phase").filter({ hasText: /\w/ }).waitFor().catch((err) => { throw new Error([err.message, ...tab.wrong].join("\n")); });
  return {
    page,
    async close() {
      if (tab.wrong.length) throw new Error("the page has errors:\n" + tab.wrong.join("\n"));
    },
  };
}

/** The widths of a wide window, of a tablet and of a telephone, in CSS pixels. */
export const widths = [1280, 768, 375];

/**
 * Goes to a place of the page, as by a link.
 * @param {import("playwright-core").Page} page
 * @param {string} hash "#/traffic/3"
 */
export async function goTo(page, hash) {
  await page.evaluate((h) => { location.hash = h; }, hash);
}

/**
 * Whether nothing of the page is wider than the window.
 * @param {import("playwright-core").Page} page
 */
export async function fits(page) {
  return page.evaluate(() => Math.max(document.documentElement.scrollWidth, document.getElementById("view")?.scrollWidth ?? 0) <= innerWidth);
}

/**
 * Finds what is not accessible.
 * @param {import("playwright-core").Page} page
 * @returns {Promise<string[]>} the violations, with the elements
 */
export async function violations(page) {
  // The policy of the page allows no script to be added: it is given to the browser from outside.
  const session = await page.context().newCDPSession(page);
  const { result: has } = await session.send("Runtime.evaluate", { expression: "typeof axe" });
  if (has.value === "undefined") await session.send("Runtime.evaluate", { expression: await readFile(join(import.meta.dirname, "node_modules/axe-core/axe.min.js"), "utf8") });
  const { result } = await session.send("Runtime.evaluate", {
    awaitPromise: true, returnByValue: true,
    expression: `axe.run({ resultTypes: ["violations"] }).then((r) => r.violations.map((v) => v.id + ": " + v.help + "\\n" + v.nodes.map((n) => n.html).join("\\n")))`,
  });
  return result.value;
}

/**
 * The time that a page's own thread worked while something was done, in milliseconds: what other programs do at the
 * same time does not count.
 * @param {import("playwright-core").Page} page
 * @param {() => Promise<unknown>} what
 */
export async function worked(page, what) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => ((await session.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration")?.value ?? 0) * 1000;
  const before = await busy();
  await what();
  const after = await busy();
  await session.detach();
  return after < before ? after : after - before; // it begins anew with a document
}

/** @param {string} dir of {@link copyAgent} */
export async function remove(dir) {
  await rm(resolve(dir, ".."), { recursive: true, force: true });
}
