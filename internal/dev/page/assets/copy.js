// @ts-check
// A call in other words: as a command, as code, as a test, and as a file that tests play.
import { ask } from "./api.js";
import { announce, button, copy, el, fill, tabs } from "./dom.js";
import { state } from "./state.js";

const ways = [
  { id: "curl", title: "curl", about: "In the place of secrets, which are not kept, are variables of the shell." },
  { id: "go", title: "Go", about: "A program with the typed client of the project. It reads credentials from the environment." },
  { id: "test", title: "Test", about: "A test of the project's handlers, which expects what was answered. Save it in their folder as a file that ends with _test.go." },
];

let way = "curl";

/** @type {import("./places.js").Panel<import("./api.js").Exchange>} */
export const copyPanel = {
  id: "copy", title: "Copy",
  show(root, x, signal) {
    const about = el("p", { class: "dim" });
    const text = el("pre", { tabindex: 0, "aria-label": "The call in other words" });
    const act = button("Copy", () => void copy(text.textContent ?? ""), { class: "main" });
    const show = async () => {
      about.textContent = ways.find((w) => w.id === way)?.about ?? "";
      text.className = "";
      text.textContent = "…";
      const asked = way;
      try {
        const said = (await ask(`/api/calls/${x.id}/copy?as=${asked}`, "GET", undefined, signal)).text;
        if (asked === way) text.textContent = said;
        act.disabled = false;
      } catch (err) {
        if (signal.aborted || asked !== way) return;
        text.textContent = /** @type {Error} */ (err).message;
        text.className = "bad";
        act.disabled = true;
      }
    };
    const ofTask = [...state.calls.values()].filter((c) => x.task && c.task === x.task && c.agent === x.agent).map((c) => c.id);
    const bad = el("p", { role: "status", class: "about" });
    fill(root, tabs("In the words of", ways, way, (id) => { way = id; void show(); }), about, text,
      el("div", { class: "bar" }, act, button("Save as a recording", () => void save([x.id], bad)),
        ofTask.length > 1 ? button(`Save the ${ofTask.length} calls of its task as a recording`, () => void save(ofTask, bad)) : null), bad);
    void show();
  },
};

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
  told.textContent = "Saved as recording.jsonl, which record.Replay plays." + (left ? " Not in it: " + left : "");
  announce(told.textContent);
  const url = URL.createObjectURL(new Blob([text], { type: "application/jsonl" }));
  el("a", { href: url, download: "recording.jsonl" }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
