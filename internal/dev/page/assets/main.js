// @ts-check
import { ask, follow } from "./api.js";
import { byId, el } from "./dom.js";
import { forgetCalls, showCall } from "./traffic.js";

/** @type {Map<number, import("./api.js").Agent>} */
const agents = new Map();
let lost = "";

/** @param {import("./api.js").Agent} a */
function showAgent(a) {
  agents.set(a.number, a);
  byId("agents").replaceChildren(...[...agents.values()].map((a) => el("span", {},
    el("strong", {}, a.name), " ", el("span", { class: a.phase === "stale" || a.phase === "down" ? "bad" : "good" }, a.paused ? a.phase + ", paused" : a.phase), " ",
    el("span", { class: "dim" }, a.url + (a.tookMs ? ` · ${(a.tookMs / 1000).toFixed(1)} s` : "")), " ",
    el("button", { type: "button", click: () => void command(a, "rebuild") }, "Rebuild"),
    el("button", { type: "button", click: () => void command(a, "pause") }, a.paused ? "Go on" : "Pause"),
    el("button", { type: "button", click: () => void command(a, "clear") }, "Clear tasks"))));
  showNotice();
}

/**
 * @param {import("./api.js").Agent} a
 * @param {string} what
 */
async function command(a, what) {
  await ask(`/api/agents/${a.number}/${what}`, "POST").catch((err) => { lost = String(err); showNotice(); });
}

function showNotice() {
  const lines = lost ? [lost] : [];
  for (const a of agents.values()) {
    for (const p of a.problems ?? []) {
      lines.push([p.file, p.line, p.col].filter(Boolean).join(":") + (p.file ? ": " : "") + p.text);
    }
    if (a.phase === "stale") lines.push(`${a.step} failed; the agent of ${new Date(a.since ?? "").toLocaleTimeString()} still answers`);
    if (a.phase === "down") lines.push(`${a.name}: no agent answers`);
  }
  byId("notice").textContent = lines.join("\n");
  byId("notice").hidden = lines.length === 0;
}

/** @param {{text: string}} line */
function showLine(line) {
  const log = byId("log");
  const atEnd = log.scrollTop + log.clientHeight >= log.scrollHeight - 4;
  log.append(line.text + "\n");
  while (log.childNodes.length > 1000) log.firstChild?.remove();
  if (atEnd) log.scrollTop = log.scrollHeight;
}

async function load() {
  const state = await ask("/api/state");
  state.agents.forEach(showAgent);
  forgetCalls();
  (await ask("/api/calls")).calls.forEach(showCall);
  byId("log").replaceChildren();
  for (const a of state.agents) {
    (await ask(`/api/agents/${a.number}/log`)).lines.forEach(showLine);
  }
  return state.seq;
}

byId("clear").addEventListener("click", () => void ask("/api/calls", "DELETE").then(forgetCalls));
load().then((seq) => follow(seq, {
  agent: showAgent, call: showCall, log: showLine, event: () => {}, reset: () => void load(),
  lost: (over) => { lost = over ? "a2agen dev was started again: open the address that it printed last" : "a2agen dev does not answer; the page goes on when it does"; showNotice(); },
  found: () => { lost = ""; showNotice(); },
})).catch((err) => { lost = String(err); showNotice(); });
