// @ts-check
// The frame: agents, navigation, what is wrong, and one view at a time.
import { ask } from "./api.js";
import { announce, button, byId, el, fill, select } from "./dom.js";
import { listenToKeys } from "./keys.js";
import { go, here, link } from "./route.js";
import { agent, begin, choose, on, state } from "./state.js";
import { views } from "./views.js";

/** @type {{view: import("./views.js").View, end: AbortController, moved: void | ((parts: string[]) => void)} | undefined} */
let shown;
let lost = "";

function showView() {
  const [id, ...parts] = here();
  const view = views.find((v) => v.id === id) ?? views[0];
  if (shown?.view === view && shown.moved) {
    shown.moved(parts);
    return;
  }
  const root = byId("view");
  shown?.end.abort();
  fill(root);
  const end = new AbortController();
  shown = { view, end, moved: undefined };
  root.setAttribute("aria-label", view.title);
  document.title = view.title + " · a2agen dev";
  shown.moved = view.show(root, parts, end.signal);
  showNavigation();
}

/** @type {Map<string, {link: HTMLElement, badge: HTMLElement}>} */
const links = new Map();

/** Builds the navigation once, and then only changes it: what has the focus keeps it. */
function showNavigation() {
  for (const v of views) {
    let l = links.get(v.id);
    if (!l) {
      const badge = el("span", { class: "badge" });
      l = { badge, link: el("a", { href: link(v.id), "aria-keyshortcuts": v.key }, v.title, " ", badge) };
      links.set(v.id, l);
      byId("nav").append(l.link);
    }
    l.badge.textContent = v.badge?.() ?? "";
    if (shown?.view === v) l.link.setAttribute("aria-current", "page");
    else l.link.removeAttribute("aria-current");
  }
}

/** @param {string} what */
async function command(what) {
  try {
    await ask(`/api/agents/${state.chosen}/${what}`, "POST");
    announce(what + " was asked for");
  } catch (err) {
    lost = String(err);
    showNotice();
  }
}

const phase = el("span", { id: "phase" });
const where = el("span", { class: "dim" });
const pause = button("Pause", () => void command("pause"));
const commands = el("span", {}, button("Rebuild", () => void command("rebuild")), pause, button("Clear tasks", () => void command("clear")));
let names = "";

function showAgent() {
  const a = agent();
  if (!a) return;
  const bad = a.phase === "stale" || a.phase === "down";
  const list = [...state.agents.values()].map((a) => /** @type {[string, string]} */ ([String(a.number), a.name]));
  if (names !== JSON.stringify([list, a.number])) {
    names = JSON.stringify([list, a.number]);
    fill(byId("agents"), list.length > 1 ? select(list, String(a.number), (n) => choose(Number(n)), { "aria-label": "Agent" }) : el("strong", {}, a.name),
      phase, where, a.to ? null : commands);
  }
  phase.className = bad ? "bad" : "good";
  phase.textContent = (bad ? "▲ " : "● ") + a.phase + (a.paused ? ", paused" : "");
  where.textContent = a.url + (a.tookMs ? ` · ${(a.tookMs / 1000).toFixed(1)} s` : "");
  pause.textContent = a.paused ? "Go on" : "Pause";
}

function showNotice() {
  const lines = lost ? [lost] : [];
  for (const a of state.agents.values()) {
    for (const p of a.problems ?? []) {
      lines.push([p.file, p.line, p.col].filter(Boolean).join(":") + (p.file ? ": " : "") + p.text);
    }
    if (a.phase === "stale") lines.push(`${a.step} failed; the agent of ${new Date(a.since ?? "").toLocaleTimeString()} still answers`);
    if (a.phase === "down") lines.push(`${a.name}: no agent answers`);
  }
  const notice = byId("notice");
  if (notice.textContent !== lines.join("\n")) notice.textContent = lines.join("\n");
  notice.hidden = lines.length === 0;
  const notes = [...state.agents.values()].flatMap((a) => a.notes ?? []).join("\n");
  byId("notes").textContent = notes;
  byId("notes").hidden = notes === "";
}

let asked = 0;

/** Draws the frame anew, once for all that changes before the next picture. */
function changed() {
  asked ||= requestAnimationFrame(() => {
    asked = 0;
    showAgent();
    showNotice();
    showNavigation();
  });
}

on("agent", changed);
on("loaded", () => { lost = ""; changed(); });
on("chosen", () => { shown?.end.abort(); shown = undefined; showView(); changed(); });
on("call", changed);
on("delivery", changed);
on("faults", changed);
on("cleared", changed);
on("link", (why) => { lost = why; changed(); });
window.addEventListener("hashchange", () => {
  const before = shown?.view;
  showView();
  if (shown?.view !== before) byId("view").focus({ preventScroll: true });
});
byId("skip").addEventListener("click", () => byId("view").focus());
listenToKeys(views.map((v) => ({ key: v.key, says: v.title, does: () => go(v.id) })));
showView();
begin().catch((err) => { lost = String(err.message ?? err); changed(); });
