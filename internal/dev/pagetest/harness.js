// @ts-check
// What the tests of the page stand on: "a2agen dev" as a user starts it, and a real browser before it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

/** How long a line of the command is waited for: it may compile an agent before. */
const patience = 120_000;

const repository = resolve(import.meta.dirname, "../../..");
const command = process.env.A2AGEN ?? join(repository, "bin/a2agen");

/** Screenshots for the documents go there; "" leaves them out. */
const pictures = process.env.A2A_PICTURES ?? "";

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
  const ended = once(p, "exit");
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
    await ended;
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
 * Opens the page of a running command. An error in the console of the page, or a request that leaves its origin, fails
 * the test at the end of the page.
 * @param {import("playwright-core").Browser} b
 * @param {Dev} d
 * @param {import("playwright-core").BrowserContextOptions} [options]
 */
export async function open(b, d, options = {}) {
  const context = await b.newContext({ viewport: { width: 1280, height: 800 }, permissions: ["clipboard-read", "clipboard-write"], ...options });
  const page = await context.newPage();
  /** @type {string[]} */
  const wrong = [];
  page.on("pageerror", (e) => wrong.push(String(e)));
  page.on("console", (m) => { if (m.type() === "error" && !/status of [45]\d\d/.test(m.text())) wrong.push(m.text()); });
  page.on("request", (r) => { if (!r.url().startsWith(new URL(d.page).origin) && !/^(data|blob):/.test(r.url())) wrong.push("it asked for " + r.url()); });
  page.setDefaultTimeout(60_000);
  await page.goto(d.page);
  await page.locator("#phase").filter({ hasText: /\w/ }).waitFor().catch((err) => { throw new Error([err.message, ...wrong].join("\n")); });
  return {
    page,
    async close() {
      await context.close();
      if (wrong.length) throw new Error("the page has errors:\n" + wrong.join("\n"));
    },
  };
}

/**
 * Finds what is not accessible.
 * @param {import("playwright-core").Page} page
 * @returns {Promise<string[]>} the violations, with the elements
 */
export async function violations(page) {
  const axe = await readFile(join(import.meta.dirname, "node_modules/axe-core/axe.min.js"), "utf8");
  // The policy of the page allows no script to be added: it is given to the browser from outside.
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: axe });
  const { result } = await session.send("Runtime.evaluate", {
    awaitPromise: true, returnByValue: true,
    expression: `axe.run().then((r) => r.violations.map((v) => v.id + ": " + v.help + "\\n" + v.nodes.map((n) => n.html).join("\\n")))`,
  });
  return result.value;
}

/**
 * Makes a screenshot for the documents, dark and light.
 * @param {import("playwright-core").Page} page
 * @param {string} name
 */
export async function picture(page, name) {
  if (!pictures) return;
  await mkdir(pictures, { recursive: true });
  for (const colorScheme of /** @type {const} */ (["light", "dark"])) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(pictures, `${name}-${colorScheme}.png`) });
  }
  await page.emulateMedia({ colorScheme: null });
}

/** @param {string} dir of {@link copyAgent} */
export async function remove(dir) {
  await rm(resolve(dir, ".."), { recursive: true, force: true });
}
