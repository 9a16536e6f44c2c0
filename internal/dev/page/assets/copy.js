// @ts-check
// A call in other words: as a command, as code, as a test, and as a file that tests play.
import { ask } from "./api.js";
import { announce, button, copy, el, fill, tabs } from "./dom.js";
import { state } from "./state.js";
import { words } from "./words.js";

const w = words.call;

const ways = [
  { id: "curl", title: w.curl, as: w.asCurl, about: w.aboutCurl },
  { id: "go", title: w.go, as: w.asGo, about: w.aboutGo },
  { id: "test", title: w.test, as: w.asTest, about: w.aboutTest },
];

let way = "curl";

/** What calls of an agent are copied as; without says why not. @param {number} agent */
export function languages(agent) {
  return ways.map((l) => ({ ...l, without: l.id !== "curl" && state.agents.get(agent)?.to ? w.noProject : "" }));
}

/** @type {import("./places.js").Panel<import("./api.js").Exchange>} */
export const copyPanel = {
  id: "copy", title: w.copyTitle,
  show(root, x, signal) {
    const list = languages(x.agent);
    if (list.find((l) => l.id === way)?.without) way = "curl";
    const body = el("div");
    const bar = tabs(w.languages, list, way, (id) => { way = id; copyAs(body, x, id, signal); });
    for (const [i, l] of list.entries()) {
      const b = /** @type {HTMLButtonElement} */ (bar.children[i]);
      b.disabled = Boolean(l.without);
      b.title = l.without;
    }
    const ofTask = [...state.calls.values()].filter((c) => x.task && c.task === x.task && c.agent === x.agent).map((c) => c.id);
    const bad = el("p", { role: "status", class: "about" });
    fill(root, bar, body, el("div", { class: "bar" }, button(w.saveCall, () => void save([x.id], bad)), ofTask.length > 1 ? button(w.saveTask(ofTask.length), () => void save(ofTask, bad)) : null), bad);
    copyAs(body, x, way, signal);
  },
};

/**
 * Shows a call in other words, to be copied.
 * @param {HTMLElement} root
 * @param {import("./api.js").Summary} x
 * @param {string} as
 * @param {AbortSignal} signal
 */
export function copyAs(root, x, as, signal) {
  const text = el("pre", { tabindex: 0, "aria-label": w.inOtherWords }, "…");
  const act = button(w.copy, () => void copy(text.textContent ?? ""), { class: "small", disabled: true });
  fill(root, el("div", { class: "bar copied" }, el("p", { class: "dim small" }, ways.find((l) => l.id === as)?.about ?? ""), act), text);
  ask(`/api/calls/${x.id}/copy?as=${as}`, "GET", undefined, signal).then((said) => {
    text.textContent = said.text;
    act.disabled = false;
  }, (err) => {
    if (signal.aborted) return;
    text.textContent = err.message;
    text.className = "bad";
  });
}

/**
 * Saves calls as a file that record.Replay reads, and says what is not in it.
 * @param {number[]} calls
 * @param {HTMLElement} told
 */
export async function save(calls, told) {
  const resp = await fetch("/api/recording?calls=" + calls.join(","));
  const text = await resp.text();
  if (!resp.ok) {
    told.textContent = text.startsWith("{") ? JSON.parse(text).error : text;
    return;
  }
  const left = resp.headers.get("A2agen-Dev-Left");
  told.textContent = w.saved + (left ? w.leftOutOf(left) : "");
  announce(told.textContent);
  const url = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  el("a", { href: url, download: "recording.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
