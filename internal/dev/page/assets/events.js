// @ts-check
// The events of a task as a list, with the calls that they came by, and the one that is chosen: its bytes, and as 1.0 has it.
import { forms } from "./agent.js";
import { ask, textOf } from "./api.js";
import { button, copy, el, fill, tabs } from "./dom.js";
import { bytes } from "./format.js";
import { virtualList } from "./list.js";
import { childOf } from "./picture.js";
import { link } from "./route.js";
import { describe, span } from "./story.js";
import { state } from "./state.js";
import { words } from "./words.js";

/** @typedef {import("./story.js").Entry} Entry */

const w = words.story;
const shownBytes = 64 << 10;
let shownAs = "bytes";

/**
 * Shows the list, and what is chosen of it, until the signal ends that.
 * @param {HTMLElement} root
 * @param {{select: (key: string, how: "click" | "key") => void}} o
 * @param {AbortSignal} signal
 */
export function eventsList(root, o, signal) {
  /** @type {Entry[]} */
  let entries = [];
  let selected = "";
  let shown = ""; // in detail
  const detail = el("section", { class: "event", "aria-label": w.event });
  let inner = new AbortController();
  signal.addEventListener("abort", () => inner.abort());
  const list = virtualList({
    label: w.eventsOfTask, rowHeight: 28, class: "events", count: () => entries.length,
    row: (i) => cells(entries[i], entries[0].at), open: (i, how) => o.select(entries[i].key, how),
  }, signal);
  root.append(el("div", { class: "log-sides" }, list.root, detail));
  /** @param {boolean} scrolls */
  const show = (scrolls) => {
    const i = entries.findIndex((e) => e.key === selected);
    list.choose(i, scrolls);
    if (i >= 0 ? shown === selected : shown === "none") return;
    inner.abort();
    inner = new AbortController();
    shown = i >= 0 ? selected : "none";
    if (i >= 0) showEntry(detail, entries[i], inner.signal);
    else fill(detail, el("p", { class: "empty" }, w.choose));
  };
  show(false);
  return {
    /** @param {Entry[]} now */
    show(now) {
      entries = now;
      list.changed();
      show(false);
    },
    /** @param {string} key */
    select(key) {
      selected = key;
      show(true);
    },
  };
}

/** @param {Entry} e @param {number} begun */
function cells(e, begun) {
  const d = describe(e);
  const at = el("span", { class: "num dim" }, "+" + span(Math.max(0, e.at - begun)));
  const what = d.state && !e.event?.artifact ? el("span", { class: "words" }, el("span", { class: "unseen" }, (e.event?.kind ?? "") + " "), el("span", { class: "state " + d.state }, d.state)) : el("span", { class: "words" + (d.bad ? " bad" : "") }, mark(e), d.what);
  return [el("span", { class: "log" + (e.call && !e.event ? " call-row" : "") }, at, what, el("span", { class: "words dim", title: d.text }, d.text), el("span", { class: "num dim" }, d.size))];
}

/** @param {Entry} e */
function mark(e) {
  return e.event ? "" : e.delivery ? "◉ " : e.other ? "⇢ " : e.restart ? "↯ " : "→ ";
}

/**
 * @param {HTMLElement} root
 * @param {Entry} e
 * @param {AbortSignal} signal
 */
