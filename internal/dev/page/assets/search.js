// @ts-check
// Search over places, skills, tasks and calls: a field and what has its words, the newest first.
import { known } from "./agent.js";
import { byId, el, fill, newID } from "./dom.js";
import { stateName } from "./format.js";
import { places } from "./places.js";
import { link } from "./route.js";
import { state } from "./state.js";
import { tasksOf } from "./task.js";
import { words } from "./words.js";

/** @typedef {{kind: string, title: string, detail: string, href: string}} Found */

const most = 50;

/** All that can be found, in the order in which it is offered. @returns {Promise<Found[]>} */
async function everything() {
  const w = words.search;
  const k = await known(state.chosen).catch(() => undefined);
  const skills = Array.isArray(k?.card.skills) ? k.card.skills : [];
  return [
    ...places.flatMap((p) => p.views.map((v, i) => ({ kind: w.place, title: v.title, detail: i ? p.title : "", href: i ? link(p.id, v.id) : link(p.id) }))),
    ...skills.map((/** @type {any} */ s) => ({ kind: w.skill, title: String(s.name || s.id), detail: String(s.description ?? ""), href: link("call", s.id) })),
    ...tasksOf(state.chosen).map((t) => ({ kind: w.task, title: t.id, detail: [t.state, t.skill, t.text].filter(Boolean).join(" · "), href: link("tasks", t.agent, t.id) })),
    ...[...state.calls.values()].reverse().map((c) => ({
      kind: w.call, title: `#${c.id} ${c.called || c.method + " " + c.path}`, detail: [c.caller, c.skill, stateName(c.outcome), c.task].filter(Boolean).join(" · "), href: link("traffic", c.id),
    })),
  ];
}

/** Those with all words of a text. @param {Found[]} all @param {string} text */
function having(all, text) {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((f) => {
    const in_ = [f.kind, f.title, f.detail].join(" ").toLowerCase();
    return wanted.every((w) => in_.includes(w));
  }).slice(0, most);
}

/** Opens the search. */
export async function openSearch() {
  const dialog = /** @type {HTMLDialogElement} */ (byId("search"));
  if (dialog.open) return;
  const w = words.search;
  /** @type {Found[]} */
  let all = [];
  /** @type {Found[]} */
  let found = [];
  let at = 0;
  const list = el("div", { id: newID(), role: "listbox", "aria-label": w.title });
  const said = el("p", { class: "dim small", role: "status" });
  const draw = () => {
    found = having(all, field.value);
    at = Math.min(at, Math.max(0, found.length - 1));
    said.textContent = found.length ? w.found(found.length) : w.none;
    fill(list, ...found.map((f, i) => el("div", { role: "option", id: `${list.id}-${i}`, class: "found", "aria-selected": String(i === at), click: () => open(f) },
      el("span", { class: "dim small" }, f.kind), el("span", { class: "words" }, el("strong", {}, f.title), " ", el("span", { class: "dim" }, f.detail)))));
    if (found.length) field.setAttribute("aria-activedescendant", `${list.id}-${at}`);
    else field.removeAttribute("aria-activedescendant");
    list.children[at]?.scrollIntoView({ block: "nearest" });
  };
  /** @param {Found} f */
  const open = (f) => {
    dialog.close();
    location.hash = f.href;
  };
  const field = /** @type {HTMLInputElement} */ (el("input", {
    type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": list.id, "aria-label": w.title, placeholder: w.placeholder, autocomplete: "off", spellcheck: "false",
    input: () => { at = 0; draw(); },
    keydown: (/** @type {KeyboardEvent} */ e) => {
      const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[e.key];
      if (e.key === "Enter" && found[at]) open(found[at]);
      else if (to !== undefined && found.length) at = (to + found.length) % found.length;
      else return;
      e.preventDefault();
      draw();
    },
  }));
  fill(dialog, field, said, list);
  dialog.showModal();
  field.focus();
  all = await everything();
  draw();
}
