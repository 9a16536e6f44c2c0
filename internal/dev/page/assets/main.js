// @ts-check
// The frame: the agent, the places and their views, what is wrong, and one view at a time.
import { known } from "./agent.js";
import { ask } from "./api.js";
import { takesText } from "./chat.js";
import { announce, button, byId, el, fill, select } from "./dom.js";
import { listenToKeys } from "./keys.js";
import { placeOf, places } from "./places.js";
import { go, here, link } from "./route.js";
import { openSearch } from "./search.js";
import { agent, begin, choose, on, state } from "./state.js";
import { words } from "./words.js";

const w = words.frame;

/** @type {{place: import("./places.js").Place, view: import("./places.js").View, end: AbortController, moved: void | ((parts: string[]) => void)} | undefined} */
let shown;
let lost = "";

/** Shows what the address names, as soon as anything is known. */
function showView() {
  if (state.agents.size === 0) return; // it comes with "loaded"
  const at = placeOf(here());
  if (!at) {
    void showFirst();
    return;
  }
  if (shown?.view === at.view && shown.moved) {
    shown.moved(at.parts);
    return;
  }
  const root = byId("view");
  shown?.end.abort();
  fill(root);
  const end = new AbortController();
  shown = { ...at, end, moved: undefined };
  root.setAttribute("aria-label", at.view.title);
  root.className = "in-" + at.place.id;
  document.title = at.view.title + " · " + w.name;
  shown.moved = at.view.show(root, at.parts, end.signal);
  showNavigation();
}

/** The first place is Chat for an agent that can be talked to, and Call for others. */
async function showFirst() {
  const k = await known(state.chosen).catch(() => undefined);
  if (placeOf(here())) return; // somebody was faster
  history.replaceState(null, "", link(!k ? "agent" : takesText(k) ? "chat" : "call"));
  showView();
}

/**
 * Links of which one is where the reader is. They are made once, and then only changed: what has the focus keeps it.
 * @param {HTMLElement} root
 * @param {{id: string, title: string, href: string, badge: string, here: boolean, key?: string}[]} list
 */
function showLinks(root, list) {
  if (root.dataset.links !== list.map((l) => l.href).join()) {
    root.dataset.links = list.map((l) => l.href).join();
    fill(root, ...list.map((l) => el("a", { href: l.href, "aria-keyshortcuts": l.key }, el("span", {}, l.title), el("span", { class: "badge" }))));
  }
  list.forEach((l, i) => {
    const a = root.children[i];
    if (l.here) a.setAttribute("aria-current", "page");
    else a.removeAttribute("aria-current");
    /** @type {HTMLElement} */ (a.lastElementChild).textContent = l.badge;
  });
}

function showNavigation() {
  showLinks(byId("nav"), places.map((p, i) => ({ id: p.id, title: p.title, href: link(p.id), badge: p.views[0].badge?.() ?? "", here: shown?.place === p, key: String(i + 1) })));
  const views = shown?.place.views ?? [];
  byId("views").hidden = views.length < 2;
  if (shown && views.length > 1) {
    const { place } = shown;
    showLinks(byId("views"), views.map((v, i) => ({ id: v.id, title: v.title, href: i ? link(place.id, v.id) : link(place.id), badge: i ? v.badge?.() ?? "" : "", here: shown?.view === v })));
  }
}

/** @param {string} what @param {string} says */
async function command(what, says) {
  /** @type {any} */ (byId("commands")).hidePopover();
  try {
    await ask(`/api/agents/${state.chosen}/${what}`, "POST");
    announce(w.asked(says));
  } catch (err) {
    lost = String(err);
    showNotice();
  }
}

const phase = el("span", { id: "phase" });
const where = el("span", { class: "where dim small" });
const pause = button(w.pause, () => void command("pause", w.pause));
const commands = [button(w.rebuild, () => void command("rebuild", w.rebuild)), pause, button(w.clear, () => void command("clear", w.clear))];
let names = "";

function showAgent() {
  const a = agent();
  if (!a) return;
  const bad = a.phase === "stale" || a.phase === "down";
  const list = [...state.agents.values()].map((a) => /** @type {[string, string]} */ ([String(a.number), a.name]));
  if (names !== JSON.stringify([list, a.number])) {
    names = JSON.stringify([list, a.number]);
    fill(byId("agents"), el("h1", { class: list.length > 1 ? "unseen" : null }, a.name), list.length > 1 ? select(list, String(a.number), (n) => choose(Number(n)), { "aria-label": w.agent }) : null, phase, where);
    for (const c of commands) c.hidden = Boolean(a.to);
  }
  phase.className = bad ? "bad" : "good";
  phase.textContent = (bad ? "▲ " : "● ") + a.phase + (a.paused ? ", " + w.paused : "");
  where.textContent = a.url + (a.tookMs ? ` · ${(a.tookMs / 1000).toFixed(1)} s` : "");
  pause.textContent = a.paused ? w.resume : w.pause;
}

function showNotice() {
  const lines = lost ? [lost] : [];
  for (const a of state.agents.values()) {
    for (const p of a.problems ?? []) {
      lines.push([p.file, p.line, p.col].filter(Boolean).join(":") + (p.file ? ": " : "") + p.text);
    }
    if (a.phase === "stale") lines.push(w.stale(a.step ?? "", new Date(a.since ?? "").toLocaleTimeString()));
    if (a.phase === "down") lines.push(w.down(a.name));
  }
  const notice = byId("notice");
  if (notice.textContent !== lines.join("\n")) notice.textContent = lines.join("\n");
  notice.hidden = lines.length === 0;
  const several = state.agents.size > 1;
  const notes = [...state.agents.values()].flatMap((a) => (a.notes ?? []).map((n) => (several ? a.name + ": " : "") + n)).join(" · ");
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
on("loaded", () => { lost = ""; if (!shown) showView(); changed(); });
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
byId("skip").textContent = w.skip;
byId("skip").addEventListener("click", () => byId("view").focus());
byId("nav").setAttribute("aria-label", w.places);
byId("views").setAttribute("aria-label", w.views);
byId("search").setAttribute("aria-label", words.search.title);
fill(byId("find"), el("span", {}, w.search), el("kbd", {}, "Ctrl K"));
byId("find").addEventListener("click", () => void openSearch());
byId("menu").textContent = "⋯";
byId("menu").setAttribute("aria-label", w.menu);
fill(byId("commands"), ...commands, button(w.keys, () => /** @type {any} */ (byId("commands")).hidePopover(), { id: "keys", "aria-keyshortcuts": "?" }));
listenToKeys(places.map((p, i) => ({ key: String(i + 1), says: p.title, does: () => go(p.id) })), () => void openSearch());
showNavigation();
begin().catch((err) => { lost = String(err.message ?? err); changed(); });