function showEntry(root, e, signal) {
  if (e.event && e.call) {
    const { call, event } = e;
    const at = `/api/calls/${call}/events/${event.n}`;
    showBytes(root, [el("h3", {}, w.nthEvent(event.n, call)), el("a", { href: link("traffic", call) }, w.inTraffic)], [{
      size: event.size, at, name: `call-${call}-event-${event.n}`, raw: () => rawText(at, signal), form: async () => {
        const f = (await forms(call, event.n - 1, signal)).events.find((f) => f.n === event.n);
        return f ? formText(f) : w.nothing;
      },
    }], signal);
  } else if (e.delivery) {
    const { id, size } = e.delivery;
    const body = async () => textOf((await ask("/api/inbox/" + id, "GET", undefined, signal)).body);
    showBytes(root, [el("h3", {}, w.nthDelivery(id)), el("a", { href: link("traffic", "webhooks", id) }, w.inWebhooks), el("p", { class: "dim" }, describe(e).text)], [{ size, raw: body, form: async () => JSON.stringify(JSON.parse(await body()), null, 2) }], signal);
  } else if (e.other || e.restart) {
    const d = describe(e);
    const child = e.other ? childOf(e) : undefined;
    fill(root, el("h3", {}, d.what), el("p", {}, d.text), e.other ? el("p", {}, child ? el("a", { href: child }, w.itsTask) : w.elsewhere) : null);
  } else if (e.call) {
    const { call } = e;
    const s = state.calls.get(call);
    const said = forms(call, 0, signal);
    said.catch(() => {}); // it is said where it is shown
    showBytes(root, [el("h3", {}, w.nthCall(call, describe(e).what)), el("a", { href: link("traffic", call) }, w.inTraffic), el("p", { class: "dim" }, describe(e).text)], [
      { title: w.request, size: s?.sent ?? 0, at: `/api/calls/${call}/request`, name: `call-${call}-request`, raw: () => rawText(`/api/calls/${call}/request`, signal), form: async () => formText((await said).request) },
      ...(s?.events || s?.state === "running" ? [] : [{ title: w.answer, size: s?.received ?? 0, at: `/api/calls/${call}/response`, name: `call-${call}-response`, raw: () => rawText(`/api/calls/${call}/response`, signal), form: async () => formText((await said).response) }]),
    ], signal);
  }
}

/** @typedef {{title?: string, size: number, at?: string, name?: string, raw: () => Promise<string>, form: () => Promise<string>}} Said */

/**
 * Shows what was said as its bytes, or in the form of 1.0.
 * @param {HTMLElement} root
 * @param {import("./dom.js").Child[]} head
 * @param {Said[]} list
 * @param {AbortSignal} signal
 */
function showBytes(root, head, list, signal) {
  const boxes = list.map(() => el("div"));
  /** @param {string} as */
  const show = (as) => {
    shownAs = as;
    list.forEach(async (s, i) => {
      try {
        const text = await (as === "bytes" ? s.raw() : s.form());
        if (signal.aborted || shownAs !== as) return;
        fill(boxes[i], s.title ? el("h4", { class: "small" }, s.title) : null, el("pre", { tabindex: 0 }, text.slice(0, shownBytes)),
          el("div", { class: "bar small" }, button(w.copy, () => void copy(text), { class: "small" }), s.at ? el("a", { href: s.at, download: s.name }, w.allBytes(bytes(s.size))) : null));
      } catch (err) {
        if (!signal.aborted) fill(boxes[i], el("p", { class: "bad" }, /** @type {Error} */ (err).message));
      }
    });
  };
  fill(root, el("div", { class: "bar" }, ...head), tabs(w.shownAs, [{ id: "bytes", title: w.bytes }, { id: "form", title: w.form }], shownAs, show), ...boxes);
  show(shownAs);
}

/** The bytes of something as a text; of large ones the beginning. @param {string} at @param {AbortSignal} signal */
async function rawText(at, signal) {
  const resp = await fetch(at, { signal });
  const read = resp.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = (await read?.read()) ?? { done: true, value: undefined };
    text += decoder.decode(value, { stream: !done });
    if (done) break;
    if (text.length > shownBytes) {
      void read?.cancel();
      break;
    }
  }
  if (!resp.ok) throw new Error(JSON.parse(text).error);
  return text;
}

/** @param {import("./agent.js").Form} f */
function formText(f) {
  return f.form || f.error ? JSON.stringify(f.form ?? f.error, null, 2) : f.problem ?? w.nothing;
}
